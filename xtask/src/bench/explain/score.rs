//! How often the first answer is right, and how often a wrong cause is named.

/// What the answers to some cases come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Score {
    right: u32,
    /// Nothing was named where something was made.
    cannot_tell: u32,
    wrong: u32,
}

impl Score {
    /// Counts an answer; `none` is that nothing explains it.
    pub(super) fn count(&mut self, first: &str, expected: &[&str]) {
        let of = if expected.contains(&first) {
            &mut self.right
        } else if first == NONE {
            &mut self.cannot_tell
        } else {
            &mut self.wrong
        };
        *of += 1;
    }

    /// In a line.
    pub(super) fn says(&self) -> String {
        let all = self.right + self.cannot_tell + self.wrong;
        let share = |count: u32| 100.0 * f64::from(count) / f64::from(all.max(1));
        format!(
            "{all} cases: right first {} ({:.0} %), cannot tell {}, a wrong cause first {} ({:.0} %)",
            self.right,
            share(self.right),
            self.cannot_tell,
            self.wrong,
            share(self.wrong)
        )
    }
}

/// The answer that nothing explains it.
pub(super) const NONE: &str = "none";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_answer_is_no_wrong_answer() {
        let mut score = Score::default();
        for (first, expected) in [
            ("locks", &["limit", "locks"][..]),
            (NONE, &["locks"]),
            (NONE, &[NONE]),
            ("cpu", &[NONE]),
        ] {
            score.count(first, expected);
        }
        let want = Score {
            right: 2,
            cannot_tell: 1,
            wrong: 1,
        };
        assert_eq!(score, want);
        assert_eq!(
            score.says(),
            "4 cases: right first 2 (50 %), cannot tell 1, a wrong cause first 1 (25 %)"
        );
    }
}
