//! The state of targets.

use super::support::*;
use crate::config::SchemaChangeBehavior as B;
use crate::pipeline::evolve::{EvolveError, Options, Targets};
use rowferry_model::{ColumnPosition, SchemaChange, SchemaChangeKind, TableSchema};
use std::sync::Arc;

fn with(behavior: B, routes: &[(&str, &Arc<TableSchema>, &[&str])]) -> Targets {
    let mut targets = Targets::new(options(behavior));
    for (source, schema, to) in routes {
        let to: Vec<_> = to.iter().map(|t| id(t)).collect();
        targets.register(&id(source), schema, &to);
    }
    targets
}

fn create_all(targets: &mut Targets, source: &str) -> Vec<String> {
    let planned = targets.create(&id(source)).unwrap();
    carry_out(targets, planned)
}

fn change(targets: &mut Targets, source: &str, change: &SchemaChange) -> Vec<String> {
    let planned = targets.plan(&id(source), change).unwrap();
    carry_out(targets, planned)
}

fn routed(targets: &mut Targets, source: &str, schema: &Arc<TableSchema>, row: &[&str]) -> Vec<String> {
    let out = targets.route(batch(source, schema, &[], &[row])).unwrap();
    out.iter().map(|batch| format!("{}: {}", batch.table(), rows(batch)[0])).collect()
}

#[test]
fn one_to_one_keeps_the_schema_and_the_columns_themselves() {
    let source = schema("id INT NOT NULL; v INT");
    let mut targets = with(B::Evolve, &[("a.t", &source, &["b.t"])]);
    assert_eq!(
        create_all(&mut targets, "a.t"),
        ["CreateTableEvent{tableId=b.t, schema=columns={`id` INT NOT NULL,`v` INT}, primaryKeys=id, options=()}"]
    );
    assert!(targets.create(&id("a.t")).unwrap().is_empty(), "once");
    let rows = batch("a.t", &source, &[], &[&["1", "2"]]);
    let column = rows.column(1).clone();
    let out = targets.route(rows).unwrap();
    assert_eq!(*out[0].table(), id("b.t"));
    assert!(Arc::ptr_eq(out[0].column(1), &column) && Arc::ptr_eq(out[0].schema(), &source));
    change(&mut targets, "a.t", &add_last("a.t", &["w INT"]));
    assert!(Arc::ptr_eq(targets.upstream(&id("a.t")).unwrap(), targets.evolved(&id("b.t")).unwrap()));
}

#[test]
fn a_change_that_is_known_is_redundant() {
    let source = schema("id INT NOT NULL; v INT");
    let mut targets = with(B::Evolve, &[("a.t", &source, &["a.t"])]);
    create_all(&mut targets, "a.t");
    let changes = [
        create("a.t", &source),
        add_last("a.t", &["w INT"]),
        alter("a.t", &source, &["v BIGINT"]),
        rename("a.t", &[("v", "x")]),
        drop("a.t", &["w"]),
    ];
    assert!(change(&mut targets, "a.t", &changes[0]).is_empty());
    for next in &changes[1..] {
        assert_eq!(change(&mut targets, "a.t", next).len(), 1);
        assert!(change(&mut targets, "a.t", next).is_empty(), "{next:?}");
    }
    let drop_table = SchemaChange::DropTable { table: id("a.t") };
    assert_eq!(change(&mut targets, "a.t", &drop_table), ["DropTableEvent{tableId=a.t}"]);
    assert!(change(&mut targets, "a.t", &drop_table).is_empty());
    assert!(change(&mut targets, "a.other", &drop_table).is_empty());
    assert!(matches!(targets.plan(&id("a.other"), &changes[1]), Err(EvolveError::UnknownTable(_))));
    let misfit = targets
        .plan(&id("a.t"), &create("a.t", &source))
        .and_then(|_| targets.plan(&id("a.t"), &alter("a.t", &source, &["nothing INT"])));
    assert!(matches!(misfit, Err(EvolveError::Upstream { .. })));
}

#[test]
fn several_tables_are_created_as_one_that_holds_them_all() {
    let s1 = schema("id INT NOT NULL; name VARCHAR(10); n INT NOT NULL");
    let s2 = schema("id BIGINT NOT NULL; name STRING; extra INT NOT NULL");
    let mut targets = with(B::Evolve, &[("a.s1", &s1, &["o.m"]), ("a.s2", &s2, &["o.m", "b.s2"])]);
    assert_eq!(
        create_all(&mut targets, "a.s2"),
        [
            "CreateTableEvent{tableId=o.m, schema=columns={`id` BIGINT NOT NULL,`name` STRING,`n` INT,`extra` INT}, \
             primaryKeys=id, options=()}",
            "CreateTableEvent{tableId=b.s2, schema=columns={`id` BIGINT NOT NULL,`name` STRING,`extra` INT NOT NULL}, \
             primaryKeys=id, options=()}",
        ]
    );
    assert!(create_all(&mut targets, "a.s1").is_empty());
    assert_eq!(routed(&mut targets, "a.s1", &s1, &["1", "x", "7"]), ["o.m: 1, x, 7, null"]);
    assert_eq!(routed(&mut targets, "a.s2", &s2, &["1", "x", "7"]), ["o.m: 1, x, null, 7", "b.s2: 1, x, 7"]);
    let merged: Vec<_> = targets.merged().map(|(target, sources)| (target.clone(), sources.to_vec())).collect();
    assert_eq!(merged, [(id("o.m"), vec![id("a.s1"), id("a.s2")])]);
}

#[test]
fn a_table_that_comes_later_widens_its_target() {
    let s1 = schema("id INT NOT NULL; v VARCHAR(10)");
    let s2 = schema("v VARCHAR(20); id INT NOT NULL; w INT NOT NULL");
    for (behavior, position) in
        [(B::Evolve, "AFTER, existedColumnName=v"), (B::Lenient, "LAST, existedColumnName=null")]
    {
        let mut targets = with(behavior, &[("a.s1", &s1, &["o.m"])]);
        create_all(&mut targets, "a.s1");
        targets.register(&id("a.s2"), &s2, &[id("o.m")]);
        assert_eq!(
            create_all(&mut targets, "a.s2"),
            [
                format!(
                    "AddColumnEvent{{tableId=o.m, addedColumns=[\
                     ColumnWithPosition{{column=`w` INT, position={position}}}]}}"
                ),
                "AlterColumnTypeEvent{tableId=o.m, typeMapping={v=STRING}, oldTypeMapping={v=VARCHAR(10)}, comments={}}"
                    .to_owned(),
            ]
        );
    }
    let mut targets = with(B::Exception, &[("a.s1", &s1, &["o.m"])]);
    create_all(&mut targets, "a.s1");
    targets.register(&id("a.s2"), &s2, &[id("o.m")]);
    assert!(matches!(targets.create(&id("a.s2")), Err(EvolveError::Exception { .. })));
}

#[test]
fn a_column_that_one_of_several_tables_drops_becomes_nullable() {
    let s = schema("id INT NOT NULL; v INT NOT NULL");
    let mut targets = with(B::Evolve, &[("a.s1", &s, &["o.m"]), ("a.s2", &s, &["o.m"])]);
    create_all(&mut targets, "a.s1");
    assert_eq!(
        change(&mut targets, "a.s1", &drop("a.s1", &["v"])),
        ["AlterColumnTypeEvent{tableId=o.m, typeMapping={v=INT}, oldTypeMapping={v=INT NOT NULL}, comments={}}"]
    );
    let now = targets.upstream(&id("a.s1")).unwrap().clone();
    assert_eq!(routed(&mut targets, "a.s1", &now, &["1"]), ["o.m: 1, null"]);
    for gone in [SchemaChange::TruncateTable { table: id("a.s1") }, SchemaChange::DropTable { table: id("a.s1") }] {
        assert!(change(&mut targets, "a.s1", &gone).is_empty());
    }
    // What is left is not taken for the only table: the target has rows of the other one.
    assert!(change(&mut targets, "a.s2", &SchemaChange::TruncateTable { table: id("a.s2") }).is_empty());
}

/// `28-drop-create-same-name`, where Flink CDC reads the new table's rows with the old one's columns.
#[test]
fn a_table_that_is_created_anew_brings_its_own_columns() {
    let old = schema("id INT NOT NULL; name VARCHAR(20); age SMALLINT");
    let new = schema("id INT NOT NULL; fresh INT");
    let mut targets = with(B::Evolve, &[("g.c", &old, &["g.c"])]);
    create_all(&mut targets, "g.c");
    let drop_table = SchemaChange::DropTable { table: id("g.c") };
    assert_eq!(change(&mut targets, "g.c", &drop_table), ["DropTableEvent{tableId=g.c}"]);
    assert!(matches!(targets.route(batch("g.c", &new, &[], &[&["1", "100"]])), Err(EvolveError::NotCreated { .. })));
    assert_eq!(
        change(&mut targets, "g.c", &create("g.c", &new)),
        ["CreateTableEvent{tableId=g.c, schema=columns={`id` INT NOT NULL,`fresh` INT}, primaryKeys=id, options=()}"]
    );
    assert!(targets.create(&id("g.c")).unwrap().is_empty());
    assert_eq!(routed(&mut targets, "g.c", &new, &["1", "100"]), ["g.c: 1, 100"]);

    // LENIENT keeps the table and its columns.
    let mut targets = with(B::Lenient, &[("g.c", &old, &["g.c"])]);
    create_all(&mut targets, "g.c");
    assert!(change(&mut targets, "g.c", &drop_table).is_empty());
    assert_eq!(
        change(&mut targets, "g.c", &create("g.c", &new)),
        ["AddColumnEvent{tableId=g.c, addedColumns=[\
          ColumnWithPosition{column=`fresh` INT, position=LAST, existedColumnName=null}]}"]
    );
    assert_eq!(routed(&mut targets, "g.c", &new, &["1", "100"]), ["g.c: 1, null, null, 100"]);
}

/// As `gh-ost` does: another table takes the name.
#[test]
fn a_table_that_another_one_replaces_evolves_by_the_difference() {
    let old = schema("id INT NOT NULL; v SMALLINT; w INT");
    let new = schema("id INT NOT NULL; fresh INT; v BIGINT");
    let mut targets = with(B::Evolve, &[("g.c", &old, &["g.c"])]);
    create_all(&mut targets, "g.c");
    assert_eq!(
        change(&mut targets, "g.c", &create("g.c", &new)),
        [
            "AddColumnEvent{tableId=g.c, addedColumns=[\
             ColumnWithPosition{column=`fresh` INT, position=AFTER, existedColumnName=id}]}",
            "AlterColumnTypeEvent{tableId=g.c, typeMapping={v=BIGINT}, oldTypeMapping={v=SMALLINT}, comments={}}",
            "DropColumnEvent{tableId=g.c, droppedColumnNames=[w]}",
        ]
    );
    assert_eq!(routed(&mut targets, "g.c", &new, &["1", "2", "3"]), ["g.c: 1, 2, 3"]);
    let mut other_key = new.as_ref().clone();
    other_key.primary_key = vec!["fresh".to_owned()];
    let error = targets.plan(&id("g.c"), &create("g.c", &Arc::new(other_key))).unwrap_err();
    assert!(matches!(error, EvolveError::KeyChanged { .. }), "{error}");
    // Renamed away for good.
    targets.forget(&id("g.c"));
    assert!(targets.saved().is_empty());
    assert!(matches!(targets.create(&id("g.c")), Err(EvolveError::UnknownTable(_))));
}

#[test]
fn what_the_lists_exclude_leaves_the_target_alone() {
    let source = schema("id INT NOT NULL; v INT NOT NULL; w INT");
    let options = Options { kinds: all_but(&[SchemaChangeKind::DropColumns]), ..options(B::Evolve) };
    let mut targets = Targets::new(options);
    targets.register(&id("a.t"), &source, &[id("a.t")]);
    create_all(&mut targets, "a.t");
    assert!(change(&mut targets, "a.t", &drop("a.t", &["w"])).is_empty());
    // A column that stays and is no longer filled can't be NOT NULL.
    assert_eq!(
        change(&mut targets, "a.t", &drop("a.t", &["v"])),
        ["AlterColumnTypeEvent{tableId=a.t, typeMapping={v=INT}, oldTypeMapping={v=INT NOT NULL}, comments={}}"]
    );
    let now = targets.upstream(&id("a.t")).unwrap().clone();
    assert_eq!(routed(&mut targets, "a.t", &now, &["1"]), ["a.t: 1, null, null"]);
    assert!(change(&mut targets, "a.t", &add("a.t", &[("w INT", ColumnPosition::First)])).is_empty());
}

#[test]
fn exception_stops_at_what_the_lists_leave() {
    let source = schema("id INT NOT NULL; v INT");
    let options = Options { kinds: all_but(&[SchemaChangeKind::DropColumns]), ..options(B::Exception) };
    let mut targets = Targets::new(options);
    targets.register(&id("a.t"), &source, &[id("a.t")]);
    assert_eq!(create_all(&mut targets, "a.t").len(), 1);
    assert!(change(&mut targets, "a.t", &drop("a.t", &["v"])).is_empty());
    let error = targets.plan(&id("a.t"), &add_last("a.t", &["w INT"])).unwrap_err();
    assert_eq!(error.to_string(), "a.t has changed (add.column `w` INT), and schema.change.behavior is EXCEPTION");
}

#[test]
fn what_the_sink_cannot_do_is_left_out_and_said() {
    let source = schema("id INT NOT NULL; v INT NOT NULL");
    let mut targets = with(B::TryEvolve, &[("a.t", &source, &["a.t"])]);
    create_all(&mut targets, "a.t");
    let planned = targets.plan(&id("a.t"), &add_last("a.t", &["w INT"])).unwrap();
    let mut rest = Vec::new();
    let words = targets.tolerated(&planned[0], &mut rest);
    assert_eq!((words.as_str(), rest.len()), ("a.t does not get `w`: the values are left out", 0));
    let now = targets.upstream(&id("a.t")).unwrap().clone();
    assert_eq!(routed(&mut targets, "a.t", &now, &["1", "2", "3"]), ["a.t: 1, 2"]);
    // What comes after it for the same target does not build on it.
    let new = schema("id INT NOT NULL; x INT; v BIGINT NOT NULL");
    let mut planned = targets.plan(&id("a.t"), &create("a.t", &new)).unwrap();
    assert_eq!(planned.len(), 2);
    let first = planned.remove(0);
    targets.tolerated(&first, &mut planned);
    assert_eq!(planned[0].after.as_deref(), Some(&*schema("id INT NOT NULL; v BIGINT NOT NULL")));
    // A column that stays is made nullable instead.
    carry_out(&mut targets, planned);
    let mut planned = targets.plan(&id("a.t"), &drop("a.t", &["v"])).unwrap();
    let first = planned.remove(0);
    assert_eq!(targets.tolerated(&first, &mut planned), "a.t keeps `v`: NULL from now on");
    assert_eq!(planned[0].after.as_deref(), Some(&*schema("id INT NOT NULL; v BIGINT")));
    carry_out(&mut targets, planned);
}

#[test]
fn what_is_saved_is_where_the_next_run_goes_on() {
    let source = schema("id INT NOT NULL; v INT NOT NULL");
    let mut targets = with(B::Lenient, &[("a.t", &source, &["b.t"])]);
    assert!(targets.saved().is_empty());
    create_all(&mut targets, "a.t");
    change(&mut targets, "a.t", &rename("a.t", &[("v", "w")]));
    let now = targets.upstream(&id("a.t")).unwrap().clone();
    let saved = serde_json::to_string(&targets.saved()).unwrap();
    let mut again = Targets::new(options(B::Lenient));
    again.restore(serde_json::from_str::<Vec<_>>(&saved).unwrap());
    again.register(&id("a.t"), &now, &[id("b.t")]);
    assert!(create_all(&mut again, "a.t").is_empty(), "it is there and has all columns");
    assert_eq!(routed(&mut again, "a.t", &now, &["1", "2"]), ["b.t: 1, null, 2"]);
    assert_eq!(serde_json::to_string(&again.saved()).unwrap(), saved);
    // Another behaviour from now on: what was NOT NULL and what differs is put right once.
    let wider = schema("id INT NOT NULL; w BIGINT NOT NULL; x INT");
    let mut other = with(B::Evolve, &[("a.t", &wider, &["b.t"])]);
    other.restore(serde_json::from_str::<Vec<_>>(&saved).unwrap());
    assert_eq!(create_all(&mut other, "a.t").len(), 2);
    assert_eq!(routed(&mut other, "a.t", &wider, &["1", "2", "3"]), ["b.t: 1, null, 2, 3"]);
}

#[test]
fn one_table_takes_its_target_up_again_with_its_own_types() {
    let saved = [(id("b.t"), schema("id INT NOT NULL; v VARCHAR(10)"))];
    let source = schema("id INT NOT NULL; v VARCHAR(20)");
    let mut targets = with(B::Evolve, &[("a.t", &source, &["b.t"])]);
    targets.restore(saved);
    assert_eq!(
        create_all(&mut targets, "a.t"),
        ["AlterColumnTypeEvent{tableId=b.t, typeMapping={v=VARCHAR(20)}, oldTypeMapping={v=VARCHAR(10)}, comments={}}"]
    );
}

#[test]
fn tables_that_are_not_to_be_created_are_known_all_the_same() {
    let source = schema("id INT NOT NULL; v INT");
    let skip = Options { skip_create_table: true, ..options(B::Evolve) };
    let exclude = Options { kinds: all_but(&[SchemaChangeKind::CreateTable]), ..options(B::Evolve) };
    for options in [skip, exclude] {
        let mut targets = Targets::new(options);
        targets.register(&id("a.t"), &source, &[id("a.t")]);
        assert!(create_all(&mut targets, "a.t").is_empty());
        assert_eq!(routed(&mut targets, "a.t", &source, &["1", "2"]), ["a.t: 1, 2"]);
        assert_eq!(change(&mut targets, "a.t", &add_last("a.t", &["w INT"])).len(), 1);
    }
}

/// `27a`, where Flink CDC reads shifted columns: MySQL moves a column, of which no change tells.
#[test]
fn a_column_that_moves_keeps_its_name_and_its_place_in_the_target() {
    let source = schema("id INT NOT NULL; name VARCHAR(20); age SMALLINT; note STRING");
    let mut targets = with(B::Evolve, &[("g.c", &source, &["g.c"])]);
    create_all(&mut targets, "g.c");
    change(&mut targets, "g.c", &alter("g.c", &source, &["name VARCHAR(50)"]));
    let moved = schema("id INT NOT NULL; age SMALLINT; note STRING; name VARCHAR(50)");
    targets.set_upstream(&id("g.c"), &moved);
    assert_eq!(routed(&mut targets, "g.c", &moved, &["3", "7", "nt", "moved"]), ["g.c: 3, moved, 7, nt"]);
    assert_eq!(change(&mut targets, "g.c", &add("g.c", &[("x INT", ColumnPosition::After("id".to_owned()))])).len(), 1);
    let now = targets.upstream(&id("g.c")).unwrap().clone();
    assert_eq!(routed(&mut targets, "g.c", &now, &["3", "9", "7", "nt", "moved"]), ["g.c: 3, 9, moved, 7, nt"]);
}

#[test]
fn two_rules_to_one_target_give_the_rows_twice_and_the_changes_once() {
    let source = schema("id INT NOT NULL; v INT");
    let mut targets = with(B::Evolve, &[("a.t", &source, &["b.t", "b.t"])]);
    assert_eq!(create_all(&mut targets, "a.t").len(), 1);
    assert_eq!(routed(&mut targets, "a.t", &source, &["1", "2"]), ["b.t: 1, 2", "b.t: 1, 2"]);
    assert_eq!(change(&mut targets, "a.t", &add_last("a.t", &["w INT"])).len(), 1);
}
