//! The real servers that tests run against. They are named by `ROWFERRY_TEST_MYSQL_97`, `ROWFERRY_TEST_MYSQL_56` and
//! `ROWFERRY_TEST_MARIADB`, and `ROWFERRY_TEST_MYSQL_97_SECOND` for what needs two, each `mysql://user:password@host:port` as `scripts/mysql start` prints it. A test whose
//! server is not named says so and passes.

use rowferry::mysql::wire::{ConnectOptions, Connection, TlsMode};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    Mysql97,
    Mysql56,
    Mariadb,
}

impl Server {
    pub(crate) const ALL: [Self; 3] = [Self::Mysql97, Self::Mysql56, Self::Mariadb];

    fn variable(self) -> &'static str {
        match self {
            Self::Mysql97 => "ROWFERRY_TEST_MYSQL_97",
            Self::Mysql56 => "ROWFERRY_TEST_MYSQL_56",
            Self::Mariadb => "ROWFERRY_TEST_MARIADB",
        }
    }

    /// How to reach it as a user who may do everything, without encryption; `None`, with a message, if it is not
    /// named.
    pub(crate) fn options(self) -> Option<ConnectOptions> {
        options_of(self.variable())
    }

    /// A second server of the kind, if it is named: a test may make it a replica of the first, and empties it.
    pub(crate) fn second(self) -> Option<ConnectOptions> {
        options_of(&format!("{}_SECOND", self.variable()))
    }
}

fn options_of(variable: &str) -> Option<ConnectOptions> {
    let Ok(url) = std::env::var(variable) else {
        eprintln!("skipped: {variable} is not set (see scripts/mysql)");
        return None;
    };
    let rest = url.trim().strip_prefix("mysql://").expect("a URL of the form mysql://user:password@host:port");
    let (login, address) = rest.rsplit_once('@').unwrap_or(("root", rest));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (host, port) = address.trim_end_matches('/').rsplit_once(':').unwrap_or((address, "3306"));
    let mut options = ConnectOptions::new(host, port.parse().expect("a port"), user);
    options.password = password.into();
    options.tls = TlsMode::Disabled;
    Some(options)
}

/// The servers that are named.
pub(crate) fn all() -> impl Iterator<Item = (Server, ConnectOptions)> {
    Server::ALL.into_iter().filter_map(|server| server.options().map(|options| (server, options)))
}

/// The servers that are named, if they are this test run's alone (`ROWFERRY_TEST_DISPOSABLE=1`): their logs may be
/// purged.
pub(crate) fn disposable() -> impl Iterator<Item = (Server, ConnectOptions)> {
    let disposable = std::env::var("ROWFERRY_TEST_DISPOSABLE").is_ok_and(|v| v == "1");
    if !disposable {
        eprintln!("skipped: ROWFERRY_TEST_DISPOSABLE=1 is not set");
    }
    all().filter(move |_| disposable)
}

/// Held by a test that begins or purges log files: one at a time.
pub(crate) fn over_log_files() -> MutexGuard<'static, ()> {
    static LOG_FILES: Mutex<()> = Mutex::new(());
    LOG_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Purges all log files before this one. A file that the server still reads for a replica that is gone stays until it has
/// noticed that: then it is tried again.
pub(crate) fn purge_to(client: &mut Connection, file: &str) {
    let end = Instant::now() + super::rowferry::PATIENCE;
    loop {
        client.execute(&format!("PURGE BINARY LOGS TO '{file}'")).expect("purges");
        let files = client.query("SHOW BINARY LOGS").expect("lists");
        let oldest = files.first().and_then(|row| row.get("Log_name")).expect("a file").to_owned();
        if oldest == file {
            return;
        }
        assert!(Instant::now() < end, "{oldest} is not purged");
        // What is written is sent, and that is how it is noticed.
        client.execute("FLUSH TABLES").expect("is written to the log");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// Held by a test while it does at a server what would stop a replica that passes over other tests' tables: XA
/// transactions, and users that are there no more.
pub(crate) fn against_replicas() -> RwLockReadGuard<'static, ()> {
    REPLICAS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test while it has a replica: one at a time, and none of those that would stop it.
pub(crate) fn over_replicas() -> RwLockWriteGuard<'static, ()> {
    REPLICAS.write().unwrap_or_else(PoisonError::into_inner)
}

static REPLICAS: RwLock<()> = RwLock::new(());

/// A database of a test's own, dropped at its end.
pub(crate) struct Database {
    pub(crate) name: String,
    options: ConnectOptions,
}

impl Database {
    pub(crate) fn create(options: &ConnectOptions, theme: &str) -> Self {
        let name = format!("rowferry_{theme}_{}", unique());
        let mut connection = Connection::connect(options).expect("connects to the test server");
        connection.execute(&format!("CREATE DATABASE `{name}` CHARACTER SET utf8mb4")).expect("creates a database");
        Self { name, options: options.clone() }
    }

    /// A connection that has this database as its default.
    pub(crate) fn connect(&self) -> Connection {
        let mut options = self.options.clone();
        options.database = Some(self.name.clone());
        Connection::connect(&options).expect("connects to the test server")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Ok(mut connection) = Connection::connect(&self.options) {
            if std::thread::panicking() {
                // What a failed test leaves prepared would let the next statement wait for ever.
                let prepared = connection.query("XA RECOVER").unwrap_or_default();
                for xid in prepared.iter().filter_map(|row| row.get("data")).filter(|xid| xid.starts_with(&self.name)) {
                    let _ = connection.execute(&format!("XA ROLLBACK '{xid}'"));
                }
                let _ = connection.execute("SET SESSION lock_wait_timeout = 60");
            }
            let _ = connection.execute(&format!("DROP DATABASE IF EXISTS `{}`", self.name));
        }
    }
}

/// A number that no other test of this or another process has: for names, users and replica ids.
pub(crate) fn unique() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let count = NEXT.fetch_add(1, Ordering::Relaxed);
    // A whole run takes more than a thousand; a replica's id is below two to the power of 31.
    (std::process::id() % 20_000) * 100_000 + count % 100_000
}
