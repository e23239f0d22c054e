//! XPath 1.0, with some functions of 2.0, within a budget.
//!
//! A path in a predicate is walked for each node that it is asked of: a short expression on a page
//! of a few thousand nodes can take hours. Whoever wrote the page decides that, so each node that
//! is looked at and each text that is made is paid for from a [`Budget`](crate::bounds::Budget).
//!
//! Why not `sxd-xpath`: once begun, its evaluation cannot be stopped, it orders the whole document
//! anew for each text it makes of several nodes, and nobody keeps it any more. The tests compare
//! the two.

mod evaluate;
mod functions;
mod index;
mod parse;
mod tokens;
mod value;

pub(super) use evaluate::{Evaluation, evaluate};
pub(super) use functions::is_function;
pub(super) use parse::parse;
pub(crate) use value::Trouble;
pub(super) use value::{Value, number_text};
