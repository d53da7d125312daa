//! Values of which Doris has its own rules.

use crate::olap::values::{round_trip, round_trip_but, some};
use arrow_array::{StringArray, TimestampMicrosecondArray};
use rowferry_model::DataType;
use std::sync::Arc;

/// How long a STRING may be is the backends' setting: they refuse, and are quoted.
#[tokio::test]
async fn a_string_that_is_too_long_is_refused_by_the_server() {
    let huge = "x".repeat(1_048_577);
    let error = round_trip(DataType::String, Arc::new(StringArray::from(vec!["ok", huge.as_str()]))).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("column_name[v]") && text.contains("too long"), "{text}");
    assert!(text.len() < 2500, "a part of the row is quoted: {} bytes", text.len());
}

#[tokio::test]
async fn times_have_the_digits_of_their_column() {
    let stamps = TimestampMicrosecondArray::from(vec![1_500_000, 2_120_000]);
    assert_eq!(
        round_trip_but(DataType::Timestamp(2), Arc::new(stamps), &[0, 1]).await.unwrap(),
        some(&["1970-01-01 00:00:01.50", "1970-01-01 00:00:02.12"])
    );
    let stamps = TimestampMicrosecondArray::from(vec![1_000_000]);
    assert_eq!(
        round_trip_but(DataType::Timestamp(0), Arc::new(stamps), &[0]).await.unwrap(),
        some(&["1970-01-01 00:00:01"])
    );
}
