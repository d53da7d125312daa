//! Common types, merged schemas and differences; the expected types are Flink CDC's (`SchemaMergingUtils`).

use super::support::*;
use crate::pipeline::evolve::lattice::{Widening, difference, holds, least_common_type, merge};

#[test]
fn common_types_are_those_of_flink_cdc() {
    for (a, b, common) in [
        ("INT", "INT", "INT"),
        ("TINYINT", "BIGINT", "BIGINT"),
        ("SMALLINT", "INT", "INT"),
        ("TINYINT", "FLOAT", "FLOAT"),
        ("SMALLINT", "FLOAT", "FLOAT"),
        ("INT", "FLOAT", "DOUBLE"),
        ("BIGINT", "FLOAT", "DOUBLE"),
        ("BIGINT", "DOUBLE", "DOUBLE"),
        ("FLOAT", "DOUBLE", "DOUBLE"),
        ("DECIMAL(10, 2)", "DECIMAL(8, 4)", "DECIMAL(12, 4)"),
        ("DECIMAL(38, 0)", "DECIMAL(20, 1)", "STRING"),
        ("DECIMAL(10, 2)", "TINYINT", "DECIMAL(10, 2)"),
        ("DECIMAL(4, 2)", "SMALLINT", "DECIMAL(7, 2)"),
        ("DECIMAL(10, 2)", "INT", "DECIMAL(12, 2)"),
        ("DECIMAL(10, 2)", "BIGINT", "DECIMAL(21, 2)"),
        ("DECIMAL(38, 20)", "BIGINT", "STRING"),
        ("DECIMAL(10, 2)", "DOUBLE", "STRING"),
        ("DECIMAL(10, 2)", "DATE", "STRING"),
        ("TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(3)"),
        ("TIMESTAMP(6)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(6)"),
        ("DATE", "TIMESTAMP(3)", "TIMESTAMP(9)"),
        ("DATE", "TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(9)"),
        ("DATE", "INT", "STRING"),
        ("VARCHAR(10)", "VARCHAR(20)", "STRING"),
        ("CHAR(3)", "CHAR(4)", "STRING"),
        ("VARCHAR(10)", "STRING", "STRING"),
        ("BINARY(2)", "BINARY(3)", "STRING"),
        ("VARBINARY(2)", "BYTES", "STRING"),
        ("BOOLEAN", "TINYINT", "STRING"),
        ("TIME(0)", "TIME(3)", "STRING"),
        ("INT", "VARCHAR(5)", "STRING"),
    ] {
        let (left, right) = (data_type(a), data_type(b));
        assert_eq!(least_common_type(left, right).to_string(), common, "{a} and {b}");
        assert_eq!(least_common_type(right, left).to_string(), common, "{b} and {a}");
    }
}

#[test]
fn a_type_holds_another_only_without_loss() {
    for (wide, narrow) in [
        ("BIGINT", "INT"),
        ("DOUBLE", "FLOAT"),
        ("DOUBLE", "INT"),
        ("DECIMAL(12, 4)", "DECIMAL(10, 2)"),
        ("DECIMAL(12, 2)", "INT"),
        ("STRING", "VARCHAR(10)"),
        ("VARCHAR(10)", "CHAR(10)"),
        ("BYTES", "VARBINARY(4)"),
        ("TIMESTAMP(3)", "TIMESTAMP(0)"),
        ("TIMESTAMP(0)", "DATE"),
    ] {
        assert!(holds(data_type(wide), data_type(narrow)), "{wide} {narrow}");
        assert!(!holds(data_type(narrow), data_type(wide)), "{narrow} {wide}");
    }
    for (a, b) in [
        ("DOUBLE", "BIGINT"),
        ("FLOAT", "INT"),
        ("DECIMAL(8, 4)", "DECIMAL(8, 2)"),
        ("STRING", "INT"),
        ("STRING", "BYTES"),
        ("BINARY(3)", "BINARY(2)"),
        ("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"),
    ] {
        assert!(!holds(data_type(a), data_type(b)) && !holds(data_type(b), data_type(a)), "{a} {b}");
    }
}

/// The four tables of the recording `08-route-merge-all-match-evolve`, whose merged columns it shows.
#[test]
fn tables_are_merged_as_recorded() {
    let s1 = schema("id INT NOT NULL; name VARCHAR(10); age TINYINT");
    let s2 = schema("id BIGINT NOT NULL; name STRING; extra DECIMAL(10, 2); age INT");
    let s3 = schema("id INT NOT NULL; age VARCHAR(5); name VARCHAR(30) NOT NULL; f FLOAT");
    let first = merge(&s1, &s2, Widening::Merge);
    assert_eq!(first, *schema("id BIGINT NOT NULL; name STRING; age INT; extra DECIMAL(10, 2)"));
    let second = merge(&first, &s3, Widening::Merge);
    assert_eq!(second, *schema("id BIGINT NOT NULL; name STRING; age STRING; extra DECIMAL(10, 2); f FLOAT"));
    let lines: Vec<String> = difference(&id("ods.merged"), Some(&first), &second).iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "AddColumnEvent{tableId=ods.merged, addedColumns=[\
             ColumnWithPosition{column=`f` FLOAT, position=AFTER, existedColumnName=extra}]}",
            "AlterColumnTypeEvent{tableId=ods.merged, typeMapping={age=STRING}, oldTypeMapping={age=INT}, comments={}}",
        ]
    );
}

#[test]
fn a_column_that_some_lack_is_nullable_and_keys_are_not() {
    let a = schema("id INT NOT NULL; only_a INT NOT NULL; both INT NOT NULL");
    let b = schema("id INT NOT NULL; both INT NOT NULL; only_b INT NOT NULL");
    let merged = merge(&a, &b, Widening::Merge);
    assert_eq!(merged, *schema("id INT NOT NULL; only_a INT; both INT NOT NULL; only_b INT"));
    let keyless = schema("both INT NOT NULL");
    assert_eq!(merge(&a, &keyless, Widening::Merge), *schema("id INT NOT NULL; only_a INT; both INT NOT NULL"));
}

#[test]
fn names_are_the_same_without_regard_to_case() {
    let (a, b) = (schema("id INT NOT NULL; Name INT"), schema("ID INT NOT NULL; NAME BIGINT"));
    assert_eq!(merge(&a, &b, Widening::Merge), *schema("id INT NOT NULL; Name BIGINT"));
}

#[test]
fn a_difference_gives_places_and_then_types_and_then_what_is_gone() {
    let before = schema("id INT NOT NULL; gone INT; a INT");
    let after = schema("first INT; id INT NOT NULL; b INT; c INT; a BIGINT NOT NULL");
    let lines: Vec<String> = difference(&id("d.t"), Some(&before), &after).iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "AddColumnEvent{tableId=d.t, addedColumns=[\
             ColumnWithPosition{column=`first` INT, position=FIRST, existedColumnName=null}, \
             ColumnWithPosition{column=`b` INT, position=AFTER, existedColumnName=id}, \
             ColumnWithPosition{column=`c` INT, position=AFTER, existedColumnName=b}]}",
            "AlterColumnTypeEvent{tableId=d.t, typeMapping={a=BIGINT NOT NULL}, oldTypeMapping={a=INT}, comments={}}",
            "DropColumnEvent{tableId=d.t, droppedColumnNames=[gone]}",
        ]
    );
    assert_eq!(
        difference(&id("d.t"), None, &after).iter().map(|c| c.kind().tag()).collect::<Vec<_>>(),
        ["create.table"]
    );
}
