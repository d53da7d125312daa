//! What a frontend shows, taken apart.

use crate::olap::applier::Version;

/// What becomes of rows with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    /// The last one stays.
    Unique,
    /// All stay.
    Duplicate,
    /// They are added up.
    Aggregate,
}

/// A table without its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableKind {
    pub(super) model: Model,
    /// Whether columns can be added, dropped and renamed without rewriting the data.
    pub(super) light: bool,
}

/// A table's kind, of what `SHOW CREATE TABLE` gives.
pub(super) fn table_kind(created: &str) -> TableKind {
    let says = |start: &str| created.lines().any(|line| line.starts_with(start));
    let model = if says("UNIQUE KEY") {
        Model::Unique
    } else if says("AGGREGATE KEY") {
        Model::Aggregate
    } else {
        Model::Duplicate
    };
    TableKind { model, light: says("\"light_schema_change\" = \"true\"") }
}

/// A version as servers tell it: `(2, 1, 5)` of `doris version doris-2.1.5-rc02`. `None`: it is none.
pub(super) fn parse_version(text: &str) -> Option<Version> {
    let (_, number) = text.rsplit_once("doris-")?;
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).take(3).map(|p| p.parse().ok());
    let version = (parts.next().flatten()?, parts.next().flatten()?, parts.next().flatten().unwrap_or(0));
    // A build without a release number.
    (version != (0, 0, 0)).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn versions() {
        assert_eq!(parse_version("doris version doris-2.1.5-rc02-d5a02e095d"), Some((2, 1, 5)));
        // The recorded frontend.
        assert_eq!(parse_version("doris version doris-0.0.0-Unknown"), None);
        assert_eq!(parse_version("MySQL"), None);
    }
}
