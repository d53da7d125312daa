//! A table's last job.

use crate::olap::jobs::{Job, JobList, Unread};
use crate::olap::mysql::{Client, SqlError};
use crate::olap::quote;
use async_trait::async_trait;
use rowferry_model::TableId;

#[async_trait]
impl JobList for Client {
    async fn latest(&mut self, table: &TableId) -> Result<Option<Job>, Unread> {
        let sql = format!(
            "SHOW ALTER TABLE COLUMN FROM {} WHERE TableName = {} ORDER BY JobId DESC LIMIT 1",
            quote::name(table.database()),
            quote::string(table.table())
        );
        let rows = self.query(&sql).await.map_err(|error| Unread {
            message: error.to_string(),
            refused: matches!(error, SqlError::Server { .. }),
        })?;
        Ok(rows.rows.first().and_then(|row| {
            Some(Job {
                id: rows.get(row, "JobId")?.parse().ok()?,
                state: rows.get(row, "State").unwrap_or_default().to_ascii_uppercase(),
                message: rows.get(row, "Msg").unwrap_or_default().to_owned(),
            })
        }))
    }
}
