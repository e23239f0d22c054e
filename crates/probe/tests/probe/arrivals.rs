//! What requests wait until a thread reads them, traced in the running kernel.
//!
//! The server has a thread that waits for data and one that reads and answers, both on one CPU;
//! whoever asks is on another one. The times themselves are the machine's; what is asserted is that
//! the wait for a CPU shows when there is one to wait for.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};
use weir_probe::{ArrivalTimes, Arrivals, Reading, WatchPlan, Watcher};

/// Requests that are enough to compare.
const ENOUGH: usize = 20;
/// How long a test waits for them; only a failing one waits that long.
const PATIENCE: Duration = Duration::from_secs(60);
/// A machine that is busy with other things can hide the difference for a while.
const ATTEMPTS: usize = 3;

#[test]
fn a_server_beside_a_busy_neighbour_reads_late_because_it_waits_for_its_cpu() {
    let allowed = sched_getaffinity(None).unwrap();
    let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let cpus: Vec<usize> = cpus.take(2).collect();
    let [servers, others] = cpus[..] else {
        eprintln!("skipped: there is one CPU, and whoever asks would wait for it too");
        return;
    };
    pin(others);
    let mut compared = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some(alone) = median_wait_beside(0, servers, others) else {
            return;
        };
        let Some(crowded) = median_wait_beside(1, servers, others) else {
            return;
        };
        if crowded > 3 * alone {
            return;
        }
        compared.push((alone, crowded));
    }
    panic!("median wait for a CPU in ns, alone and beside neighbours: {compared:?}");
}

/// The median wait for a CPU of requests to a server that shares its CPU with so many that never
/// pause; `None` when the kernel does not let us see it.
fn median_wait_beside(neighbours: usize, servers: usize, others: usize) -> Option<u64> {
    let over = Arc::new(AtomicBool::new(false));
    let spinning: Vec<JoinHandle<()>> = (0..neighbours)
        .map(|_| {
            let over = Arc::clone(&over);
            spawn(move || {
                pin(servers);
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = spawn(move || serve(&listener, servers, neighbours > 0));
    let asking = {
        let over = Arc::clone(&over);
        spawn(move || ask(port, others, &over))
    };
    let traced = trace(port);
    over.store(true, Ordering::Relaxed);
    for thread in spinning.into_iter().chain([asking, server]) {
        thread.join().unwrap();
    }
    let (seen, reading) = traced?;
    let figure = |name: &str| reading[format!("target.arrival.{name}").as_str()];
    assert!(figure("sampled") >= 1.0, "{reading:#?}");
    assert!(figure("to-read.p50") > 0.0, "{reading:#?}");
    assert!(
        figure("to-read.p50") <= figure("to-read.max"),
        "{reading:#?}"
    );
    assert!(figure("cpu-wait") <= figure("to-read"), "{reading:#?}");
    let mut waits: Vec<u64> = seen.iter().map(|times| times.cpu_wait_ns).collect();
    waits.sort_unstable();
    Some(waits[waits.len() / 2])
}

/// Watches until enough requests were seen, and gives the last reading that had any.
fn trace(port: u16) -> Option<(Vec<ArrivalTimes>, Reading)> {
    let mut watcher = Watcher::new(WatchPlan {
        target_pids: vec![std::process::id()],
        ports: vec![port],
        arrivals: true,
        ..WatchPlan::default()
    });
    let begun = Instant::now();
    let (mut seen, mut last) = (Vec::new(), Reading::new());
    while seen.len() < ENOUGH {
        assert!(
            begun.elapsed() < PATIENCE,
            "{} requests were seen",
            seen.len()
        );
        std::thread::sleep(Duration::from_millis(50));
        let reading = watcher.sample(Instant::now());
        match watcher.take_arrivals() {
            Arrivals::NotWatched => unreachable!("they were asked for"),
            Arrivals::Unreadable(why) => {
                eprintln!("skipped: {why}");
                return None;
            }
            Arrivals::Read(requests) if requests.is_empty() => {}
            Arrivals::Read(requests) => {
                seen.extend(requests);
                last = reading;
            }
        }
    }
    Some((seen, last))
}

/// Answers one connection until it ends: one thread waits for data, another one reads and answers.
fn serve(listener: &TcpListener, cpu: usize, yields: bool) {
    let prepare = move || {
        pin(cpu);
        if yields {
            never_preempt();
        }
    };
    prepare();
    let (connection, _) = listener.accept().unwrap();
    let (ready, work) = mpsc::channel();
    let (done, more) = mpsc::channel();
    let mut reading = connection.try_clone().unwrap();
    let worker = spawn(move || {
        prepare();
        let mut byte = [0];
        for () in work {
            let goes_on = reading.read(&mut byte).unwrap() == 1;
            if goes_on {
                reading.write_all(&byte).unwrap();
            }
            done.send(goes_on).unwrap();
        }
    });
    loop {
        let mut waited = [PollFd::new(&connection, PollFlags::IN)];
        poll(&mut waited, None).unwrap();
        ready.send(()).unwrap();
        if !more.recv().unwrap() {
            break;
        }
    }
    drop(ready);
    worker.join().unwrap();
}

/// Asks again and again, with a pause in which the server's threads fall asleep.
fn ask(port: u16, cpu: usize, over: &AtomicBool) {
    pin(cpu);
    let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    connection.set_nodelay(true).unwrap();
    let mut byte = [1];
    while !over.load(Ordering::Relaxed) {
        connection.write_all(&byte).unwrap();
        connection.read_exact(&mut byte).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Makes the thread one of `SCHED_IDLE`. When such a one wakes up, it waits for as long as another
/// one runs whose time slice is not over; under a lower priority (nice), and under `SCHED_BATCH` on
/// Linux 6.18, most of those that have slept go first.
fn never_preempt() {
    let thread = gettid().as_raw_nonzero().to_string();
    let mut chrt = Command::new("chrt");
    chrt.args(["--idle", "--pid", "0", &thread]);
    assert!(chrt.status().unwrap().success());
}

fn pin(cpu: usize) {
    let mut mask = CpuSet::new();
    mask.set(cpu);
    sched_setaffinity(None, &mask).unwrap();
}
