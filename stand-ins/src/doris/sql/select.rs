//! SELECT, as far as the sink's own check needs it.

use super::parser::Parser;
use super::{Failure, Statement};

impl Parser {
    /// Columns, or columns as other types in which they are shown alike, of one table, in the order of one column.
    pub(super) fn select(&mut self) -> Result<Statement, Failure> {
        let mut columns = Vec::new();
        loop {
            if self.eat("cast") {
                self.sign('(')?;
                columns.push(self.name()?);
                self.expect("as")?;
                if !self.eat("string") {
                    self.expect("int")?;
                }
                self.sign(')')?;
            } else {
                columns.push(self.name()?);
            }
            if !self.eat_sign(',') {
                break;
            }
        }
        self.expect("from")?;
        let name = self.table()?;
        self.expect("order")?;
        self.expect("by")?;
        let order = self.name()?;
        if self.peek().is_some() {
            return Err(self.unexpected());
        }
        Ok(Statement::Select { columns, name, order })
    }
}
