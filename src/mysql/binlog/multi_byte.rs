//! Charsets whose characters have one to four bytes: the WHATWG encoding of the same family does the bulk, tables say
//! where MySQL reads a code otherwise.

use super::charset::UNKNOWN;
use super::multi_byte_tables::{
    BIG5_OTHER, BIG5_UNKNOWN, EUCJPMS_OTHER, GB2312_OTHER, GB2312_UNKNOWN, GB18030_OTHER, GBK_UNKNOWN, Other,
    SJIS_OTHER, SJIS_UNKNOWN, UJIS_OTHER, UJIS_UNKNOWN, Unknown,
};
use encoding_rs::{DecoderResult, Encoding};

/// A charset whose characters have one to four bytes.
#[derive(Clone, Copy, Debug)]
pub struct MultiByte {
    encoding: &'static Encoding,
    lengths: Lengths,
    unknown: Unknown,
    other: Other,
}

impl PartialEq for MultiByte {
    fn eq(&self, other: &Self) -> bool {
        self.encoding == other.encoding
            && self.lengths == other.lengths
            && self.unknown == other.unknown
            && self.other == other.other
    }
}

impl Eq for MultiByte {}

/// How many bytes a character has that does not begin with an ASCII byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lengths {
    /// Always two.
    Two,
    /// Two, or four if the second one is a digit.
    TwoOrFour,
    /// One for half-width katakana, else two.
    ShiftJis,
    /// Three behind 0x8f, else two.
    EucJp,
}

impl MultiByte {
    pub(super) fn named(name: &str) -> Option<Self> {
        use Lengths::{EucJp, ShiftJis, Two, TwoOrFour};
        let (encoding, lengths, unknown, other): (_, _, Unknown, Other) = match name {
            "big5" => (encoding_rs::BIG5, Two, BIG5_UNKNOWN, BIG5_OTHER),
            "gbk" => (encoding_rs::GBK, Two, GBK_UNKNOWN, &[]),
            "gb2312" => (encoding_rs::GBK, Two, GB2312_UNKNOWN, GB2312_OTHER),
            "gb18030" => (encoding_rs::GB18030, TwoOrFour, &[], GB18030_OTHER),
            "sjis" => (encoding_rs::SHIFT_JIS, ShiftJis, SJIS_UNKNOWN, SJIS_OTHER),
            "cp932" => (encoding_rs::SHIFT_JIS, ShiftJis, &[], &[]),
            "ujis" => (encoding_rs::EUC_JP, EucJp, UJIS_UNKNOWN, UJIS_OTHER),
            "eucjpms" => (encoding_rs::EUC_JP, EucJp, &[], EUCJPMS_OTHER),
            "euckr" => (encoding_rs::EUC_KR, Two, &[], &[]),
            _ => return None,
        };
        Some(Self { encoding, lengths, unknown, other })
    }

    /// Appends text as UTF-8; what stands for nothing becomes `?`.
    pub(super) fn decode(&self, text: &[u8], to: &mut Vec<u8>) {
        // Runs that the encoding reads as MySQL does are handed to it whole.
        let (mut run, mut i) = (0, 0);
        while let Some(first) = text.get(i) {
            if first.is_ascii() {
                i += 1;
                continue;
            }
            let length = self.length(*first, text.get(i + 1));
            let character = text.get(i..(i + length).min(text.len())).unwrap_or_default();
            if let Some(otherwise) = self.otherwise(character) {
                self.decode_run(text.get(run..i).unwrap_or_default(), to);
                to.extend_from_slice(otherwise.encode_utf8(&mut [0; 4]).as_bytes());
                run = i + length;
            }
            i += length;
        }
        self.decode_run(text.get(run..).unwrap_or_default(), to);
    }

    fn length(&self, first: u8, second: Option<&u8>) -> usize {
        match (self.lengths, first) {
            (Lengths::ShiftJis, 0xa1..=0xdf) => 1,
            (Lengths::EucJp, 0x8f) => 3,
            (Lengths::TwoOrFour, _) if second.is_some_and(u8::is_ascii_digit) => 4,
            _ => 2,
        }
    }

    /// What MySQL reads where the encoding reads something else.
    fn otherwise(&self, character: &[u8]) -> Option<char> {
        if self.lengths == Lengths::EucJp
            && let Some(c) = user_defined(character)
        {
            return Some(c);
        }
        let code = character.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
        let before = |first: u32| first <= code;
        let unknown = self.unknown.partition_point(|(first, _)| before(*first));
        if let Some((_, last)) = unknown.checked_sub(1).and_then(|i| self.unknown.get(i))
            && code <= *last
        {
            return Some(char::from(UNKNOWN));
        }
        let other = self.other.partition_point(|(first, _)| before(*first)).checked_sub(1)?;
        let (first, characters) = self.other.get(other)?;
        characters.chars().nth((code - first) as usize)
    }

    /// Decodes text as the encoding does.
    fn decode_run(&self, text: &[u8], to: &mut Vec<u8>) {
        if text.is_ascii() {
            return to.extend_from_slice(text);
        }
        let mut decoder = self.encoding.new_decoder_without_bom_handling();
        let mut rest = text;
        loop {
            let start = to.len();
            // A byte makes at most three of UTF-8; a little more is what the decoder asks for.
            to.resize(start + rest.len() * 3 + 16, 0);
            let place = to.get_mut(start..).unwrap_or_default();
            let (result, read, written) = decoder.decode_to_utf8_without_replacement(rest, place, true);
            to.truncate(start + written);
            let next = match result {
                // The encoding reads on at a trail byte that is ASCII; MySQL passes over the whole character.
                DecoderResult::Malformed(bad, behind) => {
                    let start = read.saturating_sub(usize::from(bad) + usize::from(behind));
                    let first = rest.get(start).copied().unwrap_or_default();
                    read.max(start + self.length(first, rest.get(start + 1)))
                }
                _ => read,
            };
            rest = rest.get(next..).unwrap_or_default();
            match result {
                DecoderResult::InputEmpty => return,
                DecoderResult::OutputFull if read > 0 || written > 0 => {}
                DecoderResult::OutputFull => return,
                DecoderResult::Malformed(..) => {
                    to.push(UNKNOWN);
                    if rest.is_empty() {
                        return;
                    }
                    decoder = self.encoding.new_decoder_without_bom_handling();
                }
            }
        }
    }
}

/// MySQL maps the ten rows behind the defined ones to the private use area: first those of two bytes, then those of
/// three.
fn user_defined(character: &[u8]) -> Option<char> {
    let (base, row, cell) = match character {
        [row @ 0xf5..=0xfe, cell @ 0xa1..=0xfe] => (0xe000, row, cell),
        [0x8f, row @ 0xf5..=0xfe, cell @ 0xa1..=0xfe] => (0xe3ac, row, cell),
        _ => return None,
    };
    char::from_u32(base + u32::from(row - 0xf5) * 94 + u32::from(cell - 0xa1))
}
