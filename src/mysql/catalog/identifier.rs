//! Names and strings in statements.

use rowferry_model::TableId;

/// A name as it stands in a statement: between backticks, those in it doubled.
pub fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A table with its database as it stands in a statement.
pub fn quote_table(table: &TableId) -> String {
    format!("{}.{}", quote_identifier(table.database()), quote_identifier(table.table()))
}

/// A string literal, for a session whose `sql_mode` is empty, as [`crate::mysql::wire::Connection`] sets it.
pub fn quote_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        if matches!(c, '\'' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes() {
        assert_eq!(quote_identifier("a`b.c"), "`a``b.c`");
        assert_eq!(quote_table(&TableId::new("d`", "t 🦀")), "`d```.`t 🦀`");
        assert_eq!(quote_string(r"it's a \ "), r"'it\'s a \\ '");
    }
}
