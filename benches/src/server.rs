//! The server under test.

use crate::Result;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, Row};

/// A place in the binary log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file.
    pub(crate) file: String,
    /// The offset in it.
    pub(crate) pos: u64,
}

/// How to reach the server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    url: String,
    opts: Opts,
}

/// One thread: the yardsticks are as simple as they can be.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

impl Server {
    /// A server by its URL.
    pub(crate) fn new(url: &str) -> Result<Self> {
        let opts = Opts::from_url(url).map_err(|e| format!("--url {url}: {e}"))?;
        Ok(Self { url: url.to_owned(), opts })
    }

    /// The URL as given.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Host, port, user and password, for a pipeline's file.
    pub(crate) fn address(&self) -> (String, u16, String, String) {
        (
            self.opts.ip_or_hostname().to_owned(),
            self.opts.tcp_port(),
            self.opts.user().unwrap_or("root").to_owned(),
            self.opts.pass().unwrap_or_default().to_owned(),
        )
    }

    /// A new connection over TCP.
    pub(crate) async fn connect(&self) -> Result<Conn> {
        Ok(Conn::new(OptsBuilder::from_opts(self.opts.clone()).prefer_socket(false)).await?)
    }

    /// Gives the server the settings that the figures are meant for. It must be nobody else's.
    pub(crate) async fn configure(&self) -> Result<()> {
        let mut connection = self.connect().await?;
        for (name, value) in [
            ("innodb_buffer_pool_size", "3221225472"),
            ("innodb_flush_log_at_trx_commit", "2"),
            ("sync_binlog", "0"),
            ("max_binlog_size", "1073741824"),
            ("binlog_row_image", "FULL"),
            ("binlog_row_metadata", "FULL"),
            ("binlog_checksum", "CRC32"),
            ("time_zone", "'+00:00'"),
        ] {
            connection.query_drop(format!("SET GLOBAL {name} = {value}")).await.map_err(|e| format!("{name}: {e}"))?;
        }
        Ok(())
    }

    /// The server's version.
    pub(crate) async fn version(&self) -> Result<String> {
        let version: Option<String> = self.connect().await?.query_first("SELECT VERSION()").await?;
        version.ok_or_else(|| "the server has no version".into())
    }

    /// Where the server writes next.
    pub(crate) async fn place(&self) -> Result<Place> {
        let row: Option<Row> = self.connect().await?.query_first("SHOW BINARY LOG STATUS").await?;
        let row = row.ok_or("the server writes no binary log")?;
        let file = row.get::<String, _>("File").ok_or("SHOW BINARY LOG STATUS without File")?;
        let pos = row.get::<u64, _>("Position").ok_or("SHOW BINARY LOG STATUS without Position")?;
        Ok(Place { file, pos })
    }
}

/// Runs a script as the `mysql` client would: statements end with `;`, or with what the last `DELIMITER` line says.
pub(crate) async fn run_script(connection: &mut Conn, script: &str) -> Result<()> {
    for statement in statements(script) {
        connection.query_drop(&statement).await.map_err(|e| format!("{e}, in: {statement:.200}"))?;
    }
    Ok(())
}

/// The benchmark's own scripts have each delimiter at a line's end, and comments on lines of their own.
fn statements(script: &str) -> Vec<String> {
    let mut delimiter = ";".to_owned();
    let mut out = Vec::new();
    let mut statement = String::new();
    for line in script.lines() {
        if let Some(new) = line.strip_prefix("DELIMITER ") {
            delimiter = new.trim().to_owned();
            continue;
        }
        if line.trim_start().starts_with("--") {
            continue;
        }
        statement.push_str(line);
        statement.push('\n');
        if let Some(whole) = statement.trim_end().strip_suffix(&delimiter) {
            out.push(whole.trim().to_owned());
            statement.clear();
        }
    }
    out.retain(|s| !s.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_cut_at_their_delimiters() {
        let script =
            "-- a comment\nSET a=1;\nDELIMITER //\nCREATE PROCEDURE p()\nBEGIN\n  DO 1;\nEND//\nDELIMITER ;\nDO 2;\n";
        assert_eq!(statements(script), ["SET a=1", "CREATE PROCEDURE p()\nBEGIN\n  DO 1;\nEND", "DO 2"]);
    }
}
