//! The answer: what `weir size --json` writes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::calibration::Calibration;

/// Schema of [`Sizing`] as JSON.
pub const SIZE_SCHEMA: &str = "weir/size/1";

/// How many servers, and what to know about them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sizing {
    /// `weir/size/1`.
    pub schema: String,
    /// Version of Weir.
    pub weir: String,
    /// Name of the run that the model was fitted to.
    pub run: String,
    /// Users of all servers together, as the run's factor `users` counts them.
    pub users: u32,
    /// Virtual users of all groups.
    pub population: u32,
    /// The smallest number of servers with which all requirements hold in 95 % of the draws.
    pub servers: u32,
    /// The smallest number for the fitted numbers, and its 95 % interval over the draws.
    pub servers_range: Range,
    /// The most users of one server, with its interval.
    pub users_per_server_max: Range,
    /// Share of the draws that has to hold.
    pub confidence: f64,
    /// Draws of the fitted numbers.
    pub draws: u32,
    /// Of everything random.
    pub seed: u64,
    /// The requirement that comes nearest to its bound.
    pub binding: String,
    /// Its bound, in seconds, requests per second, or as a share of one.
    pub bound: f64,
    /// Its figure along the number of servers.
    pub curve: Vec<CurveAt>,
    /// The distributions of times, where a percentile is required.
    pub calibration: Option<Calibration>,
    /// The fleet with this number of servers.
    pub at: At,
    /// Users on one server over the most that were measured on one: above 1 nobody has measured
    /// it.
    pub beyond: f64,
    /// What to set on each server.
    pub settings: Vec<Setting>,
    /// What becomes of it when the database takes fewer connections than all servers may open;
    /// null where it takes them or was not told.
    pub connections_capped: Option<ConnectionsCapped>,
    /// One server less.
    pub lost: LostServer,
    /// More users than planned.
    pub surge: Surge,
    /// A stop of all servers, and clients that try again.
    pub storm: Storm,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// A value with its interval over the draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Range {
    /// For the fitted numbers.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The figure of the limiting requirement with so many servers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CurveAt {
    /// Number of servers.
    pub servers: u32,
    /// The figure.
    pub value: Range,
}

/// A fleet of some size.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct At {
    /// Number of servers.
    pub servers: u32,
    /// Users on each, on average.
    pub users_per_server: f64,
    /// Requests per second, all servers together.
    pub throughput_per_s: Range,
    /// Busy share of the CPUs.
    pub cpu: Range,
    /// Mean response time.
    pub response_time_s: Range,
    /// The requirements.
    pub goals: Vec<Goal>,
    /// Share of the draws in which all requirements hold.
    pub holds_share: f64,
}

/// A requirement and what there is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Goal {
    /// As typed.
    pub requirement: String,
    /// The figure, in seconds, requests per second, or as a share of one.
    pub value: Range,
    /// The figure for people.
    pub says: String,
}

/// What to set on each server.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// The stage.
    pub stage: String,
    /// Mean number in use.
    pub busy: f64,
    /// The limit to set on each server.
    pub limit: u32,
    /// The limit in the trials.
    pub measured_limit: Option<u32>,
    /// Of all servers together: what a database has to take.
    pub total: u64,
}

/// The fleet with as many connections as the database takes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConnectionsCapped {
    /// What the database takes.
    pub database_connections: u32,
    /// What all servers together would open.
    pub wanted: u64,
    /// What is left for each server.
    pub per_server: u32,
    /// The fleet with that; null where not even one is left for each.
    pub at: Option<At>,
}

/// One server less.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LostServer {
    /// Requests that die with it, on average.
    pub requests_lost: f64,
    /// The fleet without it; null where it was the only one.
    pub at: Option<At>,
    /// Servers with which the requirements still hold when one is lost.
    pub servers_needed: u32,
}

/// More users than planned: held back, or given more servers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Surge {
    /// Virtual users of all groups.
    pub population: u32,
    /// These servers with the limits of the trials: everybody is let in as far as those let
    /// them.
    pub let_in: SurgeCase,
    /// These servers with the limits of `settings`: who is too many waits in front.
    pub held: SurgeCase,
    /// So many servers that the requirements hold again.
    pub scaled_out: SurgeCase,
}

/// One way to meet more users.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SurgeCase {
    /// Number of servers.
    pub servers: u32,
    /// Threads of each.
    pub threads: Option<u32>,
    /// Requests per second, all servers together.
    pub throughput_per_s: f64,
    /// Busy share of the CPUs.
    pub cpu: f64,
    /// Mean response time.
    pub response_time_s: f64,
    /// Part of it that is spent in front of the threads.
    pub wait_s: f64,
    /// The limiting requirement, for people.
    pub says: String,
    /// Whether all requirements hold for the fitted numbers.
    pub holds: bool,
}

/// All CPUs stop for a while, and clients give up and try again.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Storm {
    /// How long they stop.
    pub stop_s: f64,
    /// After which time a client gives up an attempt; servers go on with it.
    pub timeout_s: f64,
    /// How long they are watched afterwards.
    pub watched_s: f64,
    /// Without retries, with retries, with a budget of retries.
    pub cases: Vec<StormCase>,
}

/// What clients do, and what comes of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StormCase {
    /// Attempts in all, the first included.
    pub attempts: u8,
    /// Retries per fresh request; null: no bound.
    pub budget: Option<f64>,
    /// Seconds from the end of the stop until as much is answered as before it, and stays so;
    /// null: not as long as it was watched, the storm keeps itself alive.
    pub recovered_after_s: Option<f64>,
    /// Answers at the end over answers before the stop.
    pub answered_in_the_end: f64,
    /// Attempts over fresh requests, from the stop on.
    pub attempts_per_request: f64,
}
