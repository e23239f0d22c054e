//! The CPU of the server behind: found, read, lost and found again.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use weir_gateway::{CpuStatus, Gateway, GatewayError};

use crate::client::Client;
use crate::recorder::{Recorder, ok};
use crate::support::{admin, front, gate, gate_to, settings, stands, status, until};

/// This test program once more, as a server of its own that answers and computes; it ends with this
/// value.
struct Server {
    child: Child,
    address: SocketAddr,
}

/// Of the child: where it is to listen.
const LISTEN: &str = "WEIR_TEST_LISTEN";

impl Server {
    fn start(at: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["cpu::serve", "--exact", "--nocapture"])
            .env(LISTEN, at)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address =
            lines.find_map(|line| line.unwrap().strip_prefix("listens on ")?.parse().ok());
        // What else it writes has to go somewhere.
        thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            address: address.expect("it says where it listens"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server's side. As a test of its own it has nothing to do.
#[test]
fn serve() {
    let Ok(at) = std::env::var(LISTEN) else {
        return;
    };
    let listener = TcpListener::bind(at).unwrap();
    let address = listener.local_addr().unwrap();
    std::io::stdout()
        .write_all(format!("\nlistens on {address}\n").as_bytes())
        .unwrap();
    thread::spawn(compute);
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer(stream.unwrap()));
        }
    });
    // It ends with whoever started it.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Half of a CPU.
fn compute() {
    let stretch = Duration::from_millis(20);
    loop {
        let begun = Instant::now();
        while begun.elapsed() < stretch {
            std::hint::black_box(0);
        }
        thread::sleep(stretch);
    }
}

fn answer(mut stream: TcpStream) {
    let mut bytes = [0; 4096];
    while stream.read(&mut bytes).is_ok_and(|count| count > 0) {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
}

fn cpu(gate: &Gateway) -> CpuStatus {
    status(gate).cpu.expect("there is something to read")
}

fn is_busy(cpu: &CpuStatus) -> bool {
    cpu.busy.is_some_and(|busy| busy > 0.0)
}

const GOAL: &str = "[limit.adaptive]\ngoal = \"cpu <= 80 %\"\n";

#[test]
fn the_process_behind_the_port_is_found_and_found_again() {
    let server = Server::start("127.0.0.1:0");
    let address = server.address;
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let telling = Arc::clone(&told);
    let gate = Gateway::start_from(
        None,
        settings(&[address], GOAL),
        String::new(),
        move |says| {
            telling.lock().unwrap().push(says.to_owned());
        },
    )
    .unwrap();
    until("it is read", || is_busy(&cpu(&gate)));
    let first = cpu(&gate);
    let name =
        |server: &Server| format!("process {} on port {}", server.child.id(), address.port());
    assert_eq!(first.from, Some(name(&server)));
    assert_eq!((first.goal, first.not_read.as_deref()), (Some(0.8), None));
    let before = status(&gate).all.limit.expect("a goal is a limit");
    assert!(before > 0.0);
    drop(server);
    until("its loss is told", || cpu(&gate).not_read.is_some());
    assert_eq!(cpu(&gate).losses, 1);
    // What stands in front goes on.
    assert_eq!(Client::connect(front(&gate)).get("/").status, 502);
    let server = Server::start(&address.to_string());
    until("its successor is read", || {
        let cpu = cpu(&gate);
        is_busy(&cpu) && cpu.from == Some(name(&server))
    });
    assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    let told = told.lock().unwrap().clone();
    assert!(
        told.first().unwrap().contains("is read: process"),
        "{told:?}"
    );
    assert!(
        told.iter().any(|says| says.contains("is not read: ")),
        "{told:?}"
    );
    assert_eq!(
        told.last().unwrap(),
        &format!("the CPU of the backends is read: {}", name(&server))
    );
}

/// A limit that is to keep CPUs that this test keeps busy below a goal comes down to its least.
#[test]
fn a_limit_follows_the_reading() {
    let server = Server::start("127.0.0.1:0");
    let rest = "[limit.adaptive]\ngoal = \"cpu <= 1 %\"\nmin = 0.25\nmax = 1\n";
    let gate = gate_to(&[server.address], rest);
    stands(&gate, "the limit has come down", |status| {
        status.all.limit == Some(0.25)
    });
    // A quarter of a slot is one that is there for some of the time.
    let mut client = Client::connect(front(&gate));
    assert_eq!((client.get("/").status, client.get("/").status), (200, 200));
}

/// A page of metrics of one CPU that is busy for this share of the time between two looks.
fn exporter(busy: &Arc<Mutex<f64>>) -> Recorder {
    let busy = Arc::clone(busy);
    let counted = Mutex::new((0.0, 0.0));
    Recorder::start(move |_, stream| {
        let mut counted = counted.lock().unwrap();
        let busy = *busy.lock().unwrap();
        counted.0 += busy;
        counted.1 += 1.0 - busy;
        let page = format!(
            "node_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {}\nnode_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} {}\n",
            counted.0, counted.1
        );
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
        let _ = stream.write_all((head + &page).as_bytes());
    })
}

#[test]
fn a_page_of_metrics_is_read() {
    let exporter = exporter(&Arc::new(Mutex::new(0.75)));
    let backend = Recorder::ok();
    let from = format!("http://{}/metrics", exporter.address);
    let gate = gate(
        &backend,
        &format!("{GOAL}cpu-from = {{ prometheus = \"{from}\" }}\n"),
    );
    until("it is read", || cpu(&gate).busy == Some(0.75));
    assert_eq!(cpu(&gate).from, Some(from.clone()));
    assert_eq!(exporter.targets().first().unwrap(), "/metrics");
    let admin = admin(&gate);
    let metrics = Client::connect(admin).get_of("127.0.0.1", "/metrics").body;
    for line in [
        &format!("weir_gate_backend_cpu_busy_ratio{{from=\"{from}\"}} 0.75"),
        "weir_gate_backend_cpu_goal_ratio 0.8",
        "weir_gate_backend_cpu_losses_total 0",
    ] {
        assert!(
            metrics.lines().any(|told| told == line),
            "{line} in\n{metrics}"
        );
    }
}

/// Other work fills the CPUs for some readings, while twelve clients want something of a server
/// that answers after 200 ms. Once it is over, the limit is back before as many requests have ended
/// as would show what each of its steps brings.
#[test]
fn what_other_work_took_of_a_limit_is_soon_back() {
    let busy = Arc::new(Mutex::new(0.3));
    let exporter = exporter(&busy);
    let backend = Recorder::start(|_, stream| {
        thread::sleep(Duration::from_millis(200));
        ok(stream);
    });
    let gate = gate(
        &backend,
        &format!(
            "{GOAL}start = 8\nmax = 8\ncpu-from = {{ prometheus = \"http://{}/\" }}\n",
            exporter.address
        ),
    );
    let ends = AtomicBool::new(false);
    // A test that fails is to end, too.
    let last = Instant::now() + Duration::from_secs(60);
    thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let mut client = Client::connect(front(&gate));
                while !ends.load(Ordering::Relaxed) && Instant::now() < last {
                    client.get("/");
                }
            });
        }
        let limit = || status(&gate).all.limit.unwrap();
        until("it is read", || cpu(&gate).readings >= 2);
        *busy.lock().unwrap() = 1.0;
        until("the limit is low", || limit() < 2.0);
        *busy.lock().unwrap() = 0.05;
        let before = cpu(&gate).readings;
        until("the limit is back", || limit() > 7.0);
        let readings = cpu(&gate).readings - before;
        ends.store(true, Ordering::Relaxed);
        // From above one in steps of two, one reading of before the end, and one late.
        assert!(readings <= 5, "{readings} readings");
    });
}

/// Nothing is there to be read: traffic goes on, and the status says what is missing.
#[test]
fn what_cannot_be_read_is_told() {
    let backend = Recorder::ok();
    for (place, why) in [
        ("cpus = \"8000\"", "none of them is online"),
        ("cgroup = \"no-such-group\"", "it is not there"),
        ("pid = 2147483647", "it has ended"),
        ("prometheus = \"http://127.0.0.1:1/metrics\"", "connect"),
        (
            &format!("prometheus = \"http://{}/\"", backend.address),
            "none of node_cpu_seconds_total",
        ),
    ] {
        let gate = gate(&backend, &format!("{GOAL}cpu-from = {{ {place} }}\n"));
        until(place, || {
            cpu(&gate).not_read.is_some_and(|says| says.contains(why))
        });
        assert_eq!(cpu(&gate).busy, None, "{place}");
        assert_eq!(
            Client::connect(front(&gate)).get("/").status,
            200,
            "{place}"
        );
        assert!(status(&gate).to_string().contains(why), "{place}");
    }
}

#[test]
fn a_goal_needs_a_place_to_read() {
    // A test address (RFC 5737), which no machine has.
    let elsewhere: SocketAddr = "192.0.2.1:80".parse().unwrap();
    let start = |rest: &str| Gateway::start(settings(&[elsewhere], rest), String::new());
    let error = start(GOAL).unwrap_err();
    assert!(
        matches!(&error, GatewayError::CpuElsewhere { backends } if backends == "http://192.0.2.1:80"),
        "{error}"
    );
    assert!(
        error.to_string().contains("cpu-from = { prometheus"),
        "{error}"
    );
    // Without a goal it goes on without.
    let gate = start("[limit]\nconcurrency = \"auto\"\n").unwrap();
    assert_eq!(status(&gate).cpu, None);
    let gate = start(&format!("{GOAL}cpu-from = {{ cpus = \"0\" }}\n")).unwrap();
    assert!(cpu(&gate).goal.is_some());
    let refused = gate.reload(settings(&[elsewhere], GOAL));
    assert!(
        matches!(refused, Err(GatewayError::CpuElsewhere { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_reload_reads_elsewhere() {
    let server = Server::start("127.0.0.1:0");
    let read = |from: &str| settings(&[server.address], &format!("{GOAL}{from}"));
    let gate = Gateway::start(read(""), String::new()).unwrap();
    until("the process is read", || is_busy(&cpu(&gate)));
    gate.reload(read("cpu-from = { cpus = \"0\" }\n")).unwrap();
    until("the CPU is read", || {
        cpu(&gate).from.as_deref() == Some("CPUs 0") && cpu(&gate).busy.is_some()
    });
}
