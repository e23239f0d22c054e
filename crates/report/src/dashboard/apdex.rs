//! Whether response times satisfy: the Application Performance Index.
//!
//! Apdex Alliance, "Application Performance Index, Technical Specification", version 1.1 (2007):
//! (satisfied + tolerated / 2) / all; a sample that failed satisfies nobody.

use weir_record::SampleRow;

/// When a response time satisfies and when it is tolerated, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Thresholds {
    pub(super) satisfied_ms: u64,
    pub(super) tolerated_ms: u64,
}

/// Thresholds for all labels, and those of some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApdexThresholds {
    all: Thresholds,
    of_label: Vec<(String, Thresholds)>,
}

/// A text that names no thresholds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read `{0}` as thresholds of a sample: write `label:satisfied|tolerated` in milliseconds")]
pub struct ThresholdError(String);

impl Default for ApdexThresholds {
    /// JMeter's: half a second satisfies, one and a half are tolerated.
    fn default() -> Self {
        Self::new(500, 1_500)
    }
}

impl ApdexThresholds {
    /// One pair of thresholds for all labels.
    pub fn new(satisfied_ms: u64, tolerated_ms: u64) -> Self {
        Self {
            all: Thresholds {
                satisfied_ms,
                tolerated_ms,
            },
            of_label: Vec::new(),
        }
    }

    /// Thresholds of some labels, as `jmeter.reportgenerator.apdex_per_transaction` has them:
    /// `label:satisfied|tolerated`, several with `;` between.
    pub fn with_labels(mut self, text: &str) -> Result<Self, ThresholdError> {
        for part in text
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let read = || {
                let (label, times) = part.rsplit_once(':')?;
                let (satisfied, tolerated) = times.split_once('|')?;
                let thresholds = Thresholds {
                    satisfied_ms: satisfied.trim().parse().ok()?,
                    tolerated_ms: tolerated.trim().parse().ok()?,
                };
                Some((label.trim().to_owned(), thresholds))
            };
            let read = read().ok_or_else(|| ThresholdError(part.to_owned()))?;
            self.of_label.push(read);
        }
        Ok(self)
    }

    pub(super) fn of(&self, label: &str) -> Thresholds {
        let own = self.of_label.iter().find(|(name, _)| name == label);
        own.map_or(self.all, |(_, thresholds)| *thresholds)
    }
}

/// Counts of one label.
#[derive(Debug)]
pub(super) struct Apdex {
    pub(super) thresholds: Thresholds,
    pub(super) satisfied: u64,
    pub(super) tolerated: u64,
    pub(super) frustrated: u64,
    pub(super) failed: u64,
}

impl Apdex {
    pub(super) fn new(thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            satisfied: 0,
            tolerated: 0,
            frustrated: 0,
            failed: 0,
        }
    }

    pub(super) fn add(&mut self, row: &SampleRow) {
        let count = if !row.success {
            &mut self.failed
        } else if row.elapsed_ms <= self.thresholds.satisfied_ms {
            &mut self.satisfied
        } else if row.elapsed_ms <= self.thresholds.tolerated_ms {
            &mut self.tolerated
        } else {
            &mut self.frustrated
        };
        *count += 1;
    }

    /// The index, between 0 and 1.
    pub(super) fn index(&self) -> Option<f64> {
        let all = self.satisfied + self.tolerated + self.frustrated + self.failed;
        let satisfied = self.satisfied as f64 + self.tolerated as f64 / 2.0;
        (all > 0).then(|| satisfied / all as f64)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn labels_may_have_their_own_thresholds() {
        let thresholds = ApdexThresholds::default()
            .with_labels("a:b:10|20; c:1|2;")
            .unwrap();
        assert_eq!(thresholds.of("a:b").tolerated_ms, 20);
        assert_eq!(thresholds.of("x").satisfied_ms, 500);
        let wrong = ApdexThresholds::default().with_labels("a:10").unwrap_err();
        assert!(wrong.to_string().contains("`a:10`"));
    }

    #[test]
    fn the_index_counts_half_for_what_is_tolerated() {
        let mut apdex = Apdex::new(ApdexThresholds::default().of("x"));
        for (elapsed_ms, success) in [(500, true), (1_500, true), (1_501, true), (1, false)] {
            apdex.add(&SampleRow {
                elapsed_ms,
                success,
                ..SampleRow::default()
            });
        }
        assert_eq!(apdex.index(), Some(0.375));
    }
}
