//! Expressions as MySQL and MariaDB show them.

use super::Node;

/// A string between quotes, escaped.
fn quoted(text: &str, out: &mut String, doubled: bool) {
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' if doubled => out.push_str("''"),
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\u{1a}' => out.push_str("\\Z"),
            other => out.push(other),
        }
    }
    out.push('\'');
}

fn column(name: &str, out: &mut String) {
    out.push('`');
    out.push_str(&name.replace('`', "``"));
    out.push('`');
}

/// As MySQL shows it: every operation in parentheses, and the whole text escaped once more.
pub(super) fn mysql(node: &Node, charset: &str) -> String {
    let mut out = String::new();
    Mysql { charset }.show(node, &mut out);
    let mut escaped = String::with_capacity(out.len());
    for c in out.chars() {
        if matches!(c, '\'' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

struct Mysql<'a> {
    charset: &'a str,
}

/// Whether a node is true or false by itself.
fn is_condition(node: &Node) -> bool {
    match node {
        Node::Not(_) | Node::Is(..) | Node::In(..) | Node::Between(..) => true,
        Node::Binary(operator, ..) => {
            matches!(*operator, "or" | "xor" | "and" | "=" | "<=>" | ">=" | ">" | "<=" | "<" | "<>" | "like" | "regexp")
        }
        Node::Plain(word) => word == "true" || word == "false",
        _ => false,
    }
}

impl Mysql<'_> {
    fn list(&self, nodes: &[Node], out: &mut String) {
        for (i, node) in nodes.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            self.show(node, out);
        }
    }

    /// An operand of AND, OR, XOR and IS TRUE: MySQL compares numbers with 0.
    fn condition(&self, node: &Node, out: &mut String) {
        if is_condition(node) {
            self.show(node, out);
        } else {
            out.push_str("(0 <> ");
            self.show(node, out);
            out.push(')');
        }
    }

    fn not(&self, node: &Node, out: &mut String) {
        let opposite = |operator: &str| {
            Some(match operator {
                "=" => "<>",
                "<>" => "=",
                ">" => "<=",
                "<=" => ">",
                "<" => ">=",
                ">=" => "<",
                _ => return None,
            })
        };
        match node {
            Node::Binary(operator, left, right) if opposite(operator).is_some() => {
                self.binary(opposite(operator).unwrap_or_default(), left, right, out);
            }
            node if is_condition(node) => {
                out.push_str("(not(");
                self.show(node, out);
                out.push_str("))");
            }
            node => {
                out.push_str("(0 = ");
                self.show(node, out);
                out.push(')');
            }
        }
    }

    fn binary(&self, operator: &str, left: &Node, right: &Node, out: &mut String) {
        let logic = matches!(operator, "or" | "and" | "xor");
        out.push('(');
        if logic {
            self.condition(left, out)
        } else {
            self.show(left, out)
        }
        out.push_str(&format!(" {operator} "));
        if logic {
            self.condition(right, out)
        } else {
            self.show(right, out)
        }
        out.push(')');
    }

    fn show(&self, node: &Node, out: &mut String) {
        match node {
            Node::Plain(text) => out.push_str(text),
            Node::Text(charset, text) => {
                out.push('_');
                out.push_str(charset.as_deref().unwrap_or(self.charset));
                quoted(text, out, false);
            }
            Node::Typed(kind, text) => {
                out.push_str(kind);
                quoted(text, out, false);
            }
            Node::Hex(bytes) => {
                out.push_str("0x");
                bytes.iter().for_each(|b| out.push_str(&format!("{b:02x}")));
            }
            Node::Column(name) => column(name, out),
            Node::Call(name, arguments) => {
                out.push_str(name);
                out.push('(');
                self.list(arguments, out);
                out.push(')');
            }
            Node::Now(precision) => {
                out.push_str(&format!("now({})", precision.as_deref().unwrap_or_default()));
            }
            Node::Unary(sign, value) => {
                out.push(*sign);
                out.push('(');
                self.show(value, out);
                out.push(')');
            }
            Node::Not(value) => self.not(value, out),
            Node::Binary("regexp", left, right) => {
                out.push_str("regexp_like(");
                self.show(left, out);
                out.push(',');
                self.show(right, out);
                out.push(')');
            }
            Node::Binary(operator, left, right) => self.binary(operator, left, right, out),
            Node::Is(value, what) => {
                out.push('(');
                if what.ends_with("null") {
                    self.show(value, out)
                } else {
                    self.condition(value, out)
                }
                out.push_str(what);
                out.push(')');
            }
            Node::In(value, not, list) => {
                out.push('(');
                self.show(value, out);
                out.push_str(if *not { " not in (" } else { " in (" });
                self.list(list, out);
                out.push_str("))");
            }
            Node::Between(value, not, low, high) => {
                out.push('(');
                self.show(value, out);
                out.push_str(if *not { " not between " } else { " between " });
                self.show(low, out);
                out.push_str(" and ");
                self.show(high, out);
                out.push(')');
            }
            Node::Interval(sign, value, amount, unit) => {
                out.push('(');
                self.show(value, out);
                out.push_str(&format!(" {sign} interval "));
                self.show(amount, out);
                out.push_str(&format!(" {unit})"));
            }
            Node::Case(operand, branches, other) => {
                out.push_str("(case ");
                if let Some(operand) = operand {
                    self.show(operand, out);
                    out.push(' ');
                }
                for (when, then) in branches {
                    out.push_str("when ");
                    self.show(when, out);
                    out.push_str(" then ");
                    self.show(then, out);
                    out.push(' ');
                }
                if let Some(other) = other {
                    out.push_str("else ");
                    self.show(other, out);
                    out.push(' ');
                }
                out.push_str("end)");
            }
            Node::Cast(value, kind) => {
                out.push_str("cast(");
                self.show(value, out);
                out.push_str(&format!(" as {kind})"));
            }
            Node::Using(value, charset) => {
                out.push_str("convert(");
                self.show(value, out);
                out.push_str(&format!(" using {charset})"));
            }
            Node::Collate(value, collation) => {
                out.push('(');
                self.show(value, out);
                out.push_str(&format!(" collate {collation})"));
            }
            Node::Extract(unit, value) => {
                out.push_str(&format!("extract({unit} from "));
                self.show(value, out);
                out.push(')');
            }
        }
    }
}

/// As MariaDB shows it: parentheses only where precedence needs them, and around a whole that isn't a call.
pub(super) fn mariadb(node: &Node) -> String {
    let mut out = String::new();
    let bare = match node {
        Node::Call(..)
        | Node::Now(_)
        | Node::Plain(_)
        | Node::Text(..)
        | Node::Typed(..)
        | Node::Hex(_)
        | Node::Using(..)
        | Node::Extract(..) => true,
        // Casts to time types are functions there.
        Node::Cast(_, kind) => kind.starts_with("date") || kind.starts_with("time"),
        _ => false,
    };
    if !bare {
        out.push('(');
    }
    plain(node, 0, &mut out);
    if !bare {
        out.push(')');
    }
    out
}

fn precedence(node: &Node) -> u8 {
    match node {
        Node::Binary(operator, ..) => match *operator {
            "or" => 1,
            "xor" => 2,
            "and" => 3,
            "|" => 6,
            "&" => 7,
            "<<" | ">>" => 8,
            "+" | "-" => 9,
            "*" | "/" | "%" | "DIV" => 10,
            "^" => 11,
            _ => 5,
        },
        Node::Not(_) | Node::Is(..) | Node::In(..) | Node::Between(..) => 5,
        Node::Interval(..) => 9,
        Node::Unary(..) => 12,
        _ => 20,
    }
}

/// Shows a node within one that binds by `outer`.
fn plain(node: &Node, outer: u8, out: &mut String) {
    let own = precedence(node);
    let wrapped = own < outer;
    if wrapped {
        out.push('(');
    }
    // AND and OR compare numbers with 0.
    let condition = |node: &Node, out: &mut String| {
        plain(node, own, out);
        if !is_condition(node) {
            out.push_str(" <> 0");
        }
    };
    match node {
        Node::Plain(word) if word == "true" => out.push('1'),
        Node::Plain(word) if word == "false" => out.push('0'),
        Node::Plain(text) => out.push_str(text),
        Node::Text(_, text) | Node::Typed(_, text) => quoted(text, out, false),
        Node::Hex(bytes) => {
            out.push_str("0x");
            bytes.iter().for_each(|b| out.push_str(&format!("{b:02X}")));
        }
        Node::Column(name) => column(name, out),
        Node::Call(name, arguments) => {
            out.push_str(match name.as_str() {
                "upper" => "ucase",
                "lower" => "lcase",
                "length" => "octet_length",
                "st_geomfromtext" => "st_geometryfromtext",
                other => other,
            });
            out.push('(');
            list(arguments, out);
            out.push(')');
        }
        Node::Now(precision) => {
            out.push_str(&format!("current_timestamp({})", precision.as_deref().unwrap_or_default()));
        }
        Node::Unary(sign, value) => {
            out.push(*sign);
            plain(value, own, out);
        }
        Node::Not(value) => match &**value {
            Node::Binary("=", left, right) => operation("<>", left, right, own, out),
            Node::Binary("like", left, right) => operation(" not like", left, right, own, out),
            Node::Binary("regexp", left, right) => operation(" not regexp", left, right, own, out),
            value if is_condition(value) => {
                out.push_str("!(");
                plain(value, 0, out);
                out.push(')');
            }
            value => {
                plain(value, own, out);
                out.push_str(" = 0");
            }
        },
        Node::Binary(operator @ ("or" | "and"), left, right) => {
            condition(left, out);
            out.push_str(&format!(" {operator} "));
            condition(right, out);
        }
        Node::Binary("%", left, right) => operation("MOD", left, right, own, out),
        Node::Binary(operator, left, right) => operation(operator, left, right, own, out),
        Node::Is(value, what) => {
            plain(value, own, out);
            out.push_str(what);
        }
        Node::In(value, not, items) => {
            plain(value, own, out);
            out.push_str(if *not { " not in (" } else { " in (" });
            list(items, out);
            out.push(')');
        }
        Node::Between(value, not, low, high) => {
            plain(value, own, out);
            out.push_str(if *not { " not between " } else { " between " });
            plain(low, own, out);
            out.push_str(" and ");
            plain(high, own, out);
        }
        Node::Interval(sign, value, amount, unit) => {
            plain(value, own, out);
            out.push_str(&format!(" {sign} interval "));
            plain(amount, own, out);
            out.push_str(&format!(" {unit}"));
        }
        Node::Case(operand, branches, other) => {
            out.push_str("case ");
            if let Some(operand) = operand {
                plain(operand, 0, out);
                out.push(' ');
            }
            for (when, then) in branches {
                out.push_str("when ");
                plain(when, 0, out);
                out.push_str(" then ");
                plain(then, 0, out);
                out.push(' ');
            }
            if let Some(other) = other {
                out.push_str("else ");
                plain(other, 0, out);
                out.push(' ');
            }
            out.push_str("end");
        }
        Node::Cast(value, kind) => {
            out.push_str("cast(");
            plain(value, 0, out);
            out.push_str(&format!(" as {kind})"));
        }
        Node::Using(value, charset) => {
            out.push_str("convert(");
            plain(value, 0, out);
            out.push_str(&format!(" using {charset})"));
        }
        Node::Collate(value, collation) => {
            plain(value, own, out);
            out.push_str(&format!(" collate {collation}"));
        }
        Node::Extract(unit, value) => {
            out.push_str(&format!("extract({unit} from "));
            plain(value, 0, out);
            out.push(')');
        }
    }
    if wrapped {
        out.push(')');
    }
}

fn operation(operator: &str, left: &Node, right: &Node, own: u8, out: &mut String) {
    plain(left, own, out);
    out.push_str(&format!(" {operator} "));
    plain(right, own + 1, out);
}

fn list(nodes: &[Node], out: &mut String) {
    for (i, node) in nodes.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        plain(node, 0, out);
    }
}
