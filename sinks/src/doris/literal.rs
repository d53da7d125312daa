//! Text in Doris' statements. What stands between quotes is treated in three ways, all recorded from a frontend; doubled
//! quotes are never collapsed, so the other quote is taken where a text holds one.

/// A text that is taken as it stands: behind `DEFAULT`, and behind `COMMENT` of a MODIFY. `None`: it can't be written.
pub(super) fn raw(text: &str) -> Option<String> {
    // A backslash before the last quote would hide it.
    let escapes_end = text.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1;
    let quote = match (text.contains('"'), text.contains('\'')) {
        _ if escapes_end => return None,
        (false, _) => '"',
        (true, false) => '\'',
        (true, true) => return None,
    };
    Some(format!("{quote}{text}{quote}"))
}

/// A comment of a column that is made: every backslash is dropped, so that none can be stored.
pub(super) fn new_comment(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "").replace('"', "\\\""))
}

/// What is stored then.
pub(super) fn new_comment_stored(text: &str) -> String {
    text.replace('\\', "")
}

/// What is stored of a comment that is changed: as it is, or with its double quotes as single ones where it has both and
/// without a backslash at its end.
pub(super) fn changed_comment_stored(text: &str) -> String {
    match raw(text) {
        Some(_) => text.to_owned(),
        None => text.replace('"', "'").trim_end_matches('\\').to_owned(),
    }
}

/// A comment that is changed.
pub(super) fn changed_comment(text: &str) -> String {
    let stored = changed_comment_stored(text);
    // With one kind of quotes at most and no backslash at its end it can be written.
    raw(&stored).unwrap_or_else(|| "\"\"".to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{changed_comment, changed_comment_stored, new_comment, new_comment_stored, raw};

    /// The recorded statements of 03 and 05.
    #[test]
    fn quotes_and_backslashes() {
        assert_eq!(raw("x").unwrap(), "\"x\"");
        assert_eq!(raw("it's").unwrap(), "\"it's\"");
        assert_eq!(raw("say \"hi\"").unwrap(), "'say \"hi\"'");
        assert_eq!(raw("a\\b").unwrap(), "\"a\\b\"");
        assert_eq!(raw("it's \"both\""), None);
        assert_eq!(raw("a\\"), None);
        assert_eq!(raw("a\\\\").unwrap(), "\"a\\\\\"");
        assert_eq!(new_comment("say \"hi\""), "\"say \\\"hi\\\"\"");
        assert_eq!((new_comment("a\\nb"), new_comment_stored("a\\nb")), ("\"anb\"".to_owned(), "anb".to_owned()));
        assert_eq!(changed_comment("it's \"both\" \\"), "\"it's 'both' \"");
        assert_eq!(changed_comment_stored("it's \"both\" \\"), "it's 'both' ");
        assert_eq!(changed_comment("a\\b"), "\"a\\b\"");
    }
}
