//! Groups that start their users by themselves, as all runtimes share them: what is due when, and
//! who has taken it. Who acts on it is in `starts`.

pub(crate) mod arrival_times;
pub(crate) mod level;
pub(crate) mod open;
