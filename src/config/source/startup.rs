//! Where reading starts.

use super::super::diagnostic::Diagnostics;
use rowferry_model::{BinlogPosition, GtidSet};
use rowferry_sinks::options::{Options, Position};

/// `scan.startup.mode` with what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartupMode {
    /// All rows, then changes.
    Initial,
    /// All rows, then the end.
    Snapshot,
    /// Changes from the first binlog that the server has.
    EarliestOffset,
    /// Changes from now on.
    LatestOffset,
    /// Changes from a time on, in milliseconds since 1970.
    Timestamp(u64),
    /// Changes from a place on.
    SpecificOffset {
        /// The GTIDs that have been read already; go before the position.
        gtids: Option<GtidSet>,
        /// The place in a binlog file.
        position: Option<BinlogPosition>,
        /// Events to skip behind that place.
        skip_events: u64,
        /// Rows to skip behind those events.
        skip_rows: u64,
    },
}

impl StartupMode {
    /// Whether rows that are there already are read.
    pub fn has_snapshot(&self) -> bool {
        matches!(self, Self::Initial | Self::Snapshot)
    }

    /// Whether changes are read.
    pub fn has_stream(&self) -> bool {
        !matches!(self, Self::Snapshot)
    }
}

const FILE: &str = "scan.startup.specific-offset.file";
const POS: &str = "scan.startup.specific-offset.pos";
const GTIDS: &str = "scan.startup.specific-offset.gtid-set";
const SKIP_EVENTS: &str = "scan.startup.specific-offset.skip-events";
const SKIP_ROWS: &str = "scan.startup.specific-offset.skip-rows";
const MILLIS: &str = "scan.startup.timestamp-millis";

/// Puts the mode together. `block`: where the source block stands; `present`: whether a key is in the file at all, also
/// with a value that could not be read.
pub(super) fn read(
    options: &Options,
    present: &dyn Fn(&str) -> bool,
    block: Position,
    diagnostics: &mut Diagnostics,
) -> Option<StartupMode> {
    let mode = options.text("scan.startup.mode")?;
    let at = options.position("scan.startup.mode").unwrap_or(block);
    let key = |name: &str| format!("source.{name}");
    let number = |name: &str| options.int(name).and_then(|n| u64::try_from(n).ok());
    if mode != "specific-offset" {
        warn_unused(options, &[FILE, POS, GTIDS, SKIP_EVENTS, SKIP_ROWS], "specific-offset", diagnostics);
    }
    if mode != "timestamp" {
        warn_unused(options, &[MILLIS], "timestamp", diagnostics);
    }
    match mode {
        "initial" => Some(StartupMode::Initial),
        "snapshot" => Some(StartupMode::Snapshot),
        "earliest-offset" => Some(StartupMode::EarliestOffset),
        "latest-offset" => Some(StartupMode::LatestOffset),
        "timestamp" => {
            if !present(MILLIS) {
                let message = "required by scan.startup.mode: timestamp, and missing";
                diagnostics.invalid(at, key(MILLIS), message).hint("write the time in milliseconds since 1970");
            }
            number(MILLIS).map(StartupMode::Timestamp)
        }
        _ => {
            let gtids = match options.text(GTIDS).map(str::trim).filter(|text| !text.is_empty()) {
                None => None,
                Some(text) => match text.parse::<GtidSet>() {
                    Ok(set) => Some(set),
                    Err(_) => {
                        let at = options.position(GTIDS).unwrap_or(at);
                        let hint = "write it as the server does: `uuid:1-5000`, or `0-1-5000` for MariaDB";
                        diagnostics.invalid(at, key(GTIDS), format!("`{text}` is not a GTID set")).hint(hint);
                        return None;
                    }
                },
            };
            let position = match (options.text(FILE).filter(|file| !file.is_empty()), number(POS)) {
                (Some(file), Some(pos)) => Some(BinlogPosition::new(file, pos)),
                (None, None) => None,
                _ if present(GTIDS) => None,
                (Some(_), None) => {
                    if !present(POS) {
                        let at = options.position(FILE).unwrap_or(at);
                        diagnostics
                            .invalid(at, key(POS), "missing: a file needs a position")
                            .hint(format!("write {POS}: 4 for the start of the file, or give {GTIDS}"));
                    }
                    return None;
                }
                (None, Some(_)) => {
                    if !present(FILE) {
                        let at = options.position(POS).unwrap_or(at);
                        diagnostics.invalid(at, key(FILE), "missing: a position needs a file").maybe(None);
                    }
                    return None;
                }
            };
            if gtids.is_none() && position.is_none() {
                if ![FILE, POS, GTIDS].iter().any(|name| present(name)) {
                    let message = format!("`specific-offset` needs {GTIDS}, or {FILE} and {POS}");
                    diagnostics.invalid(at, "source.scan.startup.mode", message).maybe(None);
                } else if present(GTIDS) && options.is_given(GTIDS) {
                    let message = format!("is empty: give GTIDs, or {FILE} and {POS}");
                    diagnostics.invalid(at, key(GTIDS), message).maybe(None);
                }
                return None;
            }
            let (skip_events, skip_rows) = (number(SKIP_EVENTS).unwrap_or(0), number(SKIP_ROWS).unwrap_or(0));
            Some(StartupMode::SpecificOffset { gtids, position, skip_events, skip_rows })
        }
    }
}

fn warn_unused(options: &Options, names: &[&str], mode: &str, diagnostics: &mut Diagnostics) {
    for name in names {
        if let Some(at) = options.position(name) {
            let message = format!("has no effect without scan.startup.mode: {mode}");
            diagnostics.warning(at, format!("source.{name}"), message).maybe(None);
        }
    }
}
