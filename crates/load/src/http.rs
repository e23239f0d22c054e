//! The HTTP client of a virtual user: one request at a time, over connections of its own.
//!
//! From the bottom: `socket`, `connection` (what a user keeps), [`client`] (writes and reads),
//! `exchange` (which way a request takes, and whether it is sent again). What became of a request
//! is an [`outcome`] with JMeter's name. Users, plans and counts are not known here.

pub(crate) mod client;
mod connection;
mod exchange;
mod http2;
pub(crate) mod io_context;
pub(crate) mod outcome;
mod over_http2;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod server;
pub(crate) mod servers;
mod socket;
mod status_texts;
mod tls;
mod tls_error;
mod tunnel;
mod upload;
mod usual;
