//! What a frontend shows, taken apart.

use super::target_type::TargetType;
use crate::olap::applier::Version;
use crate::olap::default_value::now;
use crate::olap::quote;

/// What is behind `DEFAULT` of a column, as it is written. `created` is the statement that `SHOW CREATE TABLE` gives,
/// `shown` what `SHOW FULL COLUMNS` gives: of a column that was added with CURRENT_TIMESTAMP the time of that.
pub(super) fn default(created: &str, column: &str, target: &TargetType, shown: &str) -> String {
    default_clause(created, column).unwrap_or_else(|| match now(shown) {
        Some(_) if *target == TargetType::DateTime => "CURRENT_TIMESTAMP".to_owned(),
        _ => quote::string(shown),
    })
}

/// Comments, and only they, come with a backslash before backslashes and double quotes.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

/// What is behind `DEFAULT` of a column in the statement that `SHOW CREATE TABLE` gives, as it is written there.
fn default_clause(created: &str, column: &str) -> Option<String> {
    let start = format!("\n  `{column}` ");
    let rest = &created[created.find(&start)? + start.len()..];
    // The type has no quotes, and NULL or NOT NULL is always said.
    let null = rest.find(" NULL ")?;
    let rest = rest[null + " NULL ".len()..].strip_prefix("DEFAULT ")?;
    let mut previous = ' ';
    let mut quoted = false;
    let mut depth = 0_u32;
    for (i, c) in rest.char_indices() {
        match c {
            '"' if previous != '\\' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            ' ' if !quoted && depth == 0 => return Some(rest[..i].to_owned()),
            _ => {}
        }
        // Of two backslashes the second escapes nothing.
        previous = if c == '\\' && previous == '\\' { ' ' } else { c };
    }
    None
}

/// A version as servers tell it: `3.3.2-abc def`, `v3.1`. `None`: it is none.
pub(super) fn parse_version(text: &str) -> Option<Version> {
    let number = text.trim_start_matches(['v', 'V']);
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).take(3).map(|p| p.parse().ok());
    Some((parts.next().flatten()?, parts.next().flatten()?, parts.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{default_clause, parse_version, unescape};

    /// Lines as the recorded frontend gives them.
    const CREATED: &str = "CREATE TABLE `t` (\n  `id` bigint(20) NOT NULL COMMENT \"\",\n  `c` datetime NULL DEFAULT \
        CURRENT_TIMESTAMP COMMENT \"\",\n  `q` varchar(50) NULL DEFAULT \"a\\\"b c\\\\\" COMMENT \"DEFAULT \",\n  `u` \
        varchar(50) NOT NULL DEFAULT (uuid()) COMMENT \"\"\n) ENGINE=OLAP \nPRIMARY KEY(`id`)";

    #[test]
    fn defaults_are_taken_as_they_are_written() {
        assert_eq!(default_clause(CREATED, "id"), None);
        assert_eq!(default_clause(CREATED, "c").unwrap(), "CURRENT_TIMESTAMP");
        assert_eq!(default_clause(CREATED, "q").unwrap(), "\"a\\\"b c\\\\\"");
        assert_eq!(default_clause(CREATED, "u").unwrap(), "(uuid())");
        assert_eq!(default_clause(CREATED, "none"), None);
    }

    #[test]
    fn comments_come_escaped() {
        assert_eq!(unescape("say \\\"hi\\\" back\\\\slash"), "say \"hi\" back\\slash");
    }

    #[test]
    fn versions() {
        assert_eq!(parse_version("3.3.2-abc 5e1a"), Some((3, 3, 2)));
        assert_eq!(parse_version("v2.5"), Some((2, 5, 0)));
        assert_eq!(parse_version("UNKNOWN"), None);
    }
}
