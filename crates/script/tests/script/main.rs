//! Functions, variables and requests as JMeter makes them.

mod functions;
mod java_time;
mod requests;
mod resolve;
