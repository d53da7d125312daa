//! The recorded expressions of Flink CDC, one by one.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

#[path = "support/golden.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared with an example")]
mod golden;

use golden::{LISTED, Verdict, judge, parse, run};
use std::path::{Path, PathBuf};

fn recordings() -> Option<PathBuf> {
    let shared = std::env::var_os("ROWFERRY_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let folder = shared.join("golden/flink-cdc");
    if !folder.is_dir() {
        eprintln!("skipped: no recordings at {}", folder.display());
        return None;
    }
    Some(folder)
}

#[test]
fn recorded_expressions_give_the_same_or_a_listed_result() {
    let Some(folder) = recordings() else { return };
    let text = std::fs::read_to_string(folder.join("expr-given.txt")).unwrap();
    let recorded = parse(&text);
    assert!(recorded.len() > 100, "{}", recorded.len());
    let (mut same, mut better, mut listed) = (0, 0, 0);
    let mut unlisted = Vec::new();
    for recorded in &recorded {
        match judge(recorded, &run(&recorded.expression)) {
            Verdict::Same => same += 1,
            Verdict::Better => better += 1,
            Verdict::Listed(_) => listed += 1,
            Verdict::Unlisted => unlisted.push(recorded.expression.as_str()),
        }
    }
    println!("{same} same, {better} better, {listed} different and listed, {} unlisted", unlisted.len());
    assert!(unlisted.is_empty(), "{unlisted:#?}");
    assert!(same > 70, "{same}");
}

#[test]
fn each_listed_difference_has_its_line_in_the_documentation() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/differences.md");
    let page = std::fs::read_to_string(page).unwrap().to_lowercase();
    for (_, reason) in LISTED {
        assert!(page.contains(&reason.to_lowercase()), "docs/differences.md does not say: {reason}");
    }
}

/// The projection of a recorded pipeline, and the columns of the `CreateTableEvent` that it led to.
fn projection_and_columns(folder: &Path) -> (String, Vec<(String, String)>) {
    let yaml = std::fs::read_to_string(folder.join("pipeline.yaml")).unwrap();
    let line = yaml.lines().find_map(|line| line.trim().strip_prefix("projection: ")).unwrap();
    let text = match line.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(quoted) => quoted.replace("''", "'"),
        None => line.to_owned(),
    };
    let steps = std::fs::read_to_string(folder.join("steps.txt")).unwrap();
    let create = steps.lines().find_map(|line| line.split_once("schema=columns={")).unwrap().1;
    let columns = create.split_once('}').unwrap().0;
    let columns = columns.split(",`").map(|column| {
        let (name, ty) = column.trim_start_matches('`').split_once("` ").unwrap();
        (name.to_owned(), ty.to_owned())
    });
    (text, columns.collect())
}

/// The rows that a recorded pipeline printed for its snapshot, `1, a, …`.
fn recorded_rows(folder: &Path) -> Vec<String> {
    let steps = std::fs::read_to_string(folder.join("steps.txt")).unwrap();
    let start = steps.split("-- [step 1]").next().unwrap();
    let mut rows: Vec<String> = start
        .lines()
        .filter_map(|line| line.split_once("after=["))
        .map(|(_, rest)| rest.rsplit_once("], op=INSERT").unwrap().0.to_owned())
        .collect();
    rows.sort();
    rows
}

#[test]
fn recorded_pipelines_give_the_recorded_rows() {
    let Some(folder) = recordings() else { return };
    for (name, database) in [("11a-transform-string", "g11a"), ("11d-transform-cond-meta", "g11d")] {
        let expected = recorded_rows(&folder.join(name));
        assert_eq!(expected.len(), 2, "rows 1 and 3");
        let (projection, _) = projection_and_columns(&folder.join(name));
        let transforms = golden::transforms(&projection, Some("id IN (1, 3)"));
        let (_, batch) = golden::tables().remove(0);
        let plan = transforms.for_table(&rowferry_model::TableId::new(database, "p"), batch.schema()).unwrap().unwrap();
        let result = plan.apply(batch).unwrap().unwrap();
        let mut ours: Vec<String> = (0..result.num_rows())
            .map(|row| {
                let columns = result.columns().columns().iter().zip(&result.schema().columns);
                // The recorded table has no column `vb`.
                let values = columns.filter(|(_, column)| column.name != "vb");
                let text = |array: &dyn rowferry_model::arrow_array::Array| rowferry_transform::value_text(array, row);
                let values: Vec<String> =
                    values.map(|(array, _)| text(array).unwrap_or_else(|| "null".into())).collect();
                values.join(", ")
            })
            .collect();
        ours.sort();
        // `name LIKE 'A%'` is SQL's here.
        let lk2 =
            |row: &String| row.replace("false, true, true, false, true, false", "false, true, true, true, true, false");
        let expected: Vec<String> = expected.iter().map(lk2).collect();
        assert_eq!(ours, expected, "{name}");
    }
}

#[test]
fn plans_may_be_used_by_several_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<rowferry_transform::Transforms>();
    shared::<rowferry_transform::TablePlan>();
}

#[test]
fn recorded_pipelines_lead_to_the_recorded_columns() {
    let Some(folder) = recordings() else { return };
    for (name, differences) in [
        ("11a-transform-string", vec![]),
        // SMALLINT + SMALLINT does not compile in Flink CDC.
        ("11b-transform-numeric", vec![("sisi", "INT")]),
        ("11d-transform-cond-meta", vec![]),
    ] {
        let (projection, mut expected) = projection_and_columns(&folder.join(name));
        for (column, ty) in differences {
            expected.iter_mut().find(|(name, _)| name == column).unwrap().1 = ty.to_owned();
        }
        let transforms = golden::transforms(&projection, None);
        // The recorded table has no column `vb`.
        let mut schema = golden::schema().as_ref().clone();
        schema.columns.retain(|column| column.name != "vb");
        let table = rowferry_model::TableId::new("g", "p");
        let plan = transforms.for_table(&table, &schema.into()).unwrap().unwrap();
        let ours: Vec<(String, String)> = plan
            .schema()
            .columns
            .iter()
            .map(|column| {
                let null = if column.nullable { "" } else { " NOT NULL" };
                (column.name.clone(), format!("{}{null}", column.data_type))
            })
            .collect();
        assert_eq!(ours, expected, "{name}");
    }
}
