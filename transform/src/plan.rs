//! What a rule makes of one table with one schema.

use crate::bind::{Binder, Environment, Scope};
use crate::error::{Fault, RuleError, RuleKey};
use crate::functions::{call_node, nearest};
use crate::kernel::text_kernel;
use crate::node::{Kind, Node};
use crate::rule::{Counters, Rule, Transforms};
use crate::sql::Item;
use crate::types::{BOOL, TEXT, Type};
use arrow_schema::Schema;
use rowferry_model::{Column, TableId, TableSchema};
use sqlparser::ast::{Expr, Spanned};
use std::sync::Arc;

/// A column of the result.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) column: Column,
    pub(crate) node: Arc<Node>,
    /// The expression as written, for errors.
    pub(crate) text: String,
    /// The source column that it is, under this or another name.
    pub(crate) source: Option<String>,
}

/// A rule, compiled for one table with one schema.
#[derive(Debug)]
pub struct TablePlan {
    pub(crate) table: TableId,
    pub(crate) rule: usize,
    pub(crate) source: Arc<TableSchema>,
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) arrow: Arc<Schema>,
    pub(crate) outputs: Vec<Output>,
    /// The condition and its text.
    pub(crate) filter: Option<(Arc<Node>, String)>,
    /// Nodes that the filter and the projection share, by their slot.
    pub(crate) shared: Vec<Arc<Node>>,
    /// Where the columns of a new key are; `None`: the key is the source's.
    pub(crate) new_key: Option<Vec<usize>>,
    pub(crate) soft_delete: bool,
    pub(crate) environment: Arc<Environment>,
    pub(crate) counters: Arc<Counters>,
}

impl TablePlan {
    /// The schema of the rows that [`TablePlan::apply`] gives: columns, key, partition keys and table options.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// The schema of the rows that it takes.
    pub fn source(&self) -> &Arc<TableSchema> {
        &self.source
    }

    /// Which rule of the file it comes from, counted from 0.
    pub fn rule(&self) -> usize {
        self.rule
    }

    /// The type of each column's expression, which for nested values is not that of the column.
    pub fn expression_types(&self) -> impl Iterator<Item = (&str, &Type)> {
        self.outputs.iter().map(|output| (output.column.name.as_str(), &output.node.ty))
    }

    /// Whether a column says which table a row comes from: it is made of `__table_name__` or its like.
    pub fn tells_source(&self, column: &str) -> bool {
        const SOURCE: [&str; 3] = ["__namespace_name__", "__schema_name__", "__table_name__"];
        let of = |output: &&Output| output.column.name == column;
        self.outputs.iter().find(of).is_some_and(|output| SOURCE.iter().any(|name| output.text.contains(name)))
    }

    pub(crate) fn new(
        transforms: &Transforms,
        index: usize,
        rule: &Rule,
        table: &TableId,
        source: &Arc<TableSchema>,
        known: Option<&TableSchema>,
    ) -> Result<Self, Vec<RuleError>> {
        let environment = &transforms.environment;
        let mut errors = Vec::new();
        let mut add = |key: RuleKey, fault: Fault| errors.push(RuleError::of(index, key, fault));
        let mut outputs: Vec<Output> = Vec::new();
        let scope = Scope { table: Some((table, source)), aliases: Vec::new() };
        for item in &rule.items {
            match project(item, rule, environment, &scope, source) {
                Ok(new) => {
                    for output in new {
                        // A later column of the same name takes the place of the earlier one.
                        match outputs.iter_mut().find(|known| known.column.name == output.column.name) {
                            Some(known) => *known = output,
                            None => outputs.push(output),
                        }
                    }
                }
                Err(fault) => add(RuleKey::Projection, fault),
            }
        }
        let mut shared = Vec::new();
        let filter = rule.filter.as_ref().and_then(|(places, expr)| {
            let mut aliases = Vec::new();
            for output in outputs.iter_mut().filter(|output| output.source.is_none()) {
                let slot = shared.len();
                shared.push(Arc::clone(&output.node));
                let inner = output.node.as_ref();
                output.node = Arc::new(Node { kind: Kind::Shared(slot, Arc::clone(&output.node)), ..inner.clone() });
                aliases.push((output.column.name.clone(), Arc::clone(&output.node)));
            }
            // A plain column under another name is that column.
            for output in
                outputs.iter().filter(|output| output.source.as_ref().is_some_and(|s| *s != output.column.name))
            {
                aliases.push((output.column.name.clone(), Arc::clone(&output.node)));
            }
            let scope = Scope { table: Some((table, source)), aliases };
            let mut binder = Binder::new(environment, &scope, places);
            match binder.condition(expr) {
                Ok(node) if node.ty == Type::Unknown => {
                    add(RuleKey::Filter, Fault::new("the filter could not be compiled"));
                    None
                }
                Ok(node) => {
                    Some((Arc::new(Node { ty: BOOL, ..node.as_ref().clone() }), places.text().trim().to_owned()))
                }
                Err(fault) => {
                    add(RuleKey::Filter, fault);
                    None
                }
            }
        });
        if let Some(known) = known {
            let place = |output: &Output| known.columns.iter().position(|column| column.name == output.column.name);
            outputs.sort_by_key(|output| place(output).unwrap_or(usize::MAX));
        }
        let schema = schema(rule, environment, source, &mut outputs, &mut add);
        if outputs.is_empty() {
            add(RuleKey::Projection, Fault::new("no column is left"));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let new_key = (!rule.spec.primary_keys.is_empty()).then(|| schema.key_indices());
        Ok(Self {
            table: table.clone(),
            rule: index,
            source: Arc::clone(source),
            arrow: schema.arrow(),
            schema: Arc::new(schema),
            outputs,
            filter,
            shared,
            new_key,
            soft_delete: rule.spec.soft_delete,
            environment: Arc::clone(environment),
            counters: Arc::clone(&transforms.counters),
        })
    }
}

/// The columns that an item of the projection makes.
fn project(
    item: &Item,
    rule: &Rule,
    environment: &Environment,
    scope: &Scope<'_>,
    source: &TableSchema,
) -> Result<Vec<Output>, Fault> {
    let direct = |index: usize, column: &Column, name: &str| Output {
        column: Column { name: name.to_owned(), ..column.clone() },
        node: Arc::new(Node {
            ty: Type::Plain(column.data_type),
            nullable: column.nullable,
            kind: Kind::Column(index),
            volatile: false,
            careful: false,
        }),
        text: column.name.clone(),
        source: Some(column.name.clone()),
    };
    let (expr, alias) = match item {
        Item::Star => {
            return Ok(source.columns.iter().enumerate().map(|(i, column)| direct(i, column, &column.name)).collect());
        }
        Item::Expression { expr, alias, .. } => (expr, alias),
    };
    let Some((name, _)) = alias else { return Err(Fault::new("an expression needs AS and a name")) };
    let mut binder = Binder::new(environment, scope, &rule.places);
    let node = binder.bind(expr)?;
    let is_name = matches!(expr.as_ref(), Expr::Identifier(_) | Expr::CompoundIdentifier(_));
    if let (true, Kind::Column(index)) = (is_name, &node.kind)
        && let Some(column) = source.columns.get(*index)
    {
        return Ok(vec![direct(*index, column, name)]);
    }
    let place = || rule.places.range(expr.span());
    let Some(data_type) = node.ty.column() else {
        let fault = Fault::new(format!("the column `{name}` would have the type {}, which no column has", node.ty));
        return Err(fault.hint("write CAST(… AS …) with the type that it should have").at(place()));
    };
    // Metadata under its own or another name is never NULL; a literal may be, as far as Flink CDC's type says.
    let nullable = !is_name && (node.nullable || matches!(node.kind, Kind::Literal(_)));
    let node = if node.ty.is_nested() {
        let kernel = text_kernel(&node.ty);
        Arc::new(call_node(TEXT, vec![node], kernel, &environment.options))
    } else {
        node
    };
    let column = Column { nullable, ..Column::new(name.clone(), data_type) };
    let text = expr.to_string();
    Ok(vec![Output { column, node, text, source: None }])
}

fn schema(
    rule: &Rule,
    environment: &Environment,
    source: &TableSchema,
    outputs: &mut [Output],
    add: &mut impl FnMut(RuleKey, Fault),
) -> TableSchema {
    let spec = &rule.spec;
    let has = |name: &str| outputs.iter().any(|output| output.column.name == name);
    let mut missing = |key: RuleKey, names: &[String]| {
        for name in names.iter().filter(|name| !has(name)) {
            let hint = nearest(name, outputs.iter().map(|output| output.column.name.as_str()));
            add(key, Fault::new(format!("`{name}` is not a column of the result")).maybe_hint(hint));
        }
    };
    missing(RuleKey::PrimaryKeys, &spec.primary_keys);
    missing(RuleKey::PartitionKeys, &spec.partition_keys);
    let primary_key: Vec<String> = if spec.primary_keys.is_empty() {
        let (kept, lost): (Vec<String>, Vec<String>) = source.primary_key.iter().cloned().partition(|name| has(name));
        if !lost.is_empty() && !environment.options.allow_trimming_primary_key {
            let message = format!("the projection leaves out the primary key's column `{}`", lost.join("`, `"));
            let hint = "project it, name another key in primary-keys, or set transform.allow.trimming.pk-columns";
            add(RuleKey::Projection, Fault::new(message).hint(hint));
        }
        kept
    } else {
        spec.primary_keys.clone()
    };
    if !spec.primary_keys.is_empty() {
        for output in outputs.iter_mut().filter(|output| primary_key.contains(&output.column.name)) {
            output.column.nullable = false;
        }
    }
    TableSchema {
        columns: outputs.iter().map(|output| output.column.clone()).collect(),
        primary_key,
        partition_key: if spec.partition_keys.is_empty() {
            source.partition_key.clone()
        } else {
            spec.partition_keys.clone()
        },
        comment: source.comment.clone(),
        options: if spec.table_options.is_empty() { source.options.clone() } else { spec.table_options.clone() },
    }
}
