//! A process in a control group that may use half a CPU, and would use a whole one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use weir_probe::{WatchPlan, Watcher, quota_of_process};

/// Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A group with a quota of half a CPU; it goes with the test.
struct HalfACpu(PathBuf);

impl HalfACpu {
    /// In the hierarchy of version 1, else of version 2; `None` where this process may make none.
    fn new() -> Option<Self> {
        let name = format!("weir-test-{}", std::process::id());
        let root = Path::new("/sys/fs/cgroup");
        ["cpu", "cpu,cpuacct", ""]
            .into_iter()
            .find_map(|place| Self::below(&root.join(place), &name))
    }

    fn below(place: &Path, name: &str) -> Option<Self> {
        let directory = place.join(name);
        fs::create_dir(&directory).ok()?;
        let group = Self(directory);
        let v1 =
            group.write("cpu.cfs_period_us", "100000") && group.write("cpu.cfs_quota_us", "50000");
        (v1 || group.write("cpu.max", "50000 100000")).then_some(group)
    }

    fn write(&self, file: &str, text: &str) -> bool {
        let path = self.0.join(file);
        path.is_file() && fs::write(path, text).is_ok()
    }
}

impl Drop for HalfACpu {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// A process that computes until it is ended.
struct Spinning(Child);

impl Drop for Spinning {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "what was left out is said")]
fn a_quota_that_is_used_up_is_a_full_cpu_and_throttling() {
    let Some(group) = HalfACpu::new() else {
        println!("left out: a control group needs root and a hierarchy that can be written");
        return;
    };
    let child = Command::new("sh")
        .args(["-c", "while :; do :; done"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let spinning = Spinning(child);
    let pid = spinning.0.id();
    fs::write(group.0.join("cgroup.procs"), pid.to_string()).unwrap();
    assert_eq!(quota_of_process(pid), Some(0.5));
    let mut watcher = Watcher::new(WatchPlan {
        target_pids: vec![pid],
        ..WatchPlan::default()
    });
    let until = Instant::now() + PATIENCE;
    loop {
        let reading = watcher.sample(Instant::now());
        let read = |name: &str| reading.get(name).copied().unwrap_or(0.0);
        // On a machine that others use it gets its half only now and then.
        let throttled = read("target.throttled");
        if throttled > 0.5 && read("cpu") > 0.9 {
            assert!((read("target.cpus") - 0.5).abs() < 1e-9, "{reading:?}");
            break;
        }
        assert!(Instant::now() < until, "{reading:?}");
        std::thread::sleep(Duration::from_secs(1));
    }
    drop(spinning);
}
