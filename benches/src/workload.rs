//! The tables and the binlog that everything is measured on.

use crate::Result;
use crate::server::{Place, Server, run_script};
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use std::time::Instant;

const TABLES: &str = include_str!("../sql/1_snapshot.sql");
const BINLOG: &str = include_str!("../sql/2_binlog.sql");

/// Numbers of rows at a scale; at 1 those of the peers' figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Rows of `snap.sbtest1`.
    pub(crate) narrow: u64,
    /// Rows of `snap.wide`.
    pub(crate) wide: u64,
    /// Changes in transactions of 100 rows.
    pub(crate) main_changes: u64,
    /// Changes in transactions of one row.
    pub(crate) burst_changes: u64,
    /// Changes of the 25-column table.
    pub(crate) wide_changes: u64,
    /// Rows of the one huge transaction.
    pub(crate) big_transaction: u64,
}

impl Sizes {
    /// The numbers at a scale, rounded to whole transactions.
    pub(crate) fn at(scale: f64) -> Self {
        let whole = |full: f64, unit: u64| ((full * scale / unit as f64).round() as u64).max(1) * unit;
        Self {
            narrow: whole(2_000_000.0, 1000),
            wide: whole(300_000.0, 1000),
            main_changes: whole(2_000_000.0, 200),
            burst_changes: whole(100_000.0, 10),
            wide_changes: whole(200_000.0, 200),
            big_transaction: whole(1_000_000.0, 1000),
        }
    }

    /// All changes of the binlog.
    pub(crate) fn all_changes(&self) -> u64 {
        self.main_changes + self.burst_changes + self.wide_changes
    }
}

/// Where the phases of the binlog lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phases {
    /// Before the first change.
    pub(crate) start: Place,
    /// Before the first change of the 25-column table; those changes go up to `end`.
    pub(crate) wide: Place,
    /// Behind the last change.
    pub(crate) end: Place,
}

/// Fills the tables, unless the server has them at this scale.
pub(crate) async fn load(server: &Server, scale: f64) -> Result<()> {
    let mut connection = unlogged(server).await?;
    if remembered(&mut connection, "scale").await?.as_deref() == Some(&scale.to_string()) {
        return Ok(());
    }
    let sizes = Sizes::at(scale);
    eprintln!("loading {} narrow and {} wide rows; they are kept for the next time", sizes.narrow, sizes.wide);
    let started = Instant::now();
    connection.query_drop("DROP DATABASE IF EXISTS bench_state").await?;
    run_script(&mut connection, TABLES).await?;
    connection.query_drop(format!("CALL snap.fill_sb('snap.sbtest1', {})", sizes.narrow)).await?;
    connection.query_drop(format!("CALL snap.fill_wide('snap.wide', {})", sizes.wide)).await?;
    connection.query_drop("ANALYZE TABLE snap.sbtest1, snap.wide").await?;
    remember(&mut connection, "scale", &scale.to_string()).await?;
    eprintln!("loaded in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Writes the binlog, unless the one there is it: then the server has written nothing since.
pub(crate) async fn generate(server: &Server, scale: f64) -> Result<Phases> {
    let mut connection = unlogged(server).await?;
    if let Some(phases) = remembered_phases(&mut connection).await?
        && phases.end == server.place().await?
    {
        return Ok(phases);
    }
    let sizes = Sizes::at(scale);
    let base = sizes.narrow / 4;
    let wide_base = sizes.wide / 3;
    eprintln!("writing {} changes into the binary log", sizes.all_changes());
    let started = Instant::now();
    run_script(&mut connection, BINLOG).await?;
    for fill in [
        format!("INSERT INTO bl.sbtest1 SELECT * FROM snap.sbtest1 WHERE id <= {base}"),
        format!("INSERT INTO bl.wide SELECT * FROM snap.wide WHERE id <= {wide_base}"),
        "ANALYZE TABLE bl.sbtest1, bl.wide".to_owned(),
        "RESET BINARY LOGS AND GTIDS".to_owned(),
        "SET SESSION sql_log_bin=1".to_owned(),
    ] {
        connection.query_drop(fill).await?;
    }
    let start = mark(&mut connection, server, "main").await?;
    connection.query_drop(format!("CALL bl.bl_main({}, {base})", sizes.main_changes / 100)).await?;
    mark(&mut connection, server, "burst").await?;
    connection.query_drop(format!("CALL bl.bl_burst({}, {base})", sizes.burst_changes)).await?;
    let wide = mark(&mut connection, server, "wide").await?;
    connection.query_drop(format!("CALL bl.bl_wide({}, {wide_base})", sizes.wide_changes / 100)).await?;
    let end = mark(&mut connection, server, "end").await?;
    let phases = Phases { start, wide, end };
    connection.query_drop("SET SESSION sql_log_bin=0").await?;
    for (name, place) in [("start", &phases.start), ("wide", &phases.wide), ("end", &phases.end)] {
        remember(&mut connection, &format!("{name}.file"), &place.file).await?;
        remember(&mut connection, &format!("{name}.pos"), &place.pos.to_string()).await?;
    }
    eprintln!("written in {:.0} s", started.elapsed().as_secs_f64());
    Ok(phases)
}

/// A connection whose statements stay out of the binary log.
pub(crate) async fn unlogged(server: &Server) -> Result<Conn> {
    let mut connection = server.connect().await?;
    connection.query_drop("SET SESSION sql_log_bin=0").await?;
    Ok(connection)
}

async fn mark(connection: &mut Conn, server: &Server, name: &str) -> Result<Place> {
    connection.query_drop(format!("INSERT INTO bl.marker (name) VALUES ('{name}')")).await?;
    server.place().await
}

async fn remember(connection: &mut Conn, name: &str, value: &str) -> Result<()> {
    connection.query_drop("CREATE DATABASE IF NOT EXISTS bench_state").await?;
    connection
        .query_drop(
            "CREATE TABLE IF NOT EXISTS bench_state.state (name VARCHAR(64) PRIMARY KEY, value VARCHAR(255) NOT NULL)",
        )
        .await?;
    connection.query_drop(format!("REPLACE INTO bench_state.state VALUES ('{name}', '{value}')")).await?;
    Ok(())
}

async fn remembered(connection: &mut Conn, name: &str) -> Result<Option<String>> {
    let there: Option<u64> = connection
        .query_first(
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema='bench_state' AND table_name='state'",
        )
        .await?;
    if there != Some(1) {
        return Ok(None);
    }
    Ok(connection.query_first(format!("SELECT value FROM bench_state.state WHERE name='{name}'")).await?)
}

async fn remembered_phases(connection: &mut Conn) -> Result<Option<Phases>> {
    let mut places = Vec::new();
    for name in ["start", "wide", "end"] {
        let (Some(file), Some(pos)) = (
            remembered(connection, &format!("{name}.file")).await?,
            remembered(connection, &format!("{name}.pos")).await?,
        ) else {
            return Ok(None);
        };
        places.push(Place { file, pos: pos.parse()? });
    }
    let mut places = places.into_iter();
    Ok(match (places.next(), places.next(), places.next()) {
        (Some(start), Some(wide), Some(end)) => Some(Phases { start, wide, end }),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_scale_one_the_sizes_are_those_of_the_peers_figures() {
        let sizes = Sizes::at(1.0);
        assert_eq!((sizes.narrow, sizes.wide), (2_000_000, 300_000));
        assert_eq!((sizes.main_changes, sizes.burst_changes, sizes.wide_changes), (2_000_000, 100_000, 200_000));
        assert_eq!(sizes.big_transaction, 1_000_000);
    }

    #[test]
    fn at_any_scale_the_key_ranges_of_the_phases_fit_into_the_tables() {
        for scale in [0.001, 0.02, 0.1, 1.0, 10.0] {
            let sizes = Sizes::at(scale);
            // Ten deletes a transaction, from the first key on, below where the updates begin.
            assert!(sizes.main_changes / 100 * 10 <= sizes.narrow / 4 * 2 / 5 + 10, "{scale}: {sizes:?}");
            // Fifty inserts a transaction are copied from behind the rows that bl.wide began with.
            assert!(sizes.wide / 3 + sizes.wide_changes / 100 * 50 <= sizes.wide + 50, "{scale}: {sizes:?}");
        }
    }
}
