//! Time zones as Java names them.

use chrono::FixedOffset;
use chrono_tz::Tz;
use std::fmt;

/// A time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// A region with its rules, for example `Europe/Paris`.
    Region(Tz),
    /// A fixed distance from UTC.
    Fixed(FixedOffset),
}

impl fmt::Display for Zone {
    /// The region's name, or an offset such as `+08:00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Region(tz) => f.write_str(tz.name()),
            Self::Fixed(offset) => offset.fmt(f),
        }
    }
}

impl Zone {
    /// The zone of this machine: `TZ`, else what `/etc/localtime` points to or `/etc/timezone` says, else UTC.
    pub fn of_machine() -> Self {
        let variable = std::env::var("TZ").ok().map(|tz| tz.trim_start_matches(':').to_owned());
        let link = || {
            let path = std::fs::read_link("/etc/localtime").ok()?;
            let path = path.to_string_lossy().into_owned();
            path.split_once("zoneinfo/").map(|(_, name)| name.to_owned())
        };
        let file = || std::fs::read_to_string("/etc/timezone").ok().map(|name| name.trim().to_owned());
        let sources = [variable, link(), file()];
        let found = sources.into_iter().flatten().find_map(|name| name.parse::<Tz>().ok());
        Self::Region(found.unwrap_or(Tz::UTC))
    }

    /// The forms of `java.time.ZoneId.of`: regions, `Z`, `+08:00`, and `UTC`, `GMT` or `UT` with an offset.
    pub fn parse_zone_id(text: &str) -> Option<Self> {
        if text == "Z" {
            return offset("+0");
        }
        if text.starts_with(['+', '-']) {
            return offset(text);
        }
        for prefix in ["UTC", "GMT", "UT"] {
            if let Some(rest) = text.strip_prefix(prefix)
                && rest.starts_with(['+', '-'])
            {
                return offset(rest);
            }
        }
        if text == "UT" {
            return Some(Self::Region(Tz::UTC));
        }
        text.parse().ok().map(Self::Region)
    }

    /// The forms of `java.util.TimeZone` that come back as they went in: regions, `UTC`, `GMT+08:00` with all digits,
    /// and old short names such as `PST`. The second value says what a short name means.
    pub fn parse_time_zone(text: &str) -> Option<(Self, Option<String>)> {
        if let Some(rest) = text.strip_prefix("GMT")
            && rest.starts_with(['+', '-'])
        {
            let full = rest.len() == 6 && rest.as_bytes().get(3) == Some(&b':') && !matches!(rest, "+00:00" | "-00:00");
            return full.then(|| offset(rest).map(|zone| (zone, None))).flatten();
        }
        if let Some((_, region)) = SHORT_NAMES.iter().find(|(short, _)| *short == text) {
            let zone = Self::parse_zone_id(region)?;
            return Some((zone, Some(format!("`{text}` is read as {region}"))));
        }
        text.parse().ok().map(|tz| (Self::Region(tz), None))
    }

    /// A spelling of a time zone that was most likely meant by one that is none.
    pub(crate) fn suggest(text: &str) -> Option<String> {
        if let Some((_, region)) = SHORT_NAMES.iter().find(|(short, _)| *short == text) {
            return Some(format!("write the region: {region}"));
        }
        super::suggest::did_you_mean(text, chrono_tz::TZ_VARIANTS.iter().map(|tz| tz.name()))
    }
}

/// `+8`, `+08`, `+0800`, `+08:00` or `+08:00:00`, up to 18 hours.
fn offset(text: &str) -> Option<Zone> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits = text.get(1..)?;
    let parts: Vec<&str> = match (digits.contains(':'), digits.len()) {
        (true, _) => digits.split(':').collect(),
        (false, 1 | 2) => vec![digits],
        (false, 4) => vec![digits.get(..2)?, digits.get(2..)?],
        (false, 6) => vec![digits.get(..2)?, digits.get(2..4)?, digits.get(4..)?],
        _ => return None,
    };
    let mut numbers = [0_i32; 3];
    for (index, part) in parts.iter().enumerate() {
        if part.is_empty()
            || part.len() > 2
            || (index > 0 && part.len() != 2)
            || !part.bytes().all(|b| b.is_ascii_digit())
        {
            return None;
        }
        *numbers.get_mut(index)? = part.parse().ok()?;
    }
    let [hours, minutes, seconds] = numbers;
    if hours > 18 || minutes > 59 || seconds > 59 {
        return None;
    }
    let total = hours * 3600 + minutes * 60 + seconds;
    if total > 18 * 3600 {
        return None;
    }
    FixedOffset::east_opt(sign * total).map(Zone::Fixed)
}

/// Java's old names of three letters, as `java.time.ZoneId.SHORT_IDS` explains them.
const SHORT_NAMES: &[(&str, &str)] = &[
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("EST", "-05:00"),
    ("HST", "-10:00"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("MST", "-07:00"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn zone_ids_are_those_of_java_time() {
        for (text, name) in [
            ("Europe/Paris", "Europe/Paris"),
            ("UTC", "UTC"),
            ("Z", "+00:00"),
            ("+08:00", "+08:00"),
            ("+8", "+08:00"),
            ("-0330", "-03:30"),
            ("GMT+8", "+08:00"),
            ("UTC+05:30", "+05:30"),
        ] {
            assert_eq!(Zone::parse_zone_id(text).unwrap().to_string(), name, "{text}");
        }
        for text in ["Mars/Phobos", "europe/paris", "+19:00", "GMT+", "", "+8:0", "CST8", "+08:60"] {
            assert_eq!(Zone::parse_zone_id(text), None, "{text}");
        }
    }

    #[test]
    fn time_zones_must_come_back_as_they_went_in() {
        assert_eq!(Zone::parse_time_zone("GMT+08:00").unwrap().0.to_string(), "+08:00");
        assert_eq!(Zone::parse_time_zone("Asia/Tokyo").unwrap().0.to_string(), "Asia/Tokyo");
        assert!(Zone::parse_time_zone("PST").unwrap().1.unwrap().contains("America/Los_Angeles"));
        for text in ["+08:00", "GMT+8", "CST8", "UTC+8", "", "GMT+00:00"] {
            assert_eq!(Zone::parse_time_zone(text), None, "{text}");
        }
    }
}
