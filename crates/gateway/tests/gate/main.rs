//! The gateway over real sockets, in front of a server that records every byte that reaches it.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

mod admin;
mod attacks;
mod backends;
mod changes;
mod client;
mod costs;
mod cpu;
mod holding;
mod http2;
mod http2_behind;
mod keys;
mod logging;
mod passing;
mod paths;
mod proxies;
mod recorder;
mod resting;
mod secure;
mod support;
