//! Another machine's signals are those of this one: the same readers, fed over a connection.
//!
//! The other end is this machine too, reached by a program that takes the words of ssh and runs
//! them here; a real sshd stands in the tests of the program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::float_cmp, reason = "the figures are whole numbers")]

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use weir_probe::{
    FarMachine, FarProcess, Reading, WatchPlan, WatchedMachine, Watcher, machine_facts,
};
use weir_ssh::{Connection, SshHost};

const SECOND: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes the words of ssh. One that a test writes could not be run while another test starts a
/// process.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/as-ssh");

fn machine() -> FarMachine {
    let host = SshHost::new("app01").unwrap();
    let host = host.with_program(Path::new(PROGRAM));
    FarMachine::reach(Connection::open(host).unwrap()).unwrap()
}

#[test]
fn the_other_machine_is_described_as_this_one() {
    let far = machine();
    assert!(far.is_this_one());
    let here = machine_facts();
    assert_eq!(Some(far.cpus().count()), here.cpus);
    let there = far.facts().unwrap();
    assert_eq!(there.kernel, here.kernel);
    assert_eq!(there.memory_bytes, here.memory_bytes);
    assert_eq!(there.cpu_model, here.cpu_model);
    assert_eq!(there.descriptor_limit, None);
    let allowed = far.cpus_of(std::process::id()).unwrap().unwrap();
    assert!(allowed.count() >= 1);
    assert_eq!(far.cpus_of(u32::MAX).unwrap(), None);
}

#[test]
fn a_listener_there_is_found_both_ways() {
    let far = machine();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let pid = std::process::id();
    assert!(far.processes_listening(port).unwrap().contains(&pid));
    assert!(far.listening_ports(pid).unwrap().contains(&port));
    assert!(far.is_listening(port).unwrap());
    drop(listener);
    assert!(far.processes_listening(port).unwrap().is_empty());
    assert!(!far.is_listening(port).unwrap());
}

/// Samples, a second further each time, until the reading is as wanted.
fn sample_until(watcher: &mut Watcher, wanted: impl Fn(&Reading) -> bool) -> Reading {
    let start = Instant::now();
    loop {
        let asked = Instant::now();
        let reading = watcher.sample(asked);
        if wanted(&reading) {
            return reading;
        }
        assert!(start.elapsed() < PATIENCE, "{reading:#?}");
        // The other end's clock cannot be given: it has to pass.
        std::thread::sleep(SECOND.saturating_sub(asked.elapsed()));
    }
}

#[test]
fn both_ways_tell_the_same_signals() {
    let far = machine();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let _clients: Vec<TcpStream> = (0..3)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    let plan = |machine| WatchPlan {
        target_pids: vec![std::process::id()],
        ports: vec![address.port()],
        machine,
        own_process: true,
        ..WatchPlan::default()
    };
    let mut here = Watcher::new(plan(WatchedMachine::This));
    let mut there = Watcher::new(plan(WatchedMachine::Far(far)));
    here.sample(Instant::now());
    let read_there = sample_until(&mut there, |reading| {
        reading.contains_key("target.cpu.user") && reading.contains_key("target.run-queue-wait")
    });
    let read_here = here.sample(Instant::now());
    let port = address.port();
    for name in read_here.keys().map(weir_probe::SignalName::as_str) {
        // What would be a file, or a page of text, for each thread, process or CPU each second is
        // not read there.
        let too_much = [
            "target.context-switches",
            "target.blocked",
            "target.storage.",
            "census.",
            "machine.cpu.frequency",
        ];
        let is_only_here = too_much.iter().any(|signals| name.starts_with(signals))
            || name == format!("tcp.{port}.accept-queue.limit");
        assert_eq!(read_there.contains_key(name), !is_only_here, "{name}");
    }
    let established = format!("tcp.{port}.established");
    assert_eq!(
        read_there[established.as_str()],
        read_here[established.as_str()]
    );
    let queue = format!("tcp.{port}.accept-queue");
    assert_eq!(read_there[queue.as_str()], 3.0);
    assert!((0.0..=1.0).contains(&read_there["cpu"]));
    let (rss_there, rss_here) = (
        read_there["target.memory.rss"],
        read_here["target.memory.rss"],
    );
    assert!(
        (rss_there / rss_here - 1.0).abs() < 0.5,
        "{rss_there} {rss_here}"
    );
    let origins = there.origins();
    assert_eq!(origins["cpu"], "/proc/stat, over ssh");
    assert_eq!(origins["load.cpu"], "/proc/self");
}

#[test]
fn a_connection_that_is_lost_leaves_signals_absent_and_comes_back() {
    let far = machine();
    let connection = far.connection().clone();
    let mut watcher = Watcher::new(WatchPlan {
        machine: WatchedMachine::Far(far),
        own_process: true,
        ..WatchPlan::default()
    });
    sample_until(&mut watcher, |reading| reading.contains_key("cpu"));
    assert!(connection.run("exit 1").is_err());
    assert!(!connection.is_open());
    let without = watcher.sample(Instant::now());
    assert!(!without.contains_key("cpu"), "absent, not 0");
    assert!(without.contains_key("load.memory.rss"));
    // By itself, and what it then tells is of one second.
    sample_until(&mut watcher, |reading| reading.contains_key("cpu"));
    assert!(connection.is_open());
}

#[test]
fn a_process_there_that_has_ended_is_noticed() {
    let far = machine();
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let mut process = FarProcess::new(&far, child.id());
    assert!(process.runs());
    child.kill().unwrap();
    child.wait().unwrap();
    let start = Instant::now();
    while process.runs() {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
}
