//! An nginx that runs already: its terms, and its configuration as it reads it.

mod kind;
mod reader;

pub(crate) use kind::KIND;
pub(crate) use reader::{Reading, Statement};
