//! The simulator against known answers, its intervals, its files.

mod coverage;
mod fleets;
mod known_answers;
mod network_file;
