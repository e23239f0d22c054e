//! What the plan takes out of responses and demands of them.

use std::sync::Arc;

use weir_plan::{Assertion, Extractor, PostProcessor};
use weir_record::{AssertionResult, SampleDetails, SampleRow};
use weir_response::{AssertionOutcome, SampleLost, SampleView, Verdict, check, extract};
use weir_script::{Text, Variables};

use crate::audience::Wanted;
use crate::user::User;
use crate::user::seen::Seen;
use crate::user::seen_by_scripts::sample_of;
use crate::work::Step;

/// Writes what was said of a sample and its parts into their rows.
fn settle(row: &mut SampleRow, verdict: Verdict) {
    row.success = verdict.successful;
    if row.failure_message.is_empty()
        && let Some(message) = verdict.failure_message()
    {
        row.failure_message = Arc::from(message);
    }
    for (part, verdict) in row.children.iter_mut().zip(verdict.children) {
        settle(part, verdict);
    }
    if verdict.outcomes.is_empty() {
        return;
    }
    let results = verdict.outcomes.into_iter().map(|outcome| AssertionResult {
        name: outcome.name,
        failure: outcome.failure,
        error: outcome.error,
        message: outcome.message,
    });
    // Parts of a transaction were judged before.
    row.details
        .get_or_insert_default()
        .assertions
        .extend(results);
}

/// Lets go of what was kept of parts for those who look into them, and is shown nowhere.
pub(crate) fn forget(parts: &mut [SampleRow], wanted: Wanted) {
    for part in parts {
        forget(&mut part.children, wanted);
        if wanted.details {
            if let Some(details) = &mut part.details
                && !wanted.body_of(part.success)
            {
                details.response_data = None;
            }
            continue;
        }
        let said = part.details.take().map(|details| details.assertions);
        part.details = said.filter(|said| !said.is_empty()).map(|assertions| {
            Box::new(SampleDetails {
                assertions,
                ..SampleDetails::default()
            })
        });
    }
}

/// The user's variables as extractors see them.
struct OfUser<'a>(&'a mut Variables);

impl weir_response::Variables for OfUser<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)
    }

    fn set(&mut self, name: &str, value: &str) {
        self.0.set(name, value);
    }

    fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }
}

impl User {
    /// Runs what stands after a sampler; changes the row as its listeners will see it.
    pub(crate) fn look_into(&mut self, step: &Step, row: &mut SampleRow, seen: &mut Seen<'_>) {
        self.meet();
        let mut outcomes = Vec::new();
        for processor in &step.source.after {
            match processor {
                PostProcessor::Extractor(extractor) => {
                    if let Err(lost) = self.extract(extractor, row, seen, &mut outcomes) {
                        self.lose_sample(&lost.to_string());
                        return;
                    }
                }
                PostProcessor::Debug(debug) => self.show_debug(step, debug, row),
                PostProcessor::Script(script) => {
                    self.run_after(step, script, row, seen, &mut outcomes);
                }
            }
        }
        self.judge(Some(step), &step.source.assertions, row, seen, outcomes);
        if let Some(says) = self.scope.beyond.take() {
            row.success = false;
            row.failure_message = says.as_str().into();
        }
        if step.is_remembered {
            self.scope.remember(sample_of(row, seen, &[]));
        }
        if !step.is_seen_as_part {
            forget(&mut row.children, step.wanted);
        }
    }

    /// Nobody hears of the sample, and nothing follows from it, as in JMeter.
    pub(crate) fn lose_sample(&mut self, why: &str) {
        self.sample_is_lost = true;
        self.core.tally(|tally| {
            tally.lost_by.get_or_insert_with(|| why.to_owned());
        });
    }

    /// Judges a transaction.
    pub(crate) fn judge_transaction(
        &mut self,
        assertions: &[Assertion<Text>],
        row: &mut SampleRow,
    ) {
        self.judge(None, assertions, row, &mut Seen::default(), Vec::new());
    }

    fn extract(
        &mut self,
        extractor: &Extractor<Text>,
        row: &mut SampleRow,
        seen: &Seen<'_>,
        outcomes: &mut Vec<AssertionOutcome>,
    ) -> Result<(), SampleLost> {
        let rendered = extractor.map(|text| text.rendered(&mut self.scope));
        let core = std::rc::Rc::clone(&self.core);
        let mut patterns = core.patterns.borrow_mut();
        let scope = &mut self.scope;
        let mut pick = |count: usize| {
            use rand_xoshiro::rand_core::Rng as _;
            (scope.random.next_u64() % count.max(1) as u64) as usize
        };
        let mut variables = OfUser(&mut scope.variables);
        let extraction = extract(
            &rendered,
            &seen.view(row),
            &mut variables,
            &mut patterns,
            &mut pick,
        )?;
        outcomes.extend(extraction.outcome);
        row.success &= !extraction.fails_sample;
        Ok(())
    }

    fn judge(
        &mut self,
        step: Option<&Step>,
        assertions: &[Assertion<Text>],
        row: &mut SampleRow,
        seen: &mut Seen<'_>,
        outcomes: Vec<AssertionOutcome>,
    ) {
        if assertions.is_empty() && outcomes.is_empty() {
            return;
        }
        let mut verdict = Verdict::before(&seen.view(row));
        verdict.outcomes = outcomes;
        let mut rest = assertions;
        while !rest.is_empty() {
            let is_script = |of: &Assertion<Text>| matches!(of, Assertion::Script(_));
            let until_script = rest.iter().position(is_script).unwrap_or(rest.len());
            let (checks, others) = rest.split_at(until_script);
            self.check_all(checks, &seen.view(row), &mut verdict);
            rest = others;
            if let [Assertion::Script(script), others @ ..] = rest {
                // Those that follow see what the script has made of the sample.
                self.judge_by_script(step, script, row, seen, &mut verdict);
                rest = others;
            }
        }
        settle(row, verdict);
    }

    /// What assertions that are no scripts say of a sample.
    fn check_all(
        &mut self,
        assertions: &[Assertion<Text>],
        view: &SampleView<'_>,
        verdict: &mut Verdict,
    ) {
        let core = std::rc::Rc::clone(&self.core);
        for assertion in assertions {
            let rendered = assertion.map(|text| text.rendered(&mut self.scope));
            let variables = OfUser(&mut self.scope.variables);
            let mut patterns = core.patterns.borrow_mut();
            check(&rendered, view, verdict, &variables, &mut patterns);
        }
    }
}
