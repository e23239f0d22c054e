//! Real servers on free ports of this machine, spoken to over real sockets.
//!
//! No test sleeps to be right: each waits until `/metrics` shows the state that it is about, and
//! gives up with the last reading after a minute.

#![expect(clippy::unwrap_used, reason = "tests")]

mod client;
mod conservation;
mod endpoints;
mod limits;
mod protocol;
mod scrape;
mod start;
