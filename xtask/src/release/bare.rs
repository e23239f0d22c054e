//! A place with nothing in it but the package: no library, no shell, no network but the loopback.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::processor::Processor;
use super::{copy, fresh, write};
use crate::error::TaskError;
use crate::process::{found, output, run, run_expecting};

/// The main job, short: what is asked is whether it runs.
const STUDY: &str = r#"schema = "weir/study/1"
[target.builtin]
[target.builtin.settings]
threads = 50
"pool.db" = 20
[load]
url = "/light"
window = "5 s"
warm-up = "1 s"
[find]
within = [1, 20]
subject-to = ["cpu <= 80 %"]
budget = "60 s"
"#;

/// The ends of it that count: the check held, it did not, the machine was too noisy for an answer
/// (docs/reference/exit-codes.md). Which of them is not what is asked of a package.
const ANSWERS: [i32; 3] = [0, 1, 4];

/// Unpacks a package of Debian into an empty place and runs the main job in it. In an emulator the
/// program is started, and reads a study; its main job starts itself, which no emulator is asked
/// for.
pub(super) fn try_out(package: &Path, root: &Path, processor: &Processor) -> Result<(), TaskError> {
    fresh(root)?;
    run(Command::new("dpkg-deb").arg("-x").arg(package).arg(root))?;
    for folder in ["proc", "sys", "tmp", "dev", "srv"] {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).map_err(TaskError::file("write", &folder))?;
    }
    write(&root.join("srv/study.toml"), STUDY)?;
    let emulator = processor.emulator();
    if let Some(emulator) = &emulator {
        let program = found(emulator).ok_or_else(|| {
            TaskError::Unavailable(format!("use of {emulator}: it is in no directory of PATH"))
        })?;
        copy(&program, &root.join(emulator))?;
    }
    let within = |words: &[&str]| within(root, emulator.as_deref(), words);
    let version = output(&mut within(&["--version"]))?;
    println!("{}", version.trim());
    run(&mut within(&["check", "/srv/study.toml"]))?;
    if emulator.is_some() {
        let target = processor.target();
        println!("{target}: the main job was not run, this machine has another processor");
        return Ok(());
    }
    let tune = ["tune", "/srv/study.toml", "--runs", "/srv/runs"];
    run_expecting(&mut within(&tune), &ANSWERS)?;
    let runs = root.join("srv/runs");
    let names = fs::read_dir(&runs).map_err(TaskError::file("read", &runs))?;
    let reports = names
        .flatten()
        .filter(|entry| entry.path().join("report.html").is_file());
    if reports.count() == 0 {
        return Err(TaskError::Form {
            what: format!("the runs in {}", runs.display()),
            why: "none has a report: the main job did not run".to_owned(),
        });
    }
    Ok(())
}

/// The program in namespaces of its own, in an emulator that lies beside it.
fn within(root: &Path, emulator: Option<&str>, words: &[&str]) -> Command {
    let script = "ip link set lo up && mount -t proc proc \"$0/proc\" && exec chroot \"$0\" \"$@\"";
    let emulator = emulator.map(|emulator| format!("/{emulator}"));
    let mut command = Command::new("unshare");
    command
        .args(["--map-root-user", "--mount", "--net", "--pid", "--fork"])
        .args(["sh", "-c", script])
        .arg(root)
        .args(emulator)
        .arg("/usr/bin/weir")
        .args(words)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", "/srv");
    command
}
