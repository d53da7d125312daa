//! Arrow bodies, as a backend's source (of 2025) reads them: whole IPC streams one behind the other, and buffers
//! copied into the table's columns whatever their type. Where that would make other values of them or end the
//! backend's process, the load is refused with words that no real backend says, so that a test sees it.

use super::backend::{DELETE_SIGN, SourceRow};
use super::types::Ty;
use super::world::Table;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use chrono::{DateTime, NaiveDate, TimeDelta};
use serde_json::{Map, Value as Json};
use std::io::Cursor;

/// What ends a stream.
const END: [u8; 8] = [255, 255, 255, 255, 0, 0, 0, 0];
/// 0001-01-01, in days since the epoch: the days before it are counted wrongly.
const FIRST_DAY: i32 = -719_162;

/// The rows of a body. `names`: those of the `columns` header. `hours`: how far east of UTC this backend reads timestamps.
pub fn rows(body: &[u8], names: &[String], table: &Table, hours: i64) -> Result<Vec<SourceRow>, String> {
    if let Some(unknown) = names.iter().find(|n| ty(n, table).is_none()) {
        return Err(format!("Unknown column {unknown} in table for FORMAT_ARROW load"));
    }
    let mut rows = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let mut cursor = Cursor::new(&body[at..]);
        let reader =
            StreamReader::try_new(&mut cursor, None).map_err(|e| format!("failed to open stream reader: {e}"))?;
        let batches: Vec<RecordBatch> =
            reader.collect::<Result<_, _>>().map_err(|e| format!("failed to read batch: {e}"))?;
        at += usize::try_from(cursor.position()).unwrap();
        if !body[..at].ends_with(&END) {
            return Err("the stand-in: a stream has no end".to_owned());
        }
        if batches.iter().all(|b| b.num_rows() == 0) {
            return Err("the stand-in: a stream has no rows: to a backend the body ends there".to_owned());
        }
        for batch in batches {
            read(&batch, names, table, hours, &mut rows)?;
        }
    }
    Ok(rows)
}

/// The type of a column of a load.
fn ty(name: &str, table: &Table) -> Option<Ty> {
    if name == DELETE_SIGN && table.is_unique() {
        return Some(Ty::TinyInt);
    }
    table.column(name).map(|at| table.columns[at].ty.clone())
}

fn read(
    batch: &RecordBatch,
    names: &[String],
    table: &Table,
    hours: i64,
    rows: &mut Vec<SourceRow>,
) -> Result<(), String> {
    let mut objects = vec![Map::new(); batch.num_rows()];
    let schema = batch.schema();
    if schema.fields().len() != names.len() {
        return Err(
            "the stand-in: the columns of a batch are not those of the header: blocks would be uneven".to_owned()
        );
    }
    for (field, array) in schema.fields().iter().zip(batch.columns()) {
        let name = field.name();
        let ty = ty(name, table).ok_or_else(|| format!("Unknown column {name}"))?;
        let wanted = expected(&ty);
        if wanted.as_ref() != Some(array.data_type()) {
            return Err(format!(
                "the stand-in: column {name} is sent as {} where {ty} is read from {wanted:?}: a backend would store other values, \
                 or end",
                array.data_type()
            ));
        }
        // The name that the table has.
        let own = table.column(name).map_or(name, |at| &table.columns[at].name);
        for (row, object) in objects.iter_mut().enumerate() {
            let value =
                if array.is_null(row) { Json::Null } else { Json::String(text(array.as_ref(), row, &ty, hours)?) };
            object.insert(own.clone(), value);
        }
    }
    rows.extend(objects.into_iter().map(|object| Ok(Json::Object(object))));
    Ok(())
}

/// What a column is read from without becoming something else.
fn expected(ty: &Ty) -> Option<ArrowType> {
    Some(match ty {
        Ty::Boolean => ArrowType::Boolean,
        Ty::TinyInt => ArrowType::Int8,
        Ty::SmallInt => ArrowType::Int16,
        Ty::Int => ArrowType::Int32,
        Ty::BigInt => ArrowType::Int64,
        // Digits.
        Ty::LargeInt | Ty::Char(_) | Ty::Varchar(_) | Ty::String => ArrowType::Utf8,
        Ty::Float => ArrowType::Float32,
        Ty::Double => ArrowType::Float64,
        // A backend reads 16 bytes for up to 38 digits, and looks at neither precision nor scale.
        Ty::Decimal(p, s) => ArrowType::Decimal128(u8::try_from(*p).ok()?, i8::try_from(*s).ok()?),
        Ty::Date => ArrowType::Date32,
        // Versions before the middle of 2026 read it at +08:00 whatever its zone is, later ones at UTC where it names none.
        Ty::DateTime(_) => ArrowType::Timestamp(TimeUnit::Microsecond, Some("+08:00".into())),
        Ty::Json => return None,
    })
}

/// A value as text of its column's type.
fn text(array: &dyn Array, row: usize, ty: &Ty, hours: i64) -> Result<String, String> {
    Ok(match ty {
        Ty::Boolean => u8::from(array.as_boolean().value(row)).to_string(),
        Ty::TinyInt => array.as_primitive::<Int8Type>().value(row).to_string(),
        Ty::SmallInt => array.as_primitive::<Int16Type>().value(row).to_string(),
        Ty::Int => array.as_primitive::<Int32Type>().value(row).to_string(),
        Ty::BigInt => array.as_primitive::<Int64Type>().value(row).to_string(),
        Ty::Float => array.as_primitive::<Float32Type>().value(row).to_string(),
        Ty::Double => array.as_primitive::<Float64Type>().value(row).to_string(),
        Ty::Decimal(p, s) => decimal(array.as_primitive::<Decimal128Type>().value(row), *p, *s)?,
        Ty::LargeInt | Ty::Char(_) | Ty::Varchar(_) | Ty::String | Ty::Json => {
            array.as_string::<i32>().value(row).to_owned()
        }
        Ty::Date => day(array.as_primitive::<Date32Type>().value(row))?,
        Ty::DateTime(_) => moment(array.as_primitive::<TimestampMicrosecondType>().value(row), hours)?,
    })
}

fn decimal(unscaled: i128, precision: u32, scale: u32) -> Result<String, String> {
    // The lowest 4 or 8 bytes are copied where the column has no more.
    let stored = match precision {
        ..=9 => i128::from(unscaled as i32),
        10..=18 => i128::from(unscaled as i64),
        _ => unscaled,
    };
    if stored != unscaled {
        return Err(format!("the stand-in: {unscaled} has more bytes than a DECIMAL of {precision} digits"));
    }
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale as usize);
    let sign = if unscaled < 0 { "-" } else { "" };
    Ok(if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

fn day(days: i32) -> Result<String, String> {
    if days < FIRST_DAY {
        return Err(format!("the stand-in: the day {days} is in the year 0, which a backend counts wrongly"));
    }
    let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
    let day = epoch.checked_add_signed(TimeDelta::days(days.into())).ok_or("no day")?;
    Ok(day.format("%Y-%m-%d").to_string())
}

/// The instant is divided as an unsigned number, and shown on a clock of this zone.
fn moment(micros: i64, hours: i64) -> Result<String, String> {
    if micros < 0 {
        return Err(format!("the stand-in: the instant {micros} is before 1970, which a backend spoils"));
    }
    let at = DateTime::from_timestamp_micros(micros).ok_or("no instant")? + TimeDelta::hours(hours);
    Ok(at.format("%Y-%m-%d %H:%M:%S%.6f").to_string())
}
