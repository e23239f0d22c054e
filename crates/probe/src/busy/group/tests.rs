//! Directories laid out as the kernel lays them out, and the group of this process itself.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use super::*;

fn layout(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// Seconds used, set and quota of a group.
fn seen(root: &Path, path: &Path) -> Option<(f64, Option<String>, f64)> {
    let mut files = Files::here();
    let mut group = Group::find(root, path, &mut files)?;
    let set = group.set(&mut files).map(|set| set.to_string());
    Some((
        group.used.seconds(&mut files)?,
        set,
        group.quota.cpus(&mut files),
    ))
}

#[test]
fn version_2() {
    let root = layout(&[
        ("cgroup.controllers", "cpu cpuset\n"),
        ("a.slice/cpu.max", "150000 100000\n"),
        ("a.slice/b.service/cpu.max", "max 100000\n"),
        (
            "a.slice/b.service/cpu.stat",
            "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n",
        ),
        ("a.slice/b.service/cpuset.cpus.effective", "0-3\n"),
    ]);
    let expected = Some((2.5, Some("0-3".to_owned()), 1.5));
    assert_eq!(seen(root.path(), Path::new("a.slice/b.service")), expected);
    assert_eq!(seen(root.path(), Path::new("/a.slice/b.service")), expected);
    assert_eq!(
        seen(root.path(), &root.path().join("a.slice/b.service")),
        expected
    );
    assert_eq!(seen(root.path(), Path::new("a.slice/c.service")), None);
}

#[test]
fn version_1_with_a_hierarchy_for_each_controller() {
    let root = layout(&[
        ("cpuacct/app/cpuacct.usage", "750000000\n"),
        ("cpu/app/cpu.cfs_quota_us", "50000\n"),
        ("cpu/app/cpu.cfs_period_us", "100000\n"),
        // In version 1 this says how often the quota was used up.
        (
            "cpu/app/cpu.stat",
            "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
        ),
        ("cpu/cpu.cfs_quota_us", "-1\n"),
        ("cpu/cpu.cfs_period_us", "100000\n"),
        ("cpuset/app/cpuset.effective_cpus", "1\n"),
        ("unified/app/cpu.stat", "usage_usec 9\n"),
    ]);
    let expected = Some((0.75, Some("1".to_owned()), 0.5));
    assert_eq!(seen(root.path(), Path::new("app")), expected);
    for place in ["cpuacct/app", "cpu/app"] {
        assert_eq!(
            seen(root.path(), &root.path().join(place)),
            expected,
            "{place}"
        );
    }
}

#[test]
fn without_a_quota_there_is_no_bound() {
    let root = layout(&[("cpu,cpuacct/app/cpuacct.usage", "0\n")]);
    assert_eq!(
        seen(root.path(), Path::new("app")),
        Some((0.0, None, f64::INFINITY))
    );
}

/// The kernel of the machine that the tests run on.
#[test]
fn the_group_around_everything_uses_cpu_time() {
    let mut files = Files::here();
    let mut group = Group::find(Path::new(ROOT), Path::new("/"), &mut files).unwrap();
    let before = group.used.seconds(&mut files).unwrap();
    while group.used.seconds(&mut files).unwrap() <= before {
        std::hint::black_box(0);
    }
    let mut reader = GroupReader::new(PathBuf::from("no-such-group"));
    let none = reader.read(Instant::now());
    assert!(matches!(none, Err(BusyError::NoGroup(_))), "{none:?}");
}
