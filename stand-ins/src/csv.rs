//! CSV bodies as both servers' manuals tell it for loads without `enclose`: records end with the row delimiter, values with
//! the column separator, nothing is escaped, and `\\N` is NULL.

/// A separator as a header has it: hexadecimal digits behind `\x`, or the characters themselves.
pub fn separator(header: Option<&str>, default: &str) -> Result<Vec<u8>, String> {
    let text = header.unwrap_or(default);
    if text.is_empty() || text.len() > 200 {
        return Err(format!("Invalid delimiter '{text}'"));
    }
    match text.strip_prefix("\\x").or_else(|| text.strip_prefix("\\X")) {
        None => Ok(text.as_bytes().to_vec()),
        Some(hex) if hex.is_empty() || hex.len() % 2 != 0 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) => {
            Err(format!("Invalid delimiter '{text}': invalid hex format."))
        }
        Some(hex) => Ok((0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()),
    }
}

/// The records of a body that are not empty. NULL is `None`.
pub fn records(body: &[u8], column: &[u8], row: &[u8]) -> Result<Vec<Vec<Option<String>>>, String> {
    let mut records = Vec::new();
    for record in split(body, row) {
        if record.is_empty() {
            continue;
        }
        let text = |value: &[u8]| String::from_utf8(value.to_vec()).map_err(|_| "Invalid UTF-8 row".to_owned());
        let values = split(record, column).into_iter().map(|value| match value {
            b"\\N" => Ok(None),
            value => text(value).map(Some),
        });
        records.push(values.collect::<Result<_, _>>()?);
    }
    Ok(records)
}

/// The parts between separators, which are found from the left.
fn split<'a>(bytes: &'a [u8], separator: &[u8]) -> Vec<&'a [u8]> {
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while at + separator.len() <= bytes.len() {
        if bytes[at..].starts_with(separator) {
            parts.push(&bytes[from..at]);
            at += separator.len();
            from = at;
        } else {
            at += 1;
        }
    }
    parts.push(&bytes[from..]);
    parts
}
