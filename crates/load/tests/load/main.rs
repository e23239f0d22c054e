//! The engine against servers in this process that record what arrives.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

mod client;
mod ends;
mod failures;
mod follows;
mod hostile;
mod http2;
mod open;
mod pacing;
mod proxies;
mod results;
mod secure;
mod server;
mod support;
mod users;
