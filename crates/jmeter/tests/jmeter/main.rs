//! Plans changed for a JMeter that Weir starts.

mod corpus;
mod plans;
