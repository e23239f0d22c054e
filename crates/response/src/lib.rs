//! What a sample's response says: values taken out of it, and what must hold of it.
//!
//! [`extract`] is JMeter's post-processors and [`check`] its assertions, with the meaning and the
//! messages of JMeter 5.6.3; the settings are [`weir_plan::Extractor`] and
//! [`weir_plan::Assertion`] with every text rendered. Both look at a [`SampleView`], both keep
//! what they compile in [`Patterns`], which the caller owns and may share between all users of a
//! runtime.
//!
//! ```
//! use std::collections::BTreeMap;
//! use weir_plan::{Extractor, Position, RegexExtractor, SampleField, SampleScope};
//! use weir_response::{Patterns, SampleView, extract};
//!
//! let token = Extractor::Regex(RegexExtractor {
//!     name: String::from("token"),
//!     scope: SampleScope::Main,
//!     field: SampleField::Body,
//!     variable: String::from("token"),
//!     regex: String::from("value=\"(.+?)\""),
//!     template: String::from("$1$"),
//!     match_number: String::from("1"),
//!     default: String::new(),
//!     default_empty: false,
//!     at: Position::default(),
//! });
//! let sample = SampleView {
//!     body: b"<input value=\"a7\">",
//!     ..SampleView::default()
//! };
//! let mut variables = BTreeMap::new();
//! let mut first = |_count| 0;
//! extract(&token, &sample, &mut variables, &mut Patterns::default(), &mut first)?;
//! assert_eq!(variables["token"], "a7");
//! # Ok::<(), weir_response::SampleLost>(())
//! ```
//!
//! Everything is bounded for a body that is: expressions by their number of steps, documents by
//! their depth, what is kept by the number of entries. The size of the body is the caller's bound.
//!
//! Deliberately absent: clocks, sockets, randomness of its own (the caller picks the random match),
//! the text of office files (Tika), DTDs and anything else that a body could make us read.

mod bounds;
mod check;
mod extract;
#[cfg(test)]
mod fuzz;
mod html;
mod jmespath_json;
mod json;
mod links;
mod outcome;
mod page_requests;
mod patterns;
mod perl5;
mod sample;
mod scope;
mod unsupported;
mod variables;
mod xml;
mod xpath_values;

pub use check::check;
pub use extract::{Extraction, SampleLost, extract};
pub use links::{Link, page_links, style_sheet_links};
pub use outcome::{AssertionOutcome, Verdict, failure_message};
pub use page_requests::{PageRequest, RequestPattern, filled_in, matching_requests};
pub use patterns::Patterns;
pub use perl5::{Match, PatternError, Perl5, quotemeta};
pub use sample::{DecodedBody, SampleView};
pub use unsupported::{unsupported_assertion, unsupported_extractor};
pub use variables::Variables;
pub use xpath_values::xpath_values;
