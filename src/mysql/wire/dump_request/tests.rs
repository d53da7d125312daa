#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{ComBinlogDump, ComBinlogDumpGtid, ComRegisterSlave};
use mysql_common::proto::MyDeserialize;

fn with_command(command: u8, argument: Vec<u8>) -> Vec<u8> {
    let mut packet = vec![command];
    packet.extend(argument);
    packet
}

fn read_back(set: &str) -> Vec<String> {
    let packet =
        with_command(COM_BINLOG_DUMP_GTID, dump_gtid(7, "binlog.000009", 5_000_000_000, &set.parse().unwrap()));
    let read = ComBinlogDumpGtid::deserialize((), &mut ParseBuf(&packet)).unwrap();
    assert_eq!((read.server_id(), read.pos()), (7, 5_000_000_000));
    assert_eq!(read.filename_raw(), b"binlog.000009");
    read.sids().iter().map(ToString::to_string).collect()
}

#[test]
fn mysql_common_reads_the_gtid_request() {
    let a = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
    let b = "4e11fa47-71ca-11e1-9e33-c80aa9429562";
    assert!(read_back("").is_empty());
    assert_eq!(read_back(&format!("{a}:1-5:9,{b}:7")), [format!("{a}:1-5:9"), format!("{b}:7")]);
    assert_eq!(
        read_back(&format!("{a}:1-5:tag_a:2-3:9,{b}:7")),
        [format!("{a}:1-5"), format!("{a}:tag_a:2-3:9"), format!("{b}:7")]
    );
}

#[test]
fn mysql_common_reads_the_other_requests() {
    let packet = with_command(COM_BINLOG_DUMP, dump(7, "binlog.000009", 4_000_000_000, false));
    let read = ComBinlogDump::deserialize((), &mut ParseBuf(&packet)).unwrap();
    assert_eq!((read.server_id(), read.pos(), read.filename_raw()), (7, 4_000_000_000, &b"binlog.000009"[..]));
    let packet = with_command(COM_REGISTER_REPLICA, register(7));
    let read = ComRegisterSlave::deserialize((), &mut ParseBuf(&packet)).unwrap();
    assert_eq!((read.server_id(), read.hostname_raw()), (7, &b"rowferry"[..]));
}
