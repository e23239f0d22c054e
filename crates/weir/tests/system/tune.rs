//! Studies from beginning to end with the real program on this machine, and everything that may
//! come in between: signals, a server that dies, a full disk.
//!
//! They do not assert what was measured, which is the business of the studies' own tests on
//! simulated servers and of the benches; they assert that what was measured is stored, told and
//! cleaned up after.

#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::support::{
    Done, PATIENCE, Place, Running, assert_valid, children, json_file, names_in, runs, signal_to,
    skipped, wait_for,
};
use rustix::process::Signal;
use serde_json::Value;

/// How long a whole short study may take on a busy machine.
const STUDY: Duration = Duration::from_secs(240);
/// How long a server may take to notice that Weir is gone.
const LEAVE: Duration = Duration::from_secs(15);

/// A search that ends within about a minute of load; its trials are far too short for a good
/// answer.
const SHORT_TUNE: &str = r#"
schema = "weir/study/1"
question = "How many users until CPU reaches 80 %?"
[target.builtin]
[target.builtin.settings]
threads = 200
"pool.db" = 100
[load]
plan = "plans/short.jmx"
users = "THREAD_NUMBER"
window = "5 s"
warm-up = "1 s"
[find]
within = [1, 400]
subject-to = ["cpu <= 80 %", "errors <= 0.1 %"]
precision = "15 %"
budget = "60 s"
"#;

const SHORT_SWEEP: &str = r#"
schema = "weir/study/1"
question = "What does a pool of 2 cost?"
[target.builtin]
[load]
plan = "plans/short.jmx"
users = "THREAD_NUMBER"
window = "5 s"
warm-up = "1 s"
[sweep]
design = "cases"
[[sweep.case]]
name = "pool 2"
set = { users = 8, threads = 20, "pool.db" = 2 }
published = { "throughput" = "39 /s" }
[[sweep.case]]
name = "pool 20"
set = { users = 8, threads = 20, "pool.db" = 20 }
[[sweep.column]]
title = "In the pool"
signal = "pool.db.occupancy"
[[sweep.column]]
title = "Throughput"
signal = "throughput"
"#;

fn place() -> Place {
    let place = Place::with_plan();
    place.write("short.toml", SHORT_TUNE);
    place.write("table.toml", SHORT_SWEEP);
    place
}

/// The one run that lies in a directory of runs.
fn only_run(runs: &Path) -> Option<PathBuf> {
    let names = names_in(runs);
    assert!(names.len() <= 1, "{names:?}");
    names.first().map(|name| runs.join(name))
}

/// A study under way: its server, the server's port, its run directory.
struct UnderWay {
    weir: Running,
    server: u32,
    port: u16,
    run: PathBuf,
}

impl UnderWay {
    /// Starts a study and waits until a trial sends its load.
    #[track_caller]
    fn in_trial(place: &Place, words: &[&str], runs: &Path, trial: u32) -> Self {
        let mut weir = place.start(words);
        let port = weir.wait_for("the port of the server", PATIENCE, |weir| {
            let talk = weir.talk();
            let (_, rest) = talk.split_once("load goes to 127.0.0.1:")?;
            rest.split_once('\n')?.0.parse().ok()
        });
        let of_weir = children(weir.pid());
        let [server] = of_weir[..] else {
            panic!("weir has one child, its server: {of_weir:?}");
        };
        let run = only_run(runs).expect("the run directory is there before the server");
        let samples = run.join(format!("trials/{trial:03}/samples.jtl"));
        weir.wait_for("a running trial", STUDY, |_| {
            samples.is_file().then_some(())
        });
        Self {
            weir,
            server,
            port,
            run,
        }
    }

    /// Asserts that nothing is left once Weir has ended.
    #[track_caller]
    fn nothing_is_left(server: u32, port: u16) {
        assert!(!runs(server), "the server {server} still runs");
        TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    }

    /// Sends a signal, waits for the end, asserts that the server is gone by then.
    #[track_caller]
    fn ends_by(self, signal: Signal) -> (Done, PathBuf) {
        self.weir.signal(signal);
        let done = self.weir.done(PATIENCE);
        Self::nothing_is_left(self.server, self.port);
        (done, self.run)
    }
}

/// Records of the finished trials, as they lie on the disk.
fn records(run: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let trials = run.join("trials");
    names_in(&trials)
        .into_iter()
        .filter_map(|name| {
            let path = trials.join(&name).join("trial.json");
            let changed = fs::metadata(&path).ok()?.modified().unwrap();
            Some((name, (fs::read(&path).unwrap(), changed)))
        })
        .collect()
}

/// Asserts that a run holds what a run has to hold, and gives its result.
#[track_caller]
fn assert_complete(run: &Path) -> Value {
    let result = json_file(&run.join("result.json"));
    assert_valid("docs/schemas/result.schema.json", &result);
    assert_eq!(result["schema"], "weir/result/1");
    let trials = result["trials"].as_array().unwrap();
    assert!(!trials.is_empty());
    for trial in trials {
        let directory = run.join(format!("trials/{:03}", trial["id"].as_u64().unwrap()));
        let stored = json_file(&directory.join("trial.json"));
        assert_valid("docs/schemas/trial.schema.json", &stored);
        assert_eq!(&stored, trial, "result.json holds the stored record");
        for file in ["timeline.csv", "samples.jtl", "responses.hlog"] {
            let length = fs::metadata(directory.join(file)).map(|facts| facts.len());
            assert!(
                length.is_ok_and(|length| length > 0),
                "{}/{file}",
                directory.display()
            );
        }
        assert!(directory.join("target.log").is_file());
    }
    assert!(run.join("run.toml").is_file());
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    result
}

/// 0 answered, 1 not met; on a machine that disturbs every trial 4, and then the result says why.
#[track_caller]
fn assert_ended(done: &Done, result: &Value) {
    let code = done.code.unwrap();
    assert_eq!(result["exit_code"], code, "{done}");
    let statuses: &[&str] = match code {
        0 => &["answered"],
        1 => &["not-met", "never"],
        4 => &["undecided", "invalid"],
        other => panic!("exit code {other}\n{done}"),
    };
    assert!(
        statuses.contains(&result["status"].as_str().unwrap()),
        "{done}"
    );
}

#[test]
fn a_short_tune_runs_through() {
    if skipped("a short tune") {
        return;
    }
    let place = place();
    let done = place
        .start(&["tune", "short.toml", "--json", "-"])
        .done(STUDY);
    let run = only_run(&place.path("weir-runs")).unwrap();
    let result = assert_complete(&run);
    assert_ended(&done, &result);
    assert_eq!(
        done.json(),
        result,
        "standard output is result.json and nothing else"
    );
    let done = done.says(&[
        "load goes to 127.0.0.1",
        "Next: weir explain last · reasons: weir report last --details",
        "report: weir-runs/",
    ]);
    if done.code == Some(0) {
        let users = result["answer"]["value"].as_u64().unwrap();
        assert!((1..=400).contains(&users));
        // Five seconds a trial may leave the settings undecided; then a finding says so.
        let findings = result["findings"].as_array().unwrap();
        let left_out = findings
            .iter()
            .any(|finding| finding["id"] == "settings-not-derived");
        assert!(left_out || result["held"]["passed"] == true, "{result}");
    }
    let question = "How many users until CPU reaches 80 %?";
    place
        .weir(&["report", "last", "--markdown"])
        .ends(0)
        .prints(&[question, "| "]);
    fs::remove_file(run.join("report.html")).unwrap();
    place.weir(&["report"]).ends(0).prints(&["report.html"]);
    assert_eq!(assert_complete(&run), result);
    typed_as_in_the_tutorial(&place, &result);
}

/// What docs/tutorial.md types after the first tune.
fn typed_as_in_the_tutorial(place: &Place, result: &Value) {
    let says = result["summary"].as_str().unwrap();
    let begins: String = says.chars().take(12).collect();
    place
        .weir(&["report", "last", "--details"])
        .ends(0)
        .prints(&[&begins]);
    place
        .weir(&["explain", "last"])
        .ends(0)
        .prints(&["requests/s", "Every test with its figures: --all"]);
    // A short tune may have too few levels for a model; then it says so.
    place
        .weir(&["model", "last", "--users", "60"])
        .ends_one_of(&[0, 4]);
    place.weir(&["check", "short.toml"]).ends(0);
    place.weir(&["tune", "short.toml", "--dry-run"]).ends(0);
    let run = result["run"].as_str().unwrap();
    place
        .weir(&["compare", "last", &format!("weir-runs/{run}")])
        .ends_one_of(&[0, 4]);
}

#[test]
fn ctrl_c_keeps_the_finished_trials_and_resume_goes_on_from_them() {
    if skipped("Ctrl-C in a tune") {
        return;
    }
    let place = place();
    // A range that a few trials search: it is the continuation that is asked about.
    let narrow = SHORT_TUNE.replace("within = [1, 400]", "within = [1, 4]");
    place.write("narrow.toml", &narrow);
    let under_way = UnderWay::in_trial(
        &place,
        &["tune", "narrow.toml"],
        &place.path("weir-runs"),
        2,
    );
    let (done, run) = under_way.ends_by(Signal::INT);
    done.ends(130)
        .says(&["finished trials are saved", "--resume"]);
    let finished = records(&run);
    assert_eq!(finished.keys().collect::<Vec<_>>(), ["001"]);
    let result = assert_complete(&run);
    assert_eq!(result["status"], "interrupted");
    assert_eq!(result["exit_code"], 130);
    assert_eq!(result["trials"].as_array().unwrap().len(), 1);

    let done = place.start(&["tune", "--resume"]).done(STUDY);
    let done = done.says(&["1 trial(s) are finished"]);
    assert_eq!(
        only_run(&place.path("weir-runs")),
        Some(run.clone()),
        "no second run was begun"
    );
    let after = records(&run);
    for (name, record) in &finished {
        assert_eq!(
            after.get(name),
            Some(record),
            "trial {name} was not touched"
        );
    }
    assert!(after.len() > finished.len());
    let result = assert_complete(&run);
    assert_eq!(result["trials"].as_array().unwrap().len(), after.len());
    assert_ended(&done, &result);
}

#[test]
fn sigterm_in_a_sweep_and_resume_print_one_table_of_all_cases() {
    if skipped("SIGTERM in a sweep") {
        return;
    }
    let place = place();
    let under_way = UnderWay::in_trial(
        &place,
        &["sweep", "table.toml"],
        &place.path("weir-runs"),
        2,
    );
    let (done, run) = under_way.ends_by(Signal::TERM);
    done.ends(130);
    let finished = records(&run);
    assert_eq!(finished.keys().collect::<Vec<_>>(), ["001"]);
    assert_eq!(assert_complete(&run)["status"], "interrupted");

    let done = place.start(&["sweep", "--resume", "last"]).done(STUDY);
    let after = records(&run);
    assert_eq!(after.keys().collect::<Vec<_>>(), ["001", "002"]);
    assert_eq!(after["001"], finished["001"]);
    let result = assert_complete(&run);
    assert!(
        result["answer"].is_null(),
        "a sweep has a table, not an answer"
    );
    let done = done
        .ends(0)
        .prints(&["pool 2", "pool 20", "In the pool", "Throughput"]);
    assert_eq!(result["exit_code"], 0, "{done}");
    assert_eq!(
        result["table"]["rows"].as_array().map(Vec::len),
        Some(2),
        "{result:#}"
    );
}

#[test]
fn a_server_does_not_outlive_a_weir_that_is_killed() {
    if skipped("SIGKILL of weir") {
        return;
    }
    let place = place();
    let UnderWay {
        weir, server, port, ..
    } = UnderWay::in_trial(&place, &["tune", "short.toml"], &place.path("weir-runs"), 1);
    weir.signal(Signal::KILL);
    let done = weir.done(PATIENCE);
    assert_eq!(done.code, None);
    wait_for("the end of the server", LEAVE, || {
        (!runs(server)).then_some(())
    });
    UnderWay::nothing_is_left(server, port);
}

#[test]
fn a_server_that_dies_in_a_trial_is_named_and_the_trials_are_kept() {
    if skipped("a server that dies") {
        return;
    }
    let place = place();
    let UnderWay {
        weir,
        server,
        port,
        run,
    } = UnderWay::in_trial(&place, &["tune", "short.toml"], &place.path("weir-runs"), 2);
    signal_to(server, Signal::KILL);
    let done = weir.done(PATIENCE);
    done.ends(3)
        .says(&["the target", "ended by itself", "signal: 9", "--resume"]);
    UnderWay::nothing_is_left(server, port);
    assert_eq!(records(&run).keys().collect::<Vec<_>>(), ["001"]);
    let result = assert_complete(&run);
    assert_eq!(result["trials"].as_array().unwrap().len(), 1);
    let cut_off = names_in(&run.join("trials/002"));
    for file in ["samples.jtl", "target.log", "timeline.csv"] {
        assert!(
            cut_off.iter().any(|name| name == file),
            "{file} of {cut_off:?}"
        );
    }
}

/// A file system of one megabyte, taken away again at the end.
struct SmallDisk {
    at: tempfile::TempDir,
}

impl SmallDisk {
    /// `None` where this user may not mount.
    fn mount() -> Option<Self> {
        let at = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(at.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then_some(Self { at })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.at.path()).status();
        assert!(
            unmounted.is_ok_and(|status| status.success()),
            "umount {}",
            self.at.path().display()
        );
    }
}

#[test]
fn a_full_disk_is_named_and_nothing_is_left_running() {
    if skipped("a full disk") {
        return;
    }
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("skipped: mounting a small file system is not permitted here");
        return;
    };
    // Room for the beginning of a run, not for the samples of a trial.
    fs::write(disk.at.path().join("filler"), vec![0; 940 * 1024]).unwrap();
    let place = place();
    let runs_on_disk = disk.at.path().join("runs");
    let words = [
        "tune",
        "short.toml",
        "--runs",
        runs_on_disk.to_str().unwrap(),
    ];
    let UnderWay {
        weir,
        server,
        port,
        run,
    } = UnderWay::in_trial(&place, &words, &runs_on_disk, 1);
    let done = weir.done(STUDY);
    done.ends(3)
        .says(&[run.to_str().unwrap(), "No space left on device"]);
    UnderWay::nothing_is_left(server, port);
}
