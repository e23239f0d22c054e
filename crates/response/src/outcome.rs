//! What assertions said about a sample.

use crate::{Extraction, SampleView};

/// What one assertion said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssertionOutcome {
    /// The assertion's name.
    pub name: String,
    /// The response is not as it should be.
    pub failure: bool,
    /// The assertion could not be evaluated.
    pub error: bool,
    /// Why; some assertions also have a message, even an empty one, when all is well.
    pub message: Option<String>,
}

impl AssertionOutcome {
    /// All is well.
    pub(crate) fn passed(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            failure: false,
            error: false,
            message: None,
        }
    }

    pub(crate) fn failed(name: &str, message: impl Into<String>) -> Self {
        Self {
            failure: true,
            message: Some(message.into()),
            ..Self::passed(name)
        }
    }

    pub(crate) fn error(name: &str, message: impl Into<String>) -> Self {
        Self {
            error: true,
            message: Some(message.into()),
            ..Self::passed(name)
        }
    }

    /// There was nothing to look at.
    pub(crate) fn nothing_there(name: &str) -> Self {
        Self::failed(name, "Response was null")
    }

    /// Whether the sample fails.
    pub fn fails_sample(&self) -> bool {
        self.failure || self.error
    }
}

/// The message that a row of results shows: the first one there is, even when it is empty or the
/// assertion passed. (A message of the extractors counts too.)
pub fn failure_message(outcomes: &[AssertionOutcome]) -> Option<&str> {
    outcomes
        .iter()
        .find_map(|outcome| outcome.message.as_deref())
}

/// What all assertions so far said about a sample and its sub-samples.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// Whether the sample succeeded.
    pub successful: bool,
    /// What was said, in order.
    pub outcomes: Vec<AssertionOutcome>,
    /// Outcomes of the sub-samples.
    pub children: Vec<Verdict>,
}

impl Verdict {
    /// Before anything was said.
    pub fn before(sample: &SampleView<'_>) -> Self {
        Self {
            successful: sample.successful,
            outcomes: Vec::new(),
            children: sample.children.iter().map(Self::before).collect(),
        }
    }

    /// Adds what an assertion said.
    pub fn add(&mut self, outcome: AssertionOutcome) {
        self.successful &= !outcome.fails_sample();
        self.outcomes.push(outcome);
    }

    /// Adds what an extractor said, before any assertion.
    pub fn add_extraction(&mut self, extraction: Extraction) {
        self.successful &= !extraction.fails_sample;
        self.outcomes.extend(extraction.outcome);
    }

    /// The message that the sample's row shows.
    pub fn failure_message(&self) -> Option<&str> {
        failure_message(&self.outcomes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_message_hides_the_later_ones() {
        let mut quiet = AssertionOutcome::passed("json");
        quiet.message = Some(String::new());
        let outcomes = [
            AssertionOutcome::passed("first"),
            quiet,
            AssertionOutcome::failed("last", "bad"),
        ];
        assert_eq!(failure_message(&outcomes), Some(""));
    }
}
