//! Values of which StarRocks has its own rules.

use crate::olap::values::round_trip;
use arrow_array::StringArray;
use rowferry_model::DataType;
use std::sync::Arc;

#[tokio::test]
async fn a_string_that_is_too_long_is_refused_with_its_key() {
    let huge = "x".repeat(1_048_577);
    let error = round_trip(DataType::String, Arc::new(StringArray::from(vec!["ok", huge.as_str()]))).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`v` of shop.orders") && text.contains("\"id\":1") && text.contains("1048576"), "{text}");
}
