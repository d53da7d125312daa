//! Names, numbers of arguments, and how each function is bound.

use super::{Call, condition, hash, json, nested, number, pattern, strings, temporal};
use crate::error::Fault;
use crate::node::Node;

/// A function.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Fewest arguments.
    pub(crate) min: usize,
    /// Most arguments.
    pub(crate) max: usize,
    pub(crate) bind: fn(Call<'_>) -> Result<Node, Fault>,
}

const MANY: usize = usize::MAX;

const fn f(name: &'static str, min: usize, max: usize, bind: fn(Call<'_>) -> Result<Node, Fault>) -> Function {
    Function { name, min, max, bind }
}

const FUNCTIONS: &[Function] = &[
    f("ABS", 1, 1, number::abs),
    f("CEIL", 1, 1, number::ceil),
    f("CEILING", 1, 1, number::ceil),
    f("FLOOR", 1, 1, number::floor),
    f("ROUND", 1, 2, number::round),
    f("MOD", 2, 2, number::modulo),
    f("UUID", 0, 0, hash::uuid),
    f("CHAR_LENGTH", 1, 1, strings::char_length),
    f("CHARACTER_LENGTH", 1, 1, strings::char_length),
    f("UPPER", 1, 1, strings::upper),
    f("LOWER", 1, 1, strings::lower),
    f("TRIM", 1, 1, strings::trim),
    f("LTRIM", 1, 2, strings::ltrim),
    f("RTRIM", 1, 2, strings::rtrim),
    f("BTRIM", 1, 2, strings::btrim),
    f("SUBSTR", 2, 3, strings::substr),
    f("SUBSTRING", 2, 3, strings::substr),
    f("CONCAT", 1, MANY, strings::concat),
    f("CONCAT_WS", 1, MANY, strings::concat_ws),
    f("OVERLAY", 3, 4, strings::overlay),
    f("POSITION", 2, 2, strings::locate),
    f("LOCATE", 2, 3, strings::locate),
    f("INSTR", 2, 2, strings::instr),
    f("LPAD", 3, 3, strings::lpad),
    f("RPAD", 3, 3, strings::rpad),
    f("REPLACE", 3, 3, strings::replace),
    f("REPEAT", 2, 2, strings::repeat),
    f("LEFT", 2, 2, strings::left),
    f("RIGHT", 2, 2, strings::right),
    f("STARTSWITH", 2, 2, strings::starts_with),
    f("ENDSWITH", 2, 2, strings::ends_with),
    f("SPLIT_INDEX", 3, 3, strings::split_index),
    f("REGEXP_REPLACE", 3, 3, pattern::replace),
    f("REGEXP_EXTRACT", 2, 3, pattern::extract),
    f("REGEXP_EXTRACT_ALL", 2, 3, pattern::extract_all),
    f("REGEXP_COUNT", 2, 2, pattern::count),
    f("REGEXP_INSTR", 2, 2, pattern::instr),
    f("REGEXP_SUBSTR", 2, 2, pattern::substr),
    f("TO_BASE64", 1, 1, hash::to_base64),
    f("FROM_BASE64", 1, 1, hash::from_base64),
    f("FROM_BASE64_BINARY", 1, 1, hash::from_base64_binary),
    f("MD5", 1, 1, hash::md5),
    f("SHA224", 1, 1, hash::sha224),
    f("SHA256", 1, 1, hash::sha256),
    f("SHA384", 1, 1, hash::sha384),
    f("SHA512", 1, 1, hash::sha512),
    f("HEX", 1, 1, hash::hex),
    f("LOCALTIME", 0, 1, temporal::localtime),
    f("LOCALTIMESTAMP", 0, 1, temporal::localtimestamp),
    f("CURRENT_TIME", 0, 1, temporal::localtime),
    f("CURRENT_DATE", 0, 0, temporal::current_date),
    f("CURRENT_TIMESTAMP", 0, 1, temporal::current_timestamp),
    f("NOW", 0, 0, temporal::current_timestamp),
    f("DATE_FORMAT", 2, 2, temporal::date_format),
    f("DATE_FORMAT_TZ", 2, 3, temporal::date_format_tz),
    f("TIMESTAMPADD", 3, 3, temporal::timestampadd),
    f("TIMESTAMPDIFF", 3, 3, temporal::timestampdiff),
    f("TIMESTAMP_DIFF", 3, 3, temporal::timestampdiff),
    f("DATEDIFF", 2, 2, temporal::datediff),
    f("TO_DATE", 1, 2, temporal::to_date),
    f("TO_TIMESTAMP", 1, 2, temporal::to_timestamp),
    f("TO_TIMESTAMP_LTZ", 1, 3, temporal::to_timestamp_ltz),
    f("FROM_UNIXTIME", 1, 2, temporal::from_unixtime),
    f("UNIX_TIMESTAMP", 0, 2, temporal::unix_timestamp),
    f("CONVERT_TZ", 3, 3, temporal::convert_tz),
    f("DATE_ADD", 2, 2, temporal::date_add),
    f("YEAR", 1, 1, temporal::part),
    f("QUARTER", 1, 1, temporal::part),
    f("MONTH", 1, 1, temporal::part),
    f("WEEK", 1, 1, temporal::part),
    f("DAYOFYEAR", 1, 1, temporal::part),
    f("DAYOFMONTH", 1, 1, temporal::part),
    f("DAYOFWEEK", 1, 1, temporal::part),
    f("HOUR", 1, 1, temporal::part),
    f("MINUTE", 1, 1, temporal::part),
    f("SECOND", 1, 1, temporal::part),
    f("COALESCE", 1, MANY, condition::coalesce_call),
    f("IF", 3, 3, condition::if_call),
    f("IFNULL", 2, 2, condition::ifnull),
    f("NVL", 2, 2, condition::ifnull),
    f("NULLIF", 2, 2, condition::nullif),
    f("GREATEST", 1, MANY, condition::greatest),
    f("LEAST", 1, MANY, condition::least),
    f("ROW", 1, MANY, nested::row),
    f("MAP", 0, MANY, nested::map),
    f("CARDINALITY", 1, 1, nested::cardinality),
    f("ELEMENT", 1, 1, nested::element),
    f("ARRAY_CONTAINS", 2, 2, nested::array_contains),
    f("ARRAY_POSITION", 2, 2, nested::array_position),
    f("PARSE_JSON", 1, 2, json::parse_json),
    f("TRY_PARSE_JSON", 1, 2, json::try_parse_json),
    f("JSON_VALUE", 2, 2, json::json_value),
    f("JSON_QUERY", 2, 2, json::json_query),
];

/// What other products call a function that is here under another name.
const ELSEWHERE: &[(&str, &str)] = &[
    ("TO_UPPER", "did you mean `UPPER`?"),
    ("TO_LOWER", "did you mean `LOWER`?"),
    ("UCASE", "did you mean `UPPER`?"),
    ("LCASE", "did you mean `LOWER`?"),
    ("LENGTH", "did you mean `CHAR_LENGTH`?"),
    ("LEN", "did you mean `CHAR_LENGTH`?"),
    ("SHA2", "did you mean `SHA256`?"),
    ("DATE_SUB", "write DATE_ADD with a negative number of days"),
];

/// Functions over many rows, which make no sense in a transform.
const AGGREGATES: &[&str] = &["COUNT", "SUM", "AVG", "MIN", "MAX", "ROW_NUMBER", "RANK", "LISTAGG", "GROUP_CONCAT"];

/// The function of that name, in any case.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name))
}

/// What to say of a function that is not there. `others`: names that the file declares.
pub(crate) fn unknown<'a>(name: &str, others: impl Iterator<Item = &'a str>) -> Fault {
    let upper = name.to_ascii_uppercase();
    if AGGREGATES.contains(&upper.as_str()) {
        return Fault::new(format!("the function {name} works on many rows, a transform on one"));
    }
    let fault = Fault::new(format!("the function {name} is unknown"));
    if let Some((_, hint)) = ELSEWHERE.iter().find(|(known, _)| *known == upper) {
        return fault.hint(*hint);
    }
    fault.maybe_hint(nearest(name, FUNCTIONS.iter().map(|function| function.name).chain(others)))
}

/// The known name that is nearest to a wrong one, as a question.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let lower = name.to_lowercase();
    let (distance, best) = known
        .map(|known| (strsim::damerau_levenshtein(&lower, &known.to_lowercase()), known))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + name.chars().count() / 4).then(|| format!("did you mean `{best}`?"))
}
