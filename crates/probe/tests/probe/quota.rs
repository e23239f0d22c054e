//! A process in a control group that may use half a CPU, and would use a whole one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use weir_probe::{WatchPlan, Watcher, quota_of_process};

/// Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A group with a quota of half a CPU, in the hierarchy of quotas and, where version 1 has another
/// one for it, in that of CPU time; it goes with the test.
struct HalfACpu(Vec<PathBuf>);

impl HalfACpu {
    /// In the hierarchy of version 1, else of version 2; `None` where this process may make none.
    fn new(test: &str) -> Option<Self> {
        let name = format!("weir-test-{test}-{}", std::process::id());
        let root = Path::new("/sys/fs/cgroup");
        let mut group = ["cpu", "cpu,cpuacct", ""]
            .into_iter()
            .find_map(|place| Self::below(&root.join(place), &name))?;
        let time = root.join("cpuacct").join(&name);
        if fs::create_dir(&time).is_ok() {
            group.0.push(time);
        }
        Some(group)
    }

    fn below(place: &Path, name: &str) -> Option<Self> {
        let directory = place.join(name);
        fs::create_dir(&directory).ok()?;
        let group = Self(vec![directory]);
        let v1 =
            group.write("cpu.cfs_period_us", "100000") && group.write("cpu.cfs_quota_us", "50000");
        (v1 || group.write("cpu.max", "50000 100000")).then_some(group)
    }

    fn write(&self, file: &str, text: &str) -> bool {
        let path = self.0[0].join(file);
        path.is_file() && fs::write(path, text).is_ok()
    }
}

impl Drop for HalfACpu {
    fn drop(&mut self) {
        for directory in &self.0 {
            let _ = fs::remove_dir(directory);
        }
    }
}

/// A shell in the group, with what it starts, until the test ends.
struct Running(Child);

impl Running {
    fn of(script: &str, group: &HalfACpu) -> Self {
        let child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        for directory in &group.0 {
            fs::write(directory.join("cgroup.procs"), child.id().to_string()).unwrap();
        }
        Self(child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "what was left out is said")]
fn a_quota_that_is_shared_is_used_up_by_others_of_the_group() {
    let Some(group) = HalfACpu::new("shared") else {
        println!("left out: a control group needs root and a hierarchy that can be written");
        return;
    };
    let server = Running::of("exec sleep 600", &group);
    let beside = Running::of("while :; do :; done", &group);
    let mut watcher = Watcher::new(WatchPlan {
        target_pids: vec![server.0.id()],
        ..WatchPlan::default()
    });
    let until = Instant::now() + PATIENCE;
    loop {
        let reading = watcher.sample(Instant::now());
        let read = |name: &str| reading.get(name).copied().unwrap_or(0.0);
        let own = read("target.cpu.user") + read("target.cpu.system");
        if read("cpu") > 0.9 && read("target.group.cpu") > 0.4 {
            assert!(own < 0.1, "the server itself uses none: {reading:?}");
            break;
        }
        assert!(Instant::now() < until, "{reading:?}");
        std::thread::sleep(Duration::from_secs(1));
    }
    drop((server, beside));
}

#[test]
#[expect(clippy::print_stdout, reason = "what was left out is said")]
fn a_quota_that_is_used_up_is_a_full_cpu_and_throttling() {
    let Some(group) = HalfACpu::new("alone") else {
        println!("left out: a control group needs root and a hierarchy that can be written");
        return;
    };
    let spinning = Running::of("while :; do :; done", &group);
    let pid = spinning.0.id();
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
            // One thread on one of the CPUs that it may use.
            let stood_still = read("target.throttled.time");
            assert!(stood_still > 0.0 && stood_still <= 1.0, "{reading:?}");
            break;
        }
        assert!(Instant::now() < until, "{reading:?}");
        std::thread::sleep(Duration::from_secs(1));
    }
    drop(spinning);
}
