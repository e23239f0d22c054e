//! `cargo xtask bench soak`: the gateway for half an hour at 120 % of what its servers can do,
//! which are killed at random.
//!
//! Each request takes 20 ms of a server and hardly any CPU time, so that other work of the machine
//! changes little: the capacity is the limit of the gateway divided by that time. Servers are child
//! processes; one is killed every few seconds and started again on its port. Then it is checked
//! that nothing leaks, that no slot is stuck, and that every request that was sent has got an
//! answer.

mod verdict;
mod watch;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;

use crate::bench::gate::backend::Backend;
use crate::bench::gate::clients::{Chance, Load, Phase, poisson};
use crate::bench::gate::peers::{Peers, Running, free_port};
use crate::bench::gate::status::status;
use crate::bench::gate::{GATE_CPU, SERVER_CPU, provide};
use crate::bench::soak::verdict::check;
use crate::bench::soak::watch::Watch;
use crate::error::TaskError;
use crate::workspace::Workspace;

/// Servers behind the gateway.
const SERVERS: usize = 3;
/// Its limit.
const CONCURRENCY: u32 = 6;
/// A request that sleeps for so long in its server, and little else.
const PATH: &str = "/heavy?walks=1&pause-ms=20";
const SERVICE_S: f64 = 0.020;
/// What of the capacity is asked for.
const LOAD: f64 = 1.2;
/// More than ever wait at once.
const CLIENTS: usize = 200;
/// A request without an answer after this never gets one: no time-out of the gateway is as long.
const PATIENCE: Duration = Duration::from_secs(60);
/// From one kill to the next, at least and at most.
const KILL_EVERY_S: (f64, f64) = (2.0, 8.0);
/// How long a server is gone, at least and at most.
const GONE_S: (f64, f64) = (0.1, 3.0);
/// After the load, requests that run may end.
const SETTLES: Duration = Duration::from_secs(10);

/// Hold 120 % of the capacity for long while servers are killed, and look for leaks and stuck slots
#[derive(Debug, Args)]
pub(crate) struct SoakBench {
    /// How long
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1440))]
    minutes: u32,
    /// Seed of arrivals and kills
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Take the program as it was built before, in this profile
    #[arg(long, value_name = "PROFILE")]
    no_build: Option<String>,
}

/// Soaks the gateway and says what was found; an error if anything was.
pub(crate) fn bench(workspace: &Workspace, options: &SoakBench) -> Result<(), TaskError> {
    let peers = provide(workspace, "bench-soak", options.no_build.as_deref())?;
    let mut servers = Vec::new();
    for _ in 0..SERVERS {
        servers.push(Backend::start(&peers, SERVER_CPU, None)?);
    }
    let admin = free_port()?;
    let gateway = start(&peers, &servers, admin)?;
    let length = Duration::from_secs(u64::from(options.minutes) * 60);
    let per_s = LOAD * f64::from(CONCURRENCY) / SERVICE_S;
    println!(
        "{} minutes at {per_s:.0}/s in front of {SERVERS} servers, seed {}",
        options.minutes, options.seed
    );
    let phase = Phase { per_s, length };
    let load = Load {
        port: gateway.port(),
        arrivals: poisson(PATH, &[phase], options.seed),
        clients: CLIENTS,
        patience: PATIENCE,
        retries: 0,
    };
    let sent = load.arrivals.len();
    let ended = AtomicBool::new(false);
    let pid = gateway.pid();
    let (answers, kills, watch) = thread::scope(|scope| {
        let killing = scope.spawn(|| kill_at_random(&peers, &mut servers, options.seed, &ended));
        let watching = scope.spawn(|| Watch::until(&ended, pid, admin));
        let answers = load.send();
        thread::sleep(SETTLES);
        ended.store(true, Ordering::Relaxed);
        (answers, killing.join(), watching.join())
    });
    let kills = kills.expect("killing does not panic")?;
    let watch = watch.expect("watching does not panic");
    check(sent, &answers, kills, &watch, &status(admin)?)
}

fn start(peers: &Peers, servers: &[Backend], admin: u16) -> Result<Running, TaskError> {
    let port = free_port()?;
    let backends: Vec<String> = servers
        .iter()
        .map(|server| format!("\"http://127.0.0.1:{}\"", server.port()))
        .collect();
    let text = format!(
        "listen = \"127.0.0.1:{port}\"\nadmin = \"127.0.0.1:{admin}\"\nbackends = [{}]\nthreads = 2\n\
         [limit]\nconcurrency = {CONCURRENCY}\nmax-wait = \"200ms\"\n[timeouts]\nidle = \"1h\"\n[health]\nevery = \"200ms\"\n",
        backends.join(", ")
    );
    let file = peers.write("soak.toml", &text)?;
    let words = [
        peers.weir.to_string_lossy().into_owned(),
        "gate".to_owned(),
        file,
    ];
    peers.run(&words, GATE_CPU, port)
}

/// Kills a server and starts it again, now and then, until the load has ended. Gives back how
/// often.
fn kill_at_random(
    peers: &Peers,
    servers: &mut [Backend],
    seed: u64,
    ended: &AtomicBool,
) -> Result<u32, TaskError> {
    let mut chance = Chance(seed ^ 0x5eed);
    let mut between = |(least, most): (f64, f64)| least + chance.uniform() * (most - least);
    let mut kills = 0;
    while !ended.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_secs_f64(between(KILL_EVERY_S)));
        let victim = between((0.0, servers.len() as f64)) as usize;
        let port = servers[victim].port();
        servers[victim].kill();
        kills += 1;
        thread::sleep(Duration::from_secs_f64(between(GONE_S)));
        servers[victim] = Backend::start(peers, SERVER_CPU, Some(port))?;
    }
    Ok(kills)
}
