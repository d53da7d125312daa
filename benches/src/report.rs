//! One line a figure.

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// Nothing is asked of it.
    None,
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
            Self::None => true,
        }
    }
}

/// Prints figures as they come and counts the targets missed.
#[derive(Debug, Default)]
pub(crate) struct Report {
    missed: usize,
}

impl Report {
    /// A line that is not a figure.
    #[allow(clippy::unused_self, reason = "all output goes through the report")]
    pub(crate) fn note(&self, text: &str) {
        println!("# {text}");
    }

    /// A figure: name, value, unit, target and how it came out.
    pub(crate) fn figure(&mut self, name: &str, value: f64, unit: &str, target: Target) {
        // What can't be computed is no success.
        let met = value.is_finite() && target.is_met(value);
        let verdict = match target {
            Target::AtLeast(least) => format!(">= {least} {}", if met { "ok" } else { "MISSED" }),
            Target::AtMost(most) => format!("<= {most} {}", if met { "ok" } else { "MISSED" }),
            Target::None => "-".to_owned(),
        };
        if target != Target::None && !met {
            self.missed += 1;
        }
        println!("{name:<44} {:>14} {unit:<8} {verdict}", short(value));
    }

    /// How many targets were missed.
    pub(crate) fn missed(&self) -> usize {
        self.missed
    }
}

fn short(value: f64) -> String {
    if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

/// The middle of some values; not a number where there are none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    percentile(values, 0.5)
}

/// The value that this share of the values does not pass.
pub(crate) fn percentile(values: impl IntoIterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let rank = (share * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values_by_nearest_rank() {
        let check = |values: &[f64], share, expect: f64| assert_eq!(percentile(values.iter().copied(), share), expect);
        check(&[3.0, 1.0, 2.0], 0.5, 2.0);
        check(&[4.0, 1.0, 3.0, 2.0], 0.5, 2.0);
        check(&[1.0, 2.0], 0.99, 2.0);
        check(&[7.0], 0.01, 7.0);
        assert!(median([]).is_nan());
    }

    #[test]
    fn a_figure_that_misses_its_target_or_is_no_number_counts() {
        let mut report = Report::default();
        report.figure("a", 1.0, "x", Target::AtLeast(1.0));
        report.figure("b", 1.0, "x", Target::AtMost(1.0));
        report.figure("c", f64::NAN, "x", Target::None);
        assert_eq!(report.missed(), 0);
        report.figure("d", 0.9, "x", Target::AtLeast(1.0));
        report.figure("e", 1.1, "x", Target::AtMost(1.0));
        report.figure("f", f64::NAN, "x", Target::AtMost(1.0));
        assert_eq!(report.missed(), 3);
    }
}
