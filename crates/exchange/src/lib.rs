//! Short questions to a server about itself, over one kept connection, within a deadline.
//!
//! What is watched once a second must not wait: the question and the answer are two steps
//! ([`Exchange::ask`], [`Exchange::answer`]), so that many servers are asked at once and other
//! things are read while they answer, and every wait ends at a moment that the caller names.
//!
//! Why not an existing client: blocking clients have no such two steps, and an asynchronous one
//! would bring a runtime to a thread that needs to wake once a second.
//!
//! Invariants: plain HTTP to loopback and private addresses only ([`MetricsUrl`], [`is_near`]), but
//! for hosts that the user has allowed by name, which whoever makes an [`Exchange`] checks; an
//! answer that comes too late is never taken for that of the next question; bodies are bounded;
//! credentials are sent and never shown.

mod credentials;
mod exchange;
mod listening;
mod near;
mod response;
mod url;

pub use credentials::Credentials;
pub use exchange::{Exchange, ExchangeError};
pub use listening::takes_connections;
pub use near::{decimal_reading, is_named_by_address, is_near, kind};
pub use url::{MetricsUrl, UrlError};
