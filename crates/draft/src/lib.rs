//! The first study for a server that runs already: commented text, from what was found of the
//! server and what an access log says of its traffic.
//!
//! [`study`] writes the study, [`plan`] a JMeter plan with the [`Mix`] of a log. Both are text for
//! people to read and change; nothing here looks at a server or at a file.
//!
//! Invariants: what is written is accepted by `weir check`; a limit that cannot be set while the
//! server runs stands there as a comment with the reason; only requests that change nothing (GET,
//! HEAD) get into a plan.

mod mix;
mod plan;
mod study;

pub use mix::{LeftOut, Mix, MixedEndpoint, PagingRange, Varies};
pub use plan::plan;
pub use study::{Cpus, Draft, study};

/// The property of the plan that the number of users sets.
pub const USERS: &str = "USERS";
