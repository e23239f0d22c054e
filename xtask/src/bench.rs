//! Long measurements that are not tests: they need the machine to themselves, and minutes.

mod closed_mva;
pub(crate) mod explain;
pub(crate) mod first_hour;
pub(crate) mod gate;
pub(crate) mod limit;
pub(crate) mod load;
pub(crate) mod search;
pub(crate) mod simulate;
pub(crate) mod soak;
mod spread;
pub(crate) mod statistics;
pub(crate) mod tune;
