//! The compiled expression: a tree of kernels over columns. It is walked once a batch, not once a row.

use crate::column::{Col, TooLong, WrongArray, as_bools};
use crate::types::Type;
use crate::zone::Zone;
use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array};
use arrow_schema::ArrowError;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

/// Why an expression could not be computed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The row of the evaluated columns that is to blame, if it is one.
    pub(crate) row: Option<usize>,
    pub(crate) message: String,
    pub(crate) transient: bool,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { row: None, message: message.into(), transient: false }
    }

    pub(crate) fn at(row: usize, message: impl Into<String>) -> Self {
        Self { row: Some(row), ..Self::new(message) }
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<TooLong> for Failure {
    fn from(_: TooLong) -> Self {
        Self::new("the values of this batch are together longer than 2 GiB")
    }
}

impl From<WrongArray> for Failure {
    fn from(_: WrongArray) -> Self {
        Self::new("a column has another type than it was compiled for")
    }
}

/// What kernels may look at beside their arguments.
pub(crate) struct Context {
    /// Microseconds since the epoch: the same for all rows of a batch.
    pub(crate) now: i64,
    pub(crate) zone: Zone,
    /// Whether a value that does not fit is an error.
    pub(crate) strict: bool,
    /// Divisions by zero in this batch.
    pub(crate) zero_divisions: Cell<u64>,
    /// Values in this batch that did not fit their type, or could not be read as it.
    pub(crate) lost_values: Cell<u64>,
}

impl Context {
    pub(crate) fn zero_division(&self) {
        self.zero_divisions.set(self.zero_divisions.get() + 1);
    }

    pub(crate) fn lost(&self) {
        self.lost_values.set(self.lost_values.get() + 1);
    }

    /// Counts a value that does not fit; where the rules are strict it is an error.
    pub(crate) fn misfit(&self, row: usize, what: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.strict {
            return Err(Failure::at(row, what()));
        }
        self.lost();
        Ok(())
    }
}

/// Computes a column from columns, each of which has as many rows as said or one for all.
pub(crate) type Kernel = Arc<dyn Fn(&[Col], usize, &Context) -> Result<ArrayRef, Failure> + Send + Sync>;

/// A compiled expression.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) ty: Type,
    pub(crate) nullable: bool,
    pub(crate) kind: Kind,
    /// Gives another value each time: never computed ahead.
    pub(crate) volatile: bool,
    /// May fail or costs much: not computed for rows that don't need it.
    pub(crate) careful: bool,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Column(usize),
    Literal(ArrayRef),
    Call {
        args: Vec<Arc<Node>>,
        kernel: Kernel,
    },
    And(Arc<Node>, Arc<Node>),
    Or(Arc<Node>, Arc<Node>),
    Case {
        whens: Vec<(Arc<Node>, Arc<Node>)>,
        otherwise: Arc<Node>,
    },
    /// Computed once a batch, whoever asks.
    Shared(usize, Arc<Node>),
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({})", self.ty)
    }
}

impl Node {
    pub(crate) fn literal(ty: Type, array: ArrayRef) -> Self {
        let nullable = array.is_null(0) || ty == Type::Null;
        Self { ty, nullable, kind: Kind::Literal(array), volatile: false, careful: false }
    }

    pub(crate) fn null(ty: Type) -> Self {
        let array = arrow_array::new_null_array(&ty.arrow(), 1);
        Self { nullable: true, ..Self::literal(ty, array) }
    }

    pub(crate) fn unknown() -> Self {
        Self { ty: Type::Unknown, ..Self::null(Type::Null) }
    }

    /// The value, if it is the same for all rows.
    pub(crate) fn constant(&self) -> Option<&ArrayRef> {
        match &self.kind {
            Kind::Literal(array) if self.ty != Type::Unknown => Some(array),
            Kind::Shared(_, inner) => inner.constant(),
            _ => None,
        }
    }

    /// The text, if it is a literal one.
    pub(crate) fn constant_text(&self) -> Option<String> {
        let array = self.constant()?;
        let text = array.as_any().downcast_ref::<arrow_array::StringArray>()?;
        text.is_valid(0).then(|| text.value(0).to_owned())
    }

    /// Whether it is a literal NULL.
    pub(crate) fn is_null_literal(&self) -> bool {
        self.constant().is_some_and(|array| self.ty == Type::Null || array.is_null(0))
    }

    /// Which columns it reads.
    pub(crate) fn columns(&self, found: &mut Vec<usize>) {
        match &self.kind {
            Kind::Column(index) => {
                if !found.contains(index) {
                    found.push(*index);
                }
            }
            Kind::Literal(_) => {}
            Kind::Call { args, .. } => args.iter().for_each(|arg| arg.columns(found)),
            Kind::And(a, b) | Kind::Or(a, b) => {
                a.columns(found);
                b.columns(found);
            }
            Kind::Case { whens, otherwise } => {
                for (condition, value) in whens {
                    condition.columns(found);
                    value.columns(found);
                }
                otherwise.columns(found);
            }
            Kind::Shared(_, inner) => inner.columns(found),
        }
    }
}

/// The columns that an expression is computed from.
pub(crate) struct Input {
    pub(crate) columns: Vec<ArrayRef>,
    pub(crate) rows: usize,
    /// What was computed once for all, by number.
    pub(crate) shared: RefCell<Vec<Option<Col>>>,
}

impl Input {
    /// Only the rows that a mask has; only the columns that a node reads.
    fn only(&self, mask: &BooleanArray, node: &Node) -> Result<Self, Failure> {
        let mut wanted = Vec::new();
        node.columns(&mut wanted);
        let mut columns = self.columns.clone();
        for index in wanted {
            if let Some(column) = columns.get_mut(index) {
                *column = arrow_select::filter::filter(column.as_ref(), mask)?;
            }
        }
        let mut shared = self.shared.borrow().clone();
        for column in shared.iter_mut().flatten().filter(|column| !column.scalar) {
            column.array = arrow_select::filter::filter(column.array.as_ref(), mask)?;
        }
        Ok(Self { columns, rows: mask.true_count(), shared: RefCell::new(shared) })
    }
}

/// Computes a node for all rows.
pub(crate) fn evaluate(node: &Node, input: &Input, context: &Context) -> Result<Col, Failure> {
    match &node.kind {
        Kind::Column(index) => {
            let array = input.columns.get(*index).ok_or_else(|| Failure::new("a column is missing"))?;
            Ok(Col::rows(Arc::clone(array)))
        }
        Kind::Literal(array) => Ok(Col { array: Arc::clone(array), scalar: true }),
        Kind::Call { args, kernel } => {
            let args = args.iter().map(|arg| evaluate(arg, input, context)).collect::<Result<Vec<_>, _>>()?;
            // A call without arguments gives each row a value of its own: UUID().
            let scalar = !node.volatile && args.iter().all(|arg| arg.scalar);
            let rows = if scalar { 1 } else { input.rows };
            Ok(Col { array: kernel(&args, rows, context)?, scalar })
        }
        Kind::And(a, b) => connective(a, b, input, context, false),
        Kind::Or(a, b) => connective(a, b, input, context, true),
        Kind::Case { whens, otherwise } => case(whens, otherwise, input, context),
        Kind::Shared(slot, inner) => {
            if let Some(Some(column)) = input.shared.borrow().get(*slot) {
                return Ok(column.clone());
            }
            let column = evaluate(inner, input, context)?;
            if let Some(place) = input.shared.borrow_mut().get_mut(*slot) {
                *place = Some(column.clone());
            }
            Ok(column)
        }
    }
}

/// AND and OR with three values; the right side is computed only where the left one decides nothing, if that matters.
fn connective(a: &Node, b: &Node, input: &Input, context: &Context, or: bool) -> Result<Col, Failure> {
    let left = evaluate(a, input, context)?.spread(input.rows)?;
    let left = as_bools(&left)?;
    let right = if b.careful {
        let open: BooleanArray = left.iter().map(|value| Some(value != Some(or))).collect();
        evaluate_where(b, &open, input, context)?
    } else {
        evaluate(b, input, context)?.spread(input.rows)?
    };
    let right = as_bools(&right)?;
    let result =
        if or { arrow_arith::boolean::or_kleene(left, right)? } else { arrow_arith::boolean::and_kleene(left, right)? };
    Ok(Col::rows(Arc::new(result)))
}

fn case(whens: &[(Arc<Node>, Arc<Node>)], otherwise: &Node, input: &Input, context: &Context) -> Result<Col, Failure> {
    let careful = otherwise.careful || whens.iter().any(|(condition, value)| condition.careful || value.careful);
    let mut open = careful.then(|| BooleanArray::from(vec![true; input.rows]));
    let mut chosen = Vec::with_capacity(whens.len());
    for (condition, value) in whens {
        let (mask, value) = match &mut open {
            None => {
                let mask = evaluate(condition, input, context)?.spread(input.rows)?;
                (as_bools(&mask)?.clone(), evaluate(value, input, context)?)
            }
            Some(open) => {
                let mask = evaluate_where(condition, open, input, context)?;
                let mask = as_bools(&mask)?;
                let mask: BooleanArray =
                    mask.iter().zip(open.iter()).map(|(m, o)| Some(m == Some(true) && o == Some(true))).collect();
                *open = open.iter().zip(mask.iter()).map(|(o, m)| Some(o == Some(true) && m != Some(true))).collect();
                let value = evaluate_where(value, &mask, input, context)?;
                (mask, Col::rows(value))
            }
        };
        chosen.push((mask, value));
    }
    let mut result = match &open {
        None => evaluate(otherwise, input, context)?,
        Some(open) => Col::rows(evaluate_where(otherwise, open, input, context)?),
    };
    for (mask, value) in chosen.iter().rev() {
        result = Col::rows(arrow_select::zip::zip(mask, value, &result)?);
    }
    Ok(result)
}

/// Computes a node for the rows of a mask; the others are NULL.
fn evaluate_where(node: &Node, mask: &BooleanArray, input: &Input, context: &Context) -> Result<ArrayRef, Failure> {
    let count = mask.true_count();
    if count == input.rows {
        return Ok(evaluate(node, input, context)?.spread(input.rows)?);
    }
    if count == 0 {
        return Ok(arrow_array::new_null_array(&node.ty.arrow(), input.rows));
    }
    let part = input.only(mask, node)?;
    let values = evaluate(node, &part, context).map_err(|mut failure| {
        // The row of the part as a row of the whole.
        failure.row = failure.row.and_then(|row| (0..mask.len()).filter(|i| mask.value(*i)).nth(row));
        failure
    })?;
    let values = values.spread(count)?;
    let mut next = 0_u32;
    let indices: UInt32Array = (0..mask.len())
        .map(|row| {
            mask.value(row).then(|| {
                next += 1;
                next - 1
            })
        })
        .collect();
    Ok(arrow_select::take::take(values.as_ref(), &indices, None)?)
}

/// One text, for a literal.
pub(crate) fn constant_text(text: &str) -> ArrayRef {
    Arc::new(arrow_array::StringArray::from(vec![text]))
}
