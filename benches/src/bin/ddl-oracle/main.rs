//! The DDL oracle: every statement of a file goes to a real server and to rowferry's catalog, and both must agree on
//! what the tables are afterwards.
//!
//! The servers' databases are dropped again and again: give it servers of its own.

mod compare;
mod fixture;
mod random;
mod server;

use clap::Parser;
use rowferry_sql::TableDef;
use rowferry_sql::ddl::{DdlOutcome, StatementKind, classify, parse_ddl};
use serde::Deserialize;
use server::{Refused, Server};
use std::collections::HashMap;
use std::process::ExitCode;

/// Compares rowferry's tracked schemas with `information_schema` after each statement of a file.
#[derive(Parser)]
struct Args {
    /// One JSON object a line, with `id`, `sql`, `source`, `kind` and `dialect`.
    #[arg(required_unless_present = "random")]
    file: Option<std::path::PathBuf>,
    /// Instead of a file: random sequences of DDL for so many seconds.
    #[arg(long)]
    random: Option<u64>,
    /// The seed of the random sequences.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A MySQL server whose databases may be dropped, `mysql://user:password@host:port`; else ROWFERRY_ORACLE_MYSQL.
    #[arg(long)]
    mysql: Option<String>,
    /// A MariaDB server whose databases may be dropped; else ROWFERRY_ORACLE_MARIADB.
    #[arg(long)]
    mariadb: Option<String>,
    /// Says for each refused statement why the server refused it.
    #[arg(long)]
    refused: bool,
    /// `K/N`: only every Nth statement, from the Kth on: for several runs at once on servers of their own.
    #[arg(long)]
    part: Option<String>,
    /// Only statements whose id contains this.
    #[arg(long)]
    only: Option<String>,
}

/// A line of the file.
#[derive(Deserialize)]
pub(crate) struct Line {
    id: String,
    sql: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    dialect: String,
}

/// What came of one statement.
enum Verdict {
    Agree,
    Differ(Vec<String>),
    Refused(String),
}

#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) accepted: usize,
    pub(crate) differ: usize,
    pub(crate) refused: usize,
    skipped: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Args::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("ddl-oracle: {error}");
            ExitCode::from(2)
        }
    }
}

pub(crate) type Failure = Box<dyn std::error::Error>;

async fn run(args: Args) -> Result<bool, Failure> {
    if let Some(seconds) = args.random {
        return random(&args, seconds).await;
    }
    let file = args.file.as_deref().ok_or("no file is given")?;
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let lines: Vec<Line> =
        text.lines().filter(|l| !l.trim().is_empty()).map(serde_json::from_str).collect::<Result<_, _>>()?;
    let mut sources: HashMap<&str, Vec<&Line>> = HashMap::new();
    for line in &lines {
        sources.entry(&line.source).or_default().push(line);
    }
    let mut mysql = connect(args.mysql.as_deref(), "ROWFERRY_ORACLE_MYSQL").await?;
    let mut mariadb = connect(args.mariadb.as_deref(), "ROWFERRY_ORACLE_MARIADB").await?;
    let mut tally = Tally::default();
    let (part, parts) = match &args.part {
        Some(part) => {
            part.split_once('/').and_then(|(k, n)| Some((k.parse::<usize>().ok()?, n.parse::<usize>().ok()?)))
        }
        None => Some((1, 1)),
    }
    .filter(|(k, n)| (1..=*n).contains(k))
    .ok_or("--part takes K/N")?;
    for line in lines.iter().skip(part - 1).step_by(parts) {
        if args.only.as_ref().is_some_and(|only| !line.id.contains(only)) {
            continue;
        }
        let server = if line.dialect == "mariadb" { &mut mariadb } else { &mut mysql };
        let Some(server) = server else {
            tally.skipped += 1;
            continue;
        };
        // These would change the server itself, not its tables.
        let context = server.context(fixture::DATABASE);
        let kind = classify(&line.sql, &context).kind;
        let harmless = matches!(kind, StatementKind::Ddl | StatementKind::OtherDdl(_) | StatementKind::Unknown);
        if !harmless || matches!(line.kind.as_str(), "user_grant" | "admin" | "other_query") {
            tally.skipped += 1;
            if !matches!(parse_ddl(&line.sql, &context), DdlOutcome::Ignored(_)) {
                println!("{} is of kind {} but not ignored: {}", line.id, line.kind, line.sql);
                tally.differ += 1;
            }
            continue;
        }
        let own: &[&Line] = sources.get(line.source.as_str()).map_or(&[], Vec::as_slice);
        match check(server, line, own).await? {
            Verdict::Agree => tally.accepted += 1,
            Verdict::Differ(differences) => {
                tally.accepted += 1;
                tally.differ += 1;
                println!("DIFFER {} [{}] {}", line.id, server.version, line.sql);
                for difference in differences {
                    println!("  {difference}");
                }
            }
            Verdict::Refused(why) => {
                tally.refused += 1;
                if args.refused {
                    println!("REFUSED {} {why}: {}", line.id, line.sql.replace('\n', " "));
                }
            }
        }
    }
    let Tally { accepted, differ, refused, skipped } = tally;
    println!("refused {refused}, not run {skipped}");
    println!("accepted {accepted}, agree {}, differ {differ}", accepted.saturating_sub(differ));
    Ok(differ == 0)
}

/// Random sequences on each of the servers.
async fn random(args: &Args, seconds: u64) -> Result<bool, Failure> {
    let mut same = true;
    for (url, variable) in [(&args.mysql, "ROWFERRY_ORACLE_MYSQL"), (&args.mariadb, "ROWFERRY_ORACLE_MARIADB")] {
        if let Some(mut server) = connect(url.as_deref(), variable).await? {
            let tally = random::run(&mut server, args.seed, seconds).await?;
            let Tally { accepted, differ, refused, .. } = tally;
            println!(
                "{}: refused {refused}, accepted {accepted}, agree {}, differ {differ}",
                server.version,
                accepted - differ
            );
            same &= differ == 0;
        }
    }
    Ok(same)
}

async fn connect(url: Option<&str>, variable: &str) -> Result<Option<Server>, Failure> {
    match url.map(str::to_owned).or_else(|| std::env::var(variable).ok()) {
        Some(url) => Ok(Some(Server::connect(&url).await.map_err(|e| format!("{url}: {e}"))?)),
        None => Ok(None),
    }
}

/// Tries a statement with one set of prerequisites after another until the server takes it.
async fn check(server: &mut Server, line: &Line, own: &[&Line]) -> Result<Verdict, Failure> {
    let mut refusal = String::new();
    for mut fixture in fixture::fixtures(line, own, server) {
        // Strict, not strict, and then with what the server said was missing.
        for round in 0..6 {
            match attempt(server, line, &fixture, round != 1).await? {
                Ok(differences) if differences.is_empty() => return Ok(Verdict::Agree),
                Ok(differences) => return Ok(Verdict::Differ(differences)),
                Err(refused) => {
                    if std::env::var_os("ROWFERRY_ORACLE_TRACE").is_some() {
                        eprintln!(
                            "{}: {refused} after {:?}",
                            line.id,
                            fixture.iter().map(|s| &s.sql).collect::<Vec<_>>()
                        );
                    }
                    refusal = refused.to_string();
                    if refused.is_syntax() {
                        return Ok(Verdict::Refused(refusal));
                    }
                    if round > 0 {
                        match fixture::repair(&refused, &line.sql, &server.context(fixture::DATABASE)) {
                            Some(step) => fixture.push(step),
                            None => break,
                        }
                    }
                }
            }
        }
    }
    Ok(Verdict::Refused(refusal))
}

/// What a server shows; `None` where it can't open its own tables, such as MERGE tables without their parts.
fn readable<T>(result: Result<T, mysql_async::Error>) -> Result<Option<T>, Failure> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(mysql_async::Error::Server(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Runs a statement and compares; an inner error is the server's refusal.
async fn attempt(
    server: &mut Server,
    line: &Line,
    fixture: &[fixture::Step],
    strict: bool,
) -> Result<Result<Vec<String>, Refused>, Failure> {
    server.reset(fixture::DATABASE, strict).await?;
    for step in fixture {
        server.run_in(&step.database, &step.sql).await?.ok();
    }
    let Some(before) = readable(server.catalog().await)? else { return Ok(Err(Refused::unreadable())) };
    if let Err(refused) = server.run_in(fixture::DATABASE, &line.sql).await? {
        return Ok(Err(refused));
    }
    let Some(after) = readable(server.catalog().await)? else { return Ok(Err(Refused::unreadable())) };
    let context = server.context(fixture::DATABASE);
    let mut tracked = before.catalog;
    let mut differences = vec![];
    match parse_ddl(&line.sql, &context) {
        DdlOutcome::Changes(statement) => {
            if let Err(error) = tracked.apply(&statement, &context) {
                differences.push(format!("not applied: {error}"));
            }
        }
        DdlOutcome::Ignored(_) => {}
        // With row-based logging the binlog holds the table's definition instead of the query.
        DdlOutcome::Unknown { reason, .. } if reason.contains("come from a query") => {
            for (table, _) in after.catalog.tables().filter(|(t, _)| tracked.table(t).is_none()).collect::<Vec<_>>() {
                let Some(text) = readable(server.show_create(table).await)? else { continue };
                let context = server.context(table.database());
                match parse_ddl(&text, &context) {
                    DdlOutcome::Changes(statement) => {
                        if let Err(error) = tracked.apply(&statement, &context) {
                            differences.push(format!("not applied: {error}: {text}"));
                        }
                    }
                    other => differences.push(format!("{other:?}: {text}")),
                }
            }
        }
        DdlOutcome::Unknown { reason, .. } => differences.push(format!("not understood: {reason}")),
    }
    if differences.is_empty() {
        differences = compare::catalogs(&tracked, &after, &context);
    }
    // The server's own spelling of every new table must read back as the same table.
    for (table, def) in after.catalog.tables() {
        if before.tables.get(table) == Some(&**def) {
            continue;
        }
        let Some(text) = readable(server.show_create(table).await)? else {
            return Ok(Err(Refused::unreadable()));
        };
        let context = server.context(table.database());
        let mut empty = rowferry_sql::Catalog::default();
        if let DdlOutcome::Changes(statement) = parse_ddl(&text, &context)
            && empty.apply(&statement, &context).is_ok()
            && let Some(read) = empty.table(table)
        {
            let mut read = TableDef::clone(read);
            for column in read.columns.iter_mut().filter(|c| c.auto_increment) {
                // A nullable AUTO_INCREMENT column is shown like one of which nothing is said, and that is NOT NULL.
                column.nullable = def.index_of(&column.name).is_some_and(|i| def.columns[i].nullable);
            }
            differences.extend(
                compare::tables(table, &read, def, &after, &context)
                    .into_iter()
                    .map(|d| format!("SHOW CREATE TABLE: {d}")),
            );
        } else {
            differences.push(format!("SHOW CREATE TABLE not understood: {:?}: {text}", parse_ddl(&text, &context)));
        }
    }
    Ok(Ok(differences))
}
