//! Options that say something of single tables: `db.t1:a,b;db.t2:c`.

use super::ValueError;

/// What stands on both sides of the sign in the entries of a per-table option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerTable {
    /// A table and columns: `db.t:a,b`.
    Columns,
    /// A table and a whole number above zero: `db.t:4`.
    Number,
    /// A table and partition fields with transforms: `db.t:day(ts),bucket[16](id)`.
    PartitionFields,
    /// A table pattern and a topic: `db.t_\.*:topic`.
    Topic,
    /// A table pattern and a chunk key column: `db.t_\.*:id`.
    ChunkKey,
    /// A table and a column behind a dollar sign or a colon: `db.t$col`.
    Suffix,
    /// A header's name and its text, no table at all: `env:prod`.
    Header,
}

impl PerTable {
    /// Whether the left side is a pattern in the dialect of `source.tables`.
    pub fn is_pattern(self) -> bool {
        matches!(self, Self::Topic | Self::ChunkKey)
    }

    fn form(self) -> &'static str {
        match self {
            Self::Columns => "database.table:column,column",
            Self::Number => "database.table:number",
            Self::PartitionFields => "database.table:column,day(column)",
            Self::Topic => "database.table:topic",
            Self::ChunkKey => "database.table:column",
            Self::Suffix => "database.table$column",
            Self::Header => "name:value",
        }
    }

    fn missing(self) -> &'static str {
        match self {
            Self::Columns | Self::ChunkKey | Self::Suffix => "has no column",
            Self::Number => "has no number",
            Self::PartitionFields => "has no partition column",
            Self::Topic => "has no topic",
            Self::Header => "has no value",
        }
    }
}

/// One entry of a per-table option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerTableEntry {
    /// The table or table pattern as written.
    pub table: String,
    /// What goes with it: columns one by one, else one item.
    pub values: Vec<String>,
}

impl std::fmt::Display for PerTableEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.table, self.values.join(","))
    }
}

/// Reads entries between semicolons; empty ones are skipped.
///
/// # Errors
/// An entry is not of the form. The message quotes the entry: these options hold no secrets.
pub fn parse_per_table(form: PerTable, text: &str) -> Result<Vec<PerTableEntry>, ValueError> {
    let mut entries = Vec::new();
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        entries.push(parse_entry(form, part)?);
    }
    Ok(entries)
}

fn parse_entry(form: PerTable, part: &str) -> Result<PerTableEntry, ValueError> {
    let malformed = |what: &str| {
        ValueError::new(format!("is malformed: part `{part}` {what}"))
            .hint(format!("write `{}`, several with `;` between them", form.form()))
    };
    let signs: &[char] = if form == PerTable::Suffix { &['$', ':'] } else { &[':'] };
    let mut sides = part.split(signs).map(str::trim);
    let (table, value) = match (sides.next(), sides.next(), sides.next()) {
        (Some(table), Some(value), None) => (table, value),
        (Some(_), None, _) => return Err(malformed(form.missing())),
        _ => return Err(malformed("has more than one `:`")),
    };
    if table.is_empty() {
        return Err(malformed("names no table"));
    }
    if value.is_empty() {
        return Err(malformed(form.missing()));
    }
    if !form.is_pattern() && form != PerTable::Header {
        let names = table.split('.').count();
        if !(2..=3).contains(&names) || table.split('.').any(str::is_empty) {
            return Err(malformed("does not name a table as database.table"));
        }
    }
    let values = match form {
        PerTable::Columns | PerTable::PartitionFields => {
            let fields: Vec<String> = value.split(',').map(|field| field.trim().to_owned()).collect();
            if fields.iter().any(String::is_empty) {
                return Err(malformed("has an empty column name"));
            }
            if form == PerTable::PartitionFields
                && let Some(field) = fields.iter().find(|field| !is_partition_field(field))
            {
                return Err(malformed(&format!("has the unknown partition transform `{field}`")));
            }
            fields
        }
        PerTable::Number => match value.parse::<i32>() {
            Ok(1..) => vec![value.to_owned()],
            _ => return Err(malformed("has no whole number above zero")),
        },
        PerTable::Topic | PerTable::ChunkKey | PerTable::Suffix | PerTable::Header => vec![value.to_owned()],
    };
    Ok(PerTableEntry { table: table.to_owned(), values })
}

/// `column`, `day(column)`, `bucket[16](column)` and the like.
fn is_partition_field(field: &str) -> bool {
    let Some((function, rest)) = field.split_once('(') else {
        return !field.contains([')', '[', ']']);
    };
    let Some(column) = rest.strip_suffix(')') else { return false };
    if column.trim().is_empty() || column.contains(['(', ')']) {
        return false;
    }
    match function.trim().to_ascii_lowercase().as_str() {
        "year" | "month" | "day" | "hour" | "identity" => true,
        function => ["bucket", "truncate"].iter().any(|name| {
            function
                .strip_prefix(name)
                .and_then(|width| width.strip_prefix('[')?.strip_suffix(']'))
                .is_some_and(|width| matches!(width.trim().parse::<i32>(), Ok(1..)))
        }),
    }
}
