//! `weir simulate` and `weir check` on networks, as they are typed.

use std::fs;

use crate::support::{Place, assert_valid, repository_file};

const NETWORKS: [&str; 6] = [
    "one-server",
    "shared-database",
    "scale-out",
    "scale-by-goal",
    "retry-storm",
    "node-loss",
];

/// Every network that comes with Weir is right, and plays; a short while is enough to see that.
#[test]
fn the_networks_that_come_with_weir() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../networks");
    let files = fs::read_dir(folder).unwrap();
    assert_eq!(files.count(), NETWORKS.len());
    for name in NETWORKS {
        let file = format!("{name}.toml");
        place.write(&file, &repository_file(&format!("networks/{file}")));
        place
            .weir(&["check", &file])
            .ends(0)
            .prints(&["nothing is wrong"]);
        place
            .weir(&["simulate", &file, "--seconds", "20", "--replications", "2"])
            .ends(0)
            .prints(&[name, "answered/s", "±"])
            .says(&["report: "]);
    }
}

/// One file and seed give one text, and another seed others; the run makes a report.
#[test]
fn the_same_seed_gives_the_same_bytes() {
    let place = Place::new();
    place.write("net.toml", &repository_file("networks/one-server.toml"));
    let mut runs = Vec::new();
    for (seed, json) in [("5", "a.json"), ("5", "b.json"), ("6", "c.json")] {
        let typed = [
            "simulate",
            "net.toml",
            "--seconds",
            "10",
            "--replications",
            "3",
            "--seed",
            seed,
            "--json",
            json,
        ];
        place.weir(&typed).ends(0);
        runs.push(place.read(json));
    }
    assert!(runs[0] == runs[1]);
    assert!(runs[0] != runs[2]);
    let report: serde_json::Value = serde_json::from_str(&runs[0]).unwrap();
    assert_eq!(report["schema"], "weir/simulation/1");
    assert_valid("docs/schemas/simulation.schema.json", &report);
    let throughput = &report["classes"][0]["throughput_per_s"];
    assert_eq!(throughput["count"], 3);
    assert!(throughput["low"].as_f64() < throughput["value"].as_f64());
    place
        .weir(&["report", "last"])
        .ends(0)
        .prints(&["report.html"]);
    place
        .weir(&["report", "last", "--markdown"])
        .ends(0)
        .prints(&["Simulated, not measured"]);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let place = Place::new();
    let text = repository_file("networks/retry-storm.toml").replace("280/s", "480/s");
    place.write("net.toml", &text);
    let line = text.lines().position(|line| line == "[station.server]");
    let line = line.unwrap() + 1;
    for command in ["check", "simulate"] {
        place.weir(&[command, "net.toml"]).ends(2).says(&[
            &format!("net.toml:{line}:"),
            "a utilization of 120 %",
            "1 problem",
        ]);
    }
    place
        .weir(&["simulate", "nowhere.toml"])
        .ends(2)
        .says(&["nowhere.toml"]);
    place
        .weir(&["simulate", "net.toml", "--replications", "1"])
        .ends(2)
        .says(&["1 is not in 2..=10000"]);
}

/// Each with the place in the file, the value and what to do about it.
#[test]
fn networks_that_cannot_be_played() {
    let place = Place::new();
    let network = |class: &str| {
        format!("schema = \"weir/network/1\"\n[station.cpu]\n[class.page]\n{class}\n")
    };
    let users = |count: u32, time: &str| {
        let route = format!("route = [{{ use = \"cpu\", time = \"{time}\" }}]");
        network(&format!("users = {count}\nthink = \"1 s\"\n{route}"))
    };
    for (text, line, says) in [
        (users(0, "1 ms"), 3, "nobody sends requests of class `page`"),
        (users(5, "-1 ms"), 6, "cannot be negative"),
        (users(4_000_000_000, "1 ms"), 4, "do not fit into memory"),
        (
            network("rate = \"1100/s\"\nroute = [{ use = \"cpu\", time = \"1 ms\" }]"),
            2,
            "a utilization of 110 %",
        ),
    ] {
        place.write("net.toml", &text);
        let place_of = format!("net.toml:{line}:");
        place.weir(&["simulate", "net.toml"]).ends(2).says(&[
            &place_of,
            says,
            "1 problem in net.toml",
        ]);
    }
}
