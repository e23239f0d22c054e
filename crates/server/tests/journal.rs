//! A Weir that is killed in the middle: everything is put back by the next one, and nothing that
//! another Weir, still running, has changed.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use weir_server::{Journal, Leftover, LiveSetting, Restored, left_changed, restore_abandoned};

/// Names the place of a child that plays Weir.
const PLACE: &str = "JOURNAL_TEST_PLACE";
/// Bytes that are no text.
const BEFORE: &[u8] = b"<server>\xff\r\n";

struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::write(place.path("server.xml"), BEFORE).unwrap();
        fs::set_permissions(place.path("server.xml"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("server.xml", place.path("link.xml")).unwrap();
        fs::write(place.path("live"), "50").unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn state(&self) -> PathBuf {
        self.path("state")
    }

    fn journals(&self) -> usize {
        fs::read_dir(self.state()).map_or(0, Iterator::count)
    }

    fn restore(&self) -> Restored {
        restore_abandoned(&self.state(), Leftover::Keep).unwrap()
    }

    fn assert_as_found(&self) {
        assert_eq!(fs::read(self.path("server.xml")).unwrap(), BEFORE);
        let mode = fs::metadata(self.path("server.xml")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o640);
        assert!(
            fs::symlink_metadata(self.path("link.xml"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(fs::read_to_string(self.path("live")).unwrap(), "50");
        assert!(!self.path("made").exists());
        assert!(!self.path("new.xml").exists());
    }
}

/// What a Weir does to a server; the process that it started.
fn change_everything(place: &Path) -> (Journal, Child) {
    let journal = Journal::new(place.join("state"));
    journal
        .write(&place.join("link.xml"), b"<server/>")
        .unwrap();
    journal
        .write(&place.join("server.xml"), b"<server>2</server>")
        .unwrap();
    journal.write(&place.join("new.xml"), b"new").unwrap();
    journal.directory(&place.join("made")).unwrap();
    fs::write(place.join("made/file"), "x").unwrap();
    let live = place.join("live");
    let back = format!("printf 50 > '{}'", live.display());
    for limit in ["40", "30"] {
        let argv = ["sh", "-c", &back].map(str::to_owned).to_vec();
        let what = "threads of the server".to_owned();
        journal.live(LiveSetting::Command { what, argv }).unwrap();
        fs::write(&live, limit).unwrap();
    }
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 600 & wait"]).process_group(0);
    journal.mark(&mut command).unwrap();
    let child = command.spawn().unwrap();
    journal.process(child.id()).unwrap();
    (journal, child)
}

/// Not a test by itself: the body of the process that is killed.
#[test]
fn plays_weir() {
    let Some(place) = std::env::var_os(PLACE) else {
        return;
    };
    let (_journal, child) = change_everything(Path::new(&place));
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nstarted {}", child.id()).unwrap();
    out.flush().unwrap();
    std::thread::park();
}

/// Another process that plays Weir, and the process that it has started.
fn another_weir(place: &Place) -> (Child, u32) {
    let mut weir = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "plays_weir", "--nocapture"])
        .env(PLACE, place.directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(weir.stdout.take().unwrap()).lines();
    let started = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("started ")?.parse().ok())
        .expect("it says what it has started");
    (weir, started)
}

fn runs(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_killed_weir_is_cleaned_up_after_byte_for_byte() {
    let place = Place::new();
    let (mut weir, started) = another_weir(&place);
    assert_eq!(place.restore(), Restored::default(), "it still runs");
    assert_eq!(left_changed(&place.state()).unwrap(), [""; 0]);
    assert_eq!(
        fs::read(place.path("server.xml")).unwrap(),
        b"<server>2</server>"
    );
    assert!(runs(started));
    weir.kill().unwrap();
    weir.wait().unwrap();
    let left = left_changed(&place.state()).unwrap();
    assert_eq!(left.len(), 5, "{left:?}");
    assert!(
        left.contains(&"set threads of the server".to_owned()),
        "{left:?}"
    );
    let restored = place.restore();
    assert_eq!(restored.failed, Vec::<String>::new());
    assert_eq!(left_changed(&place.state()).unwrap(), [""; 0]);
    assert_eq!(restored.done.len(), 5, "{:?}", restored.done);
    place.assert_as_found();
    assert!(!runs(started));
    assert_eq!(place.journals(), 0);
    assert!(place.restore().is_empty());
}

#[test]
fn an_orderly_end_puts_back_and_leaves_no_journal() {
    let place = Place::new();
    let (journal, mut child) = change_everything(place.directory.path());
    // Collects it, as whoever started it does.
    let waiter = std::thread::spawn(move || child.wait());
    let restored = journal.put_back();
    waiter.join().unwrap().unwrap();
    assert_eq!(restored.failed, Vec::<String>::new());
    place.assert_as_found();
    assert_eq!(place.journals(), 0);
    assert!(journal.put_back().is_empty());
}

#[test]
fn a_weir_that_gives_up_puts_back() {
    let place = Place::new();
    let journal = Journal::new(place.state());
    let copy = journal.clone();
    copy.write(&place.path("server.xml"), b"weir's").unwrap();
    drop(copy);
    assert_eq!(fs::read(place.path("server.xml")).unwrap(), b"weir's");
    drop(journal);
    place.assert_as_found();
    assert_eq!(place.journals(), 0);
}

#[test]
fn what_somebody_else_wrote_since_is_kept_beside() {
    let place = Place::new();
    let journal = Journal::new(place.state());
    journal.write(&place.path("server.xml"), b"weir's").unwrap();
    fs::write(place.path("server.xml"), "theirs").unwrap();
    let restored = journal.put_back();
    assert_eq!(fs::read(place.path("server.xml")).unwrap(), BEFORE);
    let (_, kept) = restored.done[0].split_once("since is ").unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "theirs");
}

#[test]
fn what_needs_no_putting_back_is_not_put_back_until_it_is_changed_again() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("set");
    let setting = || LiveSetting::Command {
        what: "threads".to_owned(),
        argv: ["sh", "-c", &format!("echo back >> {}", file.display())]
            .map(str::to_owned)
            .to_vec(),
    };
    for changed_again in [false, true] {
        let journal = Journal::new(place.path().join("state"));
        journal.live(setting()).unwrap();
        journal.undone(|_| true).unwrap();
        if changed_again {
            journal.live(setting()).unwrap();
        }
        let restored = journal.put_back();
        assert_eq!(restored.failed, [""; 0]);
        assert_eq!(file.exists(), changed_again);
    }
}

#[test]
fn what_cannot_be_put_back_is_tried_again_until_it_is_forgotten() {
    let place = Place::new();
    let journal = Journal::new(place.state());
    let argv = ["sh", "-c", "echo no such server >&2; exit 7"].map(str::to_owned);
    let setting = LiveSetting::Command {
        what: "threads = 50".to_owned(),
        argv: argv.to_vec(),
    };
    journal.live(setting).unwrap();
    let says = journal.put_back().failed.join("\n");
    assert!(
        says.contains("threads = 50") && says.contains("no such server"),
        "{says}"
    );
    assert_eq!(place.restore().failed.len(), 1);
    assert_eq!(place.journals(), 1);
    let forgotten = restore_abandoned(&place.state(), Leftover::Forget).unwrap();
    assert_eq!(forgotten.failed.len(), 1);
    assert_eq!(place.journals(), 0);
}

/// Names the place of a child that plays Weir and puts back what it has changed.
const PLACE_TO_END: &str = "JOURNAL_TEST_PLACE_TO_END";
/// The calls of the system that change what is on a disk. A file that is made is written to in one
/// of the next ones, so that opening it is none.
const CHANGES: [&str; 16] = [
    "mkdir",
    "mkdirat",
    "write",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "fchmod",
    "fchmodat",
    "fchown",
    "fchownat",
    "ftruncate",
];
/// So many times is written to nowhere before anything is changed: calls are counted for each
/// thread, and the first thread of the program writes, too.
const NOWHERE: usize = 12;
/// More calls of a kind than it makes.
const CALLS: usize = 1_000;

/// Not a test by itself: the body of the process that is killed at each of its calls.
#[test]
fn plays_weir_to_its_end() {
    let Some(place) = std::env::var_os(PLACE_TO_END) else {
        return;
    };
    let place = Path::new(&place);
    let mut nowhere = fs::File::create("/dev/null").unwrap();
    for _ in 0..NOWHERE {
        nowhere.write_all(b"x").unwrap();
    }
    let journal = Journal::new(place.join("state"));
    journal
        .write(&place.join("server.xml"), b"<server/>")
        .unwrap();
    journal
        .write(&place.join("server.xml"), b"<server>2</server>")
        .unwrap();
    journal.write(&place.join("new.xml"), b"new").unwrap();
    journal.directory(&place.join("made")).unwrap();
    fs::write(place.join("made/file"), "x").unwrap();
    let restored = journal.put_back();
    assert_eq!(restored.failed, Vec::<String>::new());
}

/// By fault injection, not by chance: the process gets SIGKILL as it enters each of its calls that
/// change something on a disk.
#[test]
fn a_kill_at_any_change_of_the_disk_leaves_nothing() {
    if Command::new("strace").arg("-V").output().is_err() {
        assert!(
            std::env::var_os("WEIR_SYSTEM_TESTS").is_none(),
            "the tests' needs have strace"
        );
        let mut out = std::io::stderr().lock();
        writeln!(
            out,
            "skipped: there is no strace; `cargo xtask test` installs it"
        )
        .unwrap();
        return;
    }
    let killed: usize = CHANGES.iter().map(|call| killed_at_each(call)).sum();
    assert!(killed > NOWHERE + 40, "it was killed {killed} times");
}

/// Kills it at its first call of a kind, its second one, and so on until it comes to its end; how
/// often.
fn killed_at_each(call: &str) -> usize {
    for number in 1..CALLS {
        let place = Place::new();
        let status = Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "-e"])
            .arg(format!("trace={call}"))
            .arg("-e")
            .arg(format!("inject={call}:signal=KILL:when={number}"))
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "plays_weir_to_its_end"])
            .env(PLACE_TO_END, place.directory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let at = format!("{call} {number}");
        let restored = place.restore();
        assert_eq!(restored.failed, Vec::<String>::new(), "{at}");
        place.assert_as_found();
        assert_eq!(place.journals(), 0, "{at}");
        let mut names: Vec<_> = fs::read_dir(place.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "state")
            .collect();
        names.sort();
        assert_eq!(names, ["link.xml", "live", "server.xml"], "{at}");
        if status.success() {
            return number - 1;
        }
    }
    panic!("it made more than {CALLS} calls of {call}");
}

/// Nothing is changed that cannot be written down before.
#[test]
fn a_full_and_a_closed_disk_under_the_journal_change_nothing() {
    if !rustix::process::geteuid().is_root() {
        let mut out = std::io::stderr().lock();
        writeln!(out, "skipped: only root mounts a small disk").unwrap();
        return;
    }
    for (name, then) in [
        ("full", "head -c 1000000 /dev/zero > $0/rest || true"),
        ("closed", "mount -o remount,ro $0"),
    ] {
        let place = Place::new();
        fs::create_dir(place.state()).unwrap();
        fs::set_permissions(place.state(), fs::Permissions::from_mode(0o700)).unwrap();
        let script = format!(
            "mount -t tmpfs -o size=64k,mode=700 none $0 && {then}; exec \"$1\" --exact plays_weir_that_cannot_write"
        );
        let status = Command::new("unshare")
            .args(["--mount", "sh", "-c", &script])
            .arg(place.state())
            .arg(std::env::current_exe().unwrap())
            .env(PLACE_TO_END, place.directory.path())
            .status()
            .unwrap();
        assert!(status.success(), "{name}");
        place.assert_as_found();
    }
}

/// Not a test by itself: the body of a process whose journal cannot be written.
#[test]
fn plays_weir_that_cannot_write() {
    let Some(place) = std::env::var_os(PLACE_TO_END) else {
        return;
    };
    let place = Path::new(&place);
    let journal = Journal::new(place.join("state"));
    let says = journal
        .write(&place.join("server.xml"), b"<server/>")
        .unwrap_err()
        .to_string();
    assert!(says.contains("before the target is changed"), "{says}");
    assert_eq!(fs::read(place.join("server.xml")).unwrap(), BEFORE);
}

#[test]
fn a_weir_that_changes_nothing_leaves_nothing() {
    let place = Place::new();
    let journal = Journal::new(place.state());
    assert!(journal.put_back().is_empty());
    assert!(!place.state().exists());
    assert!(place.restore().is_empty());
}
