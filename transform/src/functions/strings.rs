//! Functions over texts. Positions count characters from 1.

use super::Call;
use super::text_forms::{Ends, concat_node};
use crate::bind::coerce;
use crate::column::{Col, build, build_bool, build_text};
use crate::error::Fault;
use crate::node::{Context, Failure, Kernel, Node};
use crate::types::{BOOL, INT, TEXT};
use arrow_array::types::Int32Type;
use std::sync::Arc;

/// No function makes a longer text, in bytes.
const MAX_TEXT: usize = 1 << 26;

fn wrong_call() -> Failure {
    Failure::new("a function was bound with another number of arguments")
}

/// A function of one text.
fn of_one(call: Call<'_>, f: fn(&str, &mut String)) -> Result<Node, Fault> {
    let args = vec![call.text(0)?];
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        let a = a.texts()?;
        build_text(rows, |row, out| {
            f(a.get(row)?, out);
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

pub(super) fn upper(call: Call<'_>) -> Result<Node, Fault> {
    of_one(call, |text, out| {
        if text.is_ascii() {
            out.extend(text.bytes().map(|b| char::from(b.to_ascii_uppercase())));
        } else {
            out.push_str(&text.to_uppercase());
        }
    })
}

pub(super) fn lower(call: Call<'_>) -> Result<Node, Fault> {
    of_one(call, |text, out| {
        if text.is_ascii() {
            out.extend(text.bytes().map(|b| char::from(b.to_ascii_lowercase())));
        } else {
            out.push_str(&text.to_lowercase());
        }
    })
}

/// What `String.trim()` takes away.
fn is_blank(c: char) -> bool {
    c <= ' '
}

pub(super) fn trim(call: Call<'_>) -> Result<Node, Fault> {
    of_one(call, |text, out| out.push_str(text.trim_matches(is_blank)))
}

/// Trims characters of a set: that of the second argument, else `default`, else blanks.
pub(super) fn trim_kernel(ends: Ends, default: Option<char>) -> Kernel {
    Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let (text, set) = match args {
            [text] => (text.texts()?, None),
            [text, set] => (text.texts()?, Some(set.texts()?)),
            _ => return Err(wrong_call()),
        };
        build_text(rows, |row, out| {
            let text = text.get(row)?;
            let set = match &set {
                None => None,
                Some(set) => Some(set.get(row)?),
            };
            let goes = |c: char| match (set, default) {
                (Some(set), _) => set.contains(c),
                (None, Some(default)) => c == default,
                (None, None) => is_blank(c),
            };
            out.push_str(match ends {
                Ends::Both => text.trim_matches(goes),
                Ends::Leading => text.trim_start_matches(goes),
                Ends::Trailing => text.trim_end_matches(goes),
            });
            Some(())
        })
        .map_err(Failure::from)
    })
}

fn trim_call(call: &Call<'_>, ends: Ends) -> Result<Node, Fault> {
    let mut args = vec![call.text(0)?];
    if call.has(1) {
        args.push(call.text(1)?);
    }
    Ok(call.node(TEXT, args, trim_kernel(ends, Some(' '))))
}

pub(super) fn ltrim(call: Call<'_>) -> Result<Node, Fault> {
    trim_call(&call, Ends::Leading)
}

pub(super) fn rtrim(call: Call<'_>) -> Result<Node, Fault> {
    trim_call(&call, Ends::Trailing)
}

pub(super) fn btrim(call: Call<'_>) -> Result<Node, Fault> {
    trim_call(&call, Ends::Both)
}

pub(super) fn char_length(call: Call<'_>) -> Result<Node, Fault> {
    let args = vec![call.text(0)?];
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, _: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        let a = a.texts()?;
        Ok(build::<Int32Type>(rows, |row| i32::try_from(length(a.get(row)?)).ok()))
    });
    Ok(call.node(INT, args, kernel))
}

/// Characters of a text.
fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The byte at which a character begins; the end where there are fewer.
fn byte_at(text: &str, character: usize) -> usize {
    if text.is_ascii() {
        return character.min(text.len());
    }
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

/// Characters from one place on, counted from 0.
fn slice(text: &str, from: usize, count: usize) -> &str {
    let rest = text.get(byte_at(text, from)..).unwrap_or_default();
    rest.get(..byte_at(rest, count)).unwrap_or_default()
}

/// Where a place counted from 1, or from the end where it is negative, begins; `None`: before the text.
fn start(text: &str, place: i64) -> Option<usize> {
    match place {
        0 => Some(0),
        1.. => usize::try_from(place - 1).ok(),
        _ => length(text).checked_sub(usize::try_from(place.unsigned_abs()).ok()?),
    }
}

pub(super) fn substr(call: Call<'_>) -> Result<Node, Fault> {
    let mut args = vec![call.text(0)?, call.long(1)?];
    if call.has(2) {
        args.push(call.long(2)?);
    }
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, context: &Context| {
        let (text, from, count) = match args {
            [text, from] => (text.texts()?, from.longs()?, None),
            [text, from, count] => (text.texts()?, from.longs()?, Some(count.longs()?)),
            _ => return Err(wrong_call()),
        };
        build_text(rows, |row, out| {
            let text = text.get(row)?;
            let from = from.get(row)?;
            let count = match &count {
                None => usize::MAX,
                Some(count) => match usize::try_from(count.get(row)?) {
                    Ok(count) => count,
                    // Flink CDC's job ends at a negative length.
                    Err(_) => {
                        context.lost();
                        return None;
                    }
                },
            };
            if let Some(from) = start(text, from) {
                out.push_str(slice(text, from, count));
            }
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

pub(super) fn concat_kernel() -> Kernel {
    Arc::new(|args: &[Col], rows: usize, _: &Context| {
        let texts = args.iter().map(Col::texts).collect::<Result<Vec<_>, _>>()?;
        build_text(rows, |row, out| {
            for text in &texts {
                out.push_str(text.get(row)?);
            }
            Some(())
        })
        .map_err(Failure::from)
    })
}

pub(super) fn concat(call: Call<'_>) -> Result<Node, Fault> {
    concat_node(&call.args, call.options)
}

pub(super) fn concat_ws(call: Call<'_>) -> Result<Node, Fault> {
    let args = call
        .args
        .iter()
        .map(|arg| {
            coerce(arg, &TEXT, call.options).ok_or_else(|| Fault::new(format!("{} can't be made a text", arg.ty)))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, _: &Context| {
        let texts = args.iter().map(Col::texts).collect::<Result<Vec<_>, _>>()?;
        let Some((separator, texts)) = texts.split_first() else { return Err(wrong_call()) };
        build_text(rows, |row, out| {
            let separator = separator.get(row)?;
            let mut first = true;
            for text in texts.iter().filter_map(|text| text.get(row)) {
                if !first {
                    out.push_str(separator);
                }
                first = false;
                out.push_str(text);
            }
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

pub(super) fn overlay(call: Call<'_>) -> Result<Node, Fault> {
    let mut args = vec![call.text(0)?, call.text(1)?, call.long(2)?];
    if call.has(3) {
        args.push(call.long(3)?);
    }
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, _: &Context| {
        let (text, new, from, count) = match args {
            [text, new, from] => (text.texts()?, new.texts()?, from.longs()?, None),
            [text, new, from, count] => (text.texts()?, new.texts()?, from.longs()?, Some(count.longs()?)),
            _ => return Err(wrong_call()),
        };
        build_text(rows, |row, out| {
            let (text, new, from) = (text.get(row)?, new.get(row)?, from.get(row)?);
            let count = match &count {
                None => length(new),
                Some(count) => usize::try_from(count.get(row)?).unwrap_or(usize::MAX),
            };
            match usize::try_from(from).ok().filter(|from| (1..=length(text)).contains(from)) {
                // A place outside of the text leaves it as it is.
                None => out.push_str(text),
                Some(from) => {
                    out.push_str(slice(text, 0, from - 1));
                    out.push_str(new);
                    out.push_str(text.get(byte_at(text, (from - 1).saturating_add(count))..).unwrap_or_default());
                }
            }
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

/// The place of the first occurrence from a character on, counted from 1; 0: there is none.
fn find(text: &str, part: &str, from: usize) -> i32 {
    let skip = byte_at(text, from);
    let rest = text.get(skip..).unwrap_or_default();
    match rest.find(part) {
        Some(at) => i32::try_from(length(text.get(..skip + at).unwrap_or_default()) + 1).unwrap_or(0),
        None => 0,
    }
}

/// `LOCATE(part, text[, from])`, `POSITION(part IN text)`.
pub(super) fn locate(call: Call<'_>) -> Result<Node, Fault> {
    let mut args = vec![call.text(0)?, call.text(1)?];
    if call.has(2) {
        args.push(call.long(2)?);
    }
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, _: &Context| {
        let (part, text, from) = match args {
            [part, text] => (part.texts()?, text.texts()?, None),
            [part, text, from] => (part.texts()?, text.texts()?, Some(from.longs()?)),
            _ => return Err(wrong_call()),
        };
        Ok(build::<Int32Type>(rows, |row| {
            let from = match &from {
                None => 1,
                Some(from) => from.get(row)?,
            };
            let (part, text) = (part.get(row)?, text.get(row)?);
            match usize::try_from(from) {
                Ok(from) if from >= 1 && from <= length(text) + 1 => Some(find(text, part, from - 1)),
                _ => Some(0),
            }
        }))
    });
    Ok(call.node(INT, args, kernel))
}

/// `INSTR(text, part)`.
pub(super) fn instr(mut call: Call<'_>) -> Result<Node, Fault> {
    call.args.reverse();
    locate(call)
}

fn pad(call: &Call<'_>, left: bool) -> Result<Node, Fault> {
    let args = vec![call.text(0)?, call.long(1)?, call.text(2)?];
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [text, count, fill] = args else { return Err(wrong_call()) };
        let (text, count, fill) = (text.texts()?, count.longs()?, fill.texts()?);
        build_text(rows, |row, out| {
            let (text, count, fill) = (text.get(row)?, count.get(row)?, fill.get(row)?);
            let count = usize::try_from(count).ok().filter(|count| *count <= MAX_TEXT / 4);
            let Some(count) = count else {
                context.lost();
                return None;
            };
            let have = length(text);
            if have >= count {
                out.push_str(slice(text, 0, count));
                return Some(());
            }
            if fill.is_empty() {
                return None;
            }
            if !left {
                out.push_str(text);
            }
            out.extend(fill.chars().cycle().take(count - have));
            if left {
                out.push_str(text);
            }
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

pub(super) fn lpad(call: Call<'_>) -> Result<Node, Fault> {
    pad(&call, true)
}

pub(super) fn rpad(call: Call<'_>) -> Result<Node, Fault> {
    pad(&call, false)
}

pub(super) fn replace(call: Call<'_>) -> Result<Node, Fault> {
    let args = vec![call.text(0)?, call.text(1)?, call.text(2)?];
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, _: &Context| {
        let [text, from, to] = args else { return Err(wrong_call()) };
        let (text, from, to) = (text.texts()?, from.texts()?, to.texts()?);
        build_text(rows, |row, out| {
            let (text, from, to) = (text.get(row)?, from.get(row)?, to.get(row)?);
            let mut last = 0;
            for (at, part) in text.match_indices(from) {
                out.push_str(text.get(last..at).unwrap_or_default());
                out.push_str(to);
                last = at + part.len();
            }
            out.push_str(text.get(last..).unwrap_or_default());
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

pub(super) fn repeat(call: Call<'_>) -> Result<Node, Fault> {
    let args = vec![call.text(0)?, call.long(1)?];
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, context: &Context| {
        let [text, count] = args else { return Err(wrong_call()) };
        let (text, count) = (text.texts()?, count.longs()?);
        build_text(rows, |row, out| {
            let (text, count) = (text.get(row)?, usize::try_from(count.get(row)?).unwrap_or(0));
            if text.len().checked_mul(count).is_none_or(|bytes| bytes > MAX_TEXT) {
                context.lost();
                return None;
            }
            for _ in 0..count {
                out.push_str(text);
            }
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

fn end_of(call: &Call<'_>, left: bool) -> Result<Node, Fault> {
    let args = vec![call.text(0)?, call.long(1)?];
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [text, count] = args else { return Err(wrong_call()) };
        let (text, count) = (text.texts()?, count.longs()?);
        build_text(rows, |row, out| {
            let (text, count) = (text.get(row)?, usize::try_from(count.get(row)?).unwrap_or(0));
            out.push_str(if left {
                slice(text, 0, count)
            } else {
                slice(text, length(text).saturating_sub(count), usize::MAX)
            });
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

pub(super) fn left(call: Call<'_>) -> Result<Node, Fault> {
    end_of(&call, true)
}

pub(super) fn right(call: Call<'_>) -> Result<Node, Fault> {
    end_of(&call, false)
}

fn begins_or_ends(call: &Call<'_>, begins: bool) -> Result<Node, Fault> {
    let args = vec![call.text(0)?, call.text(1)?];
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [text, part] = args else { return Err(wrong_call()) };
        let (text, part) = (text.texts()?, part.texts()?);
        Ok(build_bool(rows, |row| {
            let (text, part) = (text.get(row)?, part.get(row)?);
            Some(if begins { text.starts_with(part) } else { text.ends_with(part) })
        }))
    });
    Ok(call.node(BOOL, args, kernel))
}

pub(super) fn starts_with(call: Call<'_>) -> Result<Node, Fault> {
    begins_or_ends(&call, true)
}

pub(super) fn ends_with(call: Call<'_>) -> Result<Node, Fault> {
    begins_or_ends(&call, false)
}

/// Flink SQL's `SPLIT_INDEX(text, separator, index)`: parts count from 0, one that is not there is NULL.
pub(super) fn split_index(call: Call<'_>) -> Result<Node, Fault> {
    let args = vec![call.text(0)?, call.text(1)?, call.long(2)?];
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, _: &Context| {
        let [text, separator, index] = args else { return Err(wrong_call()) };
        let (text, separator, index) = (text.texts()?, separator.texts()?, index.longs()?);
        build_text(rows, |row, out| {
            let (text, separator) = (text.get(row)?, separator.get(row)?);
            let index = usize::try_from(index.get(row)?).ok()?;
            out.push_str(if separator.is_empty() {
                (index == 0).then_some(text)?
            } else {
                text.split(separator).nth(index)?
            });
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}
