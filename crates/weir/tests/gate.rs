//! `weir gate` as it is typed: from its file to its end, in front of the sample server.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "tests state what must hold, and limits are exact numbers"
)]

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use serde_json::Value;
use support::{Done, PATIENCE, Place, Running, SampleServer, assert_valid, names_in};

/// How long a study of two short trials may take on a busy machine, which may repeat them.
const STUDY: Duration = Duration::from_secs(240);

/// The file of a gateway in front of a server.
fn file(server: &SampleServer, rest: &str) -> String {
    format!(
        "listen = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\nthreads = 1\nbackends = [\"http://127.0.0.1:{}\"]\n{rest}",
        server.port()
    )
}

/// A gateway that takes requests, where it listens, and its admin port.
fn start(place: &Place, text: &str) -> (Running, String, String) {
    start_with(place, text, &[])
}

fn start_with(place: &Place, text: &str, options: &[&str]) -> (Running, String, String) {
    place.write("gate.toml", text);
    let mut gate = place.start(&[&["gate", "gate.toml"], options].concat());
    let ready: Value = gate.wait_for("a line that says it is ready", PATIENCE, |gate| {
        serde_json::from_str(&gate.printed()).ok()
    });
    let listen = ready["listen"][0].as_str().unwrap().to_owned();
    let admin = ready["admin"].as_str().unwrap().to_owned();
    (gate, listen, admin)
}

/// The status of the answer to a request.
fn get(listen: &str) -> std::io::Result<String> {
    get_path(listen, "/light?n=5")
}

fn get_path(listen: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(listen)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.get(9..12).unwrap_or_default().to_owned())
}

#[test]
fn a_gateway_from_its_file_to_its_end() {
    let (place, server) = (Place::new(), SampleServer::start());
    let (mut gate, listen, admin) = start(&place, &file(&server, "[limit]\nconcurrency = 2\n"));
    assert_eq!(get(&listen).unwrap(), "200");
    let admin = format!("http://{admin}");
    place
        .weir(&["gate", "status", "--admin", &admin])
        .ends(0)
        .prints(&["offered", "other", "http://127.0.0.1:"]);
    let status = place
        .weir(&["gate", "status", "--admin", &admin, "--json", "-"])
        .ends(0)
        .json();
    assert_eq!(status["all"]["admitted"], 1);
    assert_eq!(status["all"]["limit"], 2.0);
    // A file with a mistake changes nothing.
    place.write("gate.toml", &file(&server, "[limit]\nconcurency = 3\n"));
    gate.signal(Signal::HUP);
    gate.wait_for("word of the mistake", PATIENCE, |gate| {
        gate.talk()
            .contains("stay as they were")
            .then(|| assert!(gate.talk().contains("did you mean `concurrency`?")))
    });
    place.write("gate.toml", &file(&server, "[limit]\nconcurrency = 3\n"));
    gate.signal(Signal::HUP);
    gate.wait_for("word of the change", PATIENCE, |gate| {
        gate.talk()
            .contains("limit.concurrency: ")
            .then(|| assert!(gate.talk().contains("read again")))
    });
    let status = place
        .weir(&["gate", "status", "--admin", &admin, "--json", "-"])
        .ends(0)
        .json();
    assert_eq!(status["all"]["limit"], 3.0);
    assert_valid("docs/schemas/gate-status.schema.json", &status);
    gate.signal(Signal::TERM);
    gate.done(PATIENCE)
        .ends(0)
        .says(&["those that run may end"]);
    place
        .weir(&["gate", "status", "--admin", &admin])
        .ends(3)
        .says(&["is a gateway running there?"]);
}

#[test]
fn a_mistake_is_explained_at_its_line() {
    let place = Place::new();
    place.write(
        "gate.toml",
        "listen = \"8081\"\nbackends = []\n[limit]\nrate = \"50\"\n[[class]]\nnme = \"light\"\n",
    );
    for words in [&["check", "gate.toml"][..], &["gate", "gate.toml"]] {
        place.weir(words).ends(2).says(&[
            "gate.toml:1:10",
            "127.0.0.1:8081",
            "gate.toml:2:12",
            "http://127.0.0.1:8080",
            "gate.toml:4:8",
            "50/s",
            "gate.toml:6:1",
            "did you mean `name`?",
        ]);
    }
    let good = "listen = \"127.0.0.1:0\"\nbackends = [\"http://127.0.0.1:1\"]\n";
    place.write("gate.toml", good);
    place
        .weir(&["check", "gate.toml"])
        .ends(0)
        .prints(&["nothing is wrong"]);
    place.write(
        "gate.toml",
        &format!("{good}[limit.adaptive]\ngoal = \"cpu <= 100 %\"\n"),
    );
    place
        .weir(&["check", "gate.toml"])
        .ends(2)
        .says(&["gate.toml:4:8", "write a share below 100 %"]);
}

/// Nothing is learnt without bounds, nor before anybody has waited; then it is said, and written
/// when the gateway ends.
#[test]
fn what_is_learnt_is_written_at_the_end() {
    let (place, server) = (Place::new(), SampleServer::start());
    place.write("gate.toml", &file(&server, "[limit.adaptive]\nmin = 1\n"));
    place
        .weir(&["gate", "gate.toml", "--learn"])
        .ends(2)
        .says(&["gate.toml:5:2", "`min` and `max`", "such as `min = 20`"]);
    let limit = "[limit]  # over all\nmax-wait = \"60s\"\n[limit.adaptive]\nmin = 1\nmax = 2\n";
    let learn = ["--learn", "--write", "GATE.toml"];
    let (gate, listen, admin) = start_with(&place, &file(&server, limit), &learn);
    let admin = format!("http://{admin}");
    let learnt = || {
        let status = place.weir(&["gate", "status", "--admin", &admin, "--json", "-"]);
        let status = status.ends(0).json();
        assert_valid("docs/schemas/gate-status.schema.json", &status);
        status.get("learnt").cloned()
    };
    assert_eq!(learnt(), None);
    for _ in 0..6 {
        let listen = listen.clone();
        // Each takes 20 ms and hardly any CPU time, so that four of six wait; until the gateway has
        // ended.
        thread::spawn(move || while get_path(&listen, "/heavy?walks=1&pause-ms=20").is_ok() {});
    }
    let learnt = support::wait_for("something learnt", PATIENCE, learnt);
    let number = learnt["concurrency"].as_f64().unwrap();
    assert!((1.0..=2.0).contains(&number), "{learnt}");
    gate.signal(Signal::INT);
    gate.done(PATIENCE).ends(0).says(&[
        "from 1 to 2, by at most 5 % at a time",
        "learnt: ",
        "wrote GATE.toml",
    ]);
    let held = place.read("GATE.toml");
    assert!(held.contains("# over all"), "{held}");
    // On a machine so slow that half a minute has gone by, it has come to rest.
    assert!(
        held.contains("start = ") || held.contains("concurrency = "),
        "{held}"
    );
    place.weir(&["check", "GATE.toml"]).ends(0);
}

/// When the system has no more open files, those who are in are served, and others when there are
/// some again.
#[test]
fn without_open_files_the_gateway_goes_on() {
    let (place, server) = (Place::new(), SampleServer::start());
    let (gate, listen, admin) = start(
        &place,
        &file(&server, "[timeouts]\nbackend-idle = \"60s\"\n"),
    );
    let mut inside = TcpStream::connect(&listen).unwrap();
    let mut ask = || {
        inside
            .write_all(b"GET /light?n=5 HTTP/1.1\r\nHost: a\r\n\r\n")
            .unwrap();
        let mut answer = [0; 4096];
        let count = inside.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..count]).contains("HTTP/1.1 200")
    };
    assert!(ask());
    let pid = Pid::from_raw(gate.pid().cast_signed());
    let before = prlimit(
        pid,
        Resource::Nofile,
        Rlimit {
            current: Some(3),
            maximum: rustix::process::getrlimit(Resource::Nofile).maximum,
        },
    )
    .unwrap();
    let mut outside = TcpStream::connect(&listen).unwrap();
    outside.set_read_timeout(Some(PATIENCE)).unwrap();
    outside
        .write_all(b"GET /light?n=5 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        .unwrap();
    for _ in 0..10 {
        assert!(ask(), "who is in is served over a kept connection");
    }
    prlimit(pid, Resource::Nofile, before).unwrap();
    let mut answer = String::new();
    outside.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let status = place
        .weir(&[
            "gate",
            "status",
            "--admin",
            &format!("http://{admin}"),
            "--json",
            "-",
        ])
        .ends(0)
        .json();
    assert_eq!(status["all"]["finished"], 12);
}

/// A study through a gateway in front of a server that runs already, and of which nothing is set.
const THROUGH_A_GATE: &str = r#"
schema = "weir/study/1"
question = "What waits where?"
[target.external]
url = "http://127.0.0.1:PORT"
[gate]
concurrency = 3
[load]
url = "/light?n=20"
window = "5 s"
warm-up = "0 s"
[sweep]
design = "cases"
[[sweep.case]]
name = "one at a time"
set = { users = 6, gate.concurrency = 1 }
[[sweep.case]]
name = "as the table says"
set = { users = 6 }
[[sweep.column]]
title = "Waiting in the gate"
signal = "gate.waiting"
[[sweep.column]]
title = "Connections of the gate"
signal = "tcp.gate.established"
"#;

/// What is measured is the business of the studies; what is asserted holds on the busiest machine.
#[test]
fn a_study_sets_the_gateway_while_everything_runs() {
    let (place, server) = (Place::new(), SampleServer::start());
    place.write("gated.toml", &THROUGH_A_GATE.replace("PORT", server.port()));
    let weir = place.start(&["sweep", "gated.toml", "--json", "result.json"]);
    // A trial that the machine spoils counts for no answer, but is stored all the same.
    weir.done(STUDY)
        .ends_one_of(&[0, 4])
        .says(&["the load goes through a gateway on 127.0.0.1:"]);
    assert!(support::runs(server.pid()), "the server is left alone");
    let result = support::json_file(&place.path("result.json"));
    support::assert_valid("docs/schemas/result.schema.json", &result);
    assert_eq!(result["target"]["stages"][0]["name"], "gate");
    for trial in result["trials"].as_array().unwrap() {
        let cap = trial["levels"]["gate.concurrency"].as_f64();
        let cap = cap.unwrap_or(3.0);
        let signals = &trial["signals"];
        let read = |name: &str| {
            let value = signals[name].as_f64();
            value.unwrap_or_else(|| panic!("{name} in {signals}"))
        };
        assert_eq!(read("gate.limit"), cap);
        // Never more than it may, as means over seconds whose ends a busy machine reads late.
        assert!(read("gate.occupancy") <= 1.25 * cap);
        // Six users without a thought: whoever is not let in waits.
        assert!(read("gate.waiting") > 0.0 && read("gate.waiting") <= 1.25 * 6.0);
        assert_eq!(read("gate.refused"), 0.0);
        assert_eq!(trial["errors"]["count"], 0);
        assert!(read("tcp.gate.established") > 0.0);
    }
    let of_trials = names_in(&place.path("weir-runs")).pop().unwrap();
    let file = format!("weir-runs/{of_trials}/gate-of-trials.toml");
    place.weir(&["check", &file]).ends(0);
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap().port()
}

/// One request after the other, on kept connections or on one each, until told; what failed.
fn ask(listen: &str, keeps: bool, ends: &AtomicBool, answered: &AtomicU32) -> Vec<String> {
    let mut failed = Vec::new();
    let mut kept: Option<BufReader<TcpStream>> = None;
    while !ends.load(Ordering::Relaxed) {
        let mut once = || -> std::io::Result<bool> {
            let mut stream = match kept.take() {
                Some(stream) => stream,
                None => BufReader::new(TcpStream::connect(listen)?),
            };
            stream.get_ref().set_read_timeout(Some(PATIENCE))?;
            let close = if keeps { "" } else { "Connection: close\r\n" };
            let request = format!("GET /light?n=5 HTTP/1.1\r\nHost: a\r\n{close}\r\n");
            stream.get_mut().write_all(request.as_bytes())?;
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") {
                if stream.read_line(&mut head)? == 0 {
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
            }
            let head = head.to_ascii_lowercase();
            for line in head.lines() {
                if let Some(value) = line.strip_prefix("content-length: ") {
                    length = value.parse().unwrap_or_default();
                }
            }
            stream.read_exact(&mut vec![0; length])?;
            if keeps && !head.contains("connection: close") {
                kept = Some(stream);
            }
            Ok(head.contains(" 200 "))
        };
        match once() {
            Ok(true) => drop(answered.fetch_add(1, Ordering::Relaxed)),
            Ok(false) => failed.push("another status".to_owned()),
            Err(error) => failed.push(format!("{error}, kept: {keeps}")),
        }
        thread::sleep(Duration::from_millis(1));
    }
    failed
}

/// Requests of which a gateway that has ended says that it has let them in and that they are over.
fn finished(ended: &Done) -> u64 {
    let last = ended.stdout.lines().last().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    let all = &last["ended"]["all"];
    assert_eq!(all["finished"], all["admitted"], "{all}");
    all["finished"].as_u64().unwrap()
}

/// Twenty times another process takes over, while eight clients ask all the time.
#[test]
fn a_gateway_is_replaced_under_load_and_no_request_fails() {
    let (place, server) = (Place::new(), SampleServer::start());
    let (port, admin) = (free_port(), free_port());
    let text = format!(
        "listen = \"127.0.0.1:{port}\"\nadmin = \"127.0.0.1:{admin}\"\nthreads = 1\nhand-over = \"gate.sock\"\nbackends = [\"http://127.0.0.1:{}\"]\n",
        server.port()
    );
    let (first, listen, _) = start(&place, &text);
    let (ends, answered) = (AtomicBool::new(false), AtomicU32::new(0));
    let mut counted = 0;
    let gate = thread::scope(|scope| {
        let asking = |keeps| {
            scope.spawn({
                let (listen, ends, answered) = (&listen, &ends, &answered);
                move || ask(listen, keeps, ends, answered)
            })
        };
        let clients: Vec<_> = (0..8).map(|client| asking(client % 4 > 0)).collect();
        let mut gate = first;
        for _ in 0..20 {
            let (next, ..) = start(&place, &text);
            let ended = gate.done(PATIENCE).ends(0);
            counted += finished(&ended.says(&["another gateway has taken over"]));
            gate = next;
        }
        ends.store(true, Ordering::Relaxed);
        let failed: Vec<String> = clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect();
        let answered = answered.load(Ordering::Relaxed);
        assert!(
            failed.is_empty(),
            "{} of {answered}: {failed:?}",
            failed.len()
        );
        assert!(answered > 500, "{answered}");
        gate
    });
    gate.signal(Signal::TERM);
    counted += finished(&gate.done(PATIENCE).ends(0));
    let answered = u64::from(answered.into_inner());
    assert_eq!(counted, answered, "what all of them have counted");
    assert!(!place.path("gate.sock").exists());
}

/// As the kubelet changes what it has mounted: by a link that leads elsewhere.
#[test]
fn a_mounted_file_is_read_again_when_it_changes() {
    let (place, server) = (Place::new(), SampleServer::start());
    let text = |limit: u32| {
        format!(
            "listen = \"127.0.0.1:0\"\nadmin = false\nwatch = true\nbackends = [\"http://127.0.0.1:{}\"]\n[limit]\nconcurrency = {limit}\n",
            server.port()
        )
    };
    for (folder, limit) in [("one", 4), ("two", 5)] {
        std::fs::create_dir(place.path(folder)).unwrap();
        place.write(&format!("{folder}/gate.toml"), &text(limit));
    }
    std::os::unix::fs::symlink("one", place.path("..data")).unwrap();
    std::os::unix::fs::symlink("..data/gate.toml", place.path("gate.toml")).unwrap();
    let mut gate = place.start(&["gate", "gate.toml"]);
    gate.wait_for("a gateway that takes requests", PATIENCE, |gate| {
        gate.printed().contains("listen").then_some(())
    });
    std::os::unix::fs::symlink("two", place.path("..data_tmp")).unwrap();
    std::fs::rename(place.path("..data_tmp"), place.path("..data")).unwrap();
    gate.wait_for("word of the change", PATIENCE, |gate| {
        let talk = gate.talk();
        talk.contains("limit.concurrency: 4 → 5").then_some(())
    });
    gate.signal(Signal::TERM);
    gate.done(PATIENCE).ends(0).says(&["gate.toml: read again"]);
}

/// CPU time that a process has spent, in milliseconds.
fn cpu_ms(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: f64 = ticks.map(|field| field.parse::<f64>().unwrap()).sum();
    ticks * 1e3 / rustix::param::clock_ticks_per_second() as f64
}

/// What a backend is to do is so little that more of them are wanted, and a program is told.
#[test]
fn a_program_is_told_how_many_backends_are_wanted() {
    let (place, server) = (Place::new(), SampleServer::start());
    let text = format!(
        "listen = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\nbackends = [\"http://127.0.0.1:{}\"]\n\
         [scale]\ncpu = \"50 %\"\ncpus = 0.002\nmax = 7\nup-after = \"1s\"\n\
         command = [\"sh\", \"-c\", \"echo $0 >> told\"]\n",
        server.port()
    );
    let (mut gate, listen, admin) = start(&place, &text);
    let before_ms = cpu_ms(server.pid());
    let (ends, answered) = (AtomicBool::new(false), AtomicU32::new(0));
    let status = thread::scope(|scope| {
        scope.spawn(|| ask(&listen, true, &ends, &answered));
        let told = place.path("told");
        gate.wait_for("word to the program", PATIENCE, |_| {
            told.exists().then_some(())
        });
        let status = place.weir(&[
            "gate",
            "status",
            "--admin",
            &format!("http://{admin}"),
            "--json",
            "-",
        ]);
        ends.store(true, Ordering::Relaxed);
        status.ends(0).json()
    });
    let told = std::fs::read_to_string(place.path("told")).unwrap();
    let told: u32 = told.lines().next().unwrap().parse().unwrap();
    assert!((2..=7).contains(&told), "{told}");
    let scale = &status["scale"];
    assert_eq!(scale["asked"], told);
    let demand_ms = scale["demand_ms"].as_f64().unwrap();
    // What the system says that the server has spent on the same requests.
    let requests = f64::from(answered.load(Ordering::Relaxed));
    let spent_ms = (cpu_ms(server.pid()) - before_ms) / requests;
    let ratio = demand_ms / spent_ms;
    assert!((0.7..1.4).contains(&ratio), "{demand_ms} ms, {spent_ms} ms");
    gate.signal(Signal::TERM);
    gate.done(PATIENCE)
        .ends(0)
        .says(&[&format!("{told} backends are wanted: sh is told")]);
}

/// The file in the manifest is one that a gateway takes, with what the manifest gives it.
#[test]
fn the_manifest_of_a_pod_has_a_good_file() {
    let manifest = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/how-to/gate-sidecar.yaml"
    );
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let (_, file) = manifest.split_once("  gate.toml: |\n").unwrap();
    let lines = file
        .lines()
        .take_while(|line| line.is_empty() || line.starts_with("    "));
    let file: Vec<&str> = lines
        .map(|line| line.get(4..).unwrap_or_default())
        .collect();
    let variable = |name: &str| {
        let is_given = manifest.contains(&format!("- name: {name}\n"));
        is_given.then(|| "0123456789abcdef".to_owned())
    };
    let settings = weir_gateway::Settings::parse_with(&file.join("\n"), variable);
    let settings = settings.unwrap_or_else(|problems| panic!("{problems:#?}"));
    settings.check().unwrap();
    assert!(settings.watches_file);
    assert_eq!(settings.admin_token.as_deref(), Some("0123456789abcdef"));
    assert_eq!(
        settings.backends[0].address.to_string(),
        "http://127.0.0.1:8080"
    );
    let grace = manifest
        .split_once("terminationGracePeriodSeconds: ")
        .unwrap()
        .1;
    let grace: u64 = grace.lines().next().unwrap().parse().unwrap();
    assert!(grace > settings.timeouts.drain.as_secs());
}

/// A second one with a file that cannot be held leaves the first as it is.
#[test]
fn a_successor_that_cannot_start_takes_nothing_over() {
    let (place, server) = (Place::new(), SampleServer::start());
    let port = free_port();
    let text = |rest: &str| {
        format!(
            "listen = \"127.0.0.1:{port}\"\nadmin = false\nhand-over = \"gate.sock\"\nbackends = [\"http://127.0.0.1:{}\"]\n{rest}",
            server.port()
        )
    };
    place.write("gate.toml", &text(""));
    let mut gate = place.start(&["gate", "gate.toml"]);
    let listen = format!("127.0.0.1:{port}");
    gate.wait_for("a gateway that takes requests", PATIENCE, |_| {
        get(&listen)
            .is_ok_and(|status| status == "200")
            .then_some(())
    });
    place.write("gate.toml", &text("access-log = \"no/such/folder/log\"\n"));
    place
        .weir(&["gate", "gate.toml"])
        .ends(3)
        .says(&["no/such/folder/log"]);
    assert_eq!(get(&listen).unwrap(), "200");
    gate.signal(Signal::TERM);
    gate.done(PATIENCE).ends(0);
}

/// As systemd starts it: with a socket that is open already, and somebody who wants to be told.
#[test]
fn a_service_manager_opens_the_socket_and_is_told() {
    let (place, server) = (Place::new(), SampleServer::start());
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = socket.local_addr().unwrap().to_string();
    let text = format!(
        "listen = \"{listen}\"\nadmin = false\nbackends = [\"http://127.0.0.1:{}\"]\n",
        server.port()
    );
    place.write("gate.toml", &text);
    let manager = UnixDatagram::bind(place.path("notify.sock")).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    let told = || {
        let mut bytes = [0; 512];
        let count = manager.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    };
    let starts = "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" gate gate.toml";
    let mut gate = Command::new("sh")
        .args(["-c", starts, env!("CARGO_BIN_EXE_weir")])
        .current_dir(place.path(""))
        .env("NOTIFY_SOCKET", place.path("notify.sock"))
        .stdin(OwnedFd::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = gate.id();
    let ready = told();
    assert!(ready.contains("READY=1"), "{ready}");
    assert!(ready.contains(&format!("MAINPID={pid}")), "{ready}");
    assert_eq!(get(&listen).unwrap(), "200");
    let signal = |signal| support::signal_to(pid, signal);
    signal(Signal::HUP);
    let reloads = told();
    assert!(
        reloads.contains("RELOADING=1") && reloads.contains("MONOTONIC_USEC="),
        "{reloads}"
    );
    assert!(told().contains("READY=1"));
    signal(Signal::TERM);
    assert!(told().contains("STOPPING=1"));
    assert!(gate.wait().unwrap().success());
}
