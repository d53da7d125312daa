"""Parses the statements that the tests of the StarRocks and Doris sinks have sent. See scripts/check-statements."""

import logging
import re
import sys
from collections import Counter

import sqlglot
from sqlglot import exp

# sqlglot would say on its own which statements it takes as they are.
logging.disable(logging.WARNING)

# Doris' own names of types, which sqlglot does not know, and those that it knows for the same.
DORIS_TYPES = {"DECIMALV3": "DECIMAL", "DATEV2": "DATE", "DATETIMEV2": "DATETIME", "LARGEINT": "INT128"}
# What sqlglot takes as it is, because it does not know that the servers have it. Anything else that it takes so is wrong.
NOT_KNOWN = {
    "starrocks": ["SHOW ALTER TABLE COLUMN FROM "],
    "doris": [
        "SHOW ALTER TABLE COLUMN FROM ",
        "ALTER TABLE … RENAME COLUMN … …$",
        "ALTER TABLE … MODIFY COMMENT ",
        r"CREATE TABLE IF NOT EXISTS … \(.*\) AUTO PARTITION BY RANGE \(date_trunc\(…, '[a-z]+'\)\)\(\) DISTRIBUTED BY ",
    ],
}
OUTSIDE_QUOTES = re.compile(r"""(`(?:[^`]|``)*`|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\b\w+\b)""", re.S)


def with_known_types(sql):
    return OUTSIDE_QUOTES.sub(lambda m: m.group(1) or DORIS_TYPES.get(m.group(2), m.group(2)), sql)


def check(dialect, path):
    parsed, unknown, wrong = 0, Counter(), []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            sql = line.rstrip("\n").replace("\\n", "\n")
            if not sql:
                continue
            try:
                tree = sqlglot.parse_one(with_known_types(sql), dialect=dialect)
            except sqlglot.errors.SqlglotError as error:
                wrong.append((sql, str(error).splitlines()[0]))
                continue
            if not isinstance(tree, exp.Command):
                parsed += 1
                continue
            shape = re.sub(r"`(?:[^`]|``)*`(\.`(?:[^`]|``)*`)?", "…", sql)
            kind = next((kind for kind in NOT_KNOWN[dialect] if re.match(kind, shape)), None)
            if kind:
                unknown[kind] += 1
            else:
                wrong.append((sql, "not understood"))
    print(f"{dialect}: {parsed} parsed, {sum(unknown.values())} of kinds that the parser does not know, {len(wrong)} wrong")
    for kind, count in sorted(unknown.items()):
        print(f"  not known: {count} x {kind}")
    for sql, reason in wrong:
        print(f"  WRONG: {sql}\n    {reason}")
    return not wrong and parsed > 0


def main():
    results = [check(dialect, f"sinks/tests/data/{dialect}-statements.sql") for dialect in ("starrocks", "doris")]
    sys.exit(0 if all(results) else 1)


main()
