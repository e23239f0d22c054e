//! Every mistake is told at its line, with the way out.
#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::time::Duration;

use http::Method;
use proptest::prelude::*;

use super::*;
use crate::settings::{AdaptiveSettings, CpuFrom, Forwarded, KeySettings, KeyedBy, OTHER_CLASS};

const WHOLE: &str = r#"
schema = "weir/gate/1"
listen = ["127.0.0.1:8081", "[::1]:8081"]
backends = ["http://127.0.0.1:8080", "http://[::1]:8080/", "http://app.example"]
admin = "0.0.0.0:8082"
admin-token = "0123456789abcdef"
threads = 2
max-connections = 20000
access-log = "-"
forwarded = "append"

[tls]
cert = "cert.pem"
key = "key.pem"

[limit]
rate = "3000/min"
max-wait = "0ms"
max-queue = 100

[limit.adaptive]
goal = "cpu <= 80 %"
min = 0.5
max = 64
start = 12
step = "5 %"
cpu-from = { cpus = "0-1" }

[timeouts]
head = "5s"
backend-idle = "15s"
upgraded = "1min"

[request]
max-head = "32 KiB"
max-headers = 50

[health]
path = "/health"
every = "2s"
down-after = 3

[[class]]
name = "light"
match = { path = "/light*", method = ["GET", "HEAD"], header = "X-Plan: gold*", cookie = "session" }
promise = "p99 <= 50 ms"

[[class]]
name = "heavy"
concurrency = 1.5
rate = "5/s"
"#;

#[test]
fn a_whole_file_is_read() {
    let settings = Settings::parse(WHOLE).unwrap();
    assert_eq!(settings.listen.len(), 2);
    let backends = settings.backends.iter();
    let backends: Vec<String> = backends.map(|one| one.address.to_string()).collect();
    assert_eq!(
        backends,
        [
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "http://app.example:80"
        ]
    );
    assert_eq!(settings.forwarded, Forwarded::Append);
    assert_eq!(settings.limit.rate_per_s, Some(50.0));
    assert_eq!(settings.limit.max_wait, Duration::ZERO);
    let adaptive = settings.limit.adaptive.as_ref().unwrap();
    assert_eq!(adaptive.goal.as_ref().unwrap().to_string(), "cpu <= 80 %");
    assert_eq!((adaptive.start, adaptive.step), (Some(12.0), Some(0.05)));
    assert_eq!(
        adaptive.cpu_from,
        Some(CpuFrom::Cpus("0-1".parse().unwrap()))
    );
    assert_eq!(settings.timeouts.head, Duration::from_secs(5));
    assert_eq!(settings.timeouts.idle, Duration::from_secs(60));
    assert_eq!(settings.request.max_head, 32 * 1024);
    assert_eq!(
        settings.classes[0].matches.methods,
        [Method::GET, Method::HEAD]
    );
    assert_eq!(settings.class_names(), ["light", "heavy"]);
    assert_eq!(settings.classes[1].concurrency, Some(1.5));
}

#[test]
fn places_to_read_the_cpu() {
    let page = |url: &str, cpus| CpuFrom::Prometheus {
        url: url.to_owned(),
        cpus,
    };
    for (place, from) in [
        ("{ pid = 4711 }", CpuFrom::Pid(4711)),
        (
            "{ cgroup = \"app.slice\" }",
            CpuFrom::Cgroup("app.slice".into()),
        ),
        (
            "{ prometheus = \"http://127.0.0.1:9100/metrics\" }",
            page("http://127.0.0.1:9100/metrics", None),
        ),
        (
            "{ prometheus = \"http://app:8080/metrics\", cpu-count = 1.5 }",
            page("http://app:8080/metrics", Some(1.5)),
        ),
    ] {
        let text = format!(
            "{LEAST}limit.adaptive = {{ goal = \"best throughput\", cpu-from = {place} }}\n"
        );
        let adaptive = Settings::parse(&text).unwrap().limit.adaptive.unwrap();
        assert_eq!(
            (adaptive.cpu_from, adaptive.goal),
            (Some(from), None),
            "{place}"
        );
    }
    let auto = Settings::parse(&format!("{LEAST}limit.concurrency = \"auto\"\n")).unwrap();
    assert_eq!(auto.limit.adaptive, Some(AdaptiveSettings::default()));
    assert_eq!(auto.limit.concurrency, None);
}

#[test]
fn a_key_says_what_each_client_may_have() {
    let text = format!(
        "{LEAST}[[key]]\nby = \"cookie session\"\nrate = \"90/min\"\nconcurrency = 4\nmax-queue = 0\n"
    );
    let keys = Settings::parse(&text).unwrap().keys;
    let expected = KeySettings {
        rate_per_s: Some(1.5),
        concurrency: Some(4),
        max_queue: Some(0),
        ..KeySettings::new(
            "cookie session".to_owned(),
            KeyedBy::Cookie("session".to_owned()),
        )
    };
    assert_eq!(keys, [expected]);
    // Those of a second, and at least one.
    let burst = keys[0].rules().unwrap().rate.map(|(_, burst)| burst);
    assert_eq!(burst, Some(2));
}

const LEAST: &str = "listen = \"127.0.0.1:0\"\nbackends = [\"http://127.0.0.1:1\"]\n";

#[test]
fn what_matches_no_class_is_in_the_last() {
    let text = format!("{LEAST}[[class]]\nname = \"light\"\nmatch = {{ path = \"/light\" }}\n");
    let settings = Settings::parse(&text).unwrap();
    assert_eq!(settings.class_names(), ["light", OTHER_CLASS]);
    let class = |path: &str| {
        let request = http::Request::builder().uri(path).body(()).unwrap();
        settings.class_of(&request.into_parts().0, |_| false)
    };
    assert_eq!((class("/light?x"), class("/lights")), (0, 1));
}

/// The text of the line that a problem points at, what it says, and the way out.
fn problems(text: &str) -> Vec<(String, String, String)> {
    let told = |problem: Problem| {
        let line = text[..problem.span.start].matches('\n').count();
        let line = text.lines().nth(line).unwrap_or_default().to_owned();
        (line, problem.says, problem.help.unwrap_or_default())
    };
    let problems = Settings::parse(text).expect_err("something is wrong");
    problems.into_iter().map(told).collect()
}

/// A line of a file, what is said of it, and the way out that is shown.
#[test]
fn a_scale_has_its_defaults() {
    let text = "listen = \"127.0.0.1:0\"\nbackends = [\"http://a:1\"]\n[scale]\ncpu = \"70 %\"\ncpus = 0.5\n\
                cpu-from = { cgroup = \"shop\" }\ncommand = [\"scale\", \"shop\"]\ndown-after = \"1min\"\n";
    let scale = Settings::parse(text).unwrap().scale.unwrap();
    assert!((scale.goal - 0.7).abs() < 1e-9);
    assert_eq!((scale.cpus, scale.min, scale.max), (Some(0.5), 1, 100));
    assert!(scale.cpu_from.is_some());
    assert_eq!(scale.command, ["scale", "shop"]);
    assert_eq!(
        (scale.up_after.as_secs(), scale.down_after.as_secs()),
        (15, 60)
    );
}

#[test]
fn texts_may_name_variables() {
    let text = "listen = \"127.0.0.1:0\"\nbackends = [\"http://${HOST}:1\", { url = \"http://b:${PORT:-2}\" }]\n\
                [limit]\nrate = \"${RATE}\"\n";
    let variable = |name: &str| match name {
        "HOST" => Some("a".to_owned()),
        "RATE" => Some("50/s".to_owned()),
        _ => None,
    };
    let settings = Settings::parse_with(text, variable).unwrap();
    let backends = settings.backends.iter().map(|one| one.address.to_string());
    assert!(backends.eq(["http://a:1", "http://b:2"]));
    assert_eq!(settings.limit.rate_per_s, Some(50.0));
    let problems = Settings::parse_with(text, |_| None).unwrap_err();
    assert_eq!(problems[0].says, "`HOST` is not in the environment");
}

const MISTAKES: &[(&str, &str, &str)] = &[
    ("listen = 8081", "a text in quotes", ""),
    ("listen = \"8081\"", "no address", "`127.0.0.1:8081`"),
    ("listen = []", "empty list", "127.0.0.1:8081"),
    ("backends = [\"127.0.0.1:8080\"]", "", "http://HOST:PORT"),
    (
        "backends = [\"ftp://a:1\"]",
        "http:// or https://",
        "http://HOST:PORT",
    ),
    (
        "backends = [\"unix:app.sock\"]",
        "begin with /",
        "unix:/run",
    ),
    (
        "backends = [{ url = \"http://a:1\", proxy-protocol = 3 }]",
        "a whole number from 1",
        "",
    ),
    (
        "backends = [{ url = \"http://a:1\", http2 = true, proxy-protocol = 1 }]",
        "one client's",
        "Forwarded",
    ),
    (
        "backend-tls = { ca = \"a\", verify = false }",
        "that all are",
        "leave one of them out",
    ),
    (
        "backend-tls = { cert = \"a\" }",
        "`key` is missing",
        "key.pem",
    ),
    ("listen = \"unix:gate.sock\"", "begin with /", "unix:/run"),
    (
        "trusted-proxies = [\"10.0.0.0/33\"]",
        "no network",
        "10.0.0.0/8",
    ),
    (
        "proxy-protocol = true",
        "without `trusted-proxies`",
        "trusted-proxies = ",
    ),
    (
        "client-header = \"X-Real-IP\"",
        "without `trusted-proxies`",
        "trusted-proxies = ",
    ),
    (
        "admin-read-token = \"0123456789abcdef\"",
        "without `admin-token`",
        "admin-token = ",
    ),
    (
        "tls = { cert = \"a\", key = \"b\", client-auth = \"optional\" }",
        "without `client-ca`",
        "client-ca = ",
    ),
    (
        "tls = { cert = \"a\", key = \"b\", client-ca = \"c\", client-auth = \"maybe\" }",
        "`maybe`",
        "optional",
    ),
    (
        "backends = [\"http://a:1/x\"]",
        "has a path",
        "leave the path out",
    ),
    ("backends = [\"http://a:1\", \"http://a:1\"]", "twice", ""),
    (
        "backends = [{ weight = 2 }]",
        "`url` is missing",
        "http://127.0.0.1:8080",
    ),
    (
        "backends = [{ url = \"http://a:1\", weight = 0 }]",
        "a whole number from 1",
        "",
    ),
    (
        "backends = [{ url = \"http://a:1\", backup = true }]",
        "every backend is a backup",
        "at least one",
    ),
    (
        "backends = [{ url = \"http://a:1\", health-path = \"health\" }]",
        "`health-path` is `health`",
        "/health",
    ),
    (
        "backends = [\"http://a:1\", { url = \"http://a:1\" }]",
        "twice",
        "weight",
    ),
    (
        "backends = []",
        "nobody to forward to",
        "http://127.0.0.1:8080",
    ),
    ("admin = \"0.0.0.0:1\"", "change the limits", "admin-token"),
    ("admin-token = \"secret\"", "16 or more", "openssl"),
    ("threads = 0", "a whole number from 1", ""),
    (
        "forwarded = \"replaced\"",
        "`replaced`",
        "did you mean `replace`?",
    ),
    ("limits = {}", "not known", "did you mean `limit`?"),
    ("limit.rate = \"50\"", "no rate", "50/s"),
    ("limit.rate = \"fast\"", "`fast`", "50/s"),
    (
        "limit.rate = \"0/s\"",
        "outside of what can be held",
        "50/s",
    ),
    (
        "limit.rate = \"-1/s\"",
        "outside of what can be held",
        "50/s",
    ),
    ("limit.concurrency = 0", "requests in flight", ""),
    ("limit.concurrency = \"40\"", "requests in flight", ""),
    ("limit.max-wait = \"200\"", "`200`", "200ms"),
    ("limit.max-wait = \"2h\"", "`2h`", "600s"),
    (
        "limit.abandoned-work = \"dies\"",
        "`dies`",
        "abandoned-work = \"goes-on\"",
    ),
    (
        "monitor = \"health\"",
        "`health` is no path",
        "/gate-health",
    ),
    ("health.eject-after = 5000", "a whole number", ""),
    ("scale = {}", "`cpu` is missing", "70 %"),
    ("scale = { cpu = \"100 %\" }", "below 100 %", "70 %"),
    (
        "scale = { cpu = \"70 %\", cpus = 0 }",
        "no number of CPUs",
        "cpus = 2",
    ),
    (
        "scale = { cpu = \"70 %\", min = 3, max = 2 }",
        "no number lies between",
        "larger `max`",
    ),
    ("health.eject-share = \"0 %\"", "above 0 %", "50 %"),
    (
        "health.eject-slower = 1",
        "from 1.5 to 1000",
        "eject-slower = 3",
    ),
    (
        "log.request-id = \"a b\"",
        "no name of a header",
        "X-Request-Id",
    ),
    ("log.one-in = 0", "a whole number", ""),
    (
        "limit.maxqueue = 1",
        "not known",
        "did you mean `max-queue`?",
    ),
    (
        "limit = { concurrency = 4, adaptive = {} }",
        "finds the concurrency",
        "leave `concurrency` out",
    ),
    (
        "limit.adaptive.goal = \"errors <= 1 %\"",
        "steer to",
        "cpu <= 80 %",
    ),
    (
        "limit.adaptive.goal = \"cpu = 80\"",
        "`cpu = 80`",
        "cpu <= 80 %",
    ),
    (
        "limit.adaptive.goal = \"cpu <= 100 %\"",
        "nothing over",
        "below 100 %",
    ),
    (
        "limit.adaptive.goal = \"cpu <= 0 %\"",
        "no goal",
        "below 100 %",
    ),
    (
        "limit.adaptive.goal = \"cpu >= 80 %\"",
        "steer to",
        "cpu <= 80 %",
    ),
    (
        "limit.adaptive.goal = \"p99(a) <= 80 ms\"",
        "steer to",
        "cpu <= 80 %",
    ),
    (
        "limit.adaptive.goal = \"p95 <= 300 ms\"",
        "steer to",
        "99th",
    ),
    (
        "limit.adaptive.goal = \"mean <= 300 ms\"",
        "steer to",
        "99th",
    ),
    ("limit.adaptive.min = 5000", "1000", "`max`"),
    ("limit.adaptive.step = \"0 %\"", "share", "5 %"),
    (
        "limit.adaptive.algorithm = \"pid\"",
        "no algorithm",
        "gradient2",
    ),
    (
        "limit.adaptive = { algorithm = \"aimd\", goal = \"cpu <= 80 %\" }",
        "`aimd` has no `goal`",
        "leave `goal` out",
    ),
    (
        "limit.adaptive = { algorithm = \"vegas\", min = 3 }",
        "`vegas` has no `min`",
        "leave `min` out",
    ),
    (
        "limit.adaptive = { min = 5, start = 2 }",
        "`start` is 2",
        "leave it out",
    ),
    (
        "limit.adaptive = { min = 5, max = 2 }",
        "no limit lies between",
        "smaller",
    ),
    (
        "limit.adaptive.cpu-from = {}",
        "exactly one place",
        "cpus = \"0-1\"",
    ),
    ("limit.adaptive.cpu-from = { cpus = \"x\" }", "`x`", ""),
    (
        "limit.adaptive.cpu-from = { pod = 1 }",
        "not known",
        "did you mean `pid`?",
    ),
    (
        "limit.adaptive.cpu-from = { pid = 0 }",
        "a whole number from 1",
        "",
    ),
    (
        "limit.adaptive.cpu-from = { cgroup = \"/\" }",
        "no group",
        "/proc/PID/cgroup",
    ),
    (
        "limit.adaptive.cpu-from = { prometheus = \"https://a/metrics\" }",
        "http://",
        "private network",
    ),
    (
        "limit.adaptive.cpu-from = { prometheus = \"http://8.8.8.8/metrics\" }",
        "8.8.8.8",
        "private network",
    ),
    (
        "limit.adaptive.cpu-from = { prometheus = \"9100\" }",
        "`9100`",
        "private network",
    ),
    (
        "limit.adaptive.cpu-from = { prometheus = \"http://a/\", cpu-count = 0 }",
        "a number of CPUs",
        "",
    ),
    (
        "limit.adaptive.cpu-from = { pid = 1, cpu-count = 2 }",
        "tells by itself",
        "leave `cpu-count` out",
    ),
    ("class = {}", "not a list", "[[class]]"),
    ("key = 5", "not a list", "[[key]]"),
    ("key = [{ rate = \"1/s\" }]", "`by` is missing", "address"),
    ("key = [{ by = \"address\" }]", "holds nothing", "rate = "),
    (
        "key = [{ by = \"user\", rate = \"1/s\" }]",
        "tells no clients apart",
        "header X-Api-Key",
    ),
    (
        "key = [{ by = \"path 0\", rate = \"1/s\" }]",
        "tells no clients apart",
        "path 2",
    ),
    (
        "key = [{ by = \"cookie a=b\", rate = \"1/s\" }]",
        "tells no clients apart",
        "cookie session",
    ),
    (
        "key = [{ by = \"address\", burst = 5, concurrency = 1 }]",
        "there is no `rate`",
        "rate = ",
    ),
    (
        "key = [{ by = \"path 1\", connections = 5 }]",
        "has an address, and nothing else yet",
        "by = \"address\"",
    ),
    (
        "key = [{ by = \"address\", rate = \"1/s\", class = \"x\" }]",
        "no class `x`",
        "leave it out",
    ),
    (
        "key = [{ by = \"address\", rate = \"1/s\" }, { by = \"address\", rate = \"9/s\" }]",
        "a key `address` already",
        "`name`",
    ),
    ("class = [{}]", "`name` is missing", "name = "),
    ("class = [{ name = \"a b\" }]", "name of a class", "letters"),
    (
        "class = [{ name = \"a\" }, { name = \"b\" }]",
        "takes everything",
        "last",
    ),
    (
        "class = [{ name = \"other\", match = { path = \"/\" } }]",
        "match no class",
        "",
    ),
    (
        "class = [{ name = \"a\", match = {} }]",
        "`match` is empty",
        "path = ",
    ),
    (
        "class = [{ name = \"a\", match = { path = \"a\" } }]",
        "no path",
        "/a",
    ),
    (
        "class = [{ name = \"a\", match = { path = \"/a?b=c\" } }]",
        "no path",
        "query",
    ),
    (
        "class = [{ name = \"a\", match = { path = \"/%61\" } }]",
        "no path",
        "percent",
    ),
    (
        "class = [{ name = \"a\", match = { method = \"get\" } }]",
        "no method",
        "capitals",
    ),
    (
        "class = [{ name = \"a\", match = { header = \"a b\" } }]",
        "header field",
        "X-Plan",
    ),
    (
        "class = [{ name = \"a\", match = { cookie = \"=x\" } }]",
        "name of a cookie",
        "plan=gold*",
    ),
    (
        "class = [{ name = \"a\", match = { pth = \"/\" } }]",
        "not known",
        "`path`",
    ),
    (
        "class = [{ name = \"a\", promise = \"cpu <= 8 %\" }]",
        "no promise",
        "p99 <= 50 ms",
    ),
    (
        "class = [{ name = \"a\", promise = \"max <= 50 ms\" }]",
        "no promise",
        "percentile",
    ),
    (
        "class = [{ name = \"a\", match = { cost = \"50 ms\" } }]",
        "does not begin with >=",
        ">= 50 ms",
    ),
    (
        "class = [{ name = \"a\", match = { cost = \">= 50\" } }]",
        "`50`",
        ">= 50 ms",
    ),
    (
        "class = [{ name = \"a\", match = { cost = \">= 0 ms\" } }]",
        "not within",
        ">= 50 ms",
    ),
    (
        "class = [{ name = \"a\", exempt = true, concurrency = 1 }]",
        "has no `concurrency`",
        "leave",
    ),
    ("tls = { cert = \"a\" }", "`key` is missing", "key.pem"),
    ("timeouts.head = \"0s\"", "`head`", "1ms"),
    (
        "timeouts.header = \"1s\"",
        "not known",
        "did you mean `head`?",
    ),
    ("request.max-head = \"1 KiB\"", "`1 KiB`", "8 KiB"),
    ("request.max-head = \"1 s\"", "`1 s`", "8 KiB"),
    ("health.path = \"health\"", "begin with /", "/health"),
    ("health.every = \"1ms\"", "`1ms`", "10ms"),
    ("schema = \"weir/gate/9\"", "does not read", "weir/gate/1"),
];

#[test]
fn every_mistake_is_told_at_its_line() {
    for (line, says, help) in MISTAKES {
        let key = line.split([' ', '.']).next().unwrap();
        let rest: String = LEAST
            .lines()
            .filter(|other| !other.starts_with(key))
            .fold(String::new(), |text, line| format!("{text}{line}\n"));
        let text = format!("{rest}{line}\n");
        let found = problems(&text);
        let hit = found
            .iter()
            .any(|(at, said, way)| at == line && said.contains(says) && way.contains(help));
        assert!(hit, "{line}: {found:#?}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let found = problems("listen = 1\n[limit]\nrate = 5\n[[class]]\nmatch = 1\n");
    let lines: Vec<&str> = found.iter().map(|(line, ..)| line.as_str()).collect();
    for line in ["listen = 1", "rate = 5", "match = 1"] {
        assert!(lines.contains(&line), "{line}: {found:#?}");
    }
    assert!(
        found
            .iter()
            .any(|(_, says, _)| says.contains("`backends` is missing"))
    );
}

proptest! {
    #[test]
    fn any_value_gives_an_answer(text in "\\PC{0,20}", key in 0_usize..6) {
        let key = ["listen", "limit.rate", "limit.max-wait", "limit.adaptive.goal", "health.path", "forwarded"][key];
        let _ = Settings::parse(&format!("{LEAST}{key} = '''{text}'''\n"));
    }
}
