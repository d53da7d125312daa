//! Names and strings in the frontends' SQL.

/// A name in backticks; a backtick in it is doubled.
pub(crate) fn name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A string in double quotes, with backslash escapes.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::string;

    #[test]
    fn quotes_and_backslashes_are_escaped() {
        // The statement `COMMENT "say \"hi\""` and `COMMENT "back\\slash"` of the recordings.
        assert_eq!(string("say \"hi\""), "\"say \\\"hi\\\"\"");
        assert_eq!(string("back\\slash"), "\"back\\\\slash\"");
        assert_eq!(string("it's 中"), "\"it's 中\"");
    }
}
