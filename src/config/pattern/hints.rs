//! What people write and what they mean by it.

/// A dot that is neither escaped nor between names: `crm.*` means "all tables of crm".
pub(super) fn unescaped_any(pattern: &str) -> Option<String> {
    for quantifier in ["*", "+", "?"] {
        let slip = format!(".{quantifier}");
        let bare = |at: &usize| !pattern.get(..*at).unwrap_or_default().ends_with('\\');
        if let Some(at) = pattern.match_indices(&slip).map(|(at, _)| at).find(bare) {
            let mut fixed = pattern.to_owned();
            let before = pattern.get(..at).unwrap_or_default();
            // `crm.*` lacks the table, `crm.order_.*` only lacks the backslash.
            let has_database = before.replace("\\.", "").contains('.');
            fixed.replace_range(at..at + 1, if has_database { r"\." } else { r".\." });
            return Some(format!(
                "write `{fixed}`: a bare dot separates database and table, `\\.` stands for any character"
            ));
        }
    }
    None
}

/// A quantifier with a comma is cut in two by the list.
pub(super) fn cut_quantifier(pattern: &str) -> Option<String> {
    let open = pattern.find('{')?;
    let rest = pattern.get(open..)?;
    let comma = rest.find(',').or_else(|| (!rest.contains('}')).then_some(0))?;
    (rest.find('}').is_none_or(|close| comma < close)).then(|| {
        "a comma always separates patterns, so `{1,3}` can't be used: write `{1}`, `+` or alternatives such as `(a|b)`"
            .to_owned()
    })
}

/// `[app|web]` is one character out of seven.
pub(super) fn alternatives_in_class(pattern: &str) -> Option<String> {
    let open = pattern.find('[')?;
    let inner = pattern.get(open + 1..)?;
    let inner = inner.get(..inner.find(']')?)?;
    let words: Vec<&str> = inner.split('|').collect();
    (words.len() > 1 && words.iter().any(|word| word.chars().count() > 1) && !inner.contains('-'))
        .then(|| format!("`[{inner}]` stands for one character; for one of these words write `({inner})`"))
}

/// Two backslashes before a dot: right in double quotes, where YAML takes one away, and wrong elsewhere.
pub(super) fn collapse_double_backslash(pattern: &str) -> (String, Option<String>) {
    if !pattern.contains(r"\\.") {
        return (pattern.to_owned(), None);
    }
    let collapsed = pattern.replace(r"\\.", r"\.");
    let warning = r"`\\.` is read as `\.`: two backslashes are only needed in double quotes".to_owned();
    (collapsed, Some(warning))
}
