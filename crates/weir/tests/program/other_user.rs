//! Weir as root, and what another user has planted for it: studies, journals, a cache, run folders.
//!
//! These tests need root to play the other user; as somebody else they say so and do nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Place, SampleServer, repository_file, tree};

/// The other user.
const OTHER: u32 = 65_534;

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: another user can be played by root only");
    }
    root
}

fn give(path: &Path) {
    std::os::unix::fs::lchown(path, Some(OTHER), Some(OTHER)).unwrap();
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The program with more in its environment.
#[track_caller]
fn weir_with(place: &Place, environment: &[(&str, &Path)], words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(words)
        .current_dir(place.path(""))
        .env("HOME", place.path("home"))
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("WEIR_STATE")
        .env_remove("WEIR_CACHE")
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

/// The program with an umask that lets everybody read.
#[track_caller]
fn openly(place: &Place, words: &[&str]) {
    let output = Command::new("sh")
        .args([
            "-c",
            "umask 022; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_weir"),
        ])
        .args(words)
        .current_dir(place.path(""))
        .env("HOME", place.path("home"))
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {talk}");
}

/// What the other user can read of a folder, by its paths.
fn read_by_other(folder: &Path) -> Vec<PathBuf> {
    let reads = |path: &Path| {
        let reader = if path.is_dir() { "ls" } else { "cat" };
        let read = Command::new(reader).arg(path).uid(OTHER).output();
        read.unwrap().status.success()
    };
    let inside = tree(folder).into_iter().map(|(path, _)| path);
    let all = std::iter::once(folder.to_owned()).chain(inside);
    all.filter(|path| reads(path)).collect()
}

/// A run holds the plan with its passwords, and what a server answered.
#[test]
fn what_a_run_keeps_is_read_by_nobody_else() {
    if !is_root() {
        return;
    }
    let server = SampleServer::start();
    let place = Place::new();
    mode(&place.path(""), 0o755);
    let url = server.url("/light");
    let load = ["run", &url, "-c", "1", "-d", "1s"];
    openly(&place, &load);
    openly(&place, &["report", "last"]);
    let runs = place.path("weir-runs");
    assert!(tree(&runs).len() > 5, "{:?}", tree(&runs));
    assert_eq!(read_by_other(&runs), Vec::<PathBuf>::new());
    // Not even where the folder of all runs is open, as an earlier Weir made it.
    mode(&runs, 0o755);
    assert_eq!(read_by_other(&runs), std::slice::from_ref(&runs));
    // Who wants it otherwise says so once.
    place.write("home/.config/weir/config.toml", "readable-runs = true\n");
    openly(&place, &load);
    let read = read_by_other(&runs);
    assert!(
        read.iter()
            .any(|path| path.ends_with("trials/001/trial.json")),
        "{read:?}"
    );
}

#[track_caller]
fn assert_refused(output: &Output, wanted: &[&str]) {
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{talk}");
    for part in wanted {
        assert!(talk.contains(part), "`{part}`: {talk}");
    }
}

/// A study that leaves a mark when one of its commands runs.
fn marking_study(place: &Place) {
    let text = repository_file("studies/default.toml");
    let target = "[target.command]\nrun = \"touch mark \\u001b[1A\"\nport = 1\nready = \"/\"\n\n";
    let begin = text.find("[target.builtin]").unwrap();
    let end = text.find("[load]").unwrap();
    place.write(
        "study.toml",
        &[&text[..begin], target, &text[end..]].concat(),
    );
}

/// The line of the command, as it is shown.
fn shown(place: &Place) -> String {
    let text = place.read("study.toml");
    let line = 1 + text
        .lines()
        .position(|line| line.starts_with("run = "))
        .unwrap();
    format!("study.toml:{line}: runs target.command.run: touch mark \\u{{1b}}[1A")
}

#[test]
fn what_a_study_runs_is_shown_before_it_runs() {
    let place = Place::with_plan();
    marking_study(&place);
    let shown = shown(&place);
    place
        .weir(&["check", "study.toml"])
        .ends(0)
        .prints(&[&shown]);
    place
        .weir(&["tune", "study.toml", "--dry-run"])
        .ends(0)
        .prints(&[&shown, "trials"]);
    assert!(!place.path("mark").exists());
    // One's own study runs, and ends because it is no server.
    place.weir(&["tune", "study.toml"]).ends(3).says(&[&shown]);
    assert!(place.path("mark").exists());
}

#[test]
fn as_root_commands_of_another_users_study_do_not_run() {
    if !is_root() {
        return;
    }
    let place = Place::with_plan();
    marking_study(&place);
    let (shown, study) = (shown(&place), place.path("study.toml"));
    let refused = |why: &str| {
        for words in [&["tune", "study.toml"][..], &["watch", "study.toml"]] {
            place
                .weir(words)
                .ends(3)
                .says(&[&shown, why, "--allow-commands", "study.toml"]);
        }
        assert!(!place.path("mark").exists());
        assert_eq!(place.names(), ["plans", "study.toml"], "no run was begun");
    };
    give(&study);
    refused("it belongs to user 65534");
    chown(&study, Some(0), Some(0)).unwrap();
    mode(&study, 0o664);
    refused("others may write it (its mode is 0664)");
    mode(&study, 0o644);
    mode(&place.path(""), 0o777);
    refused("others may write it (its mode is 0777)");
    mode(&place.path(""), 0o755);
    give(&study);
    // To look at it is no harm.
    place
        .weir(&["check", "study.toml"])
        .ends(0)
        .prints(&[&shown]);
    assert!(!place.path("mark").exists());
    place
        .weir(&["tune", "study.toml", "--allow-commands"])
        .ends(3)
        .says(&[&shown]);
    assert!(place.path("mark").exists());
}

#[test]
fn a_study_that_runs_nothing_may_be_anybodys() {
    if !is_root() {
        return;
    }
    let place = Place::with_plan();
    place.write("study.toml", &repository_file("studies/default.toml"));
    give(&place.path("study.toml"));
    let done = place.weir(&["tune", "study.toml", "--runs", "plans/short.jmx"]);
    // It fails at its run folder only.
    let done = done.ends(3);
    assert!(!done.stderr.contains("--allow-commands"), "{done}");
}

#[test]
fn as_root_the_study_of_another_users_run_does_not_run() {
    if !is_root() {
        return;
    }
    let place = Place::with_plan();
    marking_study(&place);
    place.weir(&["tune", "study.toml"]).ends(3);
    fs::remove_file(place.path("mark")).unwrap();
    let run = fs::read_dir(place.path("weir-runs")).unwrap().next();
    give(&run.unwrap().unwrap().path().join("run.toml"));
    place
        .weir(&["tune", "--resume"])
        .ends(3)
        .says(&["run.toml: it belongs to user 65534", "--allow-commands"]);
    assert!(!place.path("mark").exists());
}

#[test]
fn as_root_another_users_journal_is_not_put_back() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let state = place.path("home/.local/state/weir");
    let journal = state.join("journal-1-1-0");
    fs::create_dir_all(&journal).unwrap();
    let argv = format!(r#"["touch","{}"]"#, place.path("mark").display());
    let lines = format!(
        "{}\n{{\"live\":{{\"command\":{{\"what\":\"threads\",\"argv\":{argv}}}}}}}\n",
        r#"{"schema":"weir/journal/1","weir":"0","owner":{"pid":1,"start":1}}"#
    );
    fs::write(journal.join("entries.jsonl"), lines).unwrap();
    for path in [&journal.join("entries.jsonl"), &journal, &state] {
        give(path);
        let output = weir_with(&place, &[], &["target", "restore", "--forget"]);
        assert_refused(
            &output,
            &[
                "it belongs to user 65534",
                "weir target restore",
                "WEIR_STATE",
            ],
        );
        chown(path, Some(0), Some(0)).unwrap();
    }
    let away = place.path("away");
    fs::rename(&state, &away).unwrap();
    symlink(&away, &state).unwrap();
    let output = weir_with(&place, &[], &["target", "restore"]);
    assert_refused(&output, &["it is a link"]);
    assert!(!place.path("mark").exists());
    let output = weir_with(&place, &[("WEIR_STATE", &away)], &["target", "restore"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(place.path("mark").exists());
}

#[test]
fn as_root_nothing_is_taken_from_another_users_cache() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let cache = place.path("home/.cache/weir");
    let package = cache.join("jolokia-2.5.1");
    fs::create_dir_all(&package).unwrap();
    let receipt = r#"{"schema":"weir/package/1","package":"jolokia","version":"2.5.1","files":[]}"#;
    fs::write(package.join("weir-package.json"), receipt).unwrap();
    let jar = package.join("jolokia-agent-jvm-2.5.1-javaagent.jar");
    fs::write(&jar, "").unwrap();
    let install = ["target", "install", "jolokia"];
    let honest = weir_with(&place, &[], &install);
    assert_eq!(honest.status.code(), Some(0), "{honest:?}");
    // Also where only a folder above is another user's, who could put another one in its place.
    for path in [&jar, &package, &cache, &place.path("home")] {
        give(path);
        let output = weir_with(&place, &[], &install);
        assert_refused(&output, &["it belongs to user 65534", "WEIR_CACHE"]);
        assert!(output.stdout.is_empty());
        chown(path, Some(0), Some(0)).unwrap();
    }
    for path in [&jar, &cache] {
        mode(path, 0o777);
        let output = weir_with(&place, &[], &install);
        assert_refused(&output, &["others may write it", "WEIR_CACHE"]);
        mode(path, 0o755);
    }
    give(&place.path("home"));
    let own = place.path("own");
    fs::rename(&cache, &own).unwrap();
    let output = weir_with(&place, &[("WEIR_CACHE", &own)], &install);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn as_root_no_run_is_written_where_another_user_laid_a_folder_for_it() {
    if !is_root() {
        return;
    }
    let place = Place::with_plan();
    marking_study(&place);
    let shared = place.path("shared");
    fs::create_dir_all(shared.join("weir-runs")).unwrap();
    mode(&shared, 0o1777);
    give(&shared.join("weir-runs"));
    place
        .weir(&["tune", "study.toml", "--runs", "shared/weir-runs"])
        .ends(3)
        .says(&["weir-runs: it belongs to user 65534", "--runs DIR"]);
    assert_eq!(fs::read_dir(shared.join("weir-runs")).unwrap().count(), 0);
}

#[test]
fn as_root_a_result_is_not_written_through_another_users_link() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let network = repository_file("networks/one-server.toml")
        .replace("300 s", "5 s")
        .replace("10 s", "1 s");
    place.write("net.toml", &network);
    place.write("victim", "root's own");
    let shared = place.path("shared");
    fs::create_dir(&shared).unwrap();
    mode(&shared, 0o1777);
    // Where the result is made before it is renamed, and where it is to be.
    symlink(place.path("victim"), shared.join("result.json.part")).unwrap();
    give(&shared.join("result.json.part"));
    let words = ["simulate", "net.toml", "--json", "shared/result.json"];
    place.weir(&words).ends_one_of(&[0, 1]);
    assert_eq!(place.read("victim"), "root's own");
    fs::remove_file(shared.join("result.json")).unwrap();
    symlink(place.path("victim"), shared.join("result.json")).unwrap();
    give(&shared.join("result.json"));
    place
        .weir(&words)
        .ends(3)
        .says(&["result.json is a link of user 65534"]);
    assert_eq!(place.read("victim"), "root's own");
    // One's own link stays one.
    fs::remove_file(shared.join("result.json")).unwrap();
    symlink("../mine.json", shared.join("result.json")).unwrap();
    place.weir(&words).ends_one_of(&[0, 1]);
    assert!(place.read("mine.json").starts_with('{'));
    assert!(shared.join("result.json").is_symlink());
}
