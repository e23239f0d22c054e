//! A place with nothing in it but the package: no library, no shell, no network but the loopback.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{fresh, write};
use crate::error::TaskError;
use crate::process::{output, run, run_any_end};

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

/// Unpacks a package of Debian into an empty place and runs the main job in it.
pub(super) fn main_job(package: &Path, root: &Path) -> Result<(), TaskError> {
    fresh(root)?;
    run(Command::new("dpkg-deb").arg("-x").arg(package).arg(root))?;
    for folder in ["proc", "sys", "tmp", "dev", "srv"] {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).map_err(TaskError::file("write", &folder))?;
    }
    write(&root.join("srv/study.toml"), STUDY)?;
    let version = output(&mut within(root, &["--version"]))?;
    println!("{}", version.trim());
    run(&mut within(root, &["check", "/srv/study.toml"]))?;
    // Whether the machine was quiet enough for an answer is not what is asked.
    let tune = ["tune", "/srv/study.toml", "--runs", "/srv/runs"];
    run_any_end(&mut within(root, &tune))?;
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

/// The program in namespaces of its own.
fn within(root: &Path, words: &[&str]) -> Command {
    let script = "ip link set lo up && mount -t proc proc \"$0/proc\" && exec chroot \"$0\" /usr/bin/weir \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["--map-root-user", "--mount", "--net", "--pid", "--fork"])
        .args(["sh", "-c", script])
        .arg(root)
        .args(words)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", "/srv");
    command
}
