//! Who hears of a sample: the test itself (its result file, its observer) and listeners in the
//! plan.
//!
//! In JMeter every sampler has a list of the listeners in whose scope it stands. Few of these lists
//! differ, so samples carry the number of theirs.

use weir_record::SaveConfiguration;

/// Who hears of a sample, by its place among [`Audiences`]. By default the test alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Audience(u32);

/// Those who hear of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hearers {
    /// The test's result file and observer.
    pub(crate) test: bool,
    /// Places of listeners in the plan's list, innermost first.
    pub(crate) listeners: Vec<usize>,
}

/// All audiences of a test, each once.
#[derive(Debug, Clone)]
pub(crate) struct Audiences(Vec<Hearers>);

impl Default for Audiences {
    fn default() -> Self {
        Self(vec![Hearers {
            test: true,
            listeners: Vec::new(),
        }])
    }
}

impl Audiences {
    /// The audience of these.
    pub(crate) fn of(&mut self, hearers: Hearers) -> Audience {
        let known = self.0.iter().position(|known| *known == hearers);
        let place = known.unwrap_or_else(|| {
            self.0.push(hearers);
            self.0.len() - 1
        });
        Audience(place as u32)
    }

    /// Who is in an audience.
    pub(crate) fn hearers(&self, audience: Audience) -> &Hearers {
        &self.0[audience.0 as usize]
    }
}

/// What result files show of samples beside their rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wanted {
    /// Headers, assertions and the like.
    pub(crate) details: bool,
    /// Bodies of samples that succeeded.
    pub(crate) body: bool,
    /// Bodies of samples that failed.
    pub(crate) body_on_error: bool,
}

impl Wanted {
    /// What a file shows.
    pub(crate) fn by(configuration: &SaveConfiguration) -> Self {
        Self {
            details: configuration.wants_details(),
            body: configuration.wants_body(true),
            body_on_error: configuration.wants_body(false),
        }
    }

    /// What either of them wants.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            details: self.details | other.details,
            body: self.body | other.body,
            body_on_error: self.body_on_error | other.body_on_error,
        }
    }

    /// Whether a body has to be kept until the sample has been judged.
    pub(crate) fn any_body(self) -> bool {
        self.body | self.body_on_error
    }

    /// Whether the body of a sample is shown.
    pub(crate) fn body_of(self, success: bool) -> bool {
        if success {
            self.body
        } else {
            self.body_on_error
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_audiences_are_one() {
        let mut all = Audiences::default();
        let of = |test, listeners: &[usize]| Hearers {
            test,
            listeners: listeners.to_vec(),
        };
        assert_eq!(all.of(of(true, &[])), Audience::default());
        let first = all.of(of(true, &[2, 0]));
        assert_eq!(all.of(of(true, &[2, 0])), first);
        assert_ne!(all.of(of(false, &[2, 0])), first);
        assert_eq!(all.hearers(first).listeners, [2, 0]);
    }
}
