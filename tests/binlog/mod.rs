//! Binlog bytes into columns, against recorded files and real servers.

mod corpus;
mod oracle;
mod table_of_map;
