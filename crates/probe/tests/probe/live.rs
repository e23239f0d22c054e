//! The watcher against the running kernel: real sockets, real processes, the real `/proc`.
//!
//! Instants are given, not slept: the time that rates are over is whatever the test says it is.
//! Where a state takes the kernel a moment to reach, the test asks again until it is reached.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, getsockname, listen, socket_with,
};
use weir_metric::describe;
use weir_probe::{ProbeError, Reading, Source, WatchPlan, WatchThread, WatchedMachine, Watcher};

/// How long a test asks again for a state; only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

const SECOND: Duration = Duration::from_secs(1);

/// A listening socket with a backlog of its own.
fn listener(backlog: i32) -> (TcpListener, u16) {
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .unwrap();
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    listen(&socket, backlog).unwrap();
    let address: SocketAddr = getsockname(&socket).unwrap().try_into().unwrap();
    (TcpListener::from(socket), address.port())
}

fn client(port: u16) -> TcpStream {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap()
}

fn ports(port: u16) -> WatchPlan {
    WatchPlan {
        ports: vec![port],
        ..WatchPlan::default()
    }
}

fn processes(pid: u32) -> WatchPlan {
    WatchPlan {
        target_pids: vec![pid],
        ..WatchPlan::default()
    }
}

/// Samples until the reading is as wanted, a second further each time.
fn sample_until(plan: WatchPlan, wanted: impl Fn(&Reading) -> bool) -> Reading {
    let start = Instant::now();
    let mut watcher = Watcher::new(plan);
    for second in 1_u32.. {
        let reading = watcher.sample(start + SECOND * second);
        if wanted(&reading) || start.elapsed() > PATIENCE {
            assert!(wanted(&reading), "{reading:#?}");
            return reading;
        }
        std::thread::yield_now();
    }
    unreachable!("the loop only ends by returning")
}

fn is(reading: &Reading, name: &str, value: f64) -> bool {
    reading
        .get(name)
        .is_some_and(|found| (found - value).abs() < 1e-9)
}

/// A child that is ended with the test, however that goes.
struct Shell(Child);

impl Shell {
    fn run(script: &str) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    fn say(&mut self, line: &str) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{line}").unwrap();
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn connections_that_nobody_accepts_stand_in_the_accept_queue() {
    let (_listener, port) = listener(7);
    let _clients = [client(port), client(port), client(port)];
    let reading = sample_until(ports(port), |reading| {
        is(reading, &format!("tcp.{port}.accept-queue"), 3.0)
    });
    assert!(is(&reading, &format!("tcp.{port}.accept-queue.limit"), 7.0));
    assert!(is(&reading, &format!("tcp.{port}.established"), 3.0));
    assert!(is(&reading, &format!("tcp.{port}.time-wait"), 0.0));
}

#[test]
fn a_full_accept_queue_overflows() {
    let (_listener, port) = listener(1);
    // The kernel lets one more wait than the limit says.
    let _clients = [client(port), client(port)];
    let mut watcher = Watcher::new(ports(port));
    let start = Instant::now();
    watcher.sample(start);
    let one_more = socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
    .unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    assert_eq!(
        connect(&one_more, &address),
        Err(rustix::io::Errno::INPROGRESS)
    );
    // The packet may still be under way, and is sent again when it was dropped.
    for second in 1_u32.. {
        let reading = watcher.sample(start + SECOND * second);
        assert!(is(&reading, &format!("tcp.{port}.accept-queue"), 2.0));
        assert!(is(&reading, &format!("tcp.{port}.accept-queue.limit"), 1.0));
        if reading["tcp.listen-overflows"] >= 1.0 {
            assert!(reading["tcp.listen-drops"] >= 1.0);
            break;
        }
        assert!(start.elapsed() < PATIENCE);
        std::thread::yield_now();
    }
}

#[test]
fn the_side_that_closes_first_keeps_the_connection_in_time_wait() {
    let (listener, port) = listener(16);
    for _ in 0..4 {
        let mut client = client(port);
        drop(listener.accept().unwrap());
        // The end of the stream tells that the server's close has arrived.
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
    }
    sample_until(ports(port), |reading| {
        is(reading, &format!("tcp.{port}.time-wait"), 4.0)
    });
}

#[test]
fn a_connection_that_only_the_client_closed_waits_for_the_server() {
    let (listener, port) = listener(16);
    let client = client(port);
    let (_accepted, _) = listener.accept().unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let reading = sample_until(ports(port), |reading| {
        is(reading, &format!("tcp.{port}.close-wait"), 1.0)
    });
    // The client's end is in FIN-WAIT-2, but it is not a connection of the port.
    assert!(is(&reading, &format!("tcp.{port}.fin-wait"), 0.0));
}

#[test]
fn a_port_without_listener_has_no_accept_queue() {
    let (listener, port) = listener(1);
    drop(listener);
    let reading = Watcher::new(ports(port)).sample(Instant::now());
    assert!(is(&reading, &format!("tcp.{port}.established"), 0.0));
    assert!(!reading.contains_key(format!("tcp.{port}.accept-queue").as_str()));
    assert!(!reading.contains_key(format!("tcp.{port}.accept-queue.limit").as_str()));
}

/// Seconds on a CPU by another account than the one the watcher reads.
fn on_cpu_s(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
    let ns: f64 = text.split(' ').next().unwrap().parse().unwrap();
    ns / 1e9
}

#[test]
fn a_child_that_spins_shows_its_cpu_and_its_waiting() {
    let child = Shell::run("while :; do :; done");
    let pid = child.0.id();
    let mut watcher = Watcher::new(processes(pid));
    let before = on_cpu_s(pid);
    let start = Instant::now();
    let first = watcher.sample(start);
    assert!(
        !first.contains_key("target.cpu.user"),
        "a rate needs two readings"
    );
    while on_cpu_s(pid) < before + 0.5 {
        std::thread::yield_now();
    }
    // The second account is read on both sides of the watcher's reading.
    let least = on_cpu_s(pid) - before;
    let reading = watcher.sample(start + SECOND);
    let most = on_cpu_s(pid) - before;
    let used = reading["target.cpu.user"] + reading["target.cpu.system"];
    // Clock ticks of 10 ms at each end, in two columns.
    assert!(
        (least - 0.04..=most + 0.04).contains(&used),
        "{used} not in {least}..{most}"
    );
    assert!(is(&reading, "target.threads", 1.0));
    assert!(is(&reading, "target.run-queue-wait.coverage", 1.0));
    assert!(reading["target.run-queue-wait"] >= 0.0);
    assert!(reading["target.memory.rss"] > 100_000.0);
    assert!(reading["cpu"] > 0.0);
}

#[test]
fn children_belong_to_the_target() {
    let shell = Shell::run("cat | cat");
    // The shell and two programs that copy their input.
    sample_until(processes(shell.0.id()), |reading| {
        is(reading, "target.threads", 3.0)
    });
}

#[test]
fn children_that_came_and_went_between_two_readings_are_counted() {
    let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let mut shell = Shell::run(&format!("read go; ({work}); times; read end"));
    let mut watcher = Watcher::new(processes(shell.0.id()));
    let start = Instant::now();
    watcher.sample(start);
    shell.say("go");
    // `times` prints user and system time of the shell, then of its children that ended.
    let mut lines = BufReader::new(shell.0.stdout.as_mut().unwrap()).lines();
    let children = lines.nth(1).unwrap().unwrap();
    let used_s: f64 = children.split(' ').map(minutes_and_seconds).sum();
    assert!(used_s > 0.05, "the child did some work: {children}");
    let reading = watcher.sample(start + SECOND);
    let seen_s = reading["target.cpu.user"] + reading["target.cpu.system"];
    assert!(
        (used_s - 0.04..used_s + 0.2).contains(&seen_s),
        "{seen_s} {used_s}"
    );
    assert!(is(&reading, "target.threads", 1.0), "the child is gone");
}

fn minutes_and_seconds(text: &str) -> f64 {
    let (minutes, seconds) = text.trim_end_matches('s').split_once('m').unwrap();
    60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
}

#[test]
fn a_target_that_is_not_there_or_has_ended_is_absent() {
    // The share of the CPUs that are busy goes on without it, and so does how many they are.
    let is_its_own = |name: &str| name.starts_with("target.") && name != "target.cpus";
    let absent = |reading: &Reading| !reading.keys().any(|name| is_its_own(name.as_str()));
    let mut shell = Shell::run("read end");
    let start = Instant::now();
    let mut both = Watcher::new(WatchPlan {
        target_pids: vec![shell.0.id(), std::process::id()],
        ..WatchPlan::default()
    });
    assert!(!absent(&both.sample(start)));
    // No process can have this id: it is above the largest that the kernel gives.
    assert!(absent(&Watcher::new(processes(u32::MAX)).sample(start)));
    shell.say("end");
    let mut watcher = Watcher::new(processes(shell.0.id()));
    for second in 1_u32.. {
        assert!(start.elapsed() < PATIENCE);
        // It has ended although nobody has waited for it; the other process is still there.
        let now = start + SECOND * second;
        let (alone, together) = (watcher.sample(now), both.sample(now));
        if absent(&alone) && absent(&together) {
            assert!(
                together.contains_key("machine.context-switches"),
                "the machine is still there"
            );
            break;
        }
    }
}

#[test]
fn every_signal_is_in_the_catalogue_and_the_machine_has_its_own() {
    let (_listener, port) = listener(16);
    let mut watcher = Watcher::new(WatchPlan {
        target_pids: vec![std::process::id()],
        ports: vec![port],
        own_process: true,
        ..WatchPlan::default()
    });
    let start = Instant::now();
    watcher.sample(start);
    // The CPUs' clocks must move on before there are shares of them.
    let mut second = 0;
    let reading = loop {
        second += 1;
        let reading = watcher.sample(start + SECOND * second);
        if reading.contains_key("cpu") && reading.contains_key("machine.cpu.user") {
            break reading;
        }
        assert!(start.elapsed() < PATIENCE, "{reading:#?}");
    };
    for name in reading.keys() {
        assert!(
            describe(name.as_str()).is_some(),
            "{name} is not in the catalogue"
        );
    }
    let share = |kind: &str| reading[format!("machine.cpu.{kind}").as_str()];
    let all = ["user", "system", "iowait", "steal", "idle"].map(share);
    assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{all:?}");
    for name in [
        "load.cpu",
        "load.sockets",
        "tcp.resets",
        "target.context-switches.voluntary",
    ] {
        assert!(reading.contains_key(name), "{name}");
    }
}

/// A server that tells one stage, each time with two seconds more of occupancy.
fn metrics_server() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/metrics", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut pages = 0..;
        for connection in listener.incoming().flatten() {
            // A scrape that was given up comes again with another connection.
            let _ = tell_pages(&connection, &mut pages);
        }
    });
    url
}

fn tell_pages(mut connection: &TcpStream, pages: &mut impl Iterator<Item = u32>) -> Result<()> {
    for line in BufReader::new(connection).lines() {
        if line?.is_empty() {
            let body = format!(
                "weir_stage_limit{{stage=\"threads\"}} 50\n\
                 weir_stage_occupancy_seconds_total{{stage=\"threads\"}} {}\n",
                2 * pages.next().unwrap()
            );
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            connection.write_all((head + &body).as_bytes())?;
        }
    }
    Ok(())
}

#[test]
fn stages_are_read_from_a_server_that_tells_them() {
    let plan = WatchPlan {
        sources: vec![Source::prometheus(metrics_server().parse().unwrap())],
        ..WatchPlan::default()
    };
    // Two answers in a row within the time that they may take, however busy the machine is.
    let reading = sample_until(plan, |reading| reading.contains_key("threads.occupancy"));
    assert!(is(&reading, "threads.occupancy", 2.0));
    assert!(is(&reading, "threads.limit", 50.0));
}

#[test]
fn of_two_sources_the_one_that_answers_tells_and_says_where_from() {
    let (_listener, silent) = listener(16);
    let silent = format!("http://127.0.0.1:{silent}/metrics");
    let telling = metrics_server();
    let sources = [&silent, &telling].map(|url| Source::prometheus(url.parse().unwrap()));
    let start = Instant::now();
    let mut watcher = Watcher::new(WatchPlan {
        sources: sources.to_vec(),
        ..WatchPlan::default()
    });
    // The one that answers may be late on a busy machine; the other always is.
    for second in 1_u32.. {
        let reading = watcher.sample(start + SECOND * second);
        assert!(reading.contains_key("cpu") || second == 1, "{reading:#?}");
        let told = reading.contains_key("threads.limit") && second > 1;
        if told || start.elapsed() > PATIENCE {
            break;
        }
    }
    let origins = watcher.origins();
    let expected = format!("{telling} weir_stage_limit");
    assert_eq!(origins.get("threads.limit"), Some(&expected));
    assert_eq!(origins["cpu"], "/proc/stat");
}

#[test]
fn what_this_machine_tells_does_not_come_from_another() {
    let page = "node_context_switches_total 5\nweir_stage_limit{stage=\"threads\"} 7\n\
        node_pressure_cpu_waiting_seconds_total 1\nprocess_resident_memory_bytes 9\n";
    let read = |machine| {
        let url = serve_page(page);
        let start = Instant::now();
        let mut watcher = Watcher::new(WatchPlan {
            target_pids: vec![std::process::id()],
            sources: vec![Source::prometheus(url.parse().unwrap())],
            machine,
            ..WatchPlan::default()
        });
        for second in 1_u32.. {
            let reading = watcher.sample(start + SECOND * second);
            let told = reading.contains_key("threads.limit") && second > 1;
            if told || start.elapsed() > PATIENCE {
                return reading;
            }
        }
        unreachable!("the loop only ends by returning")
    };
    let here = read(WatchedMachine::This);
    assert!(here["target.memory.rss"] > 9.0);
    let there = read(WatchedMachine::Unseen);
    assert!(is(&there, "target.memory.rss", 9.0));
    assert!(is(&there, "machine.context-switches", 0.0));
    assert!(!there.contains_key("machine.cpu.idle"), "of this machine");
    assert!(!there.contains_key("target.threads"));
}

/// A server that answers every request of one connection after the other with this page.
fn serve_page(page: &'static str) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
            while let Some(Ok(line)) = lines.next() {
                if line.is_empty() {
                    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
                    let _ = connection.write_all((head + page).as_bytes());
                }
            }
        }
    });
    url
}

#[test]
fn a_server_that_does_not_answer_only_makes_its_stages_absent() {
    let (_listener, port) = listener(16);
    let url = format!("http://127.0.0.1:{port}/metrics");
    let mut watcher = Watcher::new(WatchPlan {
        sources: vec![Source::prometheus(url.parse().unwrap())],
        own_process: true,
        ..WatchPlan::default()
    });
    let reading = watcher.sample(Instant::now());
    assert!(reading.contains_key("load.memory.rss"));
    assert!(
        !reading
            .keys()
            .any(|name| name.as_str().starts_with("threads"))
    );
}

#[test]
fn the_thread_tells_every_second_in_turn() {
    let plan = WatchPlan {
        own_process: true,
        ..WatchPlan::default()
    };
    let origin = Instant::now();
    let (watch, readings) = WatchThread::start(plan, origin, "0".parse().ok()).unwrap();
    let told: Vec<_> = (0..3)
        .map(|_| readings.recv_timeout(PATIENCE).unwrap())
        .collect();
    watch.stop();
    assert!(readings.recv().is_err(), "nothing comes after the stop");
    for (at, second) in told.iter().enumerate() {
        assert_eq!(second.second, told[0].second + at as u64, "{told:#?}");
        assert!(second.late_by < SECOND);
    }
    // The last of them ended before now.
    assert!(origin.elapsed() >= SECOND * told[2].second as u32);
    for reading in told.iter().filter_map(|told| told.reading.as_ref()) {
        assert!((0.0..1.0).contains(&reading["watch.cpu"]), "{reading:#?}");
        assert!(reading["load.cpu"] >= 0.0);
    }
}

#[test]
fn a_watch_is_stopped_in_the_middle_of_a_wait() {
    let origin = Instant::now() + Duration::from_secs(3600);
    let (watch, readings) = WatchThread::start(WatchPlan::default(), origin, None).unwrap();
    watch.stop();
    assert!(readings.recv().is_err());
    assert!(Instant::now() < origin, "it did not wait for its origin");
}

#[test]
fn cpus_that_the_machine_lacks_are_an_error() {
    let cpus = "1000".parse().ok();
    let failed = WatchThread::start(WatchPlan::default(), Instant::now(), cpus).unwrap_err();
    assert!(matches!(failed, ProbeError::Affinity { .. }), "{failed}");
    assert!(failed.to_string().contains("1000"));
}
