//! What holds for any tables and any changes.

use super::support::*;
use crate::config::SchemaChangeBehavior as B;
use crate::pipeline::evolve::behavior::rewrite;
use crate::pipeline::evolve::lattice::{Widening, difference, least_common_type, merge};
use crate::pipeline::evolve::{Coercion, EvolveError, Options, Targets};
use proptest::collection::vec;
use proptest::prelude::*;
use rowferry_model::{
    AddedColumn, AlteredColumn, ChangeBatch, Changes, Column, ColumnPosition, DataType, SchemaChange, TableSchema,
};
use std::collections::BTreeSet;
use std::sync::Arc;

const TYPES: [DataType; 20] = [
    DataType::Boolean,
    DataType::TinyInt,
    DataType::SmallInt,
    DataType::Int,
    DataType::BigInt,
    DataType::Float,
    DataType::Double,
    DataType::Decimal { precision: 10, scale: 2 },
    DataType::Decimal { precision: 38, scale: 10 },
    DataType::Char(3),
    DataType::Varchar(5),
    DataType::Varchar(20),
    DataType::String,
    DataType::Binary(2),
    DataType::Bytes,
    DataType::Date,
    DataType::Time(0),
    DataType::Timestamp(0),
    DataType::Timestamp(6),
    DataType::TimestampLtz(3),
];

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn any_type() -> impl Strategy<Value = DataType> {
    proptest::sample::select(TYPES.to_vec())
}

fn any_column() -> impl Strategy<Value = Column> {
    (proptest::sample::select(NAMES.to_vec()), any_type(), any::<bool>())
        .prop_map(|(name, of, nullable)| Column { nullable, ..Column::new(name, of) })
}

/// A table with the key `id` and some other columns.
fn any_schema() -> impl Strategy<Value = Arc<TableSchema>> {
    vec(any_column(), 0..5).prop_map(|columns| {
        let mut seen = BTreeSet::new();
        let mut all = vec![Column::new("id", DataType::Int).not_null()];
        all.extend(columns.into_iter().filter(|c| seen.insert(c.name.clone())));
        Arc::new(TableSchema { columns: all, primary_key: vec!["id".to_owned()], ..TableSchema::default() })
    })
}

/// What may happen to a table, its key aside; made to fit it when it happens.
#[derive(Clone, Debug)]
enum Wish {
    Add(Column, usize),
    Alter(usize, DataType, bool),
    Rename(usize, &'static str),
    Swap(usize, usize),
    Drop(usize),
    Anew(Arc<TableSchema>),
    DropTable,
}

fn any_wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        3 => (any_column(), 0_usize..9).prop_map(|(c, at)| Wish::Add(c, at)),
        3 => (1_usize..9, any_type(), any::<bool>()).prop_map(|(i, t, n)| Wish::Alter(i, t, n)),
        3 => (1_usize..9, proptest::sample::select(NAMES.to_vec())).prop_map(|(i, n)| Wish::Rename(i, n)),
        1 => (1_usize..9, 1_usize..9).prop_map(|(i, j)| Wish::Swap(i, j)),
        3 => (1_usize..9).prop_map(Wish::Drop),
        1 => any_schema().prop_map(Wish::Anew),
        1 => Just(Wish::DropTable),
    ]
}

fn change(wish: &Wish, schema: &TableSchema) -> Option<SchemaChange> {
    let table = id("d.t");
    let name = |i: usize| schema.columns.get(i).map(|c| c.name.clone());
    let not_key = |i: usize| name(i).filter(|name| !schema.primary_key.contains(name));
    Some(match wish {
        Wish::Add(column, at) => {
            if schema.column(&column.name).is_some() {
                return None;
            }
            let position = match (at, name(*at)) {
                (0, _) => ColumnPosition::First,
                (n, Some(other)) if n % 2 == 0 => ColumnPosition::After(other),
                (_, Some(other)) => ColumnPosition::Before(other),
                (_, None) => ColumnPosition::Last,
            };
            SchemaChange::AddColumns { table, columns: vec![AddedColumn { column: column.clone(), position }] }
        }
        Wish::Alter(i, data_type, nullable) => {
            not_key(*i)?;
            let old = schema.columns.get(*i)?;
            let old_type = Some((old.data_type, old.nullable));
            let altered = AlteredColumn {
                name: old.name.clone(),
                data_type: *data_type,
                nullable: *nullable,
                old: old_type,
                comment: None,
            };
            SchemaChange::AlterColumns { table, columns: vec![altered] }
        }
        Wish::Rename(i, new) if schema.column(new).is_none() => {
            SchemaChange::RenameColumns { table, names: vec![(not_key(*i)?, (*new).to_owned())] }
        }
        Wish::Rename(..) => return None,
        Wish::Swap(i, j) if i != j => {
            let (a, b) = (not_key(*i)?, not_key(*j)?);
            SchemaChange::RenameColumns { table, names: vec![(a.clone(), b.clone()), (b, a)] }
        }
        Wish::Swap(..) => return None,
        Wish::Drop(i) => SchemaChange::DropColumns { table, names: vec![not_key(*i)?] },
        Wish::Anew(schema) => SchemaChange::CreateTable { table, schema: schema.clone() },
        Wish::DropTable => SchemaChange::DropTable { table },
    })
}

/// One row of a table: small values that every wider type holds.
fn row(table: &str, schema: &Arc<TableSchema>) -> ChangeBatch {
    let columns = schema.columns.iter().map(|column| {
        let value = match column.data_type {
            DataType::Boolean => "true",
            DataType::Date | DataType::Timestamp(_) | DataType::TimestampLtz(_) => "2024-01-01",
            DataType::Time(_) => "1000000",
            _ => "1",
        };
        array(column.data_type, &[value])
    });
    let columns = arrow_array::RecordBatch::try_new(schema.arrow(), columns.collect()).unwrap();
    ChangeBatch::new(id(table), schema.clone(), Changes::Inserts(1), columns).unwrap()
}

/// The columns by name.
fn types(schema: &TableSchema) -> std::collections::BTreeMap<&str, DataType> {
    schema.columns.iter().map(|column| (column.name.as_str(), column.data_type)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn common_types_do_not_depend_on_the_order_and_come_to_rest(a in any_type(), b in any_type()) {
        let common = least_common_type(a, b);
        prop_assert_eq!(common, least_common_type(b, a));
        prop_assert_eq!(common, least_common_type(common, a));
        prop_assert_eq!(common, least_common_type(common, b));
    }

    #[test]
    fn merging_is_the_same_twice_and_types_do_not_depend_on_the_order(a in any_schema(), b in any_schema()) {
        let ab = merge(&a, &b, Widening::Merge);
        prop_assert_eq!(&merge(&ab, &b, Widening::Merge), &ab);
        prop_assert_eq!(&merge(&ab, &a, Widening::Merge), &ab);
        let ba = merge(&b, &a, Widening::Merge);
        for column in &ab.columns {
            let other = ba.column(&column.name).unwrap();
            prop_assert_eq!((column.data_type, column.nullable), (other.data_type, other.nullable));
        }
        for source in [&a, &b] {
            Coercion::new(source, &Arc::new(ab.clone()), utc()).apply(row("d.t", source)).unwrap();
        }
    }

    #[test]
    fn a_difference_leads_from_one_to_the_other(before in any_schema(), after in any_schema()) {
        for after in [merge(&before, &after, Widening::Merge), after.as_ref().clone()] {
            let mut schema = before.as_ref().clone();
            for change in difference(&id("d.t"), Some(&before), &after) {
                schema = schema.apply(&change).unwrap().unwrap();
            }
            let mut expected = after.columns.clone();
            // Columns that both have keep their order.
            expected.sort_by_key(|column| schema.columns.iter().position(|c| c.name == column.name));
            prop_assert_eq!(&schema.columns, &expected);
            prop_assert!(difference(&id("d.t"), Some(&schema), &after).is_empty());
        }
    }

    #[test]
    fn a_rewritten_change_always_fits(evolved in any_schema(), source in any_schema(), wish in any_wish()) {
        for behavior in [B::Ignore, B::Lenient, B::Evolve] {
            if let Some(change) = change(&wish, &source) {
                let mut schema = Some(evolved.as_ref().clone());
                for change in rewrite(behavior, &change, &evolved).unwrap() {
                    schema = schema.unwrap().apply(&change).unwrap();
                }
            }
        }
    }

    #[test]
    fn after_any_changes_rows_fit_a_target_that_follows(start in any_schema(), wishes in vec(any_wish(), 1..12)) {
        for behavior in [B::Lenient, B::Evolve, B::TryEvolve] {
            let table = id("d.t");
            let mut targets = Targets::new(options(behavior));
            targets.register(&table, &start, std::slice::from_ref(&table));
            let planned = targets.create(&table).unwrap();
            carry_out(&mut targets, planned);
            for wish in &wishes {
                let current = targets.upstream(&table).cloned();
                let change = match (&current, wish) {
                    (Some(schema), wish) => change(wish, schema),
                    // Dropped: only another one can follow.
                    (None, Wish::Anew(schema)) => Some(SchemaChange::CreateTable { table: table.clone(), schema: schema.clone() }),
                    (None, _) => None,
                };
                let Some(change) = change else { continue };
                let planned = targets.plan(&table, &change).unwrap();
                carry_out(&mut targets, planned);
                let Some(schema) = targets.upstream(&table).cloned() else { continue };
                match targets.route(row("d.t", &schema)) {
                    Ok(out) => {
                        let evolved = targets.evolved(&table).unwrap();
                        for column in &schema.columns {
                            prop_assert!(evolved.column(&column.name).is_some(), "{}", column.name);
                        }
                        if behavior != B::Lenient {
                            // A table that is created anew may have its columns in another order.
                            prop_assert_eq!(types(out[0].schema()), types(&schema));
                            prop_assert_eq!(types(evolved), types(&schema));
                        }
                    }
                    Err(error) => prop_assert!(false, "{:?}: {error}", change),
                }
            }
        }
    }

    #[test]
    fn after_any_changes_rows_of_several_tables_fit_their_one_target(
        starts in vec(any_schema(), 2..4),
        wishes in vec((0_usize..4, any_wish()), 1..12),
    ) {
        for behavior in [B::Lenient, B::Evolve] {
            let tables: Vec<_> = (0..starts.len()).map(|n| format!("d.s{n}")).collect();
            let mut targets = Targets::new(options(behavior));
            for (table, schema) in tables.iter().zip(&starts) {
                targets.register(&id(table), schema, &[id("o.m")]);
            }
            for table in &tables {
                let planned = targets.create(&id(table)).unwrap();
                carry_out(&mut targets, planned);
            }
            for (which, wish) in &wishes {
                let table = &tables[which % tables.len()];
                let Some(schema) = targets.upstream(&id(table)).cloned() else { continue };
                let Some(change) = change(wish, &schema) else { continue };
                let planned = targets.plan(&id(table), &change.with_table(id(table))).unwrap();
                carry_out(&mut targets, planned);
                for table in &tables {
                    let Some(schema) = targets.upstream(&id(table)).cloned() else { continue };
                    let out = targets.route(row(table, &schema)).unwrap();
                    let evolved = targets.evolved(&id("o.m")).unwrap();
                    prop_assert_eq!(types(out[0].schema()), types(evolved));
                }
            }
        }
    }

    #[test]
    fn whatever_is_left_out_rows_fit_or_the_error_names_them(
        start in any_schema(),
        wishes in vec(any_wish(), 1..8),
        excluded in proptest::sample::subsequence(ALL.to_vec(), 0..ALL.len()),
        lenient in any::<bool>(),
        tolerant in any::<bool>(),
    ) {
        let table = id("d.t");
        let behavior = if lenient { B::Lenient } else { B::TryEvolve };
        let mut targets = Targets::new(Options { kinds: all_but(&excluded), ..options(behavior) });
        targets.register(&table, &start, std::slice::from_ref(&table));
        let planned = targets.create(&table).unwrap();
        carry_out(&mut targets, planned);
        for (n, wish) in wishes.iter().enumerate() {
            let Some(schema) = targets.upstream(&table).cloned() else { break };
            let Some(change) = change(wish, &schema) else { continue };
            let mut planned = targets.plan(&table, &change).unwrap();
            while !planned.is_empty() {
                let next = planned.remove(0);
                // A sink that can't make every second change.
                if tolerant && n % 2 == 0 && !matches!(next.change, SchemaChange::CreateTable { .. }) {
                    targets.tolerated(&next, &mut planned);
                } else {
                    targets.applied(&next);
                }
            }
            let Some(schema) = targets.upstream(&table).cloned() else { break };
            match targets.route(row("d.t", &schema)) {
                Ok(out) => {
                    let evolved = targets.evolved(&table).unwrap();
                    prop_assert_eq!(types(out[0].schema()), types(evolved));
                }
                Err(EvolveError::Value { place, .. } | EvolveError::Null { place, .. }) => {
                    prop_assert_eq!(&place.key, "id=1");
                }
                Err(error) => prop_assert!(false, "{error}"),
            }
        }
    }

    #[test]
    fn where_changes_are_ignored_rows_fit_or_the_error_names_them(start in any_schema(), wishes in vec(any_wish(), 1..6)) {
        let table = id("d.t");
        let mut targets = Targets::new(options(B::Ignore));
        targets.register(&table, &start, std::slice::from_ref(&table));
        let planned = targets.create(&table).unwrap();
        carry_out(&mut targets, planned);
        for wish in &wishes {
            let Some(schema) = targets.upstream(&table).cloned() else { break };
            let Some(change) = change(wish, &schema) else { continue };
            prop_assert!(targets.plan(&table, &change).unwrap().is_empty());
            prop_assert_eq!(targets.evolved(&table).unwrap(), &start);
            let Some(schema) = targets.upstream(&table).cloned() else { break };
            match targets.route(row("d.t", &schema)) {
                Ok(out) => prop_assert_eq!(out[0].schema().columns.len(), start.columns.len()),
                Err(EvolveError::Value { place, .. } | EvolveError::Null { place, .. }) => {
                    prop_assert_eq!(&place.key, "id=1");
                }
                Err(error) => prop_assert!(false, "{error}"),
            }
        }
    }
}
