//! Pages, tables and texts made of runs.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

#[path = "../common/mod.rs"]
mod common;
mod dashboard;
mod page;
mod sheet;
mod text;
mod vendored;
