//! Directories laid out as the kernel lays them out.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::time::Duration;

use super::bandwidth::Throttled;
use super::*;

/// The hierarchies of one machine.
struct Hierarchies(tempfile::TempDir);

impl Hierarchies {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn quota(&self, name: &str) -> Quota {
        let named = Named::everywhere(Path::new(name));
        Quota::of(self.0.path(), &named, &mut Files::here())
    }

    fn memory(&self, name: &str) -> Memory {
        let named = Named::everywhere(Path::new(name));
        Memory::of(self.0.path(), &named, &mut Files::here())
    }
}

#[test]
fn a_group_is_stopped_in_the_periods_in_which_its_quota_was_used_up() {
    let machine = Hierarchies::new();
    machine.write(&[
        ("cpu/app/cpu.cfs_quota_us", "50000\n"),
        ("cpu/app/cpu.cfs_period_us", "100000\n"),
        (
            "cpu/app/cpu.stat",
            "nr_periods 10\nnr_throttled 4\nthrottled_time 0\n",
        ),
    ]);
    let mut files = Files::here();
    let mut quota = machine.quota("app");
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    assert_eq!(
        quota.throttled(start, &mut files),
        None,
        "nothing to compare with"
    );
    machine.write(&[(
        "cpu/app/cpu.stat",
        "nr_periods 20\nnr_throttled 12\nthrottled_time 1500000000\n",
    )]);
    let both = |it: Throttled| (it.periods, it.cpus);
    let throttled = quota.throttled(at(2), &mut files).map(both);
    assert_eq!(throttled, Some((0.8, Some(0.75))));
    let throttled = quota.throttled(at(4), &mut files).map(both);
    assert_eq!(throttled, Some((0.0, Some(0.0))), "it does not run");
    let throttled = machine.quota("other").throttled(start, &mut files);
    assert_eq!(throttled.map(both), Some((0.0, Some(0.0))));
}

#[test]
fn version_2_tells_in_microseconds_how_long_a_group_stood_still() {
    let machine = Hierarchies::new();
    let stat = |throttled: u64| {
        format!("usage_usec 5\nnr_periods 10\nnr_throttled 9\nthrottled_usec {throttled}\n")
    };
    machine.write(&[
        ("app/cpu.max", "20000 100000\n"),
        ("app/cpu.stat", &stat(10)),
    ]);
    let mut files = Files::here();
    let mut quota = machine.quota("app");
    let start = Instant::now();
    assert!(quota.throttled(start, &mut files).is_none());
    machine.write(&[("app/cpu.stat", &stat(800_010))]);
    let throttled = quota.throttled(start + Duration::from_secs(1), &mut files);
    let cpus = throttled.unwrap().cpus.unwrap();
    assert!((cpus - 0.8).abs() < 1e-9, "{cpus}");
}

/// What the group with the least quota has used in two seconds.
fn used(machine: &Hierarchies, name: &str, later: &[(&str, &str)]) -> Option<f64> {
    let mut files = Files::here();
    let mut quota = machine.quota(name);
    let start = Instant::now();
    let mut used = |at| quota.tightest(at, &mut files)?.used_cpus;
    assert_eq!(used(start), None);
    machine.write(later);
    used(start + Duration::from_secs(2))
}

#[test]
fn all_processes_of_a_group_use_its_quota() {
    let old = Hierarchies::new();
    old.write(&[
        ("cpu/pod/cpu.cfs_quota_us", "150000\n"),
        ("cpu/pod/cpu.cfs_period_us", "100000\n"),
        ("cpu/pod/app/cpu.cfs_quota_us", "-1\n"),
        ("cpu/pod/app/cpu.cfs_period_us", "100000\n"),
        ("cpuacct/pod/cpuacct.usage", "1000000000\n"),
        ("cpuacct/pod/app/cpuacct.usage", "0\n"),
    ]);
    let later = ("cpuacct/pod/cpuacct.usage", "4000000000\n");
    assert_eq!(used(&old, "pod/app", &[later]), Some(1.5));

    let new = Hierarchies::new();
    new.write(&[
        ("pod/cpu.max", "200000 100000\n"),
        ("pod/cpu.stat", "usage_usec 0\n"),
        ("pod/app/cpu.max", "50000 100000\n"),
        ("pod/app/cpu.stat", "usage_usec 0\n"),
    ]);
    let later = [
        ("pod/cpu.stat", "usage_usec 3000000\n"),
        ("pod/app/cpu.stat", "usage_usec 1000000\n"),
    ];
    assert_eq!(used(&new, "pod/app", &later), Some(0.5), "the tightest");
    assert_eq!(used(&new, "elsewhere", &[]), None);
}

/// Memory in use, the limit, and how often a second it was met.
fn memory_of(machine: &Hierarchies, later: &[(&str, &str)]) -> [Option<f64>; 3] {
    let mut files = Files::here();
    let mut memory = machine.memory("pod/app");
    let start = Instant::now();
    memory.sample(start, &mut files, &mut Reading::new());
    machine.write(later);
    let mut reading = Reading::new();
    memory.sample(start + Duration::from_secs(2), &mut files, &mut reading);
    [
        "target.group.memory",
        "target.group.memory.limit",
        "target.group.memory.hits",
    ]
    .map(|name| reading.get(name).copied())
}

#[test]
fn the_group_that_has_used_most_of_its_memory_is_told() {
    let new = Hierarchies::new();
    new.write(&[
        ("pod/memory.max", "4096\n"),
        ("pod/memory.current", "2048\n"),
        ("pod/memory.events", "low 0\nhigh 0\nmax 9\noom 0\n"),
        ("pod/app/memory.max", "1024\n"),
        ("pod/app/memory.current", "1024\n"),
        ("pod/app/memory.events", "low 0\nhigh 0\nmax 10\noom 0\n"),
    ]);
    let later = ("pod/app/memory.events", "low 0\nhigh 0\nmax 30\noom 0\n");
    assert_eq!(
        memory_of(&new, &[later]),
        [Some(1024.0), Some(1024.0), Some(10.0)]
    );

    let old = Hierarchies::new();
    old.write(&[
        ("memory/pod/memory.limit_in_bytes", "4096\n"),
        ("memory/pod/memory.usage_in_bytes", "1024\n"),
        ("memory/pod/memory.failcnt", "0\n"),
        (
            "memory/pod/app/memory.limit_in_bytes",
            "9223372036854771712\n",
        ),
        ("memory/pod/app/memory.usage_in_bytes", "512\n"),
        ("memory/pod/app/memory.failcnt", "0\n"),
    ]);
    let later = ("memory/pod/memory.failcnt", "5\n");
    assert_eq!(
        memory_of(&old, &[later]),
        [Some(1024.0), Some(4096.0), Some(2.5)]
    );

    let none = Hierarchies::new();
    none.write(&[
        ("pod/memory.max", "max\n"),
        ("pod/memory.current", "2048\n"),
    ]);
    assert_eq!(memory_of(&none, &[]), [None; 3]);
}

#[test]
fn each_controller_may_have_another_group() {
    let text = b"12:memory:/mem/app\n4:cpu,cpuacct:/time/app\n0::/\n";
    let named = Named::parse(text);
    let path = |group: Option<PathBuf>| group.map(|path| path.display().to_string());
    assert_eq!(path(named.cpu).as_deref(), Some("time/app"));
    assert_eq!(path(named.cpuacct).as_deref(), Some("time/app"));
    assert_eq!(path(named.memory).as_deref(), Some("mem/app"));
    let unified = Named::parse(b"0::/a.slice/b.service\n");
    assert_eq!(path(unified.memory).as_deref(), Some("a.slice/b.service"));
}

#[test]
fn the_group_of_a_process() {
    for (text, group) in [
        ("0::/a.slice/b.service\n", Some("a.slice/b.service")),
        (
            "4:memory:/m\n3:cpu,cpuacct:/app\n0::/unified\n",
            Some("app"),
        ),
        ("3:cpuset:/set\n0::/\n", Some("")),
        ("3:cpuset:/set\n", None),
        ("nothing\n", None),
    ] {
        assert_eq!(
            super::group(text.as_bytes(), "cpu"),
            group.map(PathBuf::from),
            "{text}"
        );
    }
}
