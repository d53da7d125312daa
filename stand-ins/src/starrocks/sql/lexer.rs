//! Tokens.

use super::Failure;
use crate::sql::{Refusal, Token, behind_blank, unescape};

pub fn tokens(sql: &str) -> Result<Vec<Token>, Failure> {
    let chars: Vec<char> = sql.chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        if let Some(next) = behind_blank(&chars, i) {
            i = next;
            continue;
        }
        let c = chars[i];
        match c {
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
                unescape(&mut text, *chars.get(i + 1).ok_or_else(|| Failure::syntax("\\"))?);
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
