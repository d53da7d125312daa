//! The file's own functions. Those of the JVM and of Python can't run here; those that are given as SQL can.

use crate::error::{Fault, RuleError, RuleKey};
use crate::sql::{Places, parse_expression};
use sqlparser::ast::Expr;
use sqlparser::tokenizer::{Token, Tokenizer};

/// What a user-defined function is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionBody {
    /// A Java class, by its name.
    Class(String),
    /// Python code.
    Python,
    /// An expression over the arguments `$1`, `$2` and so on.
    Sql(String),
}

/// A user-defined function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFunction {
    /// Its name; calls may write it in any case.
    pub name: String,
    /// What it is made of.
    pub body: FunctionBody,
}

/// What a call of a declared name does.
#[derive(Debug)]
pub(crate) enum Callable {
    /// It can't be called here.
    Elsewhere {
        what: String,
    },
    Sql(Box<SqlFunction>),
}

/// A function as an expression.
#[derive(Debug)]
pub(crate) struct SqlFunction {
    pub(crate) places: Places,
    pub(crate) expr: Expr,
    /// How many arguments it takes: the greatest number behind a `$`.
    pub(crate) arguments: usize,
}

/// All functions of a file.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    all: Vec<(String, Callable)>,
}

impl Functions {
    pub(crate) fn new(functions: &[UserFunction], errors: &mut Vec<RuleError>) -> Self {
        let mut all = Vec::with_capacity(functions.len());
        for (index, function) in functions.iter().enumerate() {
            let callable = match &function.body {
                FunctionBody::Class(class) => Callable::Elsewhere { what: format!("the Java class {class}") },
                FunctionBody::Python => Callable::Elsewhere { what: "Python code".to_owned() },
                FunctionBody::Sql(text) => match sql_function(text) {
                    Ok(function) => Callable::Sql(Box::new(function)),
                    Err(fault) => {
                        errors.push(RuleError::of(index, RuleKey::Function, fault));
                        continue;
                    }
                },
            };
            all.push((function.name.clone(), callable));
        }
        Self { all }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Callable> {
        self.all.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, callable)| callable)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(name, _)| name.as_str())
    }
}

/// More arguments than this are a slip.
const MAX_ARGUMENTS: usize = 64;

fn sql_function(text: &str) -> Result<SqlFunction, Fault> {
    let places = Places::plain(text);
    let expr = parse_expression(&places)?;
    let mut arguments = 0;
    for token in Tokenizer::new(&sqlparser::dialect::GenericDialect {}, text).tokenize().unwrap_or_default() {
        if let Token::Placeholder(name) = token {
            let number = name.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
            match number {
                Some(number) if (1..=MAX_ARGUMENTS).contains(&number) => arguments = arguments.max(number),
                _ => return Err(Fault::new(format!("`{name}` is no argument")).hint("arguments are $1, $2 and so on")),
            }
        }
    }
    Ok(SqlFunction { places, expr, arguments })
}
