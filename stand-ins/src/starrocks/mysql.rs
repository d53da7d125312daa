//! A frontend's MySQL port.

use super::sql::{Failure, Statement, parse};
use super::world::World;
use crate::faults::{FaultAction, When, strike};
use crate::tls::Stream;
use sha1::{Digest, Sha1};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

/// The capability, and the request, to go on with TLS.
const SSL: u32 = 1 << 11;
const NONCE: &[u8; 20] = b"PbuXc[OYcKenjpWR^Xb!";

struct Port {
    stream: Stream,
    sequence: u8,
    world: Arc<Mutex<World>>,
    database: String,
    user: String,
}

/// Serves one connection until it ends.
pub fn serve(stream: TcpStream, world: Arc<Mutex<World>>) {
    let mut port =
        Port { stream: Stream::Plain(stream), sequence: 0, world, database: String::new(), user: String::new() };
    let _ = port.run();
}

impl Port {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut payload = Vec::new();
        loop {
            let mut header = [0; 4];
            self.stream.read_exact(&mut header)?;
            let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            self.sequence = header[3].wrapping_add(1);
            let start = payload.len();
            payload.resize(start + len, 0);
            self.stream.read_exact(&mut payload[start..])?;
            if len < 0xff_ffff {
                return Ok(payload);
            }
        }
    }

    fn write(&mut self, payload: &[u8]) -> io::Result<()> {
        let mut frame = (payload.len() as u32).to_le_bytes()[..3].to_vec();
        frame.push(self.sequence);
        frame.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.write_all(&frame)?;
        self.stream.flush()
    }

    fn ok(&mut self) -> io::Result<()> {
        self.write(&[0, 0, 0, 2, 0, 0, 0])
    }

    fn failure(&mut self, failure: &Failure) -> io::Result<()> {
        let mut out = vec![0xff];
        out.extend_from_slice(&failure.code.to_le_bytes());
        out.push(b'#');
        out.extend_from_slice(failure.state.as_bytes());
        out.extend_from_slice(failure.message.as_bytes());
        self.write(&out)
    }

    /// The greeting is the recorded one, with a nonce of ours.
    fn greet(&mut self) -> io::Result<()> {
        let mut out = vec![10];
        out.extend_from_slice(b"8.0.33\0");
        out.extend_from_slice(&[6, 0, 0, 1]);
        out.extend_from_slice(&NONCE[..8]);
        out.push(0);
        let offered = if self.world.lock().unwrap().encryption.certificate.is_some() { SSL } else { 0 };
        out.extend_from_slice(&(0x820c | offered as u16).to_le_bytes());
        out.push(0x21);
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&[0x38, 0x00]);
        out.push(21);
        out.extend_from_slice(&[0; 10]);
        out.extend_from_slice(&NONCE[8..]);
        out.push(0);
        out.extend_from_slice(b"mysql_native_password\0");
        self.write(&out)
    }

    fn login(&mut self) -> io::Result<bool> {
        self.greet()?;
        let mut answer = self.read()?;
        let encryption = self.world.lock().unwrap().encryption.clone();
        let flags = |answer: &[u8]| u32::from_le_bytes([answer[0], answer[1], answer[2], answer[3]]);
        if flags(&answer) & SSL != 0 {
            // A login in the clear beside the wish for TLS would betray what TLS is to hide.
            let (Some(certificate), 32) = (encryption.certificate, answer.len()) else { return Ok(false) };
            let Stream::Plain(stream) = &self.stream else { return Ok(false) };
            self.stream = Stream::accept(stream.try_clone()?, certificate);
            answer = self.read()?;
            if flags(&answer) & SSL == 0 {
                return Ok(false);
            }
        } else if encryption.required {
            // A real frontend lets connections from its own host pass.
            self.failure(&Failure::new(
                5205,
                "HY000",
                "Connections using insecure transport are prohibited".to_owned(),
            ))?;
            return Ok(false);
        }
        let rest = &answer[32..];
        let end = rest.iter().position(|b| *b == 0).unwrap();
        let user = String::from_utf8_lossy(&rest[..end]).into_owned();
        let len = rest[end + 1] as usize;
        let scramble = &rest[end + 2..end + 2 + len];
        let known = self.world.lock().unwrap().users.get(&user).cloned();
        let by_directory = self.world.lock().unwrap().directory_users.contains(&user);
        let accepted = if by_directory {
            self.write(b"\xfemysql_clear_password\0")?;
            let given = self.read()?;
            known.is_some_and(|password| given == [password.as_bytes(), &[0]].concat())
        } else {
            known.is_some_and(|password| {
                if password.is_empty() {
                    return scramble.is_empty();
                }
                let stored = Sha1::digest(Sha1::digest(password.as_bytes()));
                let mask = Sha1::new().chain_update(NONCE).chain_update(stored).finalize();
                let once: Vec<u8> = scramble.iter().zip(mask).map(|(a, b)| a ^ b).collect();
                scramble.len() == 20 && Sha1::digest(once) == stored
            })
        };
        if !accepted {
            let using = if scramble.is_empty() { "NO" } else { "YES" };
            self.failure(&Failure::new(
                1045,
                "28000",
                format!("Access denied for user '{user}' (using password: {using})"),
            ))?;
            return Ok(false);
        }
        self.user = user;
        self.ok()?;
        Ok(true)
    }

    fn run(&mut self) -> io::Result<()> {
        if !self.login()? {
            return Ok(());
        }
        loop {
            let command = self.read()?;
            match command.first() {
                Some(3) => {
                    let sql = String::from_utf8_lossy(&command[1..]).into_owned();
                    if !self.query(&sql)? {
                        return Ok(());
                    }
                }
                Some(14) => self.ok()?,
                Some(0x16) => self.failure(&Failure::new(
                    1295,
                    "HY000",
                    "This command is not supported in the prepared statement protocol yet",
                ))?,
                _ => return Ok(()),
            }
        }
    }

    /// Whether the connection goes on.
    fn query(&mut self, sql: &str) -> io::Result<bool> {
        let world = Arc::clone(&self.world);
        let fault = strike(&mut world.lock().unwrap().faults, &format!("sql:{sql}"));
        if let Some((When::Before, action)) = &fault {
            match action {
                FaultAction::Drop | FaultAction::Status500 => return Ok(false),
                FaultAction::Refuse(words) => {
                    self.failure(&Failure::plain(words.clone()))?;
                    return Ok(true);
                }
                FaultAction::Delay(_) | FaultAction::Wait(_) => {
                    action.waits();
                }
            }
        }
        let result = {
            let mut world = world.lock().unwrap();
            world.tick();
            let result = execute(&mut world, &mut self.database, &self.user, sql);
            if !sql.starts_with("SELECT 1") {
                world.statements.push((sql.to_owned(), result.is_ok()));
            }
            result
        };
        if let Some((When::After, action)) = &fault
            && !action.waits()
        {
            return Ok(false);
        }
        match result {
            Err(failure) => self.failure(&failure)?,
            Ok(None) => self.ok()?,
            Ok(Some((columns, rows))) => {
                self.write(&[columns.len() as u8])?;
                for column in &columns {
                    let mut out = Vec::new();
                    for text in ["def", "", "", "", column, ""] {
                        out.push(text.len() as u8);
                        out.extend_from_slice(text.as_bytes());
                    }
                    out.push(0x0c);
                    out.extend_from_slice(&[33, 0, 0, 4, 0, 0, 253, 0, 0, 0, 0, 0]);
                    self.write(&out)?;
                }
                self.write(&[0xfe, 0, 0, 2, 0])?;
                for row in rows {
                    let mut out = Vec::new();
                    for value in row {
                        match value {
                            None => out.push(0xfb),
                            Some(text) if text.len() < 251 => {
                                out.push(text.len() as u8);
                                out.extend_from_slice(text.as_bytes());
                            }
                            Some(text) => {
                                out.push(0xfd);
                                out.extend_from_slice(&(text.len() as u32).to_le_bytes()[..3]);
                                out.extend_from_slice(text.as_bytes());
                            }
                        }
                    }
                    self.write(&out)?;
                }
                self.write(&[0xfe, 0, 0, 2, 0])?;
            }
        }
        Ok(true)
    }
}

/// Runs a statement.
pub fn execute(
    world: &mut World,
    current: &mut String,
    user: &str,
    sql: &str,
) -> Result<Option<super::show::ResultSet>, Failure> {
    let statement = parse(sql)?;
    let database = |name: &super::sql::TableName| name.database.clone().unwrap_or_else(|| current.clone());
    let changes = !matches!(
        statement,
        Statement::ShowDatabases | Statement::Select(_) | Statement::Nothing | Statement::ShowAlter { .. }
    );
    if changes && world.without_rights.iter().any(|u| u == user) {
        return Err(Failure::new(
            5203,
            "42000",
            "Access denied; you need (at least one of) the ANY privilege(s) for this operation.",
        ));
    }
    match &statement {
        Statement::CreateDatabase { name, if_not_exists } => world.create_database(name, *if_not_exists)?,
        Statement::DropDatabase { name, if_exists } => world.drop_database(name, *if_exists)?,
        Statement::CreateTable(create) => world.create_table(&database(&create.name), create)?,
        Statement::DropTable { name, if_exists } => world.drop_table(name, &database(name), *if_exists)?,
        Statement::Truncate(name) => world.truncate(name, &database(name))?,
        Statement::Alter { name, clauses, timeout } => {
            world.alter(name, &database(name), clauses, timeout.as_deref())?;
        }
        Statement::CancelAlter(name) => world.cancel_alter(name, &database(name))?,
        Statement::Use(name) => {
            if !world.databases.contains_key(name) {
                return Err(Failure::new(5501, "3F000", format!("Unknown database '{name}'")));
            }
            current.clone_from(name);
        }
        Statement::Nothing => {}
        other => return world.show(other, current).map(Some),
    }
    Ok(None)
}
