//! The table of `docs/schema-evolution.md` is what the behaviours do.

use super::support::*;
use crate::config::SchemaChangeBehavior as B;
use crate::error::Error;
use crate::pipeline::evolve::Targets;
use rowferry_model::{ColumnPosition, SchemaChange};
use std::path::Path;

fn words(change: &SchemaChange) -> String {
    let not_null = |nullable: bool| if nullable { "" } else { " NOT NULL" };
    match change {
        SchemaChange::CreateTable { .. } => "create the table".to_owned(),
        SchemaChange::AddColumns { columns, .. } => {
            let added = columns.iter().map(|added| {
                let at = match &added.position {
                    ColumnPosition::Last => "at the end".to_owned(),
                    ColumnPosition::First => "first".to_owned(),
                    ColumnPosition::After(other) => format!("after `{other}`"),
                    ColumnPosition::Before(other) => format!("before `{other}`"),
                };
                let column = &added.column;
                format!("add `{}` {}{} {at}", column.name, column.data_type, not_null(column.nullable))
            });
            added.collect::<Vec<_>>().join(", ")
        }
        SchemaChange::AlterColumns { columns, .. } => {
            let altered =
                columns.iter().map(|c| format!("`{}` becomes {}{}", c.name, c.data_type, not_null(c.nullable)));
            altered.collect::<Vec<_>>().join(", ")
        }
        SchemaChange::RenameColumns { names, .. } => {
            names.iter().map(|(old, new)| format!("rename `{old}` to `{new}`")).collect::<Vec<_>>().join(", ")
        }
        SchemaChange::DropColumns { names, .. } => format!("drop `{}`", names.join("`, `")),
        SchemaChange::DropTable { .. } => "drop the table".to_owned(),
        SchemaChange::TruncateTable { .. } => "remove all rows".to_owned(),
        SchemaChange::AlterTableComment { .. } => "change the comment".to_owned(),
    }
}

/// What a target is told after changes of the source; `before` are made first.
fn cell(behavior: B, before: &[SchemaChange], change: &SchemaChange) -> String {
    let table = id("d.t");
    let source = schema("id INT NOT NULL; a INT NOT NULL; b VARCHAR(10)");
    let mut targets = Targets::new(options(behavior));
    targets.register(&table, &source, std::slice::from_ref(&table));
    let planned = targets.create(&table).unwrap();
    carry_out(&mut targets, planned);
    for change in before {
        match targets.plan(&table, change) {
            Ok(planned) => carry_out(&mut targets, planned),
            Err(error) => return format!("stop: `{}`", Error::from(error).code()),
        };
    }
    match targets.plan(&table, change) {
        Ok(planned) if planned.is_empty() => "nothing".to_owned(),
        Ok(planned) => planned.iter().map(|next| words(&next.change)).collect::<Vec<_>>().join("; "),
        Err(error) => format!("stop: `{}`", Error::from(error).code()),
    }
}

fn rendered() -> String {
    let s = schema("id INT NOT NULL; a INT NOT NULL; b VARCHAR(10)");
    let again = [drop("d.t", &["b"])];
    let rows: Vec<(&str, &[SchemaChange], SchemaChange)> = vec![
        ("`ADD COLUMN c INT NOT NULL FIRST`", &[], add("d.t", &[("c INT NOT NULL", ColumnPosition::First)])),
        ("`MODIFY a BIGINT NOT NULL`", &[], alter("d.t", &s, &["a BIGINT NOT NULL"])),
        ("`MODIFY a SMALLINT NOT NULL`", &[], alter("d.t", &s, &["a SMALLINT NOT NULL"])),
        ("`MODIFY a INT NULL`", &[], alter("d.t", &s, &["a INT"])),
        ("`MODIFY b VARCHAR(10) NOT NULL`", &[], alter("d.t", &s, &["b VARCHAR(10) NOT NULL"])),
        ("`RENAME COLUMN a TO x`", &[], rename("d.t", &[("a", "x")])),
        ("`RENAME COLUMN id TO x`", &[], rename("d.t", &[("id", "x")])),
        ("`DROP COLUMN a`", &[], drop("d.t", &["a"])),
        ("`DROP COLUMN b`", &[], drop("d.t", &["b"])),
        ("`DROP COLUMN id`", &[], drop("d.t", &["id"])),
        ("`ADD COLUMN b TEXT`, after `DROP COLUMN b`", &again, add_last("d.t", &["b STRING"])),
        ("`COMMENT = '…'`", &[], SchemaChange::AlterTableComment { table: id("d.t"), comment: Some("…".to_owned()) }),
        ("`TRUNCATE TABLE`", &[], SchemaChange::TruncateTable { table: id("d.t") }),
        ("`DROP TABLE`", &[], SchemaChange::DropTable { table: id("d.t") }),
    ];
    let mut text =
        "| the source | LENIENT | EVOLVE, TRY_EVOLVE | IGNORE | EXCEPTION |\n|---|---|---|---|---|\n".to_owned();
    for (statement, before, change) in rows {
        assert_eq!(cell(B::Evolve, before, &change), cell(B::TryEvolve, before, &change), "{statement}");
        let cells = [B::Lenient, B::Evolve, B::Ignore, B::Exception].map(|b| cell(b, before, &change));
        text.push_str(&format!("| {statement} | {} |\n", cells.join(" | ")));
    }
    text
}

#[test]
fn the_documented_table_is_what_the_behaviors_do() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema-evolution.md");
    let page = std::fs::read_to_string(path).unwrap();
    let table = rendered();
    assert!(page.contains(&table), "the page should have:\n{table}");
}
