//! Funnels fitted to recorded and to simulated trials.

mod recorded;
mod simulated;
