//! `rowferry status`.

use super::settings::state_dir;
use super::{Common, Exit, load, report_error};
use crate::checkpoint::{Checkpoint, Phase, Store};
use crate::config::PipelineConfig;
use crate::error::Error;
use crate::metrics::now_millis;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The arguments of `status`.
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// What all commands have.
    #[command(flatten)]
    pub common: Common,
    /// Where the state is kept [default: .rowferry/<pipeline name> beside the file]
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// With the definitions of the tables as they are tracked
    #[arg(long)]
    pub schemas: bool,
}

/// Prints what the state says.
pub(super) fn run(args: &StatusArgs) -> Exit {
    let config = match load(&args.common) {
        Ok(config) => config,
        Err(exit) => return exit,
    };
    let directory = state_dir(&config, &args.common.file, args.state_dir.as_deref());
    let checkpoint = match read(&directory) {
        Ok(checkpoint) => checkpoint,
        Err(error) => return report_error(&error),
    };
    let running = crate::checkpoint::is_locked(&directory);
    let text = if args.common.json {
        format!("{:#}\n", as_json(&config, &directory, checkpoint.as_ref(), running, args.schemas))
    } else {
        as_text(&config, &directory, checkpoint.as_ref(), running)
    };
    print!("{text}");
    Exit::Done
}

fn read(directory: &Path) -> Result<Option<Checkpoint>, Error> {
    let error = |e| Error::permanent("RF-STA-001", "the state can't be read").caused_by(e);
    match Store::open_read_only(directory).map_err(error)? {
        Some(mut store) => store.load().map_err(error),
        None => Ok(None),
    }
}

fn phase(checkpoint: &Checkpoint) -> &'static str {
    if checkpoint.tables.iter().any(|(_, t)| matches!(t.phase, Phase::Snapshot(_))) { "snapshot" } else { "streaming" }
}

fn as_json(
    config: &PipelineConfig,
    directory: &Path,
    checkpoint: Option<&Checkpoint>,
    running: bool,
    schemas: bool,
) -> serde_json::Value {
    let Some(checkpoint) = checkpoint else {
        return json!({"pipeline": config.pipeline.name, "state_dir": directory, "running": running, "phase": "new"});
    };
    let tables: Vec<_> = checkpoint
        .tables
        .iter()
        .map(|(table, state)| {
            let (phase, rows, estimated) = match &state.phase {
                Phase::Snapshot(p) => ("snapshot", Some(p.rows), Some(p.estimated_rows)),
                Phase::StreamingFrom(_) | Phase::Streaming => ("streaming", None, None),
                Phase::Gone | Phase::GoneInSnapshot(_) => ("gone", None, None),
            };
            let mut out = json!({
                "database": table.database(), "table": table.table(), "phase": phase,
                "snapshot_rows": rows, "estimated_rows": estimated,
            });
            if schemas {
                out["schema"] = json!(state.def);
            }
            out
        })
        .collect();
    json!({
        "pipeline": config.pipeline.name,
        "state_dir": directory,
        "running": running,
        "phase": phase(checkpoint),
        "checkpoint": {
            "id": checkpoint.id,
            "saved_at_millis": checkpoint.saved_at,
            "age_seconds": (now_millis() - checkpoint.saved_at) as f64 / 1000.0,
        },
        "offset": {
            "server": checkpoint.server,
            "file": checkpoint.offset.position.file,
            "position": checkpoint.offset.position.pos,
            "gtids": checkpoint.offset.gtids.as_ref().map(ToString::to_string),
        },
        "tables": tables,
    })
}

fn as_text(config: &PipelineConfig, directory: &Path, checkpoint: Option<&Checkpoint>, running: bool) -> String {
    let mut text = format!(
        "pipeline    {}\nstate       {}\nprocess     {}\n",
        config.pipeline.name,
        directory.display(),
        if running { "running" } else { "not running" }
    );
    let Some(checkpoint) = checkpoint else {
        return text + "phase       new: no checkpoint yet\n";
    };
    text += &format!(
        "phase       {}\ncheckpoint  {}, {:.0} s ago\noffset      {}\n",
        phase(checkpoint),
        checkpoint.id,
        (now_millis() - checkpoint.saved_at) as f64 / 1000.0,
        checkpoint.offset
    );
    for (table, state) in &checkpoint.tables {
        text += &match &state.phase {
            Phase::Snapshot(p) => {
                format!("table       {table}: snapshot, {} of about {} rows\n", p.rows, p.estimated_rows)
            }
            Phase::StreamingFrom(_) | Phase::Streaming => format!("table       {table}: streaming\n"),
            Phase::Gone | Phase::GoneInSnapshot(_) => {
                format!("table       {table}: dropped or renamed at the source\n")
            }
        };
    }
    text
}
