//! Options of search engines that this version can't write to.

use crate::options::{OptionKind, OptionSpec as Opt, PerTable};

pub(super) const ELASTICSEARCH: &[Opt] = &[
    Opt::text("hosts", "Addresses, with commas between them.").required(),
    Opt::new("version", OptionKind::Int { min: 6, max: 8 }, "Major version of the server: 6, 7 or 8.").default("7"),
    Opt::text("username", "User."),
    Opt::text("password", "Password.").secret(),
    Opt::new("batch.size.max", OptionKind::at_least(1), "Most actions of a bulk request.").default("500"),
    Opt::new("inflight.requests.max", OptionKind::at_least(1), "Most requests under way.").default("5"),
    Opt::new("buffered.requests.max", OptionKind::at_least(1), "Most buffered actions.").default("1000"),
    Opt::new("batch.size.max.bytes", OptionKind::LONG, "Most bytes of a bulk request.").default("5242880"),
    Opt::new("buffer.time.max.ms", OptionKind::LONG, "Longest wait of a buffered action, in ms.").default("5000"),
    Opt::new("record.size.max.bytes", OptionKind::LONG, "Most bytes of one document.").default("10485760"),
    Opt::new(
        "sharding.suffix.key",
        OptionKind::PerTable(PerTable::Suffix),
        "Column whose value is put behind the index name, by table.",
    )
    .default(""),
    Opt::text("sharding.suffix.separator", "What stands before that value.").default("_"),
];
