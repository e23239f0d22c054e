//! JMeter test plans into load plans, with positions.
//!
//! [`read`] turns a `.jmx` file into a [`LoadPlan`](weir_plan::LoadPlan) and a list of
//! [`Finding`]s. The plan keeps every text as it was written; `weir-script` gives it its meaning.
//!
//! The one promise: no element is dropped without a word. What this crate does not turn into the
//! plan is a finding with its place, and a plan with a finding of [`Severity::Unsupported`] must
//! not be run, because what is sent would not be what the plan says.
//!
//! How the reader grows: every element has a row in `native.rs`, which says what it is for and
//! whether the engine runs it; what it means is a function in `elements/`; `reader/` puts it where
//! it applies.
//!
//! Deliberately absent: running anything, substituting variables, JMeter's own XML library (the
//! format is read as plain XML; no class is ever loaded).

mod document;
mod element;
mod elements;
mod error;
mod finding;
mod native;
mod reader;
mod scope;
mod tags;

pub use error::JmxError;
pub use finding::{Finding, Severity};
pub use reader::{Reading, read, read_text, read_text_within, read_within};
