//! Binlog bytes into columns, against recorded files and real servers.

mod batches;
mod changes_on_servers;
mod corpus;
mod oracle;
mod recorded;
mod server_table;
mod statements_on_servers;
mod table_of_map;
mod text_on_servers;
mod types_on_servers;
