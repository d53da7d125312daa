//! One job for each of many things, on threads where waiting is allowed.

use super::load_error::LoadError;
use crate::SinkError;
use tokio::task::JoinSet;

/// Runs a job for each item, some at a time. All are tried; the first failure is told.
///
/// # Errors
/// One of them failed.
pub(crate) async fn each<T, F>(sink: &str, threads: usize, items: Vec<T>, job: impl Fn(T) -> F) -> Result<(), SinkError>
where
    F: FnOnce() -> Result<(), LoadError> + Send + 'static,
{
    let mut items = items.into_iter();
    let mut running = JoinSet::new();
    let mut first = Ok(());
    loop {
        while running.len() < threads
            && let Some(item) = items.next()
        {
            running.spawn_blocking(job(item));
        }
        let result = match running.join_next().await {
            None => return first,
            Some(Ok(result)) => result.map_err(LoadError::into_sink_error),
            Some(Err(error)) => Err(SinkError::permanent(format!("{sink} sink: a thread ended unexpectedly: {error}"))),
        };
        if first.is_ok() {
            first = result;
        }
    }
}
