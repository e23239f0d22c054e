//! Studies from the outside: files in, outcomes out.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test states what must hold, and its expected numbers are exact"
)]

mod best;
mod class_caps;
mod environments;
mod fuzz;
mod gate;
mod limits;
mod matters;
mod near_miss;
mod rate;
mod search_accuracy;
mod search_outside;
mod several;
mod study_file;
mod support;
mod sweep;
#[path = "../truth/mod.rs"]
mod truth;
mod tune_simulated;
mod warming;
