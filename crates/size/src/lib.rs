//! How many servers it takes: a measured server, as many of them as needed.
//!
//! [`size`] takes the model of a run ([`weir_model::FittedModel`]) and asks the simulator how many
//! users one server of a fleet can have before a requirement fails; the number of servers is all
//! users over that. What is done, in this order:
//!
//! 1. [`Calibration`]: a model knows means, a percentile needs distributions. Some are tried on the
//!    trials, and the one that meets their percentiles is taken; how far it is off goes into every
//!    answer, and an error that is too large ends it.
//! 2. The most users per server, for the fitted numbers and for a hundred draws of them. Requests
//!    are spread at random over the servers, so each server sees the same, and a share of the fleet
//!    stands for the whole.
//! 3. The smallest number of servers with which the requirement holds in at least 95 % of the
//!    draws.
//! 4. What else an engineer has to know about it ([`Sizing`]): settings, connections in all, a
//!    server that dies, more users than planned, clients that try again.
//!
//! No I/O, no clock; everything random comes from the seed, and nothing depends on the number of
//! cores.

mod answer;
mod ask;
mod calibration;
mod capacity;
mod cores;
mod curve;
mod database;
mod error;
mod fleet;
mod goal;
mod played;
mod settings;
mod size;
mod storm;
mod surge;
mod text;
mod variation;

pub use answer::{
    At, ConnectionsCapped, CurveAt, Goal, LostServer, Range, SIZE_SCHEMA, Setting, Sizing, Storm,
    StormCase, Surge, SurgeCase,
};
pub use ask::{Ask, Effort};
pub use calibration::{Calibration, PercentileError};
pub use cores::{Unwatched, Watcher};
pub use error::SizeError;
pub use size::size;
pub use text::text;
pub use variation::{Pair, Variation};
