//! `weir size` on recorded runs of real servers.
use serde_json::Value;

use crate::support::{Place, assert_valid};

/// A trial of this run had 80 % CPU and 423 requests/s with 98 users: a fleet for a million of them
/// at 80 % is about 10,200 servers.
#[test]
fn a_million_users_are_sized_from_the_run_of_one_server() {
    let place = Place::with_recorded_run("sample-server");
    place
        .weir(&[
            "size",
            "recorded",
            "--users",
            "1000000",
            "--require",
            "cpu <= 80 %",
            "--draws",
            "20",
            "--database-connections",
            "5000",
            "--json",
            "size.json",
            "--html",
            "size.html",
        ])
        .ends(0)
        .prints(&[
            "servers for 1,000,000 users",
            "95 % interval",
            "Set on each server",
            "WARNING: ",
            "the database takes 5,000: 0 for each server",
            "When one server dies",
            "Half as many users again",
            "All CPUs stop for 10 s",
        ]);
    let found: Value = serde_json::from_str(&place.read("size.json")).unwrap();
    let page = place.read("size.html");
    assert!(page.contains("<polyline") && page.contains("When one server dies"));
    assert_eq!(found["schema"], "weir/size/1");
    assert_eq!(found["run"], "recorded");
    let servers = found["servers_range"]["value"].as_f64().unwrap();
    assert!((servers / 10_200.0 - 1.0).abs() < 0.05, "{servers}");
    assert_valid("docs/schemas/size.schema.json", &found);
}

#[test]
fn what_cannot_be_sized_is_refused_with_the_reason() {
    let place = Place::with_recorded_run("sample-server");
    for (requirement, code, says) in [
        ("p99(light) <= 1 s", 2, "takes all requests as one kind"),
        ("errors <= 1 %", 2, "can be asked"),
        ("p99 == fast", 2, "read the bound"),
    ] {
        place
            .weir(&[
                "size",
                "recorded",
                "--users",
                "10",
                "--require",
                requirement,
            ])
            .ends(code)
            .says(&[says]);
    }
    place
        .weir(&[
            "size",
            "recorded",
            "--users",
            "10",
            "--require",
            "mean <= 50 ms",
        ])
        .ends(1)
        .prints(&[
            "with any number of servers",
            "the request itself has to become quicker",
        ]);
    place
        .weir(&[
            "size",
            "recorded",
            "--users",
            "0",
            "--require",
            "cpu <= 80 %",
        ])
        .ends(2)
        .says(&["0 is not in 1.."]);
    Place::with_recorded_run("sample-server-disturbed")
        .weir(&[
            "size",
            "recorded",
            "--users",
            "10",
            "--require",
            "cpu <= 80 %",
        ])
        .ends(4)
        .says(&["its model is refused, because throughput"]);
}
