//! Tokens.

use super::Failure;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A bare word, as it was written.
    Word(String),
    /// A name in backticks.
    Name(String),
    Text(String),
    Number(String),
    Sign(char),
}

pub fn tokens(sql: &str) -> Result<Vec<Token>, Failure> {
    let chars: Vec<char> = sql.chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        match c {
            c if c.is_whitespace() => i += 1,
            '-' if chars.get(i + 1) == Some(&'-') => {
                while i < chars.len() && chars[i] != '\n' {
                    i += 1;
                }
            }
            '/' if chars.get(i + 1) == Some(&'*') => {
                i += 2;
                while i < chars.len() && !(chars[i] == '*' && chars.get(i + 1) == Some(&'/')) {
                    i += 1;
                }
                i += 2;
            }
            '`' => {
                let mut name = String::new();
                i += 1;
                loop {
                    match chars.get(i) {
                        None => return Err(Failure::syntax("`")),
                        // A doubled backtick is dropped: recorded.
                        Some('`') if chars.get(i + 1) == Some(&'`') && !name.is_empty() => i += 2,
                        Some('`') => {
                            i += 1;
                            break;
                        }
                        Some(c) => {
                            name.push(*c);
                            i += 1;
                        }
                    }
                }
                out.push(Token::Name(name));
            }
            '"' | '\'' => {
                let (text, next) = string(&chars, i, c)?;
                out.push(Token::Text(text));
                i = next;
            }
            c if c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii() => {
                let start = i;
                while i < chars.len()
                    && (chars[i].is_alphanumeric() || matches!(chars[i], '_' | '$') || !chars[i].is_ascii())
                    && !chars[i].is_whitespace()
                {
                    i += 1;
                }
                let word: String = chars[start..i].iter().collect();
                if word.chars().all(|c| c.is_ascii_digit()) {
                    out.push(Token::Number(word));
                } else if word.chars().filter(|c| *c != '_').all(|c| c.is_alphanumeric() || c == '$') {
                    out.push(Token::Word(word));
                } else {
                    return Err(Failure::syntax(&word));
                }
            }
            c => {
                out.push(Token::Sign(c));
                i += 1;
            }
        }
    }
    Ok(out)
}

fn string(chars: &[char], start: usize, quote: char) -> Result<(String, usize), Failure> {
    let mut text = String::new();
    let mut i = start + 1;
    loop {
        match chars.get(i) {
            None => return Err(Failure::syntax("\"")),
            Some('\\') => {
                match chars.get(i + 1) {
                    None => return Err(Failure::syntax("\\")),
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('b') => text.push('\u{8}'),
                    Some('0') => text.push('\0'),
                    Some('Z') => text.push('\u{1a}'),
                    Some(c @ ('%' | '_')) => {
                        text.push('\\');
                        text.push(*c);
                    }
                    Some(c) => text.push(*c),
                }
                i += 2;
            }
            Some(c) if *c == quote && chars.get(i + 1) == Some(&quote) => {
                text.push(quote);
                i += 2;
            }
            Some(c) if *c == quote => return Ok((text, i + 1)),
            Some(c) => {
                text.push(*c);
                i += 1;
            }
        }
    }
}

/// As `SHOW CREATE TABLE` quotes.
pub fn quote_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
