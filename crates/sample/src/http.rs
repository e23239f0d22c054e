//! HTTP/1.1 and HTTP/1.0 as far as a server of small answers needs it: read one request, write one
//! answer.
//!
//! Bounds: a head of at most 16 KiB with 64 header fields, a body of at most 64 KiB. Bodies with a
//! transfer coding are refused (411), since no load plan sends them. The `Date` field is left out:
//! nothing here depends on the time of day.

mod parameters;
mod request;
mod response;
mod stream;

pub(crate) use parameters::{BadParameter, Choice, Number, Parameters};
pub(crate) use request::{Method, Request};
pub(crate) use response::Response;
pub(crate) use stream::{HttpStream, Unreadable};
