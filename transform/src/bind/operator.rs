//! Operators.

use super::{Binder, coerce, literal};
use crate::error::Fault;
use crate::functions::{self, call_node};
use crate::kernel::{
    Comparison, Mode, arithmetic_kernel, cast_kernel, compare_kernel, distinct_kernel, in_kernel, is_null_kernel,
    is_truth_kernel, negate_kernel, not_kernel, shift_kernel,
};
use crate::node::{Kind, Node};
use crate::rule::{NullComparisons, TransformOptions};
use crate::types::{Arithmetic, BIGINT, BOOL, INT, MAX_PRECISION, TEXT, Type, arithmetic, common};
use rowferry_model::DataType;
use sqlparser::ast::{self, BinaryOperator, CaseWhen, CastKind, Expr, InTarget, Spanned, UnaryOperator, Value};
use std::sync::Arc;

impl Binder<'_> {
    pub(super) fn unary(&mut self, op: UnaryOperator, expr: &Expr) -> Result<Arc<Node>, Fault> {
        // `-2147483648` is an INT, though 2147483648 alone is none.
        if op == UnaryOperator::Minus
            && let Expr::Value(value) = expr
            && let Value::Number(digits, _) = &value.value
        {
            return literal::number(&format!("-{digits}")).map(Arc::new);
        }
        let operand = if op == UnaryOperator::Not { self.condition(expr)? } else { self.bind(expr)? };
        if operand.ty == Type::Unknown {
            return Ok(operand);
        }
        let options = self.options();
        match op {
            UnaryOperator::Not => Ok(Arc::new(not(operand, options))),
            UnaryOperator::Plus if operand.ty.is_numeric() => Ok(operand),
            UnaryOperator::Minus if operand.ty.is_numeric() || operand.ty == Type::Null => {
                let ty = match &operand.ty {
                    Type::Null => INT,
                    Type::Plain(DataType::TinyInt | DataType::SmallInt) => INT,
                    other => other.clone(),
                };
                let operand = coerce(&operand, &ty, options).ok_or_else(|| Fault::new("not a number"))?;
                Ok(Arc::new(call_node(ty, vec![operand], negate_kernel(), options)))
            }
            _ => Err(Fault::new(format!("`{op}` can't be applied to {}", operand.ty))),
        }
    }

    pub(super) fn binary(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Arc<Node>, Fault> {
        if matches!(op, BinaryOperator::And | BinaryOperator::Or) {
            let (a, b) = (self.condition(left)?, self.condition(right)?);
            if a.ty == Type::Unknown || b.ty == Type::Unknown {
                return Ok(Arc::new(Node::unknown()));
            }
            return Ok(Arc::new(if *op == BinaryOperator::And { and(a, b) } else { or(a, b) }));
        }
        let (a, b) = (self.bind(left)?, self.bind(right)?);
        let operands = [Arc::clone(&a), Arc::clone(&b)];
        let arithmetic = |op: Arithmetic| move |options: &TransformOptions| arithmetic_node(op, &a, &b, options);
        match op {
            BinaryOperator::Plus => self.known(&operands, arithmetic(Arithmetic::Add)),
            BinaryOperator::Minus => self.known(&operands, arithmetic(Arithmetic::Subtract)),
            BinaryOperator::Multiply => self.known(&operands, arithmetic(Arithmetic::Multiply)),
            BinaryOperator::Divide => self.known(&operands, arithmetic(Arithmetic::Divide)),
            BinaryOperator::Modulo => self.known(&operands, arithmetic(Arithmetic::Modulo)),
            BinaryOperator::StringConcat => self.known(&operands, |options| functions::concat_node(&operands, options)),
            other => {
                let op = match other {
                    BinaryOperator::Eq => Comparison::Equal,
                    BinaryOperator::NotEq => Comparison::NotEqual,
                    BinaryOperator::Lt => Comparison::Less,
                    BinaryOperator::LtEq => Comparison::LessOrEqual,
                    BinaryOperator::Gt => Comparison::Greater,
                    BinaryOperator::GtEq => Comparison::GreaterOrEqual,
                    other => return Err(Fault::new(format!("the operator `{other}` is not supported"))),
                };
                let [a, b] = &operands;
                self.known(&operands, |options| comparison_node(op, a, b, options))
            }
        }
    }

    pub(super) fn is_null(&mut self, expr: &Expr, negated: bool) -> Result<Arc<Node>, Fault> {
        let operand = self.bind(expr)?;
        self.known(&[Arc::clone(&operand)], |options| {
            let operand = if operand.ty == Type::Null { Arc::new(Node::null(TEXT)) } else { operand };
            Ok(call_node(BOOL, vec![operand], is_null_kernel(negated), options))
        })
    }

    pub(super) fn is_truth(&mut self, expr: &Expr, truth: Option<bool>, negated: bool) -> Result<Arc<Node>, Fault> {
        let operand = self.condition(expr)?;
        self.known(&[Arc::clone(&operand)], |options| {
            Ok(call_node(BOOL, vec![operand], is_truth_kernel(truth, negated), options))
        })
    }

    pub(super) fn is_distinct(&mut self, a: &Expr, b: &Expr, negated: bool) -> Result<Arc<Node>, Fault> {
        let operands = [self.bind(a)?, self.bind(b)?];
        let [a, b] = &operands;
        self.known(&operands, |options| {
            let (a, b) = comparable(a, b, options)?;
            let kernel = distinct_kernel(&a.ty, &b.ty, negated);
            Ok(call_node(BOOL, vec![a, b], kernel, options))
        })
    }

    pub(super) fn between(&mut self, x: &Expr, negated: bool, low: &Expr, high: &Expr) -> Result<Arc<Node>, Fault> {
        let operands = [self.bind(x)?, self.bind(low)?, self.bind(high)?];
        let [x, low, high] = &operands;
        self.known(&operands, |options| {
            let from = comparison_node(Comparison::GreaterOrEqual, x, low, options)?;
            let to = comparison_node(Comparison::LessOrEqual, x, high, options)?;
            let both = and(Arc::new(from), Arc::new(to));
            Ok(if negated { not(Arc::new(both), options) } else { both })
        })
    }

    pub(super) fn in_list(&mut self, x: &Expr, target: &InTarget, negated: bool) -> Result<Arc<Node>, Fault> {
        let InTarget::List(list) = target else {
            return Err(Fault::new("IN needs values in parentheses"));
        };
        let x = self.bind(x)?;
        let values = self.bind_all(list)?;
        let mut operands = values.clone();
        operands.push(Arc::clone(&x));
        self.known(&operands, |options| {
            let found = in_node(&x, &values, options)?;
            Ok(if negated { not(Arc::new(found), options) } else { found })
        })
    }

    fn escape(&mut self, escape: Option<&Expr>) -> Result<Option<char>, Fault> {
        let Some(escape) = escape else { return Ok(None) };
        let text = self.bind(escape)?.constant_text().unwrap_or_default();
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(Some(c)),
            _ => Err(Fault::new("ESCAPE needs one character in single quotes")),
        }
    }

    pub(super) fn like(
        &mut self,
        text: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
        negated: bool,
    ) -> Result<Arc<Node>, Fault> {
        let escape = self.escape(escape)?;
        let place = self.places.range(pattern.span());
        let (text, pattern) = (self.bind(text)?, self.bind(pattern)?);
        let unknown = text.ty == Type::Unknown || pattern.ty == Type::Unknown;
        // The pattern is looked at even where the column is not known.
        let text = if text.ty == Type::Unknown { Arc::new(Node::null(TEXT)) } else { text };
        if pattern.ty == Type::Unknown {
            return Ok(pattern);
        }
        let (node, warning) = functions::like_node(text, pattern, escape, negated, self.options())
            .map_err(|fault| fault.at(place.clone()))?;
        self.warnings.extend(warning.map(|warning| warning.at(place)));
        Ok(Arc::new(if unknown { Node::unknown() } else { node }))
    }

    pub(super) fn similar(
        &mut self,
        text: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
        negated: bool,
    ) -> Result<Arc<Node>, Fault> {
        let escape = self.escape(escape)?;
        let operands = [self.bind(text)?, self.bind(pattern)?];
        let [text, pattern] = &operands;
        self.known(&operands, |options| {
            functions::similar_node(Arc::clone(text), Arc::clone(pattern), escape, negated, options)
        })
    }

    pub(super) fn cast(&mut self, x: &Expr, to: &ast::DataType, kind: &CastKind) -> Result<Arc<Node>, Fault> {
        let mode = match kind {
            CastKind::Cast | CastKind::DoubleColon => Mode::Cast,
            CastKind::TryCast | CastKind::SafeCast => Mode::Try,
        };
        let x = self.bind(x)?;
        let precision = match x.ty {
            Type::Plain(DataType::Timestamp(p) | DataType::TimestampLtz(p) | DataType::Time(p)) => Some(p),
            _ => None,
        };
        let to = super::sql_type::sql_type(to, precision)?;
        self.known(&[Arc::clone(&x)], |options| {
            if x.is_null_literal() {
                return Ok(Node::null(to));
            }
            if x.ty == to || (x.ty.is_text() && to.is_text()) {
                return Ok(Node { ty: to, nullable: true, ..x.as_ref().clone() });
            }
            let kernel =
                cast_kernel(&x.ty, &to, mode).ok_or_else(|| Fault::new(format!("{} can't be cast to {to}", x.ty)))?;
            Ok(call_node(to, vec![x], kernel, options))
        })
    }

    pub(super) fn case(
        &mut self,
        operand: Option<&Expr>,
        conditions: &[CaseWhen],
        otherwise: Option<&Expr>,
    ) -> Result<Arc<Node>, Fault> {
        let operand = operand.map(|operand| self.bind(operand)).transpose()?;
        let mut whens = Vec::with_capacity(conditions.len());
        let mut unknown = false;
        for when in conditions {
            let condition = match &operand {
                None => self.condition(&when.condition)?,
                Some(operand) => {
                    let value = self.bind(&when.condition)?;
                    let operands = [Arc::clone(operand), value];
                    let [operand, value] = &operands;
                    self.known(&operands, |options| comparison_node(Comparison::Equal, operand, value, options))?
                }
            };
            let result = self.bind(&when.result)?;
            unknown |= condition.ty == Type::Unknown || result.ty == Type::Unknown;
            whens.push((condition, result));
        }
        let otherwise = otherwise.map(|otherwise| self.bind(otherwise)).transpose()?;
        unknown |= otherwise.as_ref().is_some_and(|node| node.ty == Type::Unknown);
        if unknown {
            return Ok(Arc::new(Node::unknown()));
        }
        functions::case_node(whens, otherwise, self.options()).map(Arc::new)
    }
}

fn and(a: Arc<Node>, b: Arc<Node>) -> Node {
    let (volatile, careful) = (a.volatile || b.volatile, a.careful || b.careful);
    Node { ty: BOOL, nullable: true, kind: Kind::And(a, b), volatile, careful }
}

fn or(a: Arc<Node>, b: Arc<Node>) -> Node {
    let (volatile, careful) = (a.volatile || b.volatile, a.careful || b.careful);
    Node { ty: BOOL, nullable: true, kind: Kind::Or(a, b), volatile, careful }
}

fn not(a: Arc<Node>, options: &TransformOptions) -> Node {
    call_node(BOOL, vec![a], not_kernel(), options)
}

/// `x IN (…)`.
fn in_node(x: &Arc<Node>, values: &[Arc<Node>], options: &TransformOptions) -> Result<Node, Fault> {
    let two_valued = options.null_comparisons == NullComparisons::FlinkCdc;
    let has_null = values.iter().any(|value| value.is_null_literal());
    let given: Vec<&Arc<Node>> = values.iter().filter(|value| !value.is_null_literal()).collect();
    let pairs = given.iter().map(|value| comparable(x, value, options)).collect::<Result<Vec<_>, _>>()?;
    let same = |ty: &Type| ty.is_text() && x.ty.is_text() || ty.is_integer() && x.ty.is_integer();
    if !pairs.is_empty() && pairs.iter().all(|(_, value)| same(&value.ty)) {
        let constants: Option<Vec<_>> = pairs.iter().map(|(_, value)| value.constant().cloned()).collect();
        if let Some(kernel) = constants.and_then(|constants| in_kernel(&constants, has_null, two_valued)) {
            return Ok(call_node(BOOL, vec![Arc::clone(x)], kernel, options));
        }
    }
    let mut found: Option<Node> = None;
    for (a, b) in pairs {
        let equal = comparison_node(Comparison::Equal, &a, &b, options)?;
        found = Some(match found {
            None => equal,
            Some(found) => or(Arc::new(found), Arc::new(equal)),
        });
    }
    if has_null {
        let null = if two_valued {
            call_node(BOOL, vec![Arc::clone(x)], is_null_kernel(false), options)
        } else {
            Node::null(BOOL)
        };
        found = Some(match found {
            None => null,
            Some(found) => or(Arc::new(found), Arc::new(null)),
        });
    }
    found.ok_or_else(|| Fault::new("IN needs values in parentheses"))
}

/// Two operands as values of one type (decimals may keep their scales).
fn comparable(a: &Arc<Node>, b: &Arc<Node>, options: &TransformOptions) -> Result<(Arc<Node>, Arc<Node>), Fault> {
    let literal = |text: &Arc<Node>, other: &Arc<Node>| -> Result<Option<Arc<Node>>, Fault> {
        if !text.ty.is_text() || other.ty.is_text() || matches!(other.ty, Type::Null | Type::Variant) {
            return Ok(None);
        }
        let Some(value) = text.constant_text() else { return Ok(None) };
        literal::from_text(&value, &other.ty)
            .map(|node| Some(Arc::new(node)))
            .ok_or_else(|| Fault::new(format!("'{value}' is compared with {}, but is no such value", other.ty)))
    };
    let a = literal(a, b)?.unwrap_or_else(|| Arc::clone(a));
    let b = literal(b, &a)?.unwrap_or_else(|| Arc::clone(b));
    let mismatch = || {
        Fault::new(format!("{} can't be compared with {}", a.ty, b.ty)).hint("write CAST(… AS …) around one of them")
    };
    let ty = common(&a.ty, &b.ty, crate::types::MAX_PRECISION).ok_or_else(mismatch)?;
    if ty.is_nested() {
        return Err(mismatch());
    }
    if ty == Type::Null {
        return Ok((Arc::new(Node::null(INT)), Arc::new(Node::null(INT))));
    }
    if let Type::Plain(DataType::Decimal { precision, scale }) = ty {
        let (_, sa) = a.ty.exact().unwrap_or((precision, scale));
        let (_, sb) = b.ty.exact().unwrap_or((precision, scale));
        let at_hand = |node: &Arc<Node>, own: u8| own == scale || node.constant().is_some();
        if precision < MAX_PRECISION && at_hand(&a, sa) && at_hand(&b, sb) {
            // One type for both costs nothing then, and is compared at full speed.
            return coerce(&a, &ty, options).zip(coerce(&b, &ty, options)).ok_or_else(mismatch);
        }
        let exact = |node: &Arc<Node>| match node.ty.exact() {
            Some((precision, scale)) => coerce(node, &crate::types::decimal(precision, scale), options),
            None => coerce(node, &ty, options),
        };
        return exact(&a).zip(exact(&b)).ok_or_else(mismatch);
    }
    coerce(&a, &ty, options).zip(coerce(&b, &ty, options)).ok_or_else(mismatch)
}

/// A comparison by value.
pub(crate) fn comparison_node(
    op: Comparison,
    a: &Arc<Node>,
    b: &Arc<Node>,
    options: &TransformOptions,
) -> Result<Node, Fault> {
    let (a, b) = comparable(a, b, options)?;
    let null_as = match options.null_comparisons {
        NullComparisons::FlinkCdc => Some(op == Comparison::NotEqual),
        NullComparisons::Sql => None,
    };
    let kernel = compare_kernel(op, &a.ty, &b.ty, null_as);
    Ok(call_node(BOOL, vec![a, b], kernel, options))
}

/// An arithmetic operation, also of a time and an interval.
pub(crate) fn arithmetic_node(
    op: Arithmetic,
    a: &Arc<Node>,
    b: &Arc<Node>,
    options: &TransformOptions,
) -> Result<Node, Fault> {
    if let Some(moved) = shifted(op, a, b, options) {
        return moved;
    }
    let mismatch = || {
        let fault = Fault::new(format!("{} and {} can't be computed with", a.ty, b.ty));
        if a.ty.is_text() || b.ty.is_text() {
            fault.hint("texts are joined with `||` or CONCAT; CAST makes a number of a text")
        } else {
            fault
        }
    };
    let ty = arithmetic(op, &a.ty, &b.ty, options.decimal_precision).ok_or_else(mismatch)?;
    let (a, b) = if ty.is_decimal() {
        // Exact numbers keep their scales; the kernel aligns them.
        let exact = |node: &Arc<Node>| {
            if node.is_null_literal() { Some(Arc::new(Node::null(ty.clone()))) } else { Some(Arc::clone(node)) }
        };
        (exact(a), exact(b))
    } else {
        (coerce(a, &ty, options), coerce(b, &ty, options))
    };
    let (Some(a), Some(b)) = (a, b) else { return Err(mismatch()) };
    let kernel = arithmetic_kernel(op, &a.ty, &b.ty, &ty).ok_or_else(mismatch)?;
    Ok(call_node(ty, vec![a, b], kernel, options))
}

/// `time + interval`, `interval + time`, `time - interval`; `None`: there is no interval.
fn shifted(op: Arithmetic, a: &Arc<Node>, b: &Arc<Node>, options: &TransformOptions) -> Option<Result<Node, Fault>> {
    let is_interval = |node: &Arc<Node>| matches!(node.ty, Type::Months | Type::Micros);
    let (time, interval, sign) = match (is_interval(a), is_interval(b), op) {
        (false, true, Arithmetic::Add) => (a, b, 1),
        (false, true, Arithmetic::Subtract) => (a, b, -1),
        (true, false, Arithmetic::Add) => (b, a, 1),
        (false, false, _) => return None,
        _ => return Some(Err(Fault::new("an interval can only be added to a time or taken from it"))),
    };
    let months = interval.ty == Type::Months;
    let days = interval.constant().is_some_and(|array| {
        let array = array.as_any().downcast_ref::<arrow_array::Int64Array>();
        array.is_some_and(|array| array.value(0) % crate::text::DAY == 0)
    });
    let time = match &time.ty {
        ty if ty.is_timestamp() => Arc::clone(time),
        Type::Plain(DataType::Time(_)) if !months => Arc::clone(time),
        Type::Plain(DataType::Date) if months || days => Arc::clone(time),
        Type::Plain(DataType::Date) => coerce(time, &Type::Plain(DataType::Timestamp(0)), options)?,
        other => return Some(Err(Fault::new(format!("an interval can't be added to {other}")))),
    };
    let ty = time.ty.clone();
    let amount = Arc::new(Node { ty: BIGINT, ..interval.as_ref().clone() });
    Some(Ok(call_node(ty, vec![time, amount], shift_kernel(months, sign), options)))
}
