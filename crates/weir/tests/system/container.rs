//! A server that runs already as in a container: with a network and a control group of its own.
//!
//! Runs in the *system* profile only (`WEIR_SYSTEM_TESTS=1`), as root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::namespace::{Namespace, start_server};
use crate::support::{Place, json_file, names_in, skipped};

/// How long two short trials may take on a busy machine.
const STUDY: Duration = Duration::from_secs(240);
const GROUPS: &str = "/sys/fs/cgroup";

/// A control group with a quota of CPU time, in each hierarchy that has to do with it.
struct Group(Vec<PathBuf>);

impl Group {
    fn make() -> Self {
        let name = format!("weir-test-container-{}", std::process::id());
        let places =
            ["cpu", "cpu,cpuacct", "cpuacct", ""].map(|place| Path::new(GROUPS).join(place));
        let is_hierarchy = |place: &PathBuf| {
            let files = [
                "cpu.cfs_quota_us",
                "cpu.max",
                "cpuacct.usage",
                "cgroup.controllers",
            ];
            files.iter().any(|file| place.join(file).is_file())
        };
        let mut made: Vec<PathBuf> = Vec::new();
        for place in places.iter().filter(|place| is_hierarchy(place)) {
            let group = fs::canonicalize(place).unwrap().join(&name);
            if !made.contains(&group) {
                fs::create_dir(&group).unwrap();
                made.push(group);
            }
        }
        Self(made)
    }

    fn takes(&self, pid: u32) {
        for group in &self.0 {
            fs::write(group.join("cgroup.procs"), pid.to_string()).unwrap();
        }
    }

    /// Thousandths of a CPU that its processes may use together.
    fn allow(&self, thousandths: u32) {
        let micros = thousandths * 100;
        let of = |file: &str| {
            self.0
                .iter()
                .map(|group| group.join(file))
                .find(|file| file.is_file())
        };
        if let Some(quota) = of("cpu.cfs_quota_us") {
            fs::write(quota, micros.to_string()).unwrap();
        } else {
            fs::write(of("cpu.max").unwrap(), format!("{micros} 100000")).unwrap();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for group in &self.0 {
            let _ = fs::remove_dir(group);
        }
    }
}

/// A process that ends with the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn study(place: &Place, name: &str, (origin, users): (&str, u32)) -> (Value, Value) {
    place.write(
        &format!("{name}.toml"),
        &format!(
            "schema = \"weir/study/1\"\n[target.external]\nurl = \"{origin}\"\n[load]\nurl = \"/light\"\n\
             window = \"6 s\"\nwarm-up = \"2 s\"\n[sweep]\ndesign = \"cases\"\n[[sweep.case]]\nname = \"one\"\n\
             set = {{ users = {users} }}\n"
        ),
    );
    let runs = format!("{name}-runs");
    let file = format!("{name}.toml");
    place
        .start(&["sweep", &file, "--runs", &runs])
        .done(STUDY)
        .ends(0);
    let runs = place.path(&runs);
    let run = runs.join(&names_in(&runs)[0]);
    let explained = place
        .weir(&["explain", run.to_str().unwrap(), "--json", "-"])
        .ends(0);
    (
        json_file(&run.join("result.json")),
        serde_json::from_str(&explained.stdout).unwrap(),
    )
}

/// A figure of the one trial of a study.
fn signal(result: &Value, name: &str) -> f64 {
    let trial = &result["trials"][0];
    trial["signals"][name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name}: {trial:#}"))
}

fn findings(result: &Value) -> Vec<&str> {
    let all = result["findings"].as_array().unwrap();
    all.iter()
        .filter_map(|finding| finding["id"].as_str())
        .collect()
}

#[test]
fn a_quota_is_what_its_cpu_share_is_of_and_its_own_network_is_read() {
    if skipped("a server with a network and a quota of its own") {
        return;
    }
    let Some(namespace) = Namespace::make() else {
        return;
    };
    let group = Group::make();
    let (server, port) = start_server(&namespace.address, Some(&namespace));
    let server = Ends(server);
    group.takes(server.0.id());
    group.allow(500);
    let origin = format!("http://{}:{port}", namespace.address);
    let place = Place::new();
    let looked = place
        .weir(&["init", &format!("{origin}/light"), "--out", "init.toml"])
        .ends(0);
    let process = format!("process {}", server.0.id());
    assert!(looked.stdout.contains(&process), "{looked}");

    let (half, why) = study(&place, "half", (&origin, 4));
    assert!((signal(&half, "target.cpus") - 0.5).abs() < 1e-9);
    assert!(
        half["trials"][0]["cpu"]["total"].as_f64().unwrap() > 0.9,
        "{half:#}"
    );
    assert!(findings(&half).contains(&"cpu-throttled"), "{half:#}");
    assert_eq!(why["runs"][0]["first"], "quota", "{why:#}");
    // From the tables of its own network.
    let established = signal(&half, &format!("tcp.{port}.established"));
    assert!(established >= 3.9, "{established}");

    // Another process of the group uses most of what it may.
    let beside = Command::new("sh")
        .args(["-c", "while :; do :; done"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let beside = Ends(beside);
    group.takes(beside.0.id());
    group.allow(1500);
    let (more, _) = study(&place, "more", (&origin, 1));
    assert!((signal(&more, "target.cpus") - 1.5).abs() < 1e-9);
    let own = signal(&more, "target.cpu.user") + signal(&more, "target.cpu.system");
    let others = signal(&more, "target.group.cpu") - own;
    assert!(others > 0.3, "{more:#}");
    drop((beside, server));
}
