//! Studies on a real Apache httpd, from beginning to end with the real program.
//!
//! They need an Apache httpd: the installed one (package `apache2-bin`), or one that `HTTPD_HOME`
//! names.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::support::{
    Place, assert_valid, json_file, names_in, repository_file, skipped, tree, wait_for,
};
use serde_json::Value;

/// How long a whole short study may take on a busy machine.
const STUDY: Duration = Duration::from_secs(180);
/// How long an httpd may take to notice that Weir is gone, and to end its processes.
const LEAVE: Duration = Duration::from_secs(15);

fn place(study: &str) -> Place {
    let place = Place::new();
    for plan in ["plans/file.jmx", "plans/file-rate.jmx"] {
        place.write(plan, &repository_file(&format!("studies/{plan}")));
    }
    let home = std::env::var("HTTPD_HOME")
        .map(|home| format!("home = \"{home}\""))
        .unwrap_or_default();
    place.write("study.toml", &study.replace("HOME", &home));
    place
}

/// The result of the one run of a place.
fn result(place: &Place) -> Value {
    let runs = place.path("weir-runs");
    let names = names_in(&runs);
    assert_eq!(names.len(), 1, "{names:?}");
    let result = json_file(&runs.join(&names[0]).join("result.json"));
    assert_valid("docs/schemas/result.schema.json", &result);
    result
}

fn trial<'a>(result: &'a Value, case: &str) -> &'a Value {
    let trials = result["trials"].as_array().unwrap();
    let last = trials.iter().rfind(|trial| trial["case"] == case);
    last.unwrap_or_else(|| panic!("no trial of {case}: {result:#}"))
}

const PREFORK: &str = r#"
schema = "weir/study/1"
[target.httpd]
HOME
mpm = "prefork"
[target.httpd.settings]
threads = 20
native = { StartServers = 20, MinSpareServers = 20, MaxSpareServers = 20, ServerLimit = 40 }
LOAD
[sweep]
design = "cases"
CASES
[[sweep.column]]
signal = "throughput"
[[sweep.column]]
signal = "threads.spawned"
"#;

/// A load of so many requests, of which the first case is the published one.
const COUNTED: [(&str, &str); 2] = [
    (
        "LOAD",
        "[load]\nplan = \"plans/file.jmx\"\nusers = \"CLIENTS\"\nrequests = 120",
    ),
    (
        "CASES",
        "[[sweep.case]]\nname = \"one each\"\n\
         set = { users = 60, native.MaxConnectionsPerChild = 1, property.KIB = 16 }",
    ),
];

/// A load of so many seconds, under limits that need a restart and a new start. Its rate is small:
/// users who ask as fast as they are answered make a test that needs a fast load generator.
const TIMED: [(&str, &str); 2] = [
    (
        "LOAD",
        "[load]\nplan = \"plans/file-rate.jmx\"\nrate = \"RATE\"\nwindow = \"5 s\"\nwarm-up = \"1 s\"",
    ),
    (
        "CASES",
        "[[sweep.case]]\nname = \"more processes\"\n\
         set = { rate = 200, threads = 40, native.StartServers = 40, native.MaxSpareServers = 40, property.KIB = 2 }\n\
         [[sweep.case]]\nname = \"short queue\"\nset = { rate = 200, backlog = 16, property.KIB = 2 }",
    ),
];

fn prefork(parts: [(&str, &str); 2]) -> Place {
    let filled = |study: String, (name, text): (&str, &str)| study.replace(name, text);
    place(&parts.into_iter().fold(PREFORK.to_owned(), filled))
}

#[test]
fn a_capped_prefork_server_is_recognised() {
    if skipped("an httpd whose processes serve one connection each") {
        return;
    }
    let place = prefork(COUNTED);
    let done = place.start(&["sweep", "study.toml"]).done(STUDY);
    done.ends(0).prints(&["threads.spawned"]);
    let result = result(&place);
    let target = &result["target"];
    assert_eq!(target["kind"], "httpd");
    assert!(
        target["name"].as_str().unwrap().ends_with("(prefork)"),
        "{target}"
    );
    let trial = trial(&result, "one each");
    assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
    // 20 processes serve at once, then at most 32 are started in a second.
    let rate = trial["throughput_per_s"].as_f64().unwrap();
    assert!(rate < 40.0, "{trial:#}");
    let signals = &trial["signals"];
    assert_eq!(signals["threads.lifetime"], 1.0);
    let spawned = signals["threads.spawned"].as_f64().unwrap();
    assert!((4.0..=33.0).contains(&spawned), "{spawned}");
}

#[test]
fn the_limits_of_a_prefork_server_are_set_and_read() {
    if skipped("an httpd with prefork") {
        return;
    }
    let place = prefork(TIMED);
    place.start(&["sweep", "study.toml"]).done(STUDY).ends(0);
    let result = result(&place);
    for (case, threads, backlog) in [("more processes", 40.0, 511.0), ("short queue", 20.0, 16.0)] {
        let trial = trial(&result, case);
        assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
        let signals = &trial["signals"];
        assert_eq!(signals["threads.limit"], threads, "{case}");
        assert_eq!(
            signals["backlog.limit"], backlog,
            "{case}: as the kernel has it"
        );
        let processes = signals["threads.total"].as_f64().unwrap();
        assert!((processes - threads).abs() <= 1.0, "{case}: {processes}");
        let busy = signals["threads.occupancy"].as_f64().unwrap();
        assert!((0.0..=threads).contains(&busy), "{case}: {busy}");
        assert!(
            signals["threads.spawned"].is_null(),
            "{case}: processes stay"
        );
    }
}

const EVENT: &str = r#"
schema = "weir/study/1"
[target.httpd]
HOME
[load]
plan = "plans/file-rate.jmx"
rate = "RATE"
window = "5 s"
warm-up = "1 s"
[sweep]
design = "cases"
[[sweep.case]]
name = "37 threads"
set = { rate = 200, threads = 37, native.KeepAliveTimeout = 1 }
"#;

#[test]
fn an_event_server_is_set_and_leaves_nothing_behind() {
    if skipped("an httpd with event") {
        return;
    }
    let place = place(EVENT);
    place
        .start(&["sweep", "study.toml"])
        .done(STUDY)
        .ends(0)
        .prints(&["37 threads"]);
    let result = result(&place);
    assert!(
        result["target"]["name"]
            .as_str()
            .unwrap()
            .ends_with("(event)")
    );
    let trial = trial(&result, "37 threads");
    assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
    assert!(trial["signals"]["connections.occupancy"].is_number());
    assert!(
        trial["signals"]["threads.occupancy"].is_null(),
        "nobody was asked"
    );
    let runs = place.path("weir-runs");
    let run = runs.join(&names_in(&runs)[0]);
    let written = fs::read_to_string(run.join("httpd/httpd.conf")).unwrap();
    for line in [
        "ThreadsPerChild 37",
        "MaxRequestWorkers 37",
        "KeepAliveTimeout 1",
    ] {
        assert!(
            written.lines().any(|written| written == line),
            "{line}: {written}"
        );
    }
    assert!(
        !run.join("httpd/httpd.pid").exists(),
        "it was stopped in order"
    );
}

/// A server with the user's own configuration, which says where its modules are.
const OF_USER: &str = r#"
schema = "weir/study/1"
[target.httpd]
HOME
config = "web/httpd.conf"
[load]
url = "/page.html"
window = "60 s"
[sweep]
design = "full"
[sweep.factors]
users = [2]
threads = [12]
"#;

/// Two users get no more from three processes than from two, so that nearly every run answers.
const TUNE_OF_USER: &str = r#"
schema = "weir/study/1"
[target.httpd]
HOME
config = "web/httpd.conf"
[load]
url = "/page.html"
window = "5 s"
warm-up = "1 s"
[find]
vary = "threads"
within = [2, 3]
set = { users = 2 }
goal = "smallest-near-best"
margin = "50 %"
"#;

fn with_users_configuration(study: &str) -> Place {
    let place = place(study);
    let root = std::env::var("HTTPD_HOME").unwrap_or_default();
    let web = place.path("web").display().to_string();
    let conf = format!(
        "ServerRoot \"{web}\"\r\nListen 80\r\nServerName shop\r\nUser nobody\r\nPidFile httpd.pid\r\nErrorLog error.log\r\n\
         LoadModule mpm_prefork_module {root}/usr/lib/apache2/modules/mod_mpm_prefork.so\r\n\
         LoadModule authz_core_module {root}/usr/lib/apache2/modules/mod_authz_core.so\r\nInclude mpm.conf\r\n\
         <VirtualHost *:80>\r\nDocumentRoot \"{web}/pages\"\r\n</VirtualHost>"
    );
    place.write("web/httpd.conf", &conf);
    place.write(
        "web/mpm.conf",
        "<IfModule mpm_prefork_module>\n  MaxRequestWorkers 40\n</IfModule>\n",
    );
    place.write("web/pages/page.html", "the shop\n");
    // Root's server answers as somebody else.
    let open = fs::Permissions::from_mode(0o711);
    fs::set_permissions(place.path(""), open).unwrap();
    place
}

#[test]
fn an_httpd_does_not_outlive_a_weir_that_is_killed() {
    if skipped("SIGKILL of weir with an httpd") {
        return;
    }
    let place = with_users_configuration(OF_USER);
    let before = tree(&place.path("web"));
    let processes = place
        .start(&["sweep", "study.toml"])
        .killed_in_trial(&place, STUDY);
    assert!(!processes.is_empty());
    let run = names_in(&place.path("weir-runs")).remove(0);
    let copy = place.read(&format!("weir-runs/{run}/httpd/httpd.conf"));
    assert!(copy.ends_with("\nMaxRequestWorkers 12\n"), "{copy}");
    let (_, port) = copy.split_once("\nListen 127.0.0.1:").unwrap();
    let port: u16 = port.lines().next().unwrap().parse().unwrap();
    place.weir(&["target", "restore"]).ends(0);
    // All of its processes have the command line of the first.
    let of_run = place.path("weir-runs").join(run).join("httpd/httpd.conf");
    let of_run = of_run.display().to_string();
    wait_for("the end of the httpd", LEAVE, || {
        let mut lines = names_in(Path::new("/proc"))
            .into_iter()
            .filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/cmdline")).ok());
        (!lines.any(|line| line.contains(&of_run))).then_some(())
    });
    TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    assert_eq!(tree(&place.path("web")), before);
    assert!(names_in(&place.state()).is_empty());
}

#[test]
fn the_answer_is_written_into_the_users_file_and_only_there() {
    if skipped("tune --write of an httpd") {
        return;
    }
    let place = with_users_configuration(TUNE_OF_USER);
    let before = tree(&place.path("web"));
    let limit = "  MaxRequestWorkers 40\n";
    let text = place.read("web/mpm.conf");
    assert!(text.contains(limit), "{text}");
    let done = place
        .start(&["tune", "--write", "study.toml"])
        .done(STUDY)
        .ends_one_of(&[0, 4]);
    let result = result(&place);
    if done.code != Some(0) {
        // A machine that disturbs every trial leaves it undecided, and the file as it was.
        assert!(done.stderr.contains("nothing was written"), "{done}");
        assert_eq!(tree(&place.path("web")), before);
        return;
    }
    let threads = result["settings"]["threads"].as_f64().unwrap();
    let written = text.replace(limit, &format!("  MaxRequestWorkers {threads}\n"));
    assert_eq!(place.read("web/mpm.conf"), written);
    assert_eq!(place.read("web/mpm.conf.before-weir"), text);
    let changed = tree(&place.path("web"));
    let mut names = names_in(&place.path("web"));
    names.retain(|name| !before.iter().any(|(path, _)| path.ends_with(name)));
    assert_eq!(names, ["mpm.conf.before-weir"]);
    for (path, bytes) in &before {
        assert!(
            path.ends_with("mpm.conf") || changed.contains(&(path.clone(), bytes.clone())),
            "{} has changed",
            path.display()
        );
    }
}
