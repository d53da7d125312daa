//! What each behaviour makes of each change.

use super::support::*;
use crate::config::SchemaChangeBehavior as B;
use crate::pipeline::evolve::EvolveError;
use crate::pipeline::evolve::behavior::rewrite;
use rowferry_model::{Column, ColumnPosition, SchemaChange, TableSchema};

fn lines(behavior: B, change: &SchemaChange, evolved: &TableSchema) -> Vec<String> {
    let changes = rewrite(behavior, change, evolved).unwrap();
    let mut schema = Some(evolved.clone());
    for change in &changes {
        schema = schema.unwrap().apply(change).unwrap();
    }
    changes.iter().map(line).collect()
}

#[test]
fn ignore_passes_nothing_but_the_creation() {
    let evolved = schema("id INT NOT NULL; a INT");
    for change in [
        add_last("d.t", &["b INT"]),
        alter("d.t", &evolved, &["a BIGINT"]),
        rename("d.t", &[("a", "b")]),
        drop("d.t", &["a"]),
        SchemaChange::DropTable { table: id("d.t") },
        SchemaChange::TruncateTable { table: id("d.t") },
        SchemaChange::AlterTableComment { table: id("d.t"), comment: None },
    ] {
        assert_eq!(rewrite(B::Ignore, &change, &evolved).unwrap(), [], "{change:?}");
    }
    let change = create("d.t", &evolved);
    assert_eq!(rewrite(B::Ignore, &change, &evolved).unwrap(), [change]);
}

#[test]
fn evolve_and_its_likes_pass_everything_as_it_is() {
    let evolved = schema("id INT NOT NULL; a INT; b BIGINT");
    for behavior in [B::Evolve, B::TryEvolve, B::Exception] {
        for change in [
            add("d.t", &[("c INT NOT NULL", ColumnPosition::After("id".to_owned())), ("f INT", ColumnPosition::First)]),
            alter("d.t", &evolved, &["b INT NOT NULL"]),
            rename("d.t", &[("a", "b"), ("b", "a")]),
            rename("d.t", &[("a", "A")]),
            drop("d.t", &["a"]),
            drop("d.t", &["id"]),
            SchemaChange::DropTable { table: id("d.t") },
            SchemaChange::TruncateTable { table: id("d.t") },
            SchemaChange::AlterTableComment { table: id("d.t"), comment: Some("c".to_owned()) },
        ] {
            assert_eq!(rewrite(behavior, &change, &evolved).unwrap(), [change]);
        }
    }
}

#[test]
fn lenient_adds_nullable_columns_at_the_end_with_comment_and_default() {
    let evolved = schema("id INT NOT NULL; a INT");
    let mut change = add("d.t", &[("b VARCHAR(17) NOT NULL DEFAULT dd", ColumnPosition::First)]);
    let SchemaChange::AddColumns { columns, .. } = &mut change else { unreachable!() };
    columns[0].column.comment = Some("about b".to_owned());
    let out = rewrite(B::Lenient, &change, &evolved).unwrap();
    let [SchemaChange::AddColumns { columns, .. }] = out.as_slice() else { panic!("{out:?}") };
    let expected = Column { comment: Some("about b".to_owned()), ..column("b VARCHAR(17) DEFAULT dd") };
    assert_eq!((&columns[0].column, &columns[0].position), (&expected, &ColumnPosition::Last));
}

#[test]
fn lenient_keeps_renamed_columns_beside_new_ones() {
    let evolved = schema("id INT NOT NULL; a INT NOT NULL DEFAULT 7; b INT");
    assert_eq!(
        lines(B::Lenient, &rename("d.t", &[("a", "x"), ("b", "y")]), &evolved),
        [
            "AddColumnEvent{tableId=d.t, addedColumns=[\
             ColumnWithPosition{column=`x` INT '7', position=LAST, existedColumnName=null}, \
             ColumnWithPosition{column=`y` INT, position=LAST, existedColumnName=null}]}",
            "AlterColumnTypeEvent{tableId=d.t, typeMapping={a=INT}, oldTypeMapping={a=INT NOT NULL}, comments={}}",
        ]
    );
    // Only the spelling changes: the column is found without regard to case.
    assert!(lines(B::Lenient, &rename("d.t", &[("a", "A")]), &evolved).is_empty());
    // The addition of the column was left out, so is that of its new name.
    assert!(lines(B::Lenient, &rename("d.t", &[("z", "y")]), &evolved).is_empty());
}

#[test]
fn lenient_renames_back_and_in_circles_without_double_columns() {
    let evolved = schema("id INT NOT NULL; a INT NOT NULL; b VARCHAR(3); c BIGINT");
    // `c` holds what `a` holds.
    assert_eq!(
        lines(B::Lenient, &rename("d.t", &[("a", "c")]), &evolved),
        ["AlterColumnTypeEvent{tableId=d.t, typeMapping={a=INT}, oldTypeMapping={a=INT NOT NULL}, comments={}}"]
    );
    // Both go on, with the values of the other one.
    assert_eq!(
        lines(B::Lenient, &rename("d.t", &[("a", "b"), ("b", "a")]), &evolved),
        ["AlterColumnTypeEvent{tableId=d.t, typeMapping={b=STRING, a=STRING}, \
          oldTypeMapping={b=VARCHAR(3), a=INT NOT NULL}, comments={}}"]
    );
}

#[test]
fn lenient_renames_key_columns_for_good_and_refuses_to_drop_them() {
    let evolved = schema("id INT NOT NULL; a INT");
    assert_eq!(
        lines(B::Lenient, &rename("d.t", &[("id", "key"), ("a", "b")]), &evolved),
        [
            "RenameColumnEvent{tableId=d.t, nameMapping={id=key}}",
            "AddColumnEvent{tableId=d.t, addedColumns=[\
             ColumnWithPosition{column=`b` INT, position=LAST, existedColumnName=null}]}",
        ]
    );
    let error = rewrite(B::Lenient, &drop("d.t", &["id"]), &evolved).unwrap_err();
    assert!(matches!(&error, EvolveError::KeyColumn { column, .. } if column == "id"), "{error}");
    let error = rewrite(B::Lenient, &rename("d.t", &[("id", "a")]), &evolved).unwrap_err();
    assert!(matches!(&error, EvolveError::KeyColumn { column, .. } if column == "id"), "{error}");
}

#[test]
fn lenient_keeps_dropped_columns_and_takes_them_up_again() {
    let evolved = schema("id INT NOT NULL; a INT NOT NULL; b INT");
    assert_eq!(
        lines(B::Lenient, &drop("d.t", &["a", "b"]), &evolved),
        ["AlterColumnTypeEvent{tableId=d.t, typeMapping={a=INT}, oldTypeMapping={a=INT NOT NULL}, comments={}}"]
    );
    let evolved = schema("id INT NOT NULL; a INT; b INT");
    for (again, change) in
        [("a INT NOT NULL", None), ("a SMALLINT", None), ("a BIGINT", Some("BIGINT")), ("a VARCHAR(9)", Some("STRING"))]
    {
        let expected: Vec<String> = change
            .iter()
            .map(|to| {
                format!("AlterColumnTypeEvent{{tableId=d.t, typeMapping={{a={to}}}, oldTypeMapping={{a=INT}}, comments={{}}}}")
            })
            .collect();
        for behavior in [B::Lenient, B::Evolve] {
            assert_eq!(lines(behavior, &add_last("d.t", &[again]), &evolved), expected, "{again}");
        }
    }
}

#[test]
fn lenient_passes_other_types_but_does_not_narrow() {
    let evolved = schema("id INT NOT NULL; a BIGINT; d DECIMAL(8, 2); v VARCHAR(9); n INT");
    for (new, to) in [
        ("a INT", None),
        ("v VARCHAR(5)", None),
        ("v VARCHAR(5) NOT NULL", Some("v=VARCHAR(9) NOT NULL")),
        ("v VARCHAR(20)", Some("v=VARCHAR(20)")),
        ("n VARCHAR(20)", Some("n=VARCHAR(20)")),
        ("d DECIMAL(8, 4)", Some("d=DECIMAL(8, 4)")),
        ("d DECIMAL(6, 2)", None),
    ] {
        let lines = lines(B::Lenient, &alter("d.t", &evolved, &[new]), &evolved);
        match to {
            None => assert!(lines.is_empty(), "{new}: {lines:?}"),
            Some(to) => {
                assert!(lines.len() == 1 && lines[0].contains(&format!("typeMapping={{{to}}}, old")), "{lines:?}")
            }
        }
    }
    // It is NOT NULL at the source as before, and nullable in the target because older rows lack it.
    let source = schema("id INT NOT NULL; v VARCHAR(9) NOT NULL");
    let lines = lines(B::Lenient, &alter("d.t", &source, &["v VARCHAR(20) NOT NULL"]), &evolved);
    assert!(lines[0].contains("typeMapping={v=VARCHAR(20)}, oldTypeMapping={v=VARCHAR(9)}"), "{lines:?}");
}

#[test]
fn what_the_target_lacks_or_keeps_by_its_lists_is_left_out() {
    // The addition of `x` and the dropping of `old` were left out.
    let evolved = schema("id INT NOT NULL; a INT NOT NULL; old BIGINT");
    assert!(lines(B::Evolve, &drop("d.t", &["x"]), &evolved).is_empty());
    assert!(lines(B::Evolve, &alter("d.t", &evolved, &["x BIGINT"]), &evolved).is_empty());
    assert!(lines(B::Evolve, &rename("d.t", &[("x", "y")]), &evolved).is_empty());
    let added = lines(B::Evolve, &add("d.t", &[("b INT", ColumnPosition::After("x".to_owned()))]), &evolved);
    assert!(added[0].contains("`b` INT, position=LAST"), "{added:?}");
    // The new name is taken.
    assert_eq!(
        lines(B::Evolve, &rename("d.t", &[("a", "old")]), &evolved),
        ["AlterColumnTypeEvent{tableId=d.t, typeMapping={a=INT}, oldTypeMapping={a=INT NOT NULL}, comments={}}"]
    );
}
