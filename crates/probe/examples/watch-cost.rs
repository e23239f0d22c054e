//! What watching costs: builds a target with so many threads and connections and measures.
//!
//! ```text
//! cargo run --release -p weir-probe --example watch-cost [CONNECTIONS THREADS [SECONDS]]
//! ```
//!
//! Without numbers it runs the three situations that have a budget. The target is this program
//! once more, as a child process: its threads wake once a second, so that their accounts
//! move, and it tells metrics of all stages. The connections are open and idle. The figure is the
//! CPU time of the thread that watches, not elapsed time, so a busy machine does not change it
//! much.

#![expect(
    clippy::print_stdout,
    reason = "printing the figures is what this is for"
)]

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use weir_probe::{Source, WatchPlan, WatchThread, Watcher};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const AS_TARGET: &str = "as-target";

/// Connections, threads, and the most of a core that watching them may cost.
const SITUATIONS: [(usize, usize, Option<f64>); 3] = [
    (1_000, 300, Some(0.01)),
    (10_000, 300, Some(0.02)),
    (1_000, 10_000, Some(0.02)),
];

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    open_many_files()?;
    match words[..] {
        [AS_TARGET, threads] => be_target(threads.parse()?),
        [] => SITUATIONS
            .iter()
            .try_for_each(|&(connections, threads, budget)| {
                measure(connections, threads, 20, budget)
            }),
        [connections, threads] => measure(connections.parse()?, threads.parse()?, 20, None),
        [connections, threads, seconds] => measure(
            connections.parse()?,
            threads.parse()?,
            seconds.parse()?,
            None,
        ),
        _ => Err("give no numbers, or CONNECTIONS THREADS [SECONDS]".into()),
    }
}

/// Lets this process have as many files open as it may.
fn open_many_files() -> Outcome {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: maximum,
        maximum,
    };
    Ok(setrlimit(Resource::Nofile, limit)?)
}

/// Tells the two ports on standard output, then serves until standard input ends.
fn be_target(threads: usize) -> Outcome {
    for _ in 0..threads {
        std::thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn(|| {
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            })?;
    }
    let connections = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!(
        "{} {}",
        connections.local_addr()?.port(),
        metrics.local_addr()?.port()
    );
    std::thread::spawn(move || {
        let _kept: Vec<TcpStream> = connections.incoming().filter_map(Result::ok).collect();
    });
    std::thread::spawn(move || {
        for connection in metrics.incoming().flatten() {
            // A watch that gave up comes again with another connection.
            let _ = tell_metrics(&connection);
        }
    });
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn tell_metrics(connection: &TcpStream) -> Outcome {
    let page = metrics_page();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
    for line in BufReader::new(connection).lines() {
        if line?.is_empty() {
            (&*connection).write_all((head.clone() + &page).as_bytes())?;
        }
    }
    Ok(())
}

fn metrics_page() -> String {
    const METRICS: [&str; 9] = [
        "limit",
        "occupancy",
        "occupancy_seconds_total",
        "waiting",
        "waiting_seconds_total",
        "wait_seconds_total",
        "entries_total",
        "waits_total",
        "refused_total",
    ];
    let stages = [
        "backlog",
        "connections",
        "request-queue",
        "threads",
        "pool.db",
        "database",
    ];
    let of_stage =
        |stage| METRICS.map(|m| format!("weir_stage_{m}{{stage=\"{stage}\"}} 12345.678\n"));
    stages.into_iter().flat_map(of_stage).collect()
}

/// Starts a target, connects to it, watches it, and prints what the watching cost.
fn measure(connections: usize, threads: usize, seconds: usize, budget: Option<f64>) -> Outcome {
    let mut target = Command::new(std::env::current_exe()?)
        .args([AS_TARGET, &threads.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut ports = String::new();
    let told = target.stdout.take().ok_or("the target has no output")?;
    BufReader::new(told).read_line(&mut ports)?;
    let (port, metrics) = ports
        .trim()
        .split_once(' ')
        .ok_or("the target told no ports")?;
    let port: u16 = port.parse()?;
    let opened: Result<Vec<TcpStream>, _> = (0..connections)
        .map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, port)))
        .collect();
    let opened = opened?;
    let plan = WatchPlan {
        target_pids: vec![target.id()],
        ports: vec![port],
        sources: vec![Source::prometheus(
            format!("http://127.0.0.1:{metrics}/metrics").parse()?,
        )],
        own_process: true,
        ..WatchPlan::default()
    };
    let first_s = cost_of_first(plan.clone());
    let mut costs = watch(plan, seconds)?;
    costs.sort_by(f64::total_cmp);
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    let budget = budget.map_or(String::new(), |b| format!("; budget {:.1} %", 100.0 * b));
    println!(
        "{connections} connections, {threads} threads, {} s: mean {:.2} % of a core, \
         median {:.2} %, largest {:.2} %{budget}; the first reading took {:.0} ms of CPU",
        costs.len(),
        100.0 * mean,
        100.0 * costs[costs.len() / 2],
        100.0 * costs[costs.len() - 1],
        1000.0 * first_s,
    );
    drop(opened);
    // The target ends with its standard input.
    drop(target.stdin.take());
    target.wait()?;
    Ok(())
}

/// CPU seconds of the first reading, which finds everything and is no second's reading.
fn cost_of_first(plan: WatchPlan) -> f64 {
    let used = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let before = used();
    Watcher::new(plan).sample(Instant::now());
    used() - before
}

/// The cost of each second, and what the last one showed.
fn watch(plan: WatchPlan, seconds: usize) -> Outcome<Vec<f64>> {
    let port = plan.ports[0];
    let (watch, readings) = WatchThread::start(plan, Instant::now(), None)?;
    let mut costs = Vec::new();
    while costs.len() < seconds {
        let told = readings.recv()?;
        let Some(reading) = told.reading else {
            println!("second {} was missed", told.second);
            continue;
        };
        costs.extend(reading.get("watch.cpu"));
        if costs.len() == seconds {
            for name in [
                format!("tcp.{port}.established"),
                "target.threads".to_owned(),
                "target.run-queue-wait.coverage".to_owned(),
                "target.context-switches.coverage".to_owned(),
                "threads.limit".to_owned(),
                "load.sockets".to_owned(),
            ] {
                let value = reading.get(name.as_str());
                println!(
                    "  {name} {}",
                    value.map_or("absent".to_owned(), |v| format!("{v:.3}"))
                );
            }
        }
    }
    watch.stop();
    Ok(costs)
}
