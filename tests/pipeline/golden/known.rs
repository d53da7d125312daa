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
const SET: &str = "a SET column makes the job fail there";
const HOURS: &str = "a time beyond the day makes the job fail there";
const BATCH: &str = "in BATCH mode every target gets the merged schema there, not only the merged one";
const LATER: &str = "an offset before a DDL makes the job fail there";
const MOVED: &str = "after MODIFY ... AFTER values are decoded by the old places there";
const NARROW: &str = "LENIENT keeps the wider type, as values that are there need it";

/// The last row of the folders 03 and 05, of a table that was dropped and created anew.
const ANEW: &[(&str, &str)] = &[("after=[1, , null, null, null, null, null, null, null]", NEW_TABLE)];

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
    Folder { name: "06-ddl-ignore", ..Folder::NONE },
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
    Folder {
        name: "13a-lenient-include-truncate-drop",
        missing: &[("tableId=g13a.c2, before=[], after=[1, null]", NEW_TABLE)],
        extra: &[("column=`w` INT", NEW_TABLE), ("after=[1, null, 1]", NEW_TABLE)],
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
        extra: &[("tableId=g17a.a", LATER)],
        ..Folder::NONE
    },
    Folder { name: "17b-startup-specific-offset-gtid", ..Folder::NONE },
    Folder { name: "18-snapshot-mode-bounded", ..Folder::NONE },
    Folder {
        name: "19-batch-mode",
        missing: &[("`v` INT,`name` STRING", BATCH), ("after=[1, null, one, 1, null, null]", BATCH), ("after=[2, null, two, 22, null, 2.22]", BATCH), ("after=[3, null, three, 33, 3.3, null]", BATCH), ("after=[1, 1, null, null, null, null]", BATCH)],
        extra: &[("tableId=", BATCH)],
        ..Folder::NONE
    },
    Folder { name: "20a-no-pk-chunk-key", ..Folder::NONE },
    Folder { name: "20b-no-pk-no-chunk-key", extra: &[("tableId=g20b.", NO_KEY)], ..Folder::NONE },
    Folder { name: "21b-binlog-newly-added-table", ..Folder::NONE },
    Folder { name: "23-parallelism2-evolve", ..Folder::NONE },
    Folder { name: "24-widening-evolve", ..Folder::NONE },
    Folder {
        name: "26-set-column",
        differences: &[("`s` ARRAY<STRING>", "`s` STRING", SET)],
        extra: &[("DataChangeEvent{tableId=g26.st", SET)],
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
