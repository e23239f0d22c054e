//! Scripts in the languages of the Java family.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

mod answers;
mod bounds;
mod fuzz;
mod host;
mod unknown;
