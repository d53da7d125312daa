//! The functions that transforms can call, with how many arguments they take.

/// Name, fewest and most arguments.
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("ABS", 1, 1),
    ("CEIL", 1, 1),
    ("CEILING", 1, 1),
    ("FLOOR", 1, 1),
    ("ROUND", 1, 2),
    ("UUID", 0, 0),
    ("MOD", 2, 2),
    ("CHAR_LENGTH", 1, 1),
    ("CHARACTER_LENGTH", 1, 1),
    ("UPPER", 1, 1),
    ("LOWER", 1, 1),
    ("TRIM", 1, 1),
    ("REGEXP_REPLACE", 3, 3),
    ("SUBSTR", 2, 3),
    ("SUBSTRING", 2, 3),
    ("CONCAT", 1, usize::MAX),
    ("LTRIM", 1, 2),
    ("RTRIM", 1, 2),
    ("BTRIM", 1, 2),
    ("REGEXP_EXTRACT", 2, 3),
    ("REGEXP_EXTRACT_ALL", 2, 3),
    ("REGEXP_COUNT", 2, 2),
    ("REGEXP_INSTR", 2, 2),
    ("REGEXP_SUBSTR", 2, 2),
    ("OVERLAY", 3, 4),
    ("POSITION", 1, 2),
    ("LOCATE", 2, 3),
    ("INSTR", 2, 2),
    ("CONCAT_WS", 1, usize::MAX),
    ("LPAD", 3, 3),
    ("RPAD", 3, 3),
    ("REPLACE", 3, 3),
    ("REPEAT", 2, 2),
    ("LEFT", 2, 2),
    ("RIGHT", 2, 2),
    ("STARTSWITH", 2, 2),
    ("ENDSWITH", 2, 2),
    ("TO_BASE64", 1, 1),
    ("FROM_BASE64", 1, 1),
    ("FROM_BASE64_BINARY", 1, 1),
    ("LOCALTIME", 0, 1),
    ("LOCALTIMESTAMP", 0, 1),
    ("CURRENT_TIME", 0, 1),
    ("CURRENT_DATE", 0, 0),
    ("CURRENT_TIMESTAMP", 0, 1),
    ("NOW", 0, 0),
    ("DATE_FORMAT", 2, 2),
    ("TIMESTAMPADD", 3, 3),
    ("TIMESTAMPDIFF", 3, 3),
    ("TIMESTAMP_DIFF", 3, 3),
    ("TO_DATE", 1, 2),
    ("TO_TIMESTAMP", 1, 2),
    ("TO_TIMESTAMP_LTZ", 1, 3),
    ("FROM_UNIXTIME", 1, 2),
    ("UNIX_TIMESTAMP", 0, 2),
    ("DATE_FORMAT_TZ", 2, 3),
    ("DATE_ADD", 2, 2),
    ("EXTRACT", 1, 1),
    ("YEAR", 1, 1),
    ("QUARTER", 1, 1),
    ("MONTH", 1, 1),
    ("WEEK", 1, 1),
    ("DAYOFYEAR", 1, 1),
    ("DAYOFMONTH", 1, 1),
    ("DAYOFWEEK", 1, 1),
    ("HOUR", 1, 1),
    ("MINUTE", 1, 1),
    ("SECOND", 1, 1),
    ("COALESCE", 1, usize::MAX),
    ("IF", 3, 3),
    ("IFNULL", 2, 2),
    ("NULLIF", 2, 2),
    ("CAST", 1, 1),
    ("TRY_CAST", 1, 1),
    ("ROW", 1, usize::MAX),
    ("CARDINALITY", 1, 1),
    ("ELEMENT", 1, 1),
    ("ARRAY_CONTAINS", 2, 2),
    ("ARRAY_POSITION", 2, 2),
    ("PARSE_JSON", 1, 2),
    ("TRY_PARSE_JSON", 1, 2),
    ("AI_CHAT_PREDICT", 1, usize::MAX),
    ("GET_EMBEDDING", 1, usize::MAX),
    ("AI_LANGCHAIN_PREDICT", 1, usize::MAX),
    ("AI_COMPLETE", 2, usize::MAX),
    ("AI_EMBED", 2, usize::MAX),
];

/// What other products call a function that is here under another name, or that can be written otherwise.
const ELSEWHERE: &[(&str, &str)] = &[
    ("TO_UPPER", "did you mean `UPPER`?"),
    ("TO_LOWER", "did you mean `LOWER`?"),
    ("UCASE", "did you mean `UPPER`?"),
    ("LCASE", "did you mean `LOWER`?"),
    ("NVL", "did you mean `IFNULL`?"),
    ("LENGTH", "did you mean `CHAR_LENGTH`?"),
    ("LEN", "did you mean `CHAR_LENGTH`?"),
    ("DATEDIFF", "did you mean `TIMESTAMPDIFF`?"),
    ("CONVERT_TZ", "did you mean `DATE_FORMAT_TZ`?"),
    ("GREATEST", "write it with CASE"),
    ("LEAST", "write it with CASE"),
    ("SPLIT_INDEX", "write it with REGEXP_EXTRACT"),
    ("JSON_VALUE", "parse with PARSE_JSON and use a subscript"),
    ("JSON_QUERY", "parse with PARSE_JSON and use a subscript"),
];

/// Functions over many rows, which make no sense in a transform.
const AGGREGATES: &[&str] = &["COUNT", "SUM", "AVG", "MIN", "MAX", "ROW_NUMBER", "RANK", "LISTAGG", "GROUP_CONCAT"];

/// How many arguments a function takes; names are in any case.
pub(super) fn arity(name: &str) -> Option<(usize, usize)> {
    FUNCTIONS.iter().find(|(known, _, _)| known.eq_ignore_ascii_case(name)).map(|(_, min, max)| (*min, *max))
}

/// What to say of a function that is not there.
pub(super) fn unknown(name: &str, others: &[String]) -> (String, Option<String>) {
    let upper = name.to_ascii_uppercase();
    if AGGREGATES.contains(&upper.as_str()) {
        return (format!("the function {name} works on many rows, a transform on one"), None);
    }
    let elsewhere = ELSEWHERE.iter().find(|(known, _)| *known == upper).map(|(_, hint)| (*hint).to_owned());
    let names = FUNCTIONS.iter().map(|(name, _, _)| *name).chain(others.iter().map(String::as_str));
    (format!("the function {name} is unknown"), elsewhere.or_else(|| super::super::suggest::did_you_mean(name, names)))
}
