//! How fast the simulator is: events per second on a closed workload with a thread limit and a pool.
//!
//! `cargo run -p weir-queueing --release --example funnel-simulator-speed`
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::time::Instant;

use weir_queueing::sim::{
    Discipline, Disturbances, Duration, Phase, PoolLimit, Ramp, Scenario, ServerModel, UserClass,
    simulate,
};

/// A think timer, the end of the CPU phase and the end of the hold: what each request costs the event loop at least.
const EVENTS_PER_REQUEST: u32 = 3;
const SECONDS: u32 = 20_000;

fn main() {
    let mut request = vec![Phase::Cpu(Duration::Exponential(0.01))];
    request.extend(Phase::hold(0, Duration::Exponential(0.05)));
    let scenario = Scenario {
        server: ServerModel {
            cores: 2,
            discipline: Discipline::ProcessorSharing,
            connections: None,
            threads: Some(50),
            pools: vec![PoolLimit {
                name: Some("db".to_owned()),
                limit: 10,
            }],
        },
        classes: vec![UserClass {
            label: "request".to_owned(),
            users: 200,
            think: Duration::Exponential(1.0),
            request,
        }],
        ramp: Ramp { seconds: 1.0 },
        disturbances: Disturbances::default(),
    };
    let start = Instant::now();
    let seconds = simulate(&scenario, SECONDS, 1);
    let elapsed_s = start.elapsed().as_secs_f64();
    let requests: u32 = seconds.iter().map(|second| second.answered).sum();
    let events = f64::from(requests * EVENTS_PER_REQUEST);
    println!(
        "{requests} requests, {events:.3e} events in {elapsed_s:.2} s: {:.3e} events/s",
        events / elapsed_s
    );
}
