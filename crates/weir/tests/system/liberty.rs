//! Studies on a real Open Liberty with a PostgreSQL behind it, from beginning to end with the real
//! program, and a Weir that is killed while it has a Liberty of the user's in its hands.
//!
//! They run only in the *system* profile (`WEIR_SYSTEM_TESTS=1`) and need a JDK, Maven and, unless
//! one is installed, what fetches a PostgreSQL. What was measured is not asserted, but that each
//! limit that was set is the one that held, and that nothing is left.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::{
    Place, assert_valid, children, json_file, names_in, runs, skipped, tree, wait_for,
};
use serde_json::Value;

/// How long fetching, building and a short study may take on a busy machine.
const STUDY: Duration = Duration::from_secs(400);
/// How long a Liberty may take to end.
const LEAVE: Duration = Duration::from_secs(30);

const SHORT_SWEEP: &str = r#"
schema = "weir/study/1"
[target.liberty]
app = "stress"
java-options = ["-Xmx256m"]
[target.liberty.settings]
threads = 50
"pool.db" = 10
[load]
plan = "plans/short.jmx"
users = "THREAD_NUMBER"
window = "5 s"
warm-up = "2 s"
first-warm-up = "8 s"
[sweep]
design = "cases"
[[sweep.case]]
name = "pool 2"
set = { users = 8, threads = 20, "pool.db" = 2 }
[[sweep.case]]
name = "threads 3, connections 6"
set = { users = 12, threads = 3, connections = 6, "pool.db" = 20 }
[[sweep.column]]
signal = "pool.db.limit"
[[sweep.column]]
signal = "threads.occupancy"
"#;

const USERS_SERVER: &str = r#"
schema = "weir/study/1"
[target.liberty]
home = "wlp"
server = "shop"
[target.liberty.settings]
threads = 50
[load]
url = "/"
window = "60 s"
[sweep]
design = "full"
[sweep.factors]
users = [2]
threads = [20]
"#;

fn place(study: &str) -> Place {
    let place = Place::with_plan();
    place.write("study.toml", study);
    place
}

/// The last trial of a case, valid or not.
fn trial<'a>(result: &'a Value, case: &str) -> &'a Value {
    let trials = result["trials"].as_array().unwrap();
    let last = trials.iter().rfind(|trial| trial["case"] == case);
    last.unwrap_or_else(|| panic!("no trial of {case}: {result:#}"))
}

fn mean(trial: &Value, signal: &str) -> f64 {
    trial["signals"][signal]
        .as_f64()
        .unwrap_or_else(|| panic!("{signal} is absent: {:#}", trial["signals"]))
}

#[test]
fn a_sweep_sets_every_limit_of_the_funnel_and_leaves_nothing() {
    if skipped("a_sweep_sets_every_limit_of_the_funnel_and_leaves_nothing") {
        return;
    }
    let place = place(SHORT_SWEEP);
    let running = place.start(&["sweep", "study.toml"]);
    let weir = running.pid();
    let done = running.done(STUDY).ends_one_of(&[0, 4]);
    assert!(!done.stderr.contains("put everything back"), "{done}");
    assert_eq!(children(weir), Vec::<u32>::new());
    let run = the_run(&place);
    let result = json_file(&run.join("result.json"));
    assert_valid("docs/schemas/result.schema.json", &result);
    let name = result["target"]["name"].as_str().unwrap();
    assert!(name.starts_with("Open Liberty 25"), "{name}");
    let pool = trial(&result, "pool 2");
    assert!((mean(pool, "pool.db.limit") - 2.0).abs() < 0.01);
    assert!(mean(pool, "pool.db.occupancy") <= 2.0);
    assert_eq!(pool["errors"]["count"], 0, "{pool:#}");
    let held = trial(&result, "threads 3, connections 6");
    assert!((mean(held, "pool.db.limit") - 20.0).abs() < 0.01);
    // The agent's own reading and the timer of the server may take a thread for a moment.
    assert!(mean(held, "threads.occupancy") <= 4.0, "{held:#}");
    assert!(mean(held, "request-queue.waiting") >= 0.0);
    assert!(held["errors"]["count"].as_u64().unwrap() > 0, "{held:#}");
    // Only what comes first after the start of the virtual machine is warmed up for longer; a
    // repetition of it, on a busy machine, comes second.
    let trials = result["trials"].as_array().unwrap();
    let warmed_up = |trial: &Value| trial["warm_up_s"].as_f64().unwrap();
    let is_first = trials[0]["repeats"] == 0;
    assert!(!is_first || warmed_up(&trials[0]) >= 8.0, "{:#}", trials[0]);
    assert!(warmed_up(&trials[trials.len() - 1]) < 8.0, "{result:#}");
    assert!(!place.state().exists() || names_in(&place.state()).is_empty());
}

#[test]
fn a_killed_weir_leaves_no_server_and_the_users_configuration_as_it_was() {
    if skipped("a_killed_weir_leaves_no_server_and_the_users_configuration_as_it_was") {
        return;
    }
    let place = place(USERS_SERVER);
    let home = PathBuf::from(
        place
            .weir(&["target", "install", "liberty"])
            .ends(0)
            .stdout
            .trim(),
    );
    // An installation of the user's: Weir's copy with another place for servers.
    let users = place.path("wlp");
    fs::create_dir_all(users.join("usr/servers/shop")).unwrap();
    for part in ["bin", "lib", "dev"] {
        std::os::unix::fs::symlink(home.join(part), users.join(part)).unwrap();
    }
    let server = users.join("usr/servers/shop");
    fs::write(
        server.join("server.xml"),
        "<server description='the shop'>\r\n<featureManager><feature>servlet-6.0</feature></featureManager></server>\r\n",
    )
    .unwrap();
    let before = tree(&server);
    let started = place
        .start(&["sweep", "study.toml"])
        .killed_in_trial(&place, STUDY);
    let limits = server.join("configDropins/overrides/weir-limits.xml");
    assert!(
        fs::read_to_string(limits)
            .unwrap()
            .contains("maxThreads=\"20\"")
    );
    place.weir(&["target", "restore"]).ends(0);
    assert_eq!(tree(&server), before);
    assert_eq!(started.len(), 1, "a Java virtual machine: {started:?}");
    wait_for("the end of the server", LEAVE, || {
        (!runs(started[0])).then_some(())
    });
    assert!(names_in(&place.state()).is_empty());
}

/// The one run of a place.
fn the_run(place: &Place) -> PathBuf {
    let runs = place.path("weir-runs");
    let names = names_in(&runs);
    assert_eq!(names.len(), 1, "{names:?}");
    runs.join(&names[0])
}
