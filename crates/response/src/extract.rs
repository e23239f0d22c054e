//! Extractors: what JMeter's post-processors do with a sample.

mod boundary;
mod css;
mod jmespath;
mod json;
mod json_path;
mod regex;
mod saved;
pub(crate) mod xpath;

use weir_plan::Extractor;

use crate::bounds::TooMuch;
use crate::{AssertionOutcome, Patterns, SampleView, Variables};

/// What an extractor says about the sample beside the variables that it sets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extraction {
    /// To be added to the sample's outcomes, before those of the assertions.
    pub outcome: Option<AssertionOutcome>,
    /// Whether the sample fails because of it; an outcome that is a failure does not do so here.
    pub fails_sample: bool,
}

impl Extraction {
    /// Nothing was looked for, because that would have cost too much; the sample fails, so that it
    /// is seen.
    fn refused(name: &str, refused: &TooMuch) -> Self {
        Self {
            outcome: Some(AssertionOutcome::error(name, refused.to_string())),
            fails_sample: true,
        }
    }
}

/// The extractor cannot work as it is set up.
///
/// JMeter gives up the whole sample then: no later extractor, no assertion and no row of results.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("extractor {name:?}: {says}")]
pub struct SampleLost {
    /// The extractor's name.
    pub name: String,
    /// What is wrong with it.
    pub says: String,
}

/// Takes values out of a sample into variables.
///
/// `random` picks one of so many matches: a number below its argument, which is never 0.
pub fn extract(
    extractor: &Extractor<String>,
    sample: &SampleView<'_>,
    variables: &mut dyn Variables,
    patterns: &mut Patterns,
    random: &mut dyn FnMut(usize) -> usize,
) -> Result<Extraction, SampleLost> {
    match extractor {
        Extractor::Regex(element) => {
            return Ok(regex::extract(element, sample, variables, patterns, random));
        }
        Extractor::Boundary(element) => boundary::extract(element, sample, variables, random)?,
        Extractor::Json(element) => json::extract(element, sample, variables, patterns, random)?,
        Extractor::JsonPath(element) => json_path::extract(element, sample, variables, patterns),
        Extractor::JmesPath(element) => jmespath::extract(element, sample, variables, random)?,
        Extractor::Css(element) => {
            return Ok(css::extract(element, sample, variables, patterns, random));
        }
        Extractor::XPath(element) => {
            return Ok(xpath::extract(element, sample, variables, random));
        }
        Extractor::XPath2(element) => {
            return Ok(xpath::extract2(element, sample, variables, random));
        }
    }
    Ok(Extraction::default())
}

/// A number as JMeter reads it from a property: 0 when it is none.
fn number(text: &str) -> i32 {
    text.parse().unwrap_or(0)
}
