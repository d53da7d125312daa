//! The nearest valid spelling of a word.

/// How alike two words must be, from 0 to 1, before one is offered for the other.
const LIKENESS: f64 = 0.84;

/// The candidate that was most likely meant, if any is near enough.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = squash(word);
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let other = squash(candidate);
        let score = if plain == other { 1.0 } else { likeness(&plain, &other) };
        if score >= LIKENESS && best.is_none_or(|(s, _)| score > s) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Jaro-Winkler finds shortened words (`host`), edit distance finds slips in long ones; but Jaro-Winkler alone also
/// finds any two words that begin alike, so both must have some sense.
fn likeness(a: &str, b: &str) -> f64 {
    let edits = strsim::normalized_damerau_levenshtein(a, b);
    let shape = strsim::jaro_winkler(a, b);
    if edits >= 0.8 {
        return edits.max(shape);
    }
    let begins = a.len() >= 3 && (b.starts_with(a) || a.starts_with(b));
    let ends = a.len() >= 5 && b.ends_with(a);
    if begins || ends || edits >= 0.6 { shape.max(if ends { LIKENESS } else { 0.0 }) } else { 0.0 }
}

/// A word without case and without signs between its parts.
fn squash(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// "did you mean `x`?" for the nearest candidate.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|near| format!("did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_nothing_else() {
        let options = ["hostname", "port", "username", "password", "tables", "scan.startup.mode", "server-id"];
        assert_eq!(nearest("host", options), Some("hostname"));
        assert_eq!(nearest("Port", options), Some("port"));
        assert_eq!(nearest("user_name", options), Some("username"));
        assert_eq!(nearest("server.id", options), Some("server-id"));
        assert_eq!(nearest("table", options), Some("tables"));
        assert_eq!(nearest("scan.startup.mod", options), Some("scan.startup.mode"));
        assert_eq!(nearest("scan.snapshot.foo", options), None);
        assert_eq!(nearest("xyz", options), None);
        assert_eq!(nearest("", options), None);
    }
}
