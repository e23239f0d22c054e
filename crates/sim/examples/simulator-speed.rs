//! How fast the simulator is: events per second on one core, and memory per user.
//!
//! `cargo run -p weir-sim --release --example simulator-speed -- closed|mm1|shared|million
//! [SECONDS]`
//!
//! Prints one line of JSON: the events, the seconds they took, the bytes of users and events.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::time::Instant;

use weir_sim::{
    Center, CenterKind, Class, Distribution, Network, Profile, Simulation, Source, Spacing, Step,
};

fn queue(name: &str, servers: u32) -> Center {
    Center::new(name, CenterKind::Queue { servers })
}

/// Users that think for a mean of 1 s and visit three stations in order of arrival, of which the
/// second is the busiest.
fn closed(users: u32, scale: f64) -> Network {
    let visit = |station, mean: f64| Step::Use(station, Distribution::exponential(mean * scale));
    Network {
        centers: vec![queue("a", 1), queue("b", 1), queue("c", 1)],
        classes: vec![Class::new(
            "request",
            Source::Users {
                users,
                think: Distribution::exponential(1.0),
                ramp_s: 0.0,
            },
            vec![visit(0, 0.000_5), visit(1, 0.000_9), visit(2, 0.000_5)],
        )],
        ..Network::default()
    }
}

/// A network with all at once at CPUs under processor sharing.
fn shared(users: u32) -> Network {
    let mut network = closed(users, 1.0);
    for center in &mut network.centers {
        center.kind = CenterKind::Shared { cores: 1 };
    }
    network
}

/// M/M/1 at a utilization of 0.8.
fn mm1() -> Network {
    Network {
        centers: vec![queue("server", 1)],
        classes: vec![Class::new(
            "request",
            Source::Arrivals {
                rate: Profile::constant(0.8),
                spacing: Spacing::Poisson,
            },
            vec![Step::Use(0, Distribution::exponential(1.0))],
        )],
        ..Network::default()
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "closed".to_owned());
    let (network, seconds) = match what.as_str() {
        "mm1" => (mm1(), 10_000_000.0),
        "shared" => (shared(1000), 4000.0),
        "million" => (closed(1_000_000, 0.001), 20.0),
        _ => (closed(1000, 1.0), 5000.0),
    };
    let seconds = arguments
        .next()
        .and_then(|typed| typed.parse().ok())
        .unwrap_or(seconds);
    let mut simulation = Simulation::new(&network, 1);
    let start = Instant::now();
    simulation.run_until(seconds);
    let elapsed_s = start.elapsed().as_secs_f64();
    let totals = simulation.totals();
    println!(
        "{{\"what\":\"{what}\",\"events\":{},\"seconds\":{elapsed_s:.4},\"events_per_s\":{:.0},\
         \"throughput_per_s\":{:.4},\"bytes\":{}}}",
        totals.events,
        totals.events as f64 / elapsed_s,
        totals.throughput_per_s(0),
        simulation.bytes()
    );
}
