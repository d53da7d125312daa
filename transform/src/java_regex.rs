//! Regular expressions as Java reads them, for the `regex` crate.
//!
//! The crate's syntax is near to Java's, but some texts mean something else there (`a*+`, `\_`, `[a--b]`, `\d`), which
//! would match other tables in silence. So the text is translated token by token, and what the crate can't do (look
//! around, back references, possessive quantifiers) is refused by name.

use regex::{Regex, RegexBuilder};

/// Whether letters match in both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Upper and lower case are different letters.
    Sensitive,
    /// Java folds ASCII letters only; here all letters fold. MySQL folds names in Unicode too.
    Insensitive,
}

/// Compiles a Java regular expression that must match a whole text.
///
/// # Errors
/// What is wrong with it, as a clause: `is not a valid regex: …`.
pub fn compile(pattern: &str, case: Case) -> Result<Regex, String> {
    let translated = Translator::new(pattern).translate()?;
    build(&format!("^(?:{translated})$"), case)
}

/// Compiles a Java regular expression that is searched for, as `Matcher.find` does.
///
/// # Errors
/// As of [`compile`].
pub fn search(pattern: &str) -> Result<Regex, String> {
    build(&Translator::new(pattern).translate()?, Case::Sensitive)
}

fn build(translated: &str, case: Case) -> Result<Regex, String> {
    RegexBuilder::new(translated)
        .case_insensitive(case == Case::Insensitive)
        .size_limit(1 << 20)
        .build()
        .map_err(|error| reason(&error))
}

/// The crate's message without its drawing of the pattern, which shows the translated text.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "it is too big".to_owned(),
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default().trim();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        }
    }
}

/// The names of the named groups of a pattern, for `${name}` in a route's target.
pub fn group_names(pattern: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in pattern.match_indices("(?<") {
        let rest = pattern.get(at + 3..).unwrap_or_default();
        let Some((name, _)) = rest.split_once('>') else { continue };
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric()) {
            names.push(name.to_owned());
        }
    }
    names
}

struct Translator<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    out: String,
}

/// What the last token was: a quantifier needs something before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Start of the pattern, of a group or of an alternative.
    Nothing,
    Atom,
    Quantifier,
}

impl<'a> Translator<'a> {
    fn new(pattern: &'a str) -> Self {
        Self { rest: pattern.chars().peekable(), out: String::with_capacity(pattern.len()) }
    }

    fn translate(mut self) -> Result<String, String> {
        let mut last = Last::Nothing;
        while let Some(c) = self.rest.next() {
            last = match c {
                '\\' => {
                    self.escape(false)?;
                    Last::Atom
                }
                '[' => {
                    self.class(0)?;
                    Last::Atom
                }
                '*' | '+' | '?' | '{' => {
                    self.quantifier(c, last)?;
                    Last::Quantifier
                }
                '(' => {
                    self.group()?;
                    Last::Nothing
                }
                '|' => {
                    self.out.push(c);
                    Last::Nothing
                }
                ')' | '.' | '^' | '$' => {
                    self.out.push(c);
                    Last::Atom
                }
                other => {
                    self.literal(other);
                    Last::Atom
                }
            };
        }
        Ok(self.out)
    }

    fn literal(&mut self, c: char) {
        if c.is_alphanumeric() || c == '_' {
            self.out.push(c);
        } else {
            self.out.push_str(&format!("\\x{{{:X}}}", u32::from(c)));
        }
    }

    fn quantifier(&mut self, sign: char, last: Last) -> Result<(), String> {
        if last == Last::Nothing {
            return Err(format!("`{sign}` has nothing before it to repeat"));
        }
        if last == Last::Quantifier {
            return Err(format!("`{sign}` follows another quantifier"));
        }
        self.out.push(sign);
        if sign == '{' {
            let mut bounds = String::new();
            loop {
                match self.rest.next() {
                    Some('}') => break,
                    Some(c) => bounds.push(c),
                    None => return Err("`{` is not closed".to_owned()),
                }
            }
            let (low, high) = bounds.split_once(',').unwrap_or((&bounds, "0"));
            let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
            if low.is_empty() || !digits(low) || !digits(high) {
                return Err(format!("`{{{bounds}}}` is not a number of repetitions"));
            }
            self.out.push_str(&bounds);
            self.out.push('}');
        }
        match self.rest.peek() {
            Some('?') => {
                self.rest.next();
                self.out.push('?');
            }
            Some('+') => return Err(format!("the possessive quantifier `{sign}+` is not supported")),
            _ => {}
        }
        Ok(())
    }

    /// What follows an opening parenthesis.
    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.rest.peek() != Some(&'?') {
            return Ok(());
        }
        self.rest.next();
        let refused = |what: &str| Err(format!("{what} is not supported"));
        match self.rest.next() {
            Some(':') => self.out.push_str("?:"),
            Some('=') => return refused("the look-ahead `(?=…)`"),
            Some('!') => return refused("the look-ahead `(?!…)`"),
            Some('>') => return refused("the atomic group `(?>…)`"),
            Some('<') => match self.rest.peek() {
                Some('=' | '!') => return refused("the look-behind `(?<=…)` or `(?<!…)`"),
                _ => {
                    self.out.push_str("?<");
                    loop {
                        match self.rest.next() {
                            Some('>') => break,
                            Some(c) if c.is_ascii_alphanumeric() => self.out.push(c),
                            _ => return Err("the name of a group may only hold letters and digits".to_owned()),
                        }
                    }
                    self.out.push('>');
                }
            },
            Some(c @ ('i' | 's' | 'm' | '-')) => {
                self.out.push('?');
                self.out.push(c);
                loop {
                    match self.rest.next() {
                        Some(c @ ('i' | 's' | 'm' | '-')) => self.out.push(c),
                        Some(c @ (')' | ':')) => {
                            self.out.push(c);
                            break;
                        }
                        _ => return refused("a flag other than i, s and m in `(?…)`"),
                    }
                }
            }
            _ => return refused("this form of the group `(?…)`"),
        }
        Ok(())
    }

    /// What follows a backslash, outside or inside a character class.
    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        let Some(c) = self.rest.next() else {
            return Err("it ends with a backslash that escapes nothing".to_owned());
        };
        match c {
            'd' => self.out.push_str("[0-9]"),
            'D' => self.out.push_str("[^0-9]"),
            'w' => self.out.push_str("[a-zA-Z_0-9]"),
            'W' => self.out.push_str("[^a-zA-Z_0-9]"),
            's' => self.out.push_str(r"[ \t\n\x0B\f\r]"),
            'S' => self.out.push_str(r"[^ \t\n\x0B\f\r]"),
            't' | 'n' | 'r' | 'f' | 'a' => {
                self.out.push('\\');
                self.out.push(c);
            }
            'e' => self.out.push_str(r"\x1B"),
            'b' | 'B' | 'A' | 'z' if !in_class => {
                self.out.push('\\');
                self.out.push(c);
            }
            'x' | 'u' => self.code_point(c)?,
            'p' | 'P' => self.property(c == 'P')?,
            'Q' => self.quoted(),
            '1'..='9' | 'k' => return Err("a back reference is not supported".to_owned()),
            c if c.is_ascii_alphanumeric() => return Err(format!("the escape `\\{c}` is unknown or not supported")),
            c => self.literal(c),
        }
        Ok(())
    }

    /// `\x41` and `\u0041`.
    fn code_point(&mut self, form: char) -> Result<(), String> {
        let digits = if form == 'x' { 2 } else { 4 };
        let code: String = self.rest.by_ref().take(digits).collect();
        if code.len() != digits || !code.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(format!("`\\{form}` needs {digits} hexadecimal digits"));
        }
        self.out.push_str(&format!("\\x{{{code}}}"));
        Ok(())
    }

    /// `\p{Alpha}` and the like: Java's POSIX classes are ASCII, the others are Unicode's.
    fn property(&mut self, negated: bool) -> Result<(), String> {
        let name: String = match self.rest.next() {
            Some('{') => self.rest.by_ref().take_while(|c| *c != '}').collect(),
            Some(c) if c.is_ascii_alphabetic() => c.to_string(),
            _ => return Err("`\\p` needs a name".to_owned()),
        };
        let posix = match name.as_str() {
            "Lower" | "Upper" | "ASCII" | "Alpha" | "Digit" | "Alnum" | "Punct" | "Graph" | "Print" | "Blank"
            | "Cntrl" | "Space" => name.to_ascii_lowercase(),
            "XDigit" => "xdigit".to_owned(),
            _ => {
                let name = name.strip_prefix("Is").unwrap_or(&name);
                if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') || name.is_empty() {
                    return Err("the name behind `\\p` is unknown or not supported".to_owned());
                }
                self.out.push_str(if negated { "\\P{" } else { "\\p{" });
                self.out.push_str(name);
                self.out.push('}');
                return Ok(());
            }
        };
        let sign = if negated { "^" } else { "" };
        self.out.push_str(&format!("[[:{sign}{posix}:]]"));
        Ok(())
    }

    /// Everything up to `\E` stands for itself.
    fn quoted(&mut self) {
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.peek() == Some(&'E') {
                self.rest.next();
                return;
            }
            self.literal(c);
        }
    }

    /// A character class behind its opening bracket.
    fn class(&mut self, depth: usize) -> Result<(), String> {
        if depth > 16 {
            return Err("character classes are nested too deep".to_owned());
        }
        self.out.push('[');
        if self.rest.peek() == Some(&'^') {
            self.rest.next();
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let Some(c) = self.rest.next() else {
                return Err("`[` is not closed".to_owned());
            };
            match c {
                ']' if !first => {
                    self.out.push(']');
                    return Ok(());
                }
                '[' => self.class(depth + 1)?,
                '\\' => self.escape(true)?,
                '&' if self.rest.peek() == Some(&'&') => {
                    self.rest.next();
                    self.out.push_str("&&");
                }
                '-' => self.range_or_dash(first),
                other => self.literal(other),
            }
            first = false;
        }
    }

    /// A dash makes a range between two characters; at an end of the class it stands for itself.
    fn range_or_dash(&mut self, first: bool) {
        if first || matches!(self.rest.peek(), Some(']') | None) {
            self.literal('-');
        } else {
            self.out.push('-');
        }
    }
}
