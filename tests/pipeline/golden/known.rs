//! Where rowferry's lines are meant to be other ones than Flink CDC's, and why: `docs/differences.md` has them in words.

/// A folder of recordings.
pub(super) struct Folder {
    /// Its name.
    pub(super) name: &'static str,
    /// How many of its steps are run; `None`: all.
    pub(super) steps: Option<usize>,
    /// Words that a recorded line and ours differ in: recorded, ours, why.
    pub(super) differences: &'static [(&'static str, &'static str, &'static str)],
    /// Recorded lines that we do not print.
    pub(super) missing: &'static [(&'static str, &'static str)],
    /// Lines of ours that were not recorded.
    pub(super) extra: &'static [(&'static str, &'static str)],
}

impl Folder {
    /// No difference.
    pub(super) const NONE: Self = Self { name: "", steps: None, differences: &[], missing: &[], extra: &[] };

    /// How many differences are listed.
    pub(super) fn listed(&self) -> usize {
        self.differences.len() + self.missing.len() + self.extra.len()
    }

    /// A recorded line as it should be.
    pub(super) fn corrected(&self, line: &str) -> String {
        self.differences.iter().fold(line.to_owned(), |line, (theirs, right, _)| line.replace(theirs, right))
    }
}

const TIME_LOSES_MICROSECONDS: &str = "Flink CDC's TIME has no microseconds";

const TYPES: &[(&str, &str, &str)] = &[
    ("'1970-01-01 00:00:00'", "'CURRENT_TIMESTAMP'", "a default of now becomes 1970 there"),
    ("1234.5670166015625", "1234.567", "FLOAT(7,3) shows binary noise there"),
    ("23:59:59.123,", "23:59:59.123456,", TIME_LOSES_MICROSECONDS),
    ("00:00:00.001, 00:00,", "00:00:00.001, 00:00:00.000001,", TIME_LOSES_MICROSECONDS),
    ("123456789012345677877719597056", "1.2345678901234568e29", "JSON text of big numbers is MySQL's own here"),
];

const DEFAULT: &str = "a TEXT column that was made nullable shows '' for NULL there";
const NEW_TABLE: &str = "a table that was dropped and created anew is decoded by its old columns there";
const MERGED: &str = "a merged table is created with all columns of its tables at once, not grown step by step";
const NO_KEY: &str = "a table without a key makes the job fail there";
const ASKED_FOR: &str = "include.schema.changes names it, and LENIENT leaves it out all the same there";
const SET: &str = "a SET column makes the job fail there";
const HOURS: &str = "a time beyond the day makes the job fail there";
const BATCH: &str = "in BATCH mode every target gets the merged schema there, not only the merged one";
const LATER: &str = "an offset before a DDL makes the job fail there";
const MOVED: &str = "after MODIFY ... AFTER values are decoded by the old places there";
const NARROW_IGNORED: &str =
    "a value of a type that became wider is kept where it fits the target, not only where types do";
const NARROW: &str = "LENIENT keeps the wider type, as values that are there need it";

/// The last row of the folders 03 and 05, of a table that was dropped and created anew.
const ANEW: &[(&str, &str)] = &[("after=[1, , null, null, null, null, null, null, null]", NEW_TABLE)];

const FAILS: &str = "the job fails there at the first row: SMALLINT + SMALLINT";
const NUMERIC_LINES: &[(&str, &str)] = &[
    (
        "before=[], after=[1, 15.35, 9.35, 37.05, 4.11666666667, 1, 1, 9000000003, -4.5, 14, 2.5, 12.35, 3, 13, -1.0, 12,",
        FAILS,
    ),
    (
        "before=[], after=[3, -9.50, -5.50, 15.00, 3.75000000000, -1, 0, -7, -5.0, -6, -1.0, 7.50, 2, -7, 3.0, -8, 2.0,",
        FAILS,
    ),
    ("before=[], after=[11, 15.35,", FAILS),
    ("before=[], after=[13, -9.50,", FAILS),
    (
        "after=[1, 17.35, 7.35, 61.75, 2.47000000000, 2, 1, 9000000005, -7.5, 14, 2.5, 12.35, 5, 13, -1.0, 12, -2.0, 12.4,",
        FAILS,
    ),
    ("before=[3, -9.50", FAILS),
    ("before=[], after=[4, 2.00, 0.00, 1.00, 1.00000000000, 0, 1, 2, 1.0, 2, 2.0, 1.00, 1, 1, 1.0, 1,", FAILS),
    ("before=[11, 15.35", FAILS),
    ("before=[], after=[20, 17.35, 7.35, 61.75,", FAILS),
    ("before=[], after=[21, 17.35, 7.35, 61.75,", FAILS),
];

const NO_KEY_LINES: &[(&str, &str)] = &[
    (
        "CreateTableEvent{tableId=g20b.np, schema=columns={`a` INT NOT NULL,`b` VARCHAR(10),`c` INT}, primaryKeys=,",
        NO_KEY,
    ),
    ("before=[], after=[1, x, 1]", NO_KEY),
    ("before=[], after=[2, y, 2]", NO_KEY),
    ("before=[], after=[3, null, 3]", NO_KEY),
    ("CreateTableEvent{tableId=g20b.pk, schema=columns={`id` INT NOT NULL,`v` INT}, primaryKeys=id,", NO_KEY),
    ("tableId=g20b.pk, before=[], after=[1, 1]", NO_KEY),
    ("before=[], after=[4, z, 4]", NO_KEY),
    ("before=[1, x, 1], after=[1, x2, 1], op=UPDATE", NO_KEY),
    ("before=[2, y, 2], after=[]", NO_KEY),
];

pub(super) const FOLDERS: &[Folder] = &[
    Folder { name: "01-types", differences: TYPES, ..Folder::NONE },
    Folder { name: "02-types-options", differences: TYPES, ..Folder::NONE },
    Folder {
        name: "03-ddl-evolve",
        differences: &[("after=[13, q, , null,", "after=[13, q, null, null,", DEFAULT)],
        missing: ANEW,
        extra: &[("{`id` INT NOT NULL,`fresh` INT}", NEW_TABLE), ("after=[1, 100]", NEW_TABLE)],
        ..Folder::NONE
    },
    Folder {
        name: "04-ddl-lenient",
        differences: &[("null, null, , 1, m]", "null, null, null, 1, m]", DEFAULT)],
        missing: &[
            ("typeMapping={age=INT}", NARROW),
            ("after=[1, , null, null, null, null, null, null, null, null, null, null, null, null, null]", NEW_TABLE),
        ],
        extra: &[
            ("column=`fresh` INT", NEW_TABLE),
            ("typeMapping={name=VARCHAR(50)}, oldTypeMapping={name=VARCHAR(50) NOT NULL}", NEW_TABLE),
            ("null, null, null, 100]", NEW_TABLE),
        ],
        ..Folder::NONE
    },
    Folder {
        name: "05-ddl-try_evolve",
        differences: &[("after=[13, q, , null,", "after=[13, q, null, null,", DEFAULT)],
        missing: ANEW,
        extra: &[("{`id` INT NOT NULL,`fresh` INT}", NEW_TABLE), ("after=[1, 100]", NEW_TABLE)],
        ..Folder::NONE
    },
    Folder {
        name: "06-ddl-ignore",
        differences: &[
            (
                "before=[1, Alice, null, null, null], after=[1, Alice2, null,",
                "before=[1, Alice, 18, null, null], after=[1, Alice2, 18,",
                NARROW_IGNORED,
            ),
            ("before=[2, Bob, null,", "before=[2, Bob, 20,", NARROW_IGNORED),
            ("after=[11, q, null, null, null]", "after=[11, q, 5, null, null]", NARROW_IGNORED),
        ],
        ..Folder::NONE
    },
    Folder { name: "07-ddl-exception", ..Folder::NONE },
    Folder {
        name: "08-route-merge-all-match-evolve",
        differences: &[
            (
                "CreateTableEvent{tableId=ods.merged, schema=columns={`id` INT NOT NULL,`name` VARCHAR(10),`age` TINYINT}",
                "CreateTableEvent{tableId=ods.merged, schema=columns={`id` BIGINT NOT NULL,`name` STRING,`age` STRING,`extra` DECIMAL(10, 2),`f` FLOAT}",
                MERGED,
            ),
            ("after=[1, one, 1], op=INSERT", "after=[1, one, 1, null, null], op=INSERT", MERGED),
            ("after=[2, two, 22, 2.22], op", "after=[2, two, 22, 2.22, null], op", MERGED),
            (
                "tableId=bak.copy_s_1, before=[], after=[1, one, 1, null, null]",
                "tableId=bak.copy_s_1, before=[], after=[1, one, 1]",
                "what was said above is not of this table",
            ),
        ],
        missing: &[
            ("column=`extra` DECIMAL(10, 2), position=AFTER", MERGED),
            ("column=`f` FLOAT, position=AFTER", MERGED),
            ("typeMapping={age=STRING}, oldTypeMapping={age=INT}", MERGED),
            ("typeMapping={name=STRING, age=INT, id=BIGINT NOT NULL}", MERGED),
        ],
        ..Folder::NONE
    },
    Folder { name: "10-route-regex-groups", ..Folder::NONE },
    Folder { name: "11a-transform-string", ..Folder::NONE },
    Folder {
        name: "11b-transform-numeric",
        differences: &[(
            "`sisi` SMALLINT",
            "`sisi` INT",
            "SMALLINT + SMALLINT is INT: Flink CDC says SMALLINT and fails",
        )],
        extra: NUMERIC_LINES,
        ..Folder::NONE
    },
    Folder {
        name: "11d-transform-cond-meta",
        differences: &[(
            "ABC, -2, false, true, true, false, true, false",
            "ABC, -2, false, true, true, true, true, false",
            "INT = BIGINT compares values, not types",
        )],
        ..Folder::NONE
    },
    Folder { name: "12-soft-delete", ..Folder::NONE },
    Folder {
        name: "13a-lenient-include-truncate-drop",
        missing: &[("tableId=g13a.c2, before=[], after=[1, null]", NEW_TABLE)],
        extra: &[
            ("TruncateTableEvent{tableId=g13a.c2", ASKED_FOR),
            ("DropTableEvent{tableId=g13a.c2", ASKED_FOR),
            ("CreateTableEvent{tableId=g13a.c2, schema=columns={`id` INT NOT NULL,`w` INT}", NEW_TABLE),
            ("tableId=g13a.c2, before=[], after=[1, 1]", NEW_TABLE),
        ],
        ..Folder::NONE
    },
    Folder {
        name: "13b-evolve-exclude-drop",
        missing: &[("tableId=g13b.c2, before=[], after=[1, null]", NEW_TABLE)],
        extra: &[("column=`w` INT", NEW_TABLE), ("after=[1, 1, null]", NEW_TABLE)],
        ..Folder::NONE
    },
    Folder { name: "14a-online-ddl-enabled", ..Folder::NONE },
    Folder { name: "15-startup-latest", ..Folder::NONE },
    Folder {
        name: "17a-startup-specific-offset-pos",
        extra: &[
            (
                "CreateTableEvent{tableId=g17a.a, schema=columns={`id` INT NOT NULL,`v` VARCHAR(10)}, primaryKeys=id",
                LATER,
            ),
            ("after=[2, s2]", LATER),
            ("after=[3, s3]", LATER),
            ("AddColumnEvent{tableId=g17a.a, addedColumns=[ColumnWithPosition{column=`x` INT, position=LAST", LATER),
            ("after=[4, s4, 4]", LATER),
        ],
        ..Folder::NONE
    },
    Folder { name: "17b-startup-specific-offset-gtid", ..Folder::NONE },
    Folder { name: "18-snapshot-mode-bounded", ..Folder::NONE },
    Folder {
        name: "19-batch-mode",
        missing: &[
            ("`v` INT,`name` STRING", BATCH),
            ("after=[1, null, one, 1, null, null]", BATCH),
            ("after=[2, null, two, 22, null, 2.22]", BATCH),
            ("after=[3, null, three, 33, 3.3, null]", BATCH),
            ("after=[1, 1, null, null, null, null]", BATCH),
        ],
        extra: &[
            ("{tableId=bak.copy_other, schema=columns={`id` INT NOT NULL,`v` INT}", BATCH),
            ("tableId=bak.copy_other, before=[], after=[1, 1]", BATCH),
            ("{tableId=bak.copy_s_1, schema=columns={`id` INT NOT NULL,`name` VARCHAR(10),`age` TINYINT}", BATCH),
            ("tableId=bak.copy_s_1, before=[], after=[1, one, 1]", BATCH),
            ("{`id` BIGINT NOT NULL,`name` STRING,`extra` DECIMAL(10, 2),`age` INT}", BATCH),
            ("tableId=bak.copy_s_2, before=[], after=[2, two, 2.22, 22]", BATCH),
            ("{`id` INT NOT NULL,`age` VARCHAR(5),`name` VARCHAR(30) NOT NULL,`f` FLOAT}", BATCH),
            ("tableId=bak.copy_s_3, before=[], after=[3, 33, three, 3.3]", BATCH),
            ("{`id` BIGINT NOT NULL,`name` STRING,`age` STRING,`extra` DECIMAL(10, 2),`f` FLOAT}", BATCH),
            ("tableId=ods.merged, before=[], after=[1, one, 1, null, null]", BATCH),
            ("tableId=ods.merged, before=[], after=[2, two, 22, 2.22, null]", BATCH),
            ("tableId=ods.merged, before=[], after=[3, three, 33, null, 3.3]", BATCH),
        ],
        ..Folder::NONE
    },
    Folder { name: "20a-no-pk-chunk-key", ..Folder::NONE },
    Folder { name: "20b-no-pk-no-chunk-key", extra: NO_KEY_LINES, ..Folder::NONE },
    Folder { name: "21b-binlog-newly-added-table", ..Folder::NONE },
    Folder { name: "23-parallelism2-evolve", ..Folder::NONE },
    Folder { name: "24-widening-evolve", ..Folder::NONE },
    Folder {
        name: "26-set-column",
        differences: &[("`s` ARRAY<STRING>", "`s` STRING", SET)],
        extra: &[("after=[1, x,z]", SET), ("after=[2, y]", SET), ("after=[3, ]", SET), ("after=[4, null]", SET)],
        ..Folder::NONE
    },
    Folder {
        name: "27a-modify-position-evolve",
        missing: &[("125, -90792568487788901.30, moved", MOVED), ("150, -91513144428168477.52, Alice", MOVED)],
        extra: &[
            ("after=[3, moved, 7, 1.25, nt]", MOVED),
            ("before=[1, Alice, 18, 1.50, x], after=[1, Alice2, 18, 1.50, x]", MOVED),
        ],
        ..Folder::NONE
    },
    Folder {
        name: "28-drop-create-same-name",
        missing: &[("after=[1, null, null, null, null]", NEW_TABLE), ("after=[7, ", NEW_TABLE)],
        extra: &[
            ("{`id` INT NOT NULL,`fresh` INT}", NEW_TABLE),
            ("after=[1, 100]", NEW_TABLE),
            ("column=`fresh` INT", NEW_TABLE),
            ("droppedColumnNames=[v]", NEW_TABLE),
            ("after=[7, 77]", NEW_TABLE),
        ],
        ..Folder::NONE
    },
    Folder {
        name: "29-time-out-of-day",
        extra: &[("after=[2, 25:00:00]", HOURS), ("after=[3, -01:00:00.500]", HOURS)],
        ..Folder::NONE
    },
];
