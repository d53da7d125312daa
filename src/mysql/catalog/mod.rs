//! stub
use crate::error::Result;
use crate::mysql::wire::Connection;
use rowferry_model::*;
use rowferry_sql::TableDef;
pub fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
pub fn quote_table(t: &TableId) -> String {
    format!("{}.{}", quote_identifier(t.database()), quote_identifier(t.table()))
}
pub struct TableInfo {
    pub table: TableId,
    pub approximate_rows: u64,
}
pub fn binlog_position(_c: &mut Connection) -> Result<Offset> {
    unimplemented!()
}
pub fn snapshot_position(_c: &mut Connection) -> Result<Option<BinlogPosition>> {
    unimplemented!()
}
pub fn server_uuid(_c: &mut Connection) -> Result<String> {
    unimplemented!()
}
pub fn ddl_context(_c: &mut Connection) -> Result<rowferry_sql::ddl::DdlContext> {
    unimplemented!()
}
pub fn lower_case_table_names(_c: &mut Connection) -> Result<u8> {
    unimplemented!()
}
pub fn list_tables(_c: &mut Connection) -> Result<Vec<TableInfo>> {
    unimplemented!()
}
pub fn table_defs(_c: &mut Connection, _t: &[TableId]) -> Result<Vec<(TableId, TableDef)>> {
    unimplemented!()
}
pub fn check_offset(_c: &mut Connection, _o: &Offset) -> Result<()> {
    unimplemented!()
}
pub fn first_position(_c: &mut Connection) -> Result<Offset> {
    unimplemented!()
}
pub fn position_for_timestamp(_c: &mut Connection, _m: i64) -> Result<Offset> {
    unimplemented!()
}
