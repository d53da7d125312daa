//! Looking into the text of a valid JSON document. Numbers keep their spelling, which a parsed document would lose.

/// Appends a document without the blanks between its tokens.
pub(super) fn append_compact(out: &mut String, text: &str) {
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars() {
        if in_string {
            out.push(c);
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
        } else if !c.is_ascii_whitespace() {
            in_string = c == '"';
            out.push(c);
        }
    }
}

/// The value of a member of an object; of several with one name the last.
pub(super) fn member<'t>(object: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = object.trim().strip_prefix('{')?.trim_start();
    let mut found = None;
    while rest.starts_with('"') {
        let (key, tail) = value(rest)?;
        let tail = tail.trim_start().strip_prefix(':')?;
        let (item, tail) = value(tail)?;
        if serde_json::from_str::<String>(key).is_ok_and(|key| key == name) {
            found = Some(item);
        }
        rest = tail.trim_start().strip_prefix(',').unwrap_or_default().trim_start();
    }
    found
}

/// An element of an array, counted from 0.
pub(super) fn element(array: &str, index: usize) -> Option<&str> {
    let mut rest = array.trim().strip_prefix('[')?.trim_start();
    if rest.starts_with(']') {
        return None;
    }
    let mut place = 0;
    loop {
        let (item, tail) = value(rest)?;
        if place == index {
            return Some(item);
        }
        place += 1;
        rest = tail.trim_start().strip_prefix(',')?;
    }
}

/// The first value of a text, and what stands behind it.
fn value(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    in_string = false;
                    if depth == 0 {
                        return text.split_at_checked(at + 1);
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return text.split_at_checked(at + 1);
                }
            }
            // A number or a word ends before these.
            b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return text.split_at_checked(at),
            _ => {}
        }
    }
    (!text.is_empty() && depth == 0 && !in_string).then_some((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_as_they_are_spelled() {
        let text =
            r#" { "a" : [1, 2.50, "x, ]\"y", {"b": null}], "n" : 123456789012345678901234567890 , "a b": true } "#;
        let a = member(text, "a").unwrap_or_default();
        assert_eq!(element(a, 1), Some("2.50"));
        assert_eq!(element(a, 2), Some(r#""x, ]\"y""#));
        assert_eq!(element(a, 3).and_then(|o| member(o, "b")), Some("null"));
        assert_eq!(element(a, 4), None);
        assert_eq!(member(text, "n"), Some("123456789012345678901234567890"));
        assert_eq!(member(text, "a b"), Some("true"));
        assert_eq!(member(text, "b"), None);
        assert_eq!(element("[]", 0), None);
        let mut compact = String::new();
        append_compact(&mut compact, r#"{ "a b" : [ 1 , "c d" ] }"#);
        assert_eq!(compact, r#"{"a b":[1,"c d"]}"#);
    }
}
