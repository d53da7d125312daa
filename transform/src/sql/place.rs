//! From lines and columns of the parser to bytes of the user's text.

use sqlparser::tokenizer::{Location, Span};
use std::ops::Range;

/// Where the lines of a text begin, and which of its bytes were left out before parsing.
#[derive(Debug)]
pub(crate) struct Places {
    text: String,
    lines: Vec<usize>,
    /// Bytes of the parsed text before which a backslash of the original was left out.
    removed: Vec<usize>,
}

impl Places {
    /// Of a projection: `\*` is parsed as `*`.
    pub(crate) fn unescaped(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut removed = Vec::new();
        let mut chars = original.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\\' && chars.peek() == Some(&'*') {
                removed.push(text.len());
            } else {
                text.push(c);
            }
        }
        Self { removed, ..Self::plain(&text) }
    }

    /// Of a text that is parsed as it is.
    pub(crate) fn plain(text: &str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text: text.to_owned(), lines, removed: Vec::new() }
    }

    /// The text that is parsed.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the original text that a span covers; `None` for the empty span.
    pub(crate) fn range(&self, span: Span) -> Option<Range<usize>> {
        let range = self.parsed(span)?;
        let original = |at: usize| at + self.removed.iter().filter(|removed| **removed < at).count();
        Some(original(range.start)..original(range.end))
    }

    /// The bytes of the parsed text.
    fn parsed(&self, span: Span) -> Option<Range<usize>> {
        let range = (span != Span::empty()).then(|| self.byte(span.start)..self.byte(span.end))?;
        (range.start <= range.end).then(|| range.start..self.closed(range))
    }

    /// The end of a range, moved behind the parentheses that it opens: the parser's spans of calls end before them.
    fn closed(&self, range: Range<usize>) -> usize {
        let mut depth = 0_usize;
        let mut in_text = false;
        for (at, c) in self.text.get(range.start..).unwrap_or_default().char_indices() {
            if range.start + at >= range.end && depth == 0 {
                break;
            }
            match c {
                '\'' => in_text = !in_text,
                '(' | '[' if !in_text => depth += 1,
                ')' | ']' if !in_text => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && range.start + at >= range.end {
                        return range.start + at + 1;
                    }
                }
                _ => {}
            }
        }
        range.end
    }

    fn byte(&self, at: Location) -> usize {
        let line = usize::try_from(at.line.saturating_sub(1)).unwrap_or(0);
        let start = self.lines.get(line).copied().unwrap_or(self.text.len());
        let rest = self.text.get(start..).unwrap_or_default();
        let skip = usize::try_from(at.column.saturating_sub(1)).unwrap_or(0);
        start + rest.char_indices().nth(skip).map_or(rest.len(), |(at, _)| at)
    }
}
