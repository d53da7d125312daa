//! The rules of a pipeline file, checked as far as that is possible without the tables.

use crate::bind::{Binder, EVENT_TYPE, Environment, METADATA, Scope};
use crate::error::{Fault, RuleError, RuleErrors, RuleKey, Severity};
use crate::model::{ModelSpec, Models};
use crate::plan::TablePlan;
use crate::sql::{Item, Places, parse_condition, parse_projection};
use crate::types::MAX_PRECISION;
use crate::udf::{Functions, UserFunction};
use crate::zone::Zone;
use rowferry_model::{TableId, TableSchema};
use sqlparser::ast::Expr;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a comparison with NULL gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NullComparisons {
    /// As Flink CDC: FALSE, and TRUE for `<>`, NOT BETWEEN and NOT IN.
    #[default]
    FlinkCdc,
    /// As SQL: NULL.
    Sql,
}

/// What holds for all rules of a pipeline.
#[derive(Clone, Debug)]
pub struct TransformOptions {
    /// The zone in which instants become wall times.
    pub zone: Zone,
    /// The greatest number of digits of a computed DECIMAL: 19 or 38 (`transform.decimal.precision.mode`).
    pub decimal_precision: u8,
    /// Whether a value that does not fit its type is an error instead of wrapping around or becoming NULL.
    pub strict: bool,
    /// What a comparison with NULL gives.
    pub null_comparisons: NullComparisons,
    /// Whether a projection may leave out columns of the primary key (`transform.allow.trimming.pk-columns`).
    pub allow_trimming_primary_key: bool,
    /// Whether the source's `metadata.list` has `op_ts`.
    pub op_ts: bool,
    /// Whether it has `table_name`.
    pub table_name: bool,
    /// Whether it has `database_name`.
    pub database_name: bool,
}

impl Default for TransformOptions {
    fn default() -> Self {
        Self {
            zone: Zone::UTC,
            decimal_precision: 19,
            strict: false,
            null_comparisons: NullComparisons::FlinkCdc,
            allow_trimming_primary_key: false,
            op_ts: false,
            table_name: false,
            database_name: false,
        }
    }
}

/// Says whether a rule means a table.
pub type TableMatcher = Arc<dyn Fn(&TableId) -> bool + Send + Sync>;

/// One rule, as the file has it.
#[derive(Clone)]
pub struct RuleSpec {
    /// Which source tables it means.
    pub matches: TableMatcher,
    /// The SELECT list, `\*` or `*` for all columns; blank: `*`.
    pub projection: String,
    /// The WHERE expression.
    pub filter: Option<String>,
    /// Columns that replace the primary key; empty: it stays.
    pub primary_keys: Vec<String>,
    /// Columns that replace the partition keys; empty: they stay.
    pub partition_keys: Vec<String>,
    /// Options of the table that is created; empty: they stay.
    pub table_options: Vec<(String, String)>,
    /// Whether deletes become inserts that say so.
    pub soft_delete: bool,
}

impl fmt::Debug for RuleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleSpec")
            .field("projection", &self.projection)
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}

/// A rule whose texts are parsed.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) spec: RuleSpec,
    pub(crate) places: Places,
    pub(crate) items: Vec<Item>,
    pub(crate) filter: Option<(Places, Expr)>,
}

/// Values that became NULL or wrapped around, counted since the start.
#[derive(Debug, Default)]
pub struct Counters {
    zero_divisions: AtomicU64,
    lost_values: AtomicU64,
}

impl Counters {
    /// Divisions by zero, each of which gave NULL.
    pub fn zero_divisions(&self) -> u64 {
        self.zero_divisions.load(Ordering::Relaxed)
    }

    /// Values that did not fit their type, or could not be read as what a cast or function asked for.
    pub fn lost_values(&self) -> u64 {
        self.lost_values.load(Ordering::Relaxed)
    }

    /// Adds those of one batch; says whether any came for the first time.
    pub(crate) fn add(&self, zero_divisions: u64, lost_values: u64) -> (bool, bool) {
        let first = |counter: &AtomicU64, n: u64| n > 0 && counter.fetch_add(n, Ordering::Relaxed) == 0;
        (first(&self.zero_divisions, zero_divisions), first(&self.lost_values, lost_values))
    }
}

/// The transform rules of a pipeline.
#[derive(Debug)]
pub struct Transforms {
    pub(crate) rules: Vec<Rule>,
    pub(crate) environment: Arc<Environment>,
    pub(crate) counters: Arc<Counters>,
    warnings: Vec<RuleError>,
}

impl Transforms {
    /// Parses and checks rules without knowing the tables: syntax, names and numbers of arguments of functions, aliases,
    /// models, and types where no column is involved.
    ///
    /// # Errors
    /// Everything that is wrong, with the place in its text.
    pub fn new(
        rules: Vec<RuleSpec>,
        options: TransformOptions,
        functions: &[UserFunction],
        models: Vec<ModelSpec>,
    ) -> Result<Self, Vec<RuleError>> {
        let (transforms, findings) = Self::check(rules, options, functions, models);
        transforms.ok_or(findings)
    }

    /// The same for a checker: all findings, also warnings, and the rules if there is no error.
    pub fn check(
        rules: Vec<RuleSpec>,
        options: TransformOptions,
        functions: &[UserFunction],
        models: Vec<ModelSpec>,
    ) -> (Option<Self>, Vec<RuleError>) {
        let mut findings = Vec::new();
        let options =
            TransformOptions { decimal_precision: options.decimal_precision.clamp(1, MAX_PRECISION), ..options };
        let functions = Functions::new(functions, &mut findings);
        let models = Models::new(models, &mut findings);
        let environment = Environment { options, functions, models };
        let mut parsed = Vec::with_capacity(rules.len());
        for (index, spec) in rules.into_iter().enumerate() {
            parsed.extend(parse(index, spec, &environment, &mut findings));
        }
        if findings.iter().any(|finding| finding.severity != Severity::Warning) {
            return (None, findings);
        }
        let transforms = Self {
            rules: parsed,
            environment: Arc::new(environment),
            counters: Arc::default(),
            warnings: findings.clone(),
        };
        (Some(transforms), findings)
    }

    /// What may not be as meant: a LIKE that is read as a regex.
    pub fn warnings(&self) -> &[RuleError] {
        &self.warnings
    }

    /// Counters over all tables.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// The plan for a table with this schema; `None`: no rule means it, and it passes as it is.
    ///
    /// The first rule in the order of the file that means the table is the only one that counts (Flink CDC's
    /// documentation of transforms).
    ///
    /// # Errors
    /// An unknown column, a type that does not fit, a filter that is no condition, a key that is not projected.
    pub fn for_table(&self, table: &TableId, schema: &Arc<TableSchema>) -> Result<Option<Arc<TablePlan>>, RuleErrors> {
        self.for_table_like(table, schema, None)
    }

    /// The same, with columns that the target has already in the target's order and new ones behind them: for a table that
    /// was transformed before, whose schema has changed since.
    ///
    /// # Errors
    /// As of [`Transforms::for_table`].
    pub fn for_table_like(
        &self,
        table: &TableId,
        schema: &Arc<TableSchema>,
        known: Option<&TableSchema>,
    ) -> Result<Option<Arc<TablePlan>>, RuleErrors> {
        let Some((index, rule)) = self.rules.iter().enumerate().find(|(_, rule)| (rule.spec.matches)(table)) else {
            return Ok(None);
        };
        let plan = TablePlan::new(self, index, rule, table, schema, known);
        plan.map(|plan| Some(Arc::new(plan))).map_err(|errors| RuleErrors { table: table.to_string(), errors })
    }
}

/// Parses the texts of a rule and binds them to no table.
fn parse(index: usize, spec: RuleSpec, environment: &Environment, findings: &mut Vec<RuleError>) -> Option<Rule> {
    let text = if spec.projection.trim().is_empty() { "*" } else { spec.projection.as_str() };
    let places = Places::unescaped(text);
    let mut add = |key: RuleKey, fault: Fault| findings.push(RuleError::of(index, key, fault));
    let items = match parse_projection(&places) {
        Ok(items) => Some(items),
        Err(fault) => {
            add(RuleKey::Projection, fault);
            None
        }
    };
    let scope = Scope { table: None, aliases: Vec::new() };
    for item in items.iter().flatten() {
        let Item::Expression { expr, alias, span } = item else { continue };
        match alias {
            None => {
                let shown = expr.to_string();
                let fault = Fault::new(format!("the expression `{shown}` needs AS and a name"))
                    .hint(format!("write `{shown} AS name`"));
                add(RuleKey::Projection, fault.at(places.range(*span)));
            }
            Some((name, at)) => {
                let renames = !matches!(expr.as_ref(), Expr::Identifier(own) if own.value == *name);
                if renames && METADATA.contains(&name.as_str()) {
                    let fault =
                        Fault::new(format!("the name `{name}` is reserved for metadata")).hint("choose another name");
                    add(RuleKey::Projection, fault.at(places.range(*at)));
                }
            }
        }
        let mut binder = Binder::new(environment, &scope, &places);
        if let Err(fault) = binder.bind(expr) {
            add(RuleKey::Projection, fault);
        }
        binder.warnings.into_iter().for_each(|warning| add(RuleKey::Projection, warning));
    }
    let mut filter = None;
    if let Some(text) = spec.filter.as_deref().filter(|text| !text.trim().is_empty()) {
        let places = Places::plain(text);
        match parse_condition(&places) {
            Err(fault) => add(RuleKey::Filter, fault),
            Ok(expr) => {
                let mut binder = Binder::new(environment, &scope, &places);
                if let Err(fault) = binder.condition(&expr) {
                    add(RuleKey::Filter, fault);
                }
                binder.warnings.into_iter().for_each(|warning| add(RuleKey::Filter, warning));
                filter = Some((places, expr));
            }
        }
    }
    let items = items?;
    let star = items.iter().any(|item| matches!(item, Item::Star));
    let projected = |name: &String| {
        items.iter().any(|item| matches!(item, Item::Expression { alias: Some((alias, _)), .. } if alias == name))
    };
    for (key, names) in [(RuleKey::PrimaryKeys, &spec.primary_keys), (RuleKey::PartitionKeys, &spec.partition_keys)] {
        for name in names.iter().filter(|name| !star && !projected(name)) {
            let known = items.iter().filter_map(|item| match item {
                Item::Expression { alias: Some((alias, _)), .. } => Some(alias.as_str()),
                _ => None,
            });
            let hint = crate::functions::nearest(name, known);
            add(key, Fault::new(format!("`{name}` is not a column of the projection")).maybe_hint(hint));
        }
    }
    if spec.primary_keys.iter().any(|name| name == EVENT_TYPE) {
        add(RuleKey::PrimaryKeys, Fault::new(format!("`{EVENT_TYPE}` can't be part of the primary key")));
    }
    Some(Rule { spec, places, items, filter })
}
