//! Tables built from the JSON lines of the `values` sink, schema changes included.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A target as rows and schema changes make it. Notices rows that come twice, go without having come, or hold other
/// columns than their table.
#[derive(Debug, Default)]
pub(crate) struct EvolvingTarget {
    tables: BTreeMap<String, Table>,
    /// Whether a row that is there may come again, as after a crash of an at-least-once sink, or under LENIENT.
    repeats_allowed: bool,
    /// The schema changes in their order, as words: table and change.
    changes: Vec<(String, String)>,
}

#[derive(Debug, Default)]
struct Table {
    columns: Vec<Column>,
    key: Vec<String>,
    comment: Option<String>,
    rows: BTreeMap<String, Map<String, Value>>,
    bag: BTreeMap<String, (Map<String, Value>, i64)>,
    /// Columns whose values MySQL may have filled in or converted without a trace in the log.
    unsure: BTreeSet<String>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    data_type: String,
    nullable: bool,
    comment: Option<String>,
}

impl Column {
    fn of(value: &Value) -> Self {
        Self {
            name: text(&value["name"]),
            data_type: text(&value["type"]),
            nullable: value["nullable"].as_bool().expect("a nullability"),
            comment: value["comment"].as_str().map(str::to_owned),
        }
    }

    fn words(&self) -> String {
        let not_null = if self.nullable { "" } else { " NOT NULL" };
        let comment = self.comment.as_deref().map(|c| format!(" '{c}'")).unwrap_or_default();
        format!("{} {}{not_null}{comment}", self.name, self.data_type)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text, not {value}")).to_owned()
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => "-".to_owned(),
        Some(Value::String(s)) => s.clone(),
        Some(other) => other.to_string(),
    }
}

impl EvolvingTarget {
    /// A target to which rows may come again, or not.
    pub(crate) fn with_repeats(repeats_allowed: bool) -> Self {
        Self { repeats_allowed, ..Self::default() }
    }

    /// Applies all whole lines.
    pub(crate) fn apply(&mut self, output: &str) {
        let whole = output.rfind('\n').map_or("", |end| &output[..end]);
        for line in whole.lines().filter(|l| !l.is_empty()) {
            let event: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            let table = text(&event["table"]);
            match event["event"].as_str().expect("an event") {
                "insert" => self.put(&table, &event["after"], line),
                "delete" => self.remove(&table, &event["before"], line),
                "update" => {
                    self.remove(&table, &event["before"], line);
                    self.put(&table, &event["after"], line);
                }
                kind => self.change(&table, kind, &event, line),
            }
        }
    }

    /// The columns of a table, one after another; `None`: there is no such table.
    pub(crate) fn schema(&self, table: &str) -> Option<String> {
        let columns = self.tables.get(table)?.columns.iter().map(Column::words);
        Some(columns.collect::<Vec<_>>().join(", "))
    }

    /// The comment of a table.
    pub(crate) fn comment(&self, table: &str) -> Option<&str> {
        self.tables.get(table)?.comment.as_deref()
    }

    /// The names of the tables.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.tables.keys().map(String::as_str).collect()
    }

    /// The rows of a table in order, each the values of the given columns; without columns of all in their order.
    pub(crate) fn rows(&self, table: &str, columns: &[&str]) -> Vec<String> {
        let Some(table) = self.tables.get(table) else { return Vec::new() };
        let all: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
        let columns = if columns.is_empty() { &all } else { columns };
        let words = |row: &Map<String, Value>| columns.iter().map(|c| shown(row.get(*c))).collect::<Vec<_>>().join("|");
        let mut rows: Vec<String> = table.rows.values().map(words).collect();
        for (row, count) in table.bag.values() {
            rows.extend((0..*count).map(|_| words(row)));
        }
        rows.sort();
        rows
    }

    /// The schema changes of a table but its creation.
    pub(crate) fn changes_of(&self, table: &str) -> Vec<&str> {
        let of = |(t, change): &&(String, String)| t == table && change != "create.table";
        self.changes.iter().filter(of).map(|(_, change)| change.as_str()).collect()
    }

    fn table(&mut self, name: &str, line: &str) -> &mut Table {
        self.tables.get_mut(name).unwrap_or_else(|| panic!("{name} has not been created: {line}"))
    }

    fn put(&mut self, name: &str, row: &Value, line: &str) {
        let repeats = self.repeats_allowed;
        let table = self.table(name, line);
        let row = row.as_object().expect("a row").clone();
        table.check_columns(&row, line);
        match table.key_of(&row) {
            None => table.bag.entry(table_bag_key(&row)).or_insert((row, 0)).1 += 1,
            Some(key) => {
                let before = table.rows.insert(key, row);
                assert!(before.is_none() || repeats, "a row came twice: {line}");
            }
        }
    }

    fn remove(&mut self, name: &str, row: &Value, line: &str) {
        let repeats = self.repeats_allowed;
        let table = self.table(name, line);
        let row = row.as_object().expect("a row").clone();
        table.check_columns(&row, line);
        let Some(key) = table.key_of(&row) else {
            // Without a key the whole row is what tells it; values that nobody told are not looked at.
            let sure = |row: &Map<String, Value>| -> Vec<String> {
                let names = table.columns.iter().filter(|c| !table.unsure.contains(&c.name));
                names.map(|c| shown(row.get(&c.name))).collect()
            };
            let wanted = sure(&row);
            let exact = table_bag_key(&row);
            let same = table.bag.get_key_value(&exact).filter(|(_, (_, n))| *n > 0);
            let found = same.or_else(|| table.bag.iter().find(|(_, (other, n))| *n > 0 && sure(other) == wanted));
            let found = found.map(|(key, _)| key.clone());
            match found {
                Some(key) => table.bag.get_mut(&key).expect("found").1 -= 1,
                None => assert!(repeats, "a row that never came is deleted: {line}"),
            }
            return;
        };
        match table.rows.remove(&key) {
            Some(before) if !repeats => {
                for column in table.columns.iter().filter(|c| !table.unsure.contains(&c.name)) {
                    let (had, told) = (shown(before.get(&column.name)), shown(row.get(&column.name)));
                    assert_eq!(had, told, "another row was expected before ({}): {line}", column.name);
                }
            }
            Some(_) => {}
            None => assert!(repeats, "a row that never came is deleted: {line}"),
        }
    }

    fn change(&mut self, name: &str, kind: &str, event: &Value, line: &str) {
        let words = self.do_change(name, kind, event, line);
        self.changes.push((name.to_owned(), words));
    }

    fn do_change(&mut self, name: &str, kind: &str, event: &Value, line: &str) -> String {
        if kind == "create.table" {
            let schema = &event["schema"];
            let table = Table {
                columns: schema["columns"].as_array().expect("columns").iter().map(Column::of).collect(),
                key: schema["primaryKey"].as_array().expect("a key").iter().map(text).collect(),
                comment: schema["comment"].as_str().map(str::to_owned),
                ..Table::default()
            };
            let before = self.tables.insert(name.to_owned(), table);
            assert!(before.is_none(), "a table that is there is created: {line}");
            return kind.to_owned();
        }
        if kind == "drop.table" {
            assert!(self.tables.remove(name).is_some(), "a table that is not there is dropped: {line}");
            return kind.to_owned();
        }
        let table = self.table(name, line);
        match kind {
            "truncate.table" => {
                table.rows.clear();
                table.bag.clear();
                kind.to_owned()
            }
            "alter.table.comment" => {
                table.comment = event["comment"].as_str().map(str::to_owned);
                format!("{kind} {}", table.comment.as_deref().unwrap_or("-"))
            }
            "add.column" => {
                let added = event["added"].as_array().expect("columns");
                format!("{kind} {}", added.iter().map(|a| table.add(a, line)).collect::<Vec<_>>().join(", "))
            }
            "drop.column" => {
                let names: Vec<String> = event["dropped"].as_array().expect("names").iter().map(text).collect();
                for name in &names {
                    table.columns.remove(table.index(name, line));
                    table.each_row(|row| drop(row.remove(name)));
                }
                format!("{kind} {}", names.join(", "))
            }
            "rename.column" => {
                let names = event["renamed"].as_array().expect("names").iter();
                let names: Vec<(String, String)> = names.map(|n| (text(&n["from"]), text(&n["to"]))).collect();
                table.rename(&names, line);
                let words: Vec<String> = names.iter().map(|(from, to)| format!("{from}>{to}")).collect();
                format!("{kind} {}", words.join(", "))
            }
            "alter.column.type" => {
                let altered = event["altered"].as_array().expect("columns");
                let mut words = Vec::new();
                for altered in altered {
                    let name = text(&altered["name"]);
                    let index = table.index(&name, line);
                    let column = &mut table.columns[index];
                    column.data_type = text(&altered["type"]);
                    column.nullable = altered["nullable"].as_bool().expect("a nullability");
                    if let Some(comment) = altered["comment"].as_str() {
                        column.comment = Some(comment.to_owned()).filter(|c| !c.is_empty());
                    }
                    words.push(column.words());
                    table.unsure.insert(name);
                }
                format!("{kind} {}", words.join(", "))
            }
            other => panic!("an event {other}: {line}"),
        }
    }
}

/// The same for the same values, whatever the order in which the columns came.
fn table_bag_key(row: &Map<String, Value>) -> String {
    let sorted: BTreeMap<&String, &Value> = row.iter().collect();
    format!("{sorted:?}")
}

impl Table {
    fn index(&self, name: &str, line: &str) -> usize {
        let found = self.columns.iter().position(|c| c.name == name);
        found.unwrap_or_else(|| panic!("there is no column {name}: {line}"))
    }

    fn check_columns(&self, row: &Map<String, Value>, line: &str) {
        let names: BTreeSet<&str> = row.keys().map(String::as_str).collect();
        let wanted: BTreeSet<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, wanted, "a row of other columns: {line}");
    }

    fn key_of(&self, row: &Map<String, Value>) -> Option<String> {
        let key = self.key.iter().map(|k| shown(row.get(k))).collect::<Vec<_>>().join("|");
        (!self.key.is_empty()).then_some(key)
    }

    fn each_row(&mut self, change: impl Fn(&mut Map<String, Value>)) {
        self.rows.values_mut().for_each(&change);
        let mut bag: BTreeMap<String, (Map<String, Value>, i64)> = BTreeMap::new();
        for (mut row, count) in std::mem::take(&mut self.bag).into_values() {
            change(&mut row);
            bag.entry(table_bag_key(&row)).or_insert((row, 0)).1 += count;
        }
        self.bag = bag;
    }

    fn add(&mut self, added: &Value, line: &str) -> String {
        let column = Column::of(&added["column"]);
        let neighbour = added["neighbour"].as_str();
        assert!(!self.columns.iter().any(|c| c.name == column.name), "a column is added twice: {line}");
        let (at, place) = match (added["position"].as_str().expect("a position"), neighbour) {
            ("first", _) => (0, "first".to_owned()),
            ("after", Some(other)) => (self.index(other, line) + 1, format!("after {other}")),
            ("before", Some(other)) => (self.index(other, line), format!("before {other}")),
            _ => (self.columns.len(), "last".to_owned()),
        };
        self.each_row(|row| drop(row.insert(column.name.clone(), Value::Null)));
        self.unsure.insert(column.name.clone());
        self.columns.insert(at, column.clone());
        format!("{} {place}", column.words())
    }

    fn rename(&mut self, names: &[(String, String)], line: &str) {
        let places: Vec<usize> = names.iter().map(|(from, _)| self.index(from, line)).collect();
        for (at, (_, to)) in places.iter().zip(names) {
            self.columns[*at].name.clone_from(to);
        }
        let distinct: BTreeSet<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(distinct.len(), self.columns.len(), "two columns have one name: {line}");
        let new = |name: &String| names.iter().find(|(from, _)| from == name).map_or(name, |(_, to)| to).clone();
        self.key = self.key.iter().map(new).collect();
        self.unsure = self.unsure.iter().map(new).collect();
        self.each_row(|row| {
            let taken: Vec<(String, Value)> =
                names.iter().map(|(from, to)| (to.clone(), row.remove(from).unwrap_or_default())).collect();
            row.extend(taken);
        });
    }
}
