//! Functions, variables and requests as JMeter makes them.

mod functions;
mod requests;
mod resolve;
