//! Network files: what is read, and what is said of mistakes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use weir_sim::{
    Balancer, CenterKind, NetworkFile, Plan, ScalingBy, Source, Step, Unwatched, replicate,
};

/// A file with these lines behind its schema.
fn parse(lines: &str) -> Result<NetworkFile, Vec<(String, String)>> {
    let text = format!("schema = \"weir/network/1\"\n{lines}");
    NetworkFile::parse(&text).map_err(|problems| {
        let problems = problems.into_iter();
        problems
            .map(|problem| {
                let at = text.get(problem.span.clone()).unwrap_or_default();
                (at.to_owned(), problem.says)
            })
            .collect()
    })
}

/// There is a problem that says `says`, at the part of the file that begins with `at`.
#[track_caller]
fn refused(lines: &str, at: &str, says: &str) {
    let problems = parse(lines).unwrap_err();
    assert!(
        problems
            .iter()
            .any(|(place, text)| place.starts_with(at) && text.contains(says)),
        "{problems:?}"
    );
}

const ONE: &str = "[station.cpu]\n[class.page]\nusers = 10\nthink = '1 s'\n";

/// One station and a class of ten users with this route.
fn route(route: &str) -> String {
    format!("{ONE}route = [{route}]\n")
}

/// A file with every table and most keys.
const ALL: &str = r#"
        question = "How many servers?"
        [run]
        seconds = "2 min"
        warm-up = "10 s"
        replications = 4
        seed = 7
        [station.db]
        servers = 4
        queue = 100
        discipline = "priority"
        [gate.front]
        rate = "50/s"
        burst = 5
        max-wait = "200 ms"
        [group.web]
        servers = 3
        balancer = "least-connections"
        [group.web.station.cpu]
        servers = 2
        discipline = "processor-sharing"
        [group.web.limit.threads]
        capacity = 50
        queue = 100
        patience = { exponential = "1 s" }
        [group.web.scale-out]
        station = "cpu"
        above = "70 %"
        below = "20 %"
        max = 10
        period = "30 s"
        start-up = "45 s"
        [class.page]
        profile = [["0 s", "10/s"], ["60 s", "10/s"], ["60 s", "40/s"]]
        arrivals = "even"
        priority = 3
        timeout = "2 s"
        abandoned-work = "stops"
        retry = { attempts = 3, back-off = "100 ms", budget = "10 %", jitter = "half" }
        route = [
          { pass = "front" },
          { enter = "web" },
          { acquire = "web.threads" },
          { use = "web.cpu", time = { erlang = "5 ms", stages = 4 } },
          { use = "db", time = { lognormal = "4 ms", scv = 2 } },
          { sleep = { uniform = ["1 ms", "2 ms"] } },
          { release = "web.threads" },
          { leave = "web" },
        ]
        [class.batch]
        users = 5
        think = { normal = "1 s", deviation = "0.2 s" }
        ramp = "10 s"
        route = [{ use = "db", time = { hyperexponential = "20 ms", scv = 4 } }]
        [[event]]
        at = "60 s"
        lose = "web"
        servers = 1
        back-after = "30 s"
        [[event]]
        at = "80 s"
        of = "db"
        speed = 0.2
        for = "10 s"
"#;

#[test]
fn all_of_a_file_is_read() {
    let file = parse(ALL).unwrap();
    let plan = Plan {
        seconds: 120.0,
        warm_up_s: 10.0,
        replications: 4,
        seed: 7,
        timelines: 0,
    };
    assert_eq!(file.plan, plan);
    let network = &file.network;
    let names: Vec<&str> = network
        .centers
        .iter()
        .map(|center| center.name.as_str())
        .collect();
    assert_eq!(names, ["db", "web.cpu", "web.threads"]);
    assert_eq!(network.centers[1].kind, CenterKind::Shared { cores: 2 });
    assert!(network.centers[0].by_priority);
    assert_eq!(network.groups[0].balancer, Balancer::LeastConnections);
    assert_eq!(network.groups[0].servers_max(), 10);
    assert_eq!(network.classes[0].route.len(), 8);
    assert_eq!(network.classes[0].route[2], Step::Acquire(2));
    assert!(matches!(
        network.classes[1].source,
        Source::Users {
            users: 5,
            ramp_s: 10.0,
            ..
        }
    ));
    assert_eq!(network.planned.len(), 2);
    assert!(
        replicate(
            network,
            &plan,
            1,
            &|replication| replication.totals,
            &Unwatched
        )
        .is_some()
    );
}

#[test]
fn networks_that_cannot_be_stable() {
    let station = |of: &str, time: &str, extra: &str| {
        format!(
            "[station.cpu]\nservers = 2\n{extra}\n[class.page]\nrate = '{of}'\nroute = [{{ use = 'cpu', time = {{ exponential = '{time}' }} }}]\n"
        )
    };
    refused(
        &station("120/s", "20 ms", ""),
        "cpu",
        "a utilization of 120 %",
    );
    refused(&station("100/s", "20 ms", ""), "cpu", "grow for ever");
    for bounded in ["queue = 10", "patience = '1 s'"] {
        assert!(parse(&station("120/s", "20 ms", bounded)).is_ok());
    }
    assert!(parse(&station("99/s", "20 ms", "")).is_ok());
    // Limits: 40/s that hold one of 10 for 300 ms at least.
    let held = "[limit.pool]\ncapacity = 10\n[class.page]\nrate = '40/s'\nroute = [{ acquire = 'pool' }, { sleep = '300 ms' }, { release = 'pool' }]";
    refused(held, "pool", "a utilization of 120 %");
}

/// What is planned counts as it is in the end: two of three servers die for good, the only one
/// stops, others come in time.
#[test]
fn what_is_planned_may_make_a_network_unstable() {
    let group = |event: &str| {
        format!(
            "[group.web]\nservers = 3\n[group.web.station.cpu]\n[class.page]\nrate = '120/s'\n\
             route = [{{ enter = 'web' }}, {{ use = 'web.cpu', time = '20 ms' }}, {{ leave = 'web' }}]\n[[event]]\nat = '60 s'\n{event}"
        )
    };
    let lose = "lose = 'web'\nservers = 2\n";
    refused(&group(lose), "cpu", "a utilization of 240 %");
    refused(
        &group("lose = 'web'\nservers = 3\n"),
        "cpu",
        "need 2.4000 of its 0 server(s), and its queue",
    );
    assert!(parse(&group(&format!("{lose}back-after = '10 s'"))).is_ok());
    let station = |events: &str| {
        format!(
            "[station.db]\nservers = 2\n[class.page]\nrate = '60/s'\nroute = [{{ use = 'db', time = '20 ms' }}]\n{events}"
        )
    };
    let slow = |at: u32, rest: &str| format!("[[event]]\nat = '{at} s'\nof = 'db'\n{rest}\n");
    refused(
        &station(&slow(10, "speed = 0.5")),
        "db",
        "a utilization of 120 %",
    );
    refused(
        &station(&slow(10, "servers = 1")),
        "db",
        "a utilization of 120 %",
    );
    assert!(parse(&station(&slow(10, "speed = 0.5\nfor = '5 s'"))).is_ok());
    // The later one counts, wherever it stands.
    let both = slow(20, "servers = 4") + &slow(10, "servers = 1");
    assert!(parse(&station(&both)).is_ok());
}

#[test]
fn values_that_mean_nothing() {
    refused(
        &route("{ use = 'cpu', time = '-5 ms' }"),
        "'-5 ms'",
        "cannot be negative",
    );
    refused(
        &route("{ use = 'cpu', time = { exponential = '5' } }"),
        "'5'",
        "a length of time",
    );
    refused(
        &route("{ use = 'cpu', time = { exponential = '5 ms', erlang = '5 ms' } }"),
        "{",
        "exactly one kind",
    );
    refused(
        &route("{ use = 'cpu', time = { hyperexponential = '5 ms', scv = 0.5 } }"),
        "0.5",
        "a number from 1",
    );
    refused("[station.cpu]\nservers = 0\n", "0", "a whole number from 1");
    refused(
        "[station.cpu]\n[class.page]\nrate = '-3/s'\nroute = [{ use = 'cpu', time = '1 ms' }]",
        "'-3/s'",
        "cannot be negative",
    );
}

/// Thresholds, or what the load wants: not both.
#[test]
fn scaling_has_one_way() {
    let scaling = |keys: &str| {
        format!(
            "[group.web]\nservers = 1\n[group.web.station.cpu]\n[group.web.scale-out]\nstation = 'cpu'\nmax = 3\n{keys}\n\
             [class.page]\nrate = '20/s'\nroute = [{{ enter = 'web' }}, {{ use = 'web.cpu', time = '20 ms' }}, {{ leave = 'web' }}]\n"
        )
    };
    let of = |keys: &str| parse(&scaling(keys)).unwrap().network.groups[0].scaling;
    let ScalingBy::Load {
        goal,
        up_after_s,
        down_after_s,
    } = of("goal = '70 %'\nup-after = '5 s'").unwrap().by
    else {
        panic!("a goal is about the load");
    };
    assert!((goal - 0.7).abs() < 1e-9, "{goal}");
    assert_eq!((up_after_s, down_after_s), (5.0, 300.0));
    assert!(matches!(
        of("above = '70 %'").unwrap().by,
        ScalingBy::Utilization { add: 1, .. }
    ));
    refused(&scaling(""), "", "`above` is missing");
    refused(
        &scaling("goal = '70 %'\nadd = 2"),
        "2",
        "`goal` asks for as many servers as the load wants, and has no `add`",
    );
}

#[test]
fn places_and_classes_that_nobody_uses() {
    refused(
        &format!(
            "[station.disk]\n{}",
            route("{ use = 'cpu', time = '1 ms' }")
        ),
        "disk",
        "no class visits the station `disk`",
    );
    let nobody = "[station.cpu]\n[class.page]\nusers = 0\nroute = [{ use = 'cpu', time = '1 ms' }]";
    refused(nobody, "page", "nobody sends requests of class `page`");
    refused("[station.cpu]\n", "", "there is no class");
    let many = "[station.cpu]\n[class.page]\nusers = 4_000_000_000\nthink = '1 s'\nroute = [{ use = 'cpu', time = '1 ms' }]";
    refused(many, "4_000_000_000", "do not fit into memory");
    let together = "[station.cpu]\n[class.page]\nusers = 60_000_000\nthink = '1 s'\nroute = [{ use = 'cpu', time = '1 ms' }]\n\
                    [class.other]\nusers = 70_000_000\nthink = '1 s'\nroute = [{ use = 'cpu', time = '1 ms' }]";
    refused(together, "other", "130000000 users would take about 26 GB");
}

#[test]
fn routes_that_lead_nowhere() {
    let with_limit = |steps: &str| format!("[limit.pool]\ncapacity = 2\n{}", route(steps));
    let time = "time = '1 ms'";
    refused(
        &with_limit(&format!(
            "{{ acquire = 'pool' }}, {{ acquire = 'pool' }}, {{ use = 'cpu', {time} }}, {{ release = 'pool' }}"
        )),
        "{ acquire",
        "holds `pool` already",
    );
    refused(
        &with_limit(&format!(
            "{{ release = 'pool' }}, {{ use = 'cpu', {time} }}"
        )),
        "{ release",
        "does not hold `pool`",
    );
    refused(
        &with_limit(&format!(
            "{{ acquire = 'pool' }}, {{ use = 'cpu', {time} }}"
        )),
        "{ use",
        "still holds `pool`",
    );
    refused(
        &route("{ use = 'cpuu', time = '1 ms' }"),
        "'cpuu'",
        "there is no station `cpuu`",
    );
    refused(&route("{ use = 'cpu' }"), "{", "`time` is missing");
    refused(&route("{ go = 'cpu' }"), "go", "not known");
    let group = "[group.web]\nservers = 2\n[group.web.station.cpu]\n[class.page]\nusers = 1\nthink = '1 s'\n";
    refused(
        &format!("{group}route = [{{ use = 'web.cpu', time = '1 ms' }}]"),
        "{ use",
        "the request is on none",
    );
}

/// A user that is refused without thinking would send for ever at one moment.
#[test]
fn the_clock_has_to_go_on() {
    let lines = "[station.cpu]\nqueue = 0\n[class.page]\nusers = 2\nroute = [{ use = 'cpu', time = '1 ms' }]";
    refused(lines, "page", "would send again at once");
}

#[test]
fn all_problems_come_at_once() {
    let problems =
        parse("[station.cpu]\nserver = 2\n[class.page]\nuser = 2\nroute = []\n").unwrap_err();
    assert!(problems.len() >= 3, "{problems:?}");
    assert!(problems.iter().any(|(at, _)| at == "server"));
}
