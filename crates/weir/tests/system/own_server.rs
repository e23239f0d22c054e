//! Servers that Weir does not know, from beginning to end with the real program: one that it starts
//! by a command line, and one that runs already. The first needs `python3`.

use std::time::Duration;

use crate::support::{
    Place, SampleServer, assert_valid, json_file, names_in, repository_file, runs, skipped, tree,
    wait_for,
};
use rustix::process::Signal;
use serde_json::Value;

/// How long a whole short study may take on a busy machine.
const STUDY: Duration = Duration::from_secs(240);
/// How long a server may take to notice that Weir is gone.
const LEAVE: Duration = Duration::from_secs(15);

/// The result of the one run of a place.
fn result(place: &Place) -> Value {
    let runs = place.path("weir-runs");
    let names = names_in(&runs);
    assert_eq!(names.len(), 1, "{names:?}");
    let result = json_file(&runs.join(&names[0]).join("result.json"));
    assert_valid("docs/schemas/result.schema.json", &result);
    result
}

/// The study of the documentation, with trials that are far too short for a good answer.
fn sleepy() -> Place {
    let place = Place::new();
    place.write(
        "servers/sleepy.py",
        &repository_file("studies/servers/sleepy.py"),
    );
    let study = repository_file("studies/sleepy.toml");
    let short = study
        .replace("[load]", "[load]\nwindow = \"5 s\"\nwarm-up = \"1 s\"")
        .replace(
            "[find]",
            "[find]\nbudget = \"60 s\"\nprecision = \"15 %\"\nwithin = [1, 200]",
        );
    place.write("sleepy.toml", &short);
    place
}

#[test]
fn an_unknown_server_is_tuned() {
    if skipped("a tune of a server of Python") {
        return;
    }
    let place = sleepy();
    let done = place.start(&["tune", "sleepy.toml"]).done(STUDY);
    // A machine that is busy otherwise leaves the question undecided.
    let done = done.ends_one_of(&[0, 1, 4]);
    let result = result(&place);
    assert_eq!(result["target"]["kind"], "command");
    assert_eq!(result["target"]["stages"][0]["name"], "threads");
    let trials = result["trials"].as_array().unwrap();
    assert!(trials.len() > 1, "{done}");
    for trial in trials {
        assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
        // Read from the page of a server that nobody has heard of.
        let busy = trial["signals"]["threads.occupancy"].as_f64().unwrap();
        assert!(busy <= 64.0, "{trial:#}");
    }
    if done.code == Some(0) {
        assert!(result["answer"]["value"].as_u64().unwrap() >= 1);
        assert!(
            result["settings"]["threads"].is_number()
                || !result["findings"].as_array().unwrap().is_empty()
        );
    }
}

#[test]
fn a_started_server_does_not_outlive_a_weir_that_is_killed() {
    if skipped("SIGKILL of weir with a server of Python") {
        return;
    }
    let place = sleepy();
    let before = tree(&place.path("servers"));
    let server = place
        .start(&["tune", "sleepy.toml"])
        .killed_in_trial(&place, STUDY);
    assert_eq!(server.len(), 1, "{server:?}");
    place.weir(&["target", "restore"]).ends(0);
    wait_for("the end of the server", LEAVE, || {
        (!runs(server[0])).then_some(())
    });
    assert_eq!(tree(&place.path("servers")), before);
    assert!(names_in(&place.state()).is_empty());
}

/// A server whose limit is a file, as far as Weir is concerned.
fn external(server: &SampleServer) -> Place {
    let place = Place::new();
    place.write("limit", "200\n");
    place.write(
        "study.toml",
        &format!(
            r#"
schema = "weir/study/1"
[target.external]
url = "http://127.0.0.1:{}"
set = {{ threads = "echo {{value}} > limit" }}
get = {{ threads = "cat limit" }}
[load]
url = "/light"
window = "5 s"
warm-up = "1 s"
[sweep]
design = "full"
[sweep.factors]
users = [2]
threads = [20, 30]
"#,
            server.port()
        ),
    );
    place
}

#[test]
fn a_server_that_runs_already_is_set_and_put_back() {
    if skipped("a sweep of a server that runs already") {
        return;
    }
    let server = SampleServer::start();
    let place = external(&server);
    place.start(&["sweep", "study.toml"]).done(STUDY).ends(0);
    let result = result(&place);
    assert_eq!(result["target"]["kind"], "external");
    assert_eq!(result["target"]["stages"][0]["limit"], 200.0);
    for trial in result["trials"].as_array().unwrap() {
        assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
        assert!(trial["throughput_per_s"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(place.read("limit"), "200\n", "as it was found");
}

/// As [`external`], with a command in the way of putting the limit back.
fn external_that_is_slow_to_put_back(server: &SampleServer, way: &str) -> Place {
    let place = external(server);
    let set = format!("if [ {{value}} = 200 ]; then {way}; fi && echo {{value}} > limit");
    let study = place.read("study.toml");
    let study = study.replace("echo {value} > limit", &set);
    // One trial is enough: it is the end that is asked about.
    place.write("study.toml", &study.replace("[20, 30]", "[20]"));
    place
}

#[test]
fn what_cannot_be_put_back_is_the_last_word() {
    if skipped("a sweep of a server that does not take its limit back") {
        return;
    }
    let server = SampleServer::start();
    let place = external_that_is_slow_to_put_back(&server, "test -e free");
    let done = place.start(&["sweep", "study.toml"]).done(STUDY).ends(3);
    let last = done.stderr.trim_end().lines().last().unwrap();
    assert!(last.contains("weir target restore"), "{done}");
    let done = done.says(&["the server stays changed", "NOT put back: set threads"]);
    let result = result(&place);
    assert_eq!(result["exit_code"], 3, "{done}");
    let left = result["not_put_back"].as_array().unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_ne!(place.read("limit"), "200\n");
    let check = ["target", "restore", "--check"];
    place.weir(&check).ends(1).prints(&["set threads"]);
    // Nothing is measured on a server that is not as it was.
    place.weir(&["sweep", "study.toml"]).ends(3);
    place.write("free", "");
    place.weir(&["target", "restore"]).ends(0);
    assert_eq!(place.read("limit"), "200\n", "as it was found");
    place.weir(&check).ends(0);
}

#[test]
fn a_second_ctrl_c_does_not_stop_putting_back() {
    if skipped("two interrupts of a sweep") {
        return;
    }
    let server = SampleServer::start();
    let place = external_that_is_slow_to_put_back(&server, "touch begun; sleep 3");
    let weir = place.start(&["sweep", "study.toml"]);
    wait_for("a limit that is set", STUDY, || {
        (place.read("limit") == "20\n").then_some(())
    });
    weir.signal(Signal::INT);
    wait_for("the beginning of putting back", STUDY, || {
        place.path("begun").exists().then_some(())
    });
    weir.signal(Signal::INT);
    weir.done(STUDY)
        .ends(130)
        .says(&["it ends as soon as the server is put back", "set threads"]);
    assert_eq!(place.read("limit"), "200\n", "as it was found");
    assert!(names_in(&place.state()).is_empty());
}

#[test]
fn a_third_ctrl_c_says_what_is_left() {
    if skipped("three interrupts of a sweep") {
        return;
    }
    let server = SampleServer::start();
    let place = external_that_is_slow_to_put_back(&server, "touch begun; sleep 60");
    let mut weir = place.start(&["sweep", "study.toml"]);
    wait_for("a limit that is set", STUDY, || {
        (place.read("limit") == "20\n").then_some(())
    });
    weir.signal(Signal::INT);
    wait_for("the beginning of putting back", STUDY, || {
        place.path("begun").exists().then_some(())
    });
    weir.signal(Signal::INT);
    weir.wait_for("what is said of it", STUDY, |weir| {
        let said = weir
            .talk()
            .contains("it ends as soon as the server is put back");
        said.then_some(())
    });
    weir.signal(Signal::INT);
    weir.done(STUDY).ends(130).says(&["target restore --check"]);
    place.weir(&["target", "restore", "--check"]).ends(1);
}

#[test]
fn what_a_killed_weir_has_set_is_put_back() {
    if skipped("SIGKILL of weir with a server that runs already") {
        return;
    }
    let server = SampleServer::start();
    let place = external(&server);
    // Found by the next study when nobody asks for it: also by one whose own server does not start.
    place.write(
        "next.toml",
        "schema = \"weir/study/1\"\n[target.command]\nrun = \"false {port} {threads}\"\nsettings = { threads = 1 }\n\
         [load]\nurl = \"/\"\n[find]\nsubject-to = [\"cpu <= 80 %\"]\n",
    );
    for (next, code) in [(["target", "restore"], 0), (["tune", "next.toml"], 3)] {
        let weir = place.start(&["sweep", "study.toml"]);
        assert_eq!(weir.killed_in_trial(&place, STUDY), [0_u32; 0]);
        assert_eq!(place.read("limit"), "20\n");
        place.weir(&next).ends(code).says(&["threads of http"]);
        assert_eq!(place.read("limit"), "200\n", "as it was found");
        assert!(names_in(&place.state()).is_empty());
        std::fs::remove_dir_all(place.path("weir-runs")).unwrap();
    }
}

/// With a state directory of its own, as another user has: the first one's values are not what it
/// would have to put back.
#[test]
fn a_second_weir_on_the_same_server_is_refused() {
    if skipped("two sweeps of a server that runs already") {
        return;
    }
    let server = SampleServer::start();
    let (place, other) = (external(&server), external(&server));
    let first = place.start(&["sweep", "study.toml"]);
    wait_for("a limit that is set", STUDY, || {
        (place.read("limit") == "20\n").then_some(())
    });
    let pid = format!("process id {}", first.pid());
    let taken = format!("threads of port {}", server.port());
    other
        .weir(&["sweep", "study.toml"])
        .ends(3)
        .says(&[&taken, &pid, "kill -INT"]);
    assert_eq!(other.read("limit"), "200\n", "it was not touched");
    first.signal(Signal::INT);
    first.done(STUDY).ends(130);
    assert_eq!(place.read("limit"), "200\n", "as it was found");
}

#[test]
fn a_limit_that_somebody_else_changes_spoils_the_trial() {
    if skipped("a sweep of a server whose limit somebody else changes") {
        return;
    }
    let server = SampleServer::start();
    let place = external(&server);
    let weir = place.start(&["sweep", "study.toml"]);
    wait_for("a limit that is set", STUDY, || {
        (place.read("limit") == "20\n").then_some(())
    });
    // Weir has looked by then whether its own value is there.
    wait_for("the first trial", STUDY, || {
        let runs = names_in(&place.path("weir-runs"));
        let trials = place.path("weir-runs").join(runs.first()?).join("trials");
        trials.exists().then_some(())
    });
    std::thread::sleep(Duration::from_secs(2));
    place.write("limit", "77\n");
    weir.done(STUDY).ends_one_of(&[0, 4]);
    let result = result(&place);
    let trials = result["trials"].as_array().unwrap();
    let reasons: Vec<&Value> = trials
        .iter()
        .filter_map(|trial| trial["invalid"].as_array())
        .flatten()
        .collect();
    let [reason] = reasons.as_slice() else {
        panic!("{reasons:#?}");
    };
    assert_eq!(reason["id"], "setting-changed");
    assert_eq!(reason["setting"], "threads");
    let values = ["set", "now"].map(|name| reason[name].as_f64());
    assert_eq!(values, [Some(20.0), Some(77.0)]);
    assert_eq!(place.read("limit"), "200\n", "as it was found");
}

/// A server whose number of threads stands in a file that is read when it starts, with a script
/// that writes it and starts the server anew.
struct Restarts {
    place: Place,
    port: u16,
}

impl Restarts {
    fn start(threads: u32) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let place = Place::new();
        let program = env!("CARGO_BIN_EXE_weir");
        place.write(
            "restart.sh",
            &format!(
                "set -e\nif [ -f pid ]; then kill \"$(cat pid)\"; while grep -qs '^State:.[^Z]' /proc/$(cat pid)/status; do \
                 sleep 0.1; done; fi\necho \"$1\" > threads\necho \"$1\" >> starts\n\
                 '{program}' sample-server --rows=1000 --listen=127.0.0.1:{port} --admin=127.0.0.1:0 --threads=\"$1\" \
                 >out 2>&1 </dev/null &\necho $! > pid\n"
            ),
        );
        let server = Self { place, port };
        let status = std::process::Command::new("sh")
            .args(["restart.sh", &threads.to_string()])
            .current_dir(server.place.path("."))
            .status()
            .unwrap();
        assert!(status.success());
        wait_for("an answer of the server", LEAVE, || {
            std::net::TcpStream::connect(("127.0.0.1", port)).ok()
        });
        server
    }

    fn pid(&self) -> i32 {
        let text = std::fs::read_to_string(self.place.path("pid")).unwrap();
        text.trim().parse().unwrap()
    }
}

impl Drop for Restarts {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_raw(self.pid()).unwrap();
        rustix::process::kill_process(pid, Signal::TERM).unwrap();
    }
}

#[test]
fn a_server_that_a_command_starts_anew_is_followed_and_put_back() {
    if skipped("a server that its command starts anew") {
        return;
    }
    let server = Restarts::start(7);
    let first = server.pid();
    server.place.write(
        "study.toml",
        &format!(
            "schema = \"weir/study/1\"\n[target.external]\nurl = \"http://127.0.0.1:{}\"\n\
             set = {{ threads = \"sh restart.sh {{value}}\" }}\nget = {{ threads = \"cat threads\" }}\n\
             [load]\nurl = \"/light\"\nwindow = \"5 s\"\nwarm-up = \"1 s\"\n[sweep]\ndesign = \"cases\"\n\
             [[sweep.case]]\nname = \"two\"\nset = {{ users = 2, threads = 2 }}\n\
             [[sweep.case]]\nname = \"three\"\nset = {{ users = 2, threads = 3 }}\n",
            server.port
        ),
    );
    server
        .place
        .start(&["sweep", "study.toml"])
        .done(STUDY)
        .ends(0);
    let result = result(&server.place);
    let trials = result["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 2, "{result:#}");
    for trial in trials {
        assert!(trial["valid"].as_bool().unwrap(), "{trial:#}");
        // Its process was watched, not the one that was there at first.
        let used = trial["signals"]["target.cpu.user"].as_f64().unwrap();
        assert!(used > 0.0, "{trial:#}");
    }
    let threads = std::fs::read_to_string(server.place.path("threads")).unwrap();
    assert_eq!(threads.trim(), "7", "it is put back");
    let starts = std::fs::read_to_string(server.place.path("starts")).unwrap();
    assert_eq!(starts, "7\n2\n3\n7\n", "once for each level");
    assert_ne!(server.pid(), first);
}
