//! Users at a server with room for so many, or with limits that are held.

use weir_sim::{Center, CenterKind, Class, Network, Step};

use super::closed::{load, memory_s, solved_number, users, visits};
use super::measure::{
    Measure, busy_share, inside, number, refused_share, response, throughput, wait, waiting,
};
use super::open::exponential;
use super::{Built, Experiment};
use crate::families::pooled_server;
use crate::{Case, Values};

/// The only class.
const REQUEST: usize = 0;
const THREADS: usize = 0;
const POOL: usize = 1;
const CPU: usize = 2;

/// Users at several servers with room for so many.
pub(super) fn finite_source(case: &Case, solved: &Values) -> Built {
    let (population, think_s) = (case.count("N")?, case.number("Z")?);
    let service_s = case.number("S")?;
    let count = case.count("c")?;
    let room = case.limit("K")?.unwrap_or(population);
    let working = count.min(room);
    let mut server = Center::new("server", CenterKind::Queue { servers: working });
    server.queue = Some(room - working);
    let attempts_per_s = solved_number(solved, "attempt_rate")?;
    let throughput_per_s = solved_number(solved, "X")?;
    let cycle_s = f64::from(population) / throughput_per_s;
    let busy = throughput_per_s * service_s / f64::from(working);
    Ok(Experiment {
        network: Network {
            centers: vec![server],
            classes: vec![Class::new(
                "request",
                users(population, think_s),
                visits(&[service_s]),
            )],
            ..Network::default()
        },
        measures: vec![
            throughput("X", REQUEST),
            response("R", REQUEST),
            number("L", 0),
            busy_share("util", 0, count),
            attempt_rate(),
            refusal_rate(),
            refused_share("reject_fraction"),
        ],
        memory_s: memory_s(population, cycle_s, vec![load(throughput_per_s, busy)]),
        requests_per_s: attempts_per_s,
        events_each: 2.0,
    })
}

fn attempt_rate() -> Measure {
    Measure::new("attempt_rate", |totals| {
        Some(totals.classes[REQUEST].fresh as f64 / totals.seconds)
    })
}

fn refusal_rate() -> Measure {
    Measure::new("reject_rate", |totals| {
        Some(totals.classes[REQUEST].refused as f64 / totals.seconds)
    })
}

/// Threads that are held around CPU and pool.
pub(super) fn threads_pool_cpu(case: &Case, solved: &Values) -> Built {
    let server = pooled_server(case)?;
    let room = server.room.unwrap_or(server.users);
    let working = server.threads.min(room);
    let mut threads = Center::new("threads", CenterKind::Limit { capacity: working });
    threads.queue = Some(room - working);
    // A pool that nobody waits for has one connection for each thread.
    let pool = CenterKind::Limit {
        capacity: server.pool.min(working),
    };
    let cpu = CenterKind::Shared {
        cores: server.servers,
    };
    let route = vec![
        Step::Acquire(THREADS),
        Step::Use(CPU, exponential(server.cpu_before_s)),
        Step::Acquire(POOL),
        Step::Sleep(exponential(server.hold_s)),
        Step::Use(CPU, exponential(server.cpu_holding_s)),
        Step::Release(POOL),
        Step::Release(THREADS),
    ];
    let throughput_per_s = solved_number(solved, "X")?;
    let cycle_s = f64::from(server.users) / throughput_per_s;
    let loads = vec![
        load(throughput_per_s, solved_number(solved, "cpu_util")?),
        load(
            throughput_per_s,
            solved_number(solved, "conn_busy")? / f64::from(server.pool.min(working)),
        ),
    ];
    Ok(Experiment {
        network: Network {
            centers: vec![threads, Center::new("pool", pool), Center::new("cpu", cpu)],
            classes: vec![Class::new(
                "request",
                users(server.users, server.think_s),
                route,
            )],
            ..Network::default()
        },
        measures: vec![
            throughput("X", REQUEST),
            response("R", REQUEST),
            busy_share("cpu_util", CPU, server.servers),
            inside("threads_busy", THREADS),
            waiting("thread_queue", THREADS),
            inside("conn_busy", POOL),
            waiting("conn_waiting", POOL),
            wait("conn_wait_time", POOL),
            refused_share("reject_fraction"),
            attempt_rate(),
        ],
        memory_s: memory_s(server.users, cycle_s, loads),
        requests_per_s: solved_number(solved, "attempt_rate")?,
        events_each: 4.0,
    })
}
