//! Binlog bytes into columns, against recorded files and real servers.

mod changes_on_servers;
mod corpus;
mod oracle;
mod recorded;
mod server_table;
mod table_of_map;
mod types_on_servers;
