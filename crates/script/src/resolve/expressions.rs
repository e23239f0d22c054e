//! Expressions of extractors and assertions that JMeter understands and Weir does not.
//!
//! They are known before the test unless they hold variables that change; then they fail where
//! they are used, and say so there.

use weir_plan::{Assertion, Extractor, Position, PostProcessor, Sampler, Template};
use weir_response::{unsupported_assertion, unsupported_extractor};

use super::Resolver;
use crate::Problem;

/// Stands where a text is not known yet: it means something in every language of expressions.
const UNKNOWN: &str = "a";

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
            // Scripts are checked as scripts.
            if matches!(assertion, Assertion::Script(_)) {
                continue;
            }
            let known = assertion.map(|text| self.text_or_unknown(text));
            if let Some(says) = unsupported_assertion(&known) {
                self.not_understood(assertion.at(), says);
            }
        }
    }

    fn check_extractor(&mut self, extractor: &Extractor<Template>) {
        let known = extractor.map(|text| self.text_or_unknown(text));
        let Some(says) = unsupported_extractor(&known) else {
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

    fn text_or_unknown(&mut self, template: &Template) -> String {
        let text = self.seen(template);
        // What has no value is warned of elsewhere.
        let known = text.constant().filter(|known| !known.contains("${"));
        known.unwrap_or(UNKNOWN).to_owned()
    }
}
