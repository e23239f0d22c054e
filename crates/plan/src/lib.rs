//! What is asked and what is sent, as data: requirements and load plans.
//!
//! [`Requirement`] is the one type and the one parser for `cpu <= 80 %` wherever a user can write
//! it: studies, the command line, reports. [`LoadPlan`] is the one description of a load that the
//! engine runs, whether it was read from a JMeter plan or built from a URL; it is data and
//! validation only. [`Extractor`] and [`Assertion`] are what a plan says about responses.
//!
//! Deliberately absent: running anything, reading files, substituting variables (a plan keeps the
//! text as the user wrote it, in [`Template`]s; `weir-script` gives them their meaning).

mod assertions;
mod extractors;
mod load;
mod requirement;
mod sample_part;

pub use assertions::{
    Assertion, DurationAssertion, JsonAssertion, Md5HexAssertion, ResponseAssertion, ResponseTest,
    SizeAssertion, SizeField, XPath2Assertion, XPathAssertion, XmlAssertion,
};
pub use extractors::{
    BoundaryExtractor, CssExtractor, Extractor, JmesPathExtractor, JsonExtractor, RegexExtractor,
    XPath2Extractor, XPathExtractor,
};
pub use load::{
    Argument, HttpRequest, Iterations, LoadPlan, OnSampleError, Position, Schedule, Step, Template,
    ThreadGroup, Timer, Variable,
};
pub use requirement::{Comparison, Metric, Requirement, RequirementError};
pub use sample_part::{SampleField, SampleScope, XmlReading};
