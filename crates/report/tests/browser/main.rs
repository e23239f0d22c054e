//! Pages in a real browser: their charts, and whether everybody can read them.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

mod accessible;
mod charts;
mod chromium;
#[path = "../common/mod.rs"]
mod common;
mod gate;
mod policy;
