//! Charsets whose characters have one to four bytes.

use encoding_rs::Encoding;

/// A charset whose characters have one to four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiByte {
    encoding: &'static Encoding,
}

impl MultiByte {
    pub(super) fn named(name: &str) -> Option<Self> {
        let encoding = match name {
            "big5" => encoding_rs::BIG5,
            "gbk" | "gb2312" => encoding_rs::GBK,
            "gb18030" => encoding_rs::GB18030,
            "sjis" | "cp932" => encoding_rs::SHIFT_JIS,
            "ujis" | "eucjpms" => encoding_rs::EUC_JP,
            "euckr" => encoding_rs::EUC_KR,
            _ => return None,
        };
        Some(Self { encoding })
    }

    pub(super) fn decode(&self, text: &[u8], to: &mut Vec<u8>) {
        let (text, _) = self.encoding.decode_without_bom_handling(text);
        to.extend_from_slice(text.as_bytes());
    }
}
