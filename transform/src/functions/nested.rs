//! Arrays, maps and rows. They live inside an expression; projected, they become JSON text.

use super::{Call, call_node, json};
use crate::bind::{coerce, comparison_node};
use crate::column::{Col, build, build_bool};
use crate::error::Fault;
use crate::kernel::Comparison;
use crate::node::{Context, Failure, Input, Kernel, Kind, Node, evaluate};
use crate::rule::{NullComparisons, TransformOptions};
use crate::types::{BOOL, INT, Type, common};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, ListArray, StructArray, UInt32Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType as ArrowType, Field};
use std::sync::Arc;

fn wrong_call() -> Failure {
    Failure::new("a function was bound with another number of arguments")
}

fn common_of(values: &[Arc<Node>], options: &TransformOptions) -> Result<Type, Fault> {
    values.iter().try_fold(Type::Null, |ty, value| {
        common(&ty, &value.ty, options.decimal_precision)
            .ok_or_else(|| Fault::new(format!("the values have types that don't fit: {ty} and {}", value.ty)))
    })
}

fn coerced(values: &[Arc<Node>], ty: &Type, options: &TransformOptions) -> Result<Vec<Arc<Node>>, Fault> {
    let coerced = values.iter().map(|value| coerce(value, ty, options)).collect::<Option<Vec<_>>>();
    coerced.ok_or_else(|| Fault::new(format!("a value can't be made {ty}")))
}

/// The values of several columns of `rows` rows, row by row.
fn interleaved(columns: &[Col], rows: usize) -> Result<ArrayRef, Failure> {
    let spread = columns.iter().map(|column| column.spread(rows)).collect::<Result<Vec<_>, _>>()?;
    let arrays: Vec<&dyn Array> = spread.iter().map(AsRef::as_ref).collect();
    let indices: Vec<(usize, usize)> =
        (0..rows).flat_map(|row| (0..arrays.len()).map(move |column| (column, row))).collect();
    Ok(arrow_select::interleave::interleave(&arrays, &indices)?)
}

fn list(item: ArrowType, per_row: usize, rows: usize, values: ArrayRef) -> Result<ArrayRef, Failure> {
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(per_row, rows));
    Ok(Arc::new(ListArray::try_new(Arc::new(Field::new("item", item, true)), offsets, values, None)?))
}

/// `ARRAY[…]`.
pub(crate) fn array_node(values: &[Arc<Node>], options: &TransformOptions) -> Result<Node, Fault> {
    let item = common_of(values, options)?;
    if matches!(item, Type::Null) {
        return Err(Fault::new("an array needs a value that tells its type").hint("write CAST(NULL AS …)"));
    }
    let args = coerced(values, &item, options)?;
    let arrow = item.arrow();
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        list(arrow.clone(), args.len(), rows, interleaved(args, rows)?)
    });
    Ok(call_node(Type::Array(Box::new(item)), args, kernel, options))
}

/// `MAP[key, value, …]`.
pub(crate) fn map_node(values: &[Arc<Node>], options: &TransformOptions) -> Result<Node, Fault> {
    if values.is_empty() || !values.len().is_multiple_of(2) {
        return Err(Fault::new("a map needs pairs of keys and values"));
    }
    let keys: Vec<Arc<Node>> = values.iter().step_by(2).cloned().collect();
    let items: Vec<Arc<Node>> = values.iter().skip(1).step_by(2).cloned().collect();
    let (key, item) = (common_of(&keys, options)?, common_of(&items, options)?);
    let pairs = coerced(&keys, &key, options)?.into_iter().chain(coerced(&items, &item, options)?).collect();
    let ty = Type::Map(Box::new(key), Box::new(item));
    let entry = match ty.arrow() {
        ArrowType::List(field) => field.data_type().clone(),
        other => other,
    };
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let (keys, items) = args.split_at_checked(args.len() / 2).ok_or_else(wrong_call)?;
        let ArrowType::Struct(fields) = &entry else { return Err(wrong_call()) };
        let columns = vec![interleaved(keys, rows)?, interleaved(items, rows)?];
        let entries = StructArray::try_new(fields.clone(), columns, None)?;
        list(entry.clone(), keys.len(), rows, Arc::new(entries))
    });
    Ok(call_node(ty, pairs, kernel, options))
}

pub(super) fn map(call: Call<'_>) -> Result<Node, Fault> {
    map_node(&call.args, call.options)
}

/// `ROW(…)`.
pub(crate) fn row_node(values: &[Arc<Node>], options: &TransformOptions) -> Result<Node, Fault> {
    let ty = Type::Row(values.iter().map(|value| value.ty.clone()).collect());
    let arrow = ty.arrow();
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let ArrowType::Struct(fields) = &arrow else { return Err(wrong_call()) };
        let columns = args.iter().map(|arg| arg.spread(rows)).collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(StructArray::try_new(fields.clone(), columns, None)?))
    });
    Ok(call_node(ty, values.to_vec(), kernel, options))
}

pub(super) fn row(call: Call<'_>) -> Result<Node, Fault> {
    row_node(&call.args, call.options)
}

/// The elements of a row's list: where they begin and how many there are.
fn elements(list: &ListArray, row: usize) -> Option<(usize, usize)> {
    if list.is_null(row) {
        return None;
    }
    let offsets = list.value_offsets();
    let (from, to) = (usize::try_from(*offsets.get(row)?).ok()?, usize::try_from(*offsets.get(row + 1)?).ok()?);
    Some((from, to - from))
}

fn list_of(column: &Col) -> Result<&ListArray, Failure> {
    column.array.as_list_opt::<i32>().ok_or_else(wrong_call)
}

fn at(column: &Col, row: usize) -> usize {
    if column.scalar { 0 } else { row }
}

/// `x[i]`: an element of an array (counted from 1), the value of a map's key, a member of a variant.
pub(crate) fn subscript_node(value: Arc<Node>, key: Arc<Node>, options: &TransformOptions) -> Result<Node, Fault> {
    let call = Call { name: "[ ]", args: vec![Arc::clone(&value), Arc::clone(&key)], options };
    match &value.ty {
        Type::Variant => {
            let key = if key.ty.is_text() { call.text(1)? } else { call.long(1)? };
            Ok(json::variant_item(value, key, &call))
        }
        Type::Array(item) => {
            let item = item.as_ref().clone();
            let args = vec![Arc::clone(&value), call.long(1)?];
            let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, _: &Context| {
                let [a, index] = args else { return Err(wrong_call()) };
                let (list, indices) = (list_of(a)?, index.longs()?);
                let places: UInt32Array = (0..rows)
                    .map(|row| {
                        let (from, count) = elements(list, at(a, row))?;
                        let index = usize::try_from(indices.get(row)?).ok().filter(|i| (1..=count).contains(i))?;
                        u32::try_from(from + index - 1).ok()
                    })
                    .collect();
                Ok(arrow_select::take::take(list.values().as_ref(), &places, None)?)
            });
            Ok(call.node(item, args, kernel))
        }
        Type::Map(key_type, item) => {
            let wanted = coerce(&key, key_type, options)
                .ok_or_else(|| Fault::new(format!("the map's keys are {key_type}, not {}", key.ty)))?;
            let find = finder(key_type, options)?;
            let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
                let [a, key] = args else { return Err(wrong_call()) };
                let list = list_of(a)?;
                let entries = list.values().as_struct_opt().ok_or_else(wrong_call)?;
                let found = find(list, entries.column(0), a.scalar, key, rows, context)?;
                let places: UInt32Array =
                    found.into_iter().map(|place| place.and_then(|p| u32::try_from(p.at).ok())).collect();
                Ok(arrow_select::take::take(entries.column(1).as_ref(), &places, None)?)
            });
            Ok(call.node(item.as_ref().clone(), vec![Arc::clone(&value), wanted], kernel))
        }
        other => Err(Fault::new(format!("{other} has no elements"))),
    }
}

/// Where the first equal element of a row's list is.
#[derive(Clone, Copy)]
struct Found {
    /// Among all elements of the column.
    at: usize,
    /// In the row's list, from 1.
    place: i32,
}

type Finder = Box<
    dyn Fn(&ListArray, &ArrayRef, bool, &Col, usize, &Context) -> Result<Vec<Option<Found>>, Failure> + Send + Sync,
>;

/// Looks for a value among the elements of each row's list, by the comparison of the element type.
fn finder(item: &Type, options: &TransformOptions) -> Result<Finder, Fault> {
    let column = |index: usize| {
        Arc::new(Node { ty: item.clone(), nullable: true, kind: Kind::Column(index), volatile: false, careful: false })
    };
    let sql = TransformOptions { null_comparisons: NullComparisons::Sql, ..options.clone() };
    let equal = comparison_node(Comparison::Equal, &column(0), &column(1), &sql)?;
    Ok(Box::new(move |list, values, scalar, wanted, rows, context| {
        // Compares all elements at once, each with the value that its row looks for.
        let mut owners = Vec::new();
        let mut places = Vec::new();
        let mut ranges = Vec::with_capacity(rows);
        for row in 0..rows {
            let range = elements(list, if scalar { 0 } else { row });
            ranges.push(range.map(|(_, count)| (owners.len(), count)));
            for i in range.map_or(0..0, |(from, count)| from..from + count) {
                places.push(u32::try_from(i).map_err(|_| wrong_call())?);
                owners.push(u32::try_from(if wanted.scalar { 0 } else { row }).map_err(|_| wrong_call())?);
            }
        }
        let places = UInt32Array::from(places);
        let elements = arrow_select::take::take(values.as_ref(), &places, None)?;
        let wanted = arrow_select::take::take(wanted.array.as_ref(), &UInt32Array::from(owners), None)?;
        let count = elements.len();
        let input = Input { columns: vec![elements, wanted], rows: count, shared: Default::default() };
        let equal = evaluate(&equal, &input, context)?.spread(count)?;
        let equal: &BooleanArray = equal.as_boolean_opt().ok_or_else(wrong_call)?;
        Ok(ranges
            .into_iter()
            .map(|range| {
                let (from, count) = range?;
                let i = (0..count).find(|i| equal.is_valid(from + i) && equal.value(from + i))?;
                let at = usize::try_from(places.value(from + i)).ok()?;
                Some(Found { at, place: i32::try_from(i + 1).ok()? })
            })
            .collect())
    }))
}

/// `CARDINALITY(x)`: how many elements.
pub(super) fn cardinality(call: Call<'_>) -> Result<Node, Fault> {
    let arg = call.arg(0)?;
    if !matches!(arg.ty, Type::Array(_) | Type::Map(..)) {
        return Err(Fault::new(format!("CARDINALITY wants an array or a map, not {}", arg.ty)));
    }
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, _: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        let list = list_of(a)?;
        Ok(build::<Int32Type>(rows, |row| i32::try_from(elements(list, at(a, row))?.1).ok()))
    });
    Ok(call.node(INT, vec![Arc::clone(arg)], kernel))
}

fn array_item(call: &Call<'_>) -> Result<Type, Fault> {
    match &call.arg(0)?.ty {
        Type::Array(item) => Ok(item.as_ref().clone()),
        other => Err(Fault::new(format!("the function {} wants an array, not {other}", call.name))),
    }
}

/// `ELEMENT(array)`: the only element; NULL for an empty array, an error for more than one.
pub(super) fn element(call: Call<'_>) -> Result<Node, Fault> {
    let item = array_item(&call)?;
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, _: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        let list = list_of(a)?;
        let mut places = Vec::with_capacity(rows);
        for row in 0..rows {
            places.push(match elements(list, at(a, row)) {
                None | Some((_, 0)) => None,
                Some((from, 1)) => u32::try_from(from).ok(),
                Some((_, count)) => return Err(Failure::at(row, format!("ELEMENT of an array of {count} elements"))),
            });
        }
        Ok(arrow_select::take::take(list.values().as_ref(), &UInt32Array::from(places), None)?)
    });
    let args = vec![Arc::clone(call.arg(0)?)];
    Ok(Node { careful: true, ..call.node(item, args, kernel) })
}

fn look_up(call: &Call<'_>, ty: Type) -> Result<Node, Fault> {
    let item = array_item(call)?;
    let wanted = call.arg(1)?;
    let wanted = coerce(wanted, &item, call.options)
        .ok_or_else(|| Fault::new(format!("the array's elements are {item}, not {}", wanted.ty)))?;
    let find = finder(&item, call.options)?;
    let truth = ty == BOOL;
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [a, wanted] = args else { return Err(wrong_call()) };
        let list = list_of(a)?;
        let found = find(list, list.values(), a.scalar, wanted, rows, context)?;
        let known = |row: usize| (!a.is_null(row) && !wanted.is_null(row)).then(|| found.get(row).copied().flatten());
        Ok(if truth {
            build_bool(rows, |row| Some(known(row)?.is_some()))
        } else {
            build::<Int32Type>(rows, |row| Some(known(row)?.map_or(0, |found| found.place)))
        })
    });
    Ok(call.node(ty, vec![Arc::clone(call.arg(0)?), wanted], kernel))
}

pub(super) fn array_contains(call: Call<'_>) -> Result<Node, Fault> {
    look_up(&call, BOOL)
}

/// The place of the first equal element, from 1; 0: there is none.
pub(super) fn array_position(call: Call<'_>) -> Result<Node, Fault> {
    look_up(&call, INT)
}
