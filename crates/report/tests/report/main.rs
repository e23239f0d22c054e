//! Pages, tables and texts made of runs.

#[path = "../common/mod.rs"]
mod common;
mod dashboard;
mod page;
mod sheet;
mod text;
mod vendored;
