//! Expressions of extractors and assertions that JMeter understands and Weir does not.
//!
//! They are known before the test unless they hold variables that change; then they fail where
//! they are used, and say so there.

use weir_plan::{Assertion, Extractor, Position, PostProcessor, Sampler, Template};
use weir_response::{unsupported_assertion, unsupported_extractor};

use super::Resolver;
use crate::Problem;

impl Resolver {
    /// Checks what stands after a sampler.
    pub(super) fn check_after(&mut self, sampler: &Sampler) {
        for processor in &sampler.after {
            if let PostProcessor::Extractor(extractor) = processor {
                self.check_extractor(extractor);
            }
        }
        self.check_assertions(&sampler.assertions);
    }

    /// Checks assertions of samplers and transactions.
    pub(super) fn check_assertions(&mut self, assertions: &[Assertion<Template>]) {
        for assertion in assertions {
            let says = unsupported_assertion(assertion, |text| self.known_before(text));
            if let Some(says) = says {
                self.not_understood(assertion.at(), says);
            }
        }
    }

    fn check_extractor(&mut self, extractor: &Extractor<Template>) {
        let Some(says) = unsupported_extractor(extractor, |text| self.known_before(text)) else {
            return;
        };
        match extractor {
            // It may be none that JMeter can read either: then it finds nothing there too.
            Extractor::Css(_) => {
                let says = format!("{says}; it finds nothing");
                self.compiler
                    .warnings
                    .push(Problem::new(extractor.at(), says));
            }
            _ => self.not_understood(extractor.at(), says),
        }
    }

    fn not_understood(&mut self, at: Position, says: String) {
        self.problem(at, says, "write it in other words, or use --engine jmeter");
    }

    /// What a text will be, if that is known before the test.
    fn known_before(&mut self, template: &Template) -> Option<String> {
        let text = self.seen(template);
        // What has no value is warned of elsewhere.
        let known = text.constant().filter(|known| !known.contains("${"));
        known.map(str::to_owned)
    }
}
