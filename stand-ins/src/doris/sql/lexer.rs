//! Tokens. String literals keep what stands between their quotes: three parts of the grammar treat it in three ways.

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
                let (name, next) = quoted(&chars, i, '`', false)?;
                out.push(Token::Name(name.replace("``", "`")));
                i = next;
            }
            '"' | '\'' => {
                let (text, next) = quoted(&chars, i, c, true)?;
                out.push(Token::Text(text));
                i = next;
            }
            c if c.is_alphanumeric() || c == '_' => {
                let start = i;
                let number = c.is_ascii_digit();
                while i < chars.len() && (chars[i].is_alphanumeric() || chars[i] == '_' || (number && chars[i] == '.'))
                {
                    i += 1;
                }
                let word: String = chars[start..i].iter().collect();
                if word.chars().all(|c| c.is_ascii_digit() || c == '.') {
                    out.push(Token::Number(word));
                } else if word.is_ascii() {
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

/// The text between quotes, raw: a backslash takes the next character with it, a doubled quote stays doubled.
fn quoted(chars: &[char], start: usize, quote: char, escapes: bool) -> Result<(String, usize), Failure> {
    let mut text = String::new();
    let mut i = start + 1;
    loop {
        match chars.get(i) {
            None => return Err(Failure::syntax(&quote.to_string())),
            Some('\\') if escapes => {
                text.push('\\');
                text.push(*chars.get(i + 1).ok_or_else(|| Failure::syntax("\\"))?);
                i += 2;
            }
            Some(c) if *c == quote && chars.get(i + 1) == Some(&quote) => {
                text.push(quote);
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

/// A literal whose escapes work: that of a table's comment in CREATE.
pub fn unescaped(raw: &str) -> String {
    let mut out = String::new();
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        if let Some(escaped) = chars.next() {
            unescape(&mut out, escaped);
        }
    }
    out
}
