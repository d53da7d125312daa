//! Processes at work: how long, how much CPU, how much memory.

use crate::Result;
use crate::report::median;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// `USER_HZ`: what the kernel counts CPU time in for `/proc`, on every architecture in use.
const TICKS_PER_SECOND: f64 = 100.0;

/// How often a process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What a process took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Seconds from start to end.
    pub(crate) wall: f64,
    /// CPU seconds of all its threads, user and system.
    pub(crate) cpu: f64,
    /// The most memory it had resident, in MB (10^6 bytes).
    pub(crate) peak_mb: f64,
}

impl Usage {
    /// The medians of several runs.
    pub(crate) fn median(runs: &[Self]) -> Self {
        Self {
            wall: median(runs.iter().map(|u| u.wall)),
            cpu: median(runs.iter().map(|u| u.cpu)),
            peak_mb: runs.iter().map(|u| u.peak_mb).fold(f64::NAN, f64::max),
        }
    }
}

/// Runs a command to its end.
///
/// A process that has ended and was not waited for yet still shows its CPU time; its memory is gone by then, but the
/// kernel keeps the high mark, so the last look before the end shows the peak.
pub(crate) fn run(command: &mut Command) -> Result<(Usage, ExitStatus)> {
    let started = Instant::now();
    let mut child = command.spawn().map_err(|e| format!("{command:?} can't be started: {e}"))?;
    let mut peak_mb = 0.0f64;
    loop {
        if let Some(now) = peak(child.id()) {
            peak_mb = peak_mb.max(now);
        }
        let stat = stat(child.id())?;
        if stat.ended {
            let wall = started.elapsed().as_secs_f64();
            let status = child.wait()?;
            return Ok((Usage { wall, cpu: stat.cpu, peak_mb }, status));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// CPU seconds of a process up to now.
pub(crate) fn cpu(child: &Child) -> Result<f64> {
    Ok(stat(child.id())?.cpu)
}

/// The most memory that a process has had resident, in MB.
pub(crate) fn peak_mb(child: &Child) -> f64 {
    peak(child.id()).unwrap_or(f64::NAN)
}

/// Asks a process to stop, as Ctrl-C does, and waits; after a while it is killed.
pub(crate) fn stop(mut child: Child) -> Result<ExitStatus> {
    Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    child.kill()?;
    child.wait()?;
    Err("rowferry did not stop within 20 s of an interrupt".into())
}

struct Stat {
    ended: bool,
    cpu: f64,
}

fn stat(pid: u32) -> Result<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    parse_stat(&text).ok_or_else(|| format!("/proc/{pid}/stat is not understood").into())
}

/// The program's name stands in parentheses and may hold anything, so the fields are counted from the last one.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = |i: usize| fields.get(i)?.parse::<f64>().ok();
    Some(Stat { ended: matches!(*fields.first()?, "Z" | "X"), cpu: (ticks(11)? + ticks(12)?) / TICKS_PER_SECOND })
}

fn peak(pid: u32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_stat_line_is_read_whatever_the_program_is_called() {
        let line = "42 (a) Z 1) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 100 1000 10 18446744073709551615";
        let stat = parse_stat(line).unwrap();
        assert!(!stat.ended);
        assert_eq!(stat.cpu, 3.0);
        assert!(parse_stat("42 (x) Z 1 42 42 0 -1 0 0 0 0 0 0 1 0").unwrap().ended);
        assert!(parse_stat("nothing").is_none());
    }

    #[test]
    fn a_process_that_works_shows_cpu_time_and_memory() {
        let work = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let (usage, status) = run(Command::new("sh").args(["-c", work])).unwrap();
        assert!(status.success());
        assert!(usage.cpu > 0.0 && usage.cpu <= usage.wall * 1.5, "{usage:?}");
        assert!(usage.peak_mb > 0.1 && usage.peak_mb < 100.0, "{usage:?}");
    }
}
