//! Study files: what they mean, and every problem at its place.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use weir_record::{Level, WhenFull};
use weir_study::{
    Ask, BestGoal, Design, JolokiaSpec, LimitSetter, LoadSource, PoolWord, SpringBootApp,
    StudyFile, TargetKind, TomcatApp, TomcatServer, Varied, plan_of_trials,
};

const FIND: &str = r#"
schema = "weir/study/1"
question = "How many?"
seed = 7

[target.builtin]
cpus = "0"
when-full = "close"
port = 9080
settings = { threads = 50, pool.db = 10 }

[load]
plan = "stress.jmx"
users = "THREAD_NUMBER"
window = "300 s"
warm-up = "30 s"
allow-hosts = ["test.example"]
[load.properties]
FORM = "as-published"
BIT = 512

[find]
vary = "users"
within = [1, 200]
goal = "largest"
subject-to = ["cpu <= 70 %", "p99 <= 300 ms"]
precision = "3 %"
"#;

const BEST: &str = r#"
schema = "weir/study/1"
[target.spring-boot]
app = "posts"
[load]
plan = "board.jmx"
users = "THREAD_NUMBER"
window = "20 s"
[find]
vary = "threads"
within = [1, 400]
set = { users = 500 }
goal = "smallest-near-best"
of = "throughput"
margin = "3 %"
"#;

const TOMCAT: &str = r#"
schema = "weir/study/1"
[target.tomcat]
version = "10.1"
app = "stress"
pool = "hikari"
java-options = ["-Xmx512m"]
cpus = "0"
[target.tomcat.settings]
threads = 50
"pool.db" = 10
"native.minSpareThreads" = 0
[target.tomcat.database]
connections = 50
posts = 0
[load]
plan = "stress.jmx"
users = "THREAD_NUMBER"
[sweep]
design = "full"
[sweep.factors]
"native.minSpareThreads" = [0, 10]
"property.SIZE" = ["1k", "2k"]
"#;

#[test]
fn a_study_of_a_spring_boot_application() {
    let board = SWEEP.replace("[target.builtin]", "[target.spring-boot]\napp = \"posts\"");
    let TargetKind::SpringBoot(spec) = StudyFile::parse(&board).unwrap().target.kind else {
        panic!("a Spring Boot application")
    };
    assert_eq!(spec.app, SpringBootApp::Posts);
    assert!(spec.actuator && spec.ready.starts_with("/boards/"));
    let database = spec.database.unwrap();
    assert_eq!(
        (database.connections, database.posts),
        (300, Some(1_000_000))
    );

    let own = SWEEP.replace(
        "[target.builtin]",
        "[target.spring-boot]\napp = \"shop.jar\"\nactuator = true\narguments = [\"--a=b\"]\n\
         directory = \"shop\"\nconfig = \"shop/application.yml\"\n[target.spring-boot.settings]\n\"native.min-spare\" = 0",
    );
    let study = StudyFile::parse(&own).unwrap();
    assert_eq!(study.target.settings["native.min-spare"], 0.0);
    let TargetKind::SpringBoot(spec) = study.target.kind else {
        panic!("a Spring Boot application")
    };
    assert!(matches!(&spec.app, SpringBootApp::Jar(jar) if jar.get_ref().ends_with("shop.jar")));
    assert_eq!((spec.ready.as_str(), spec.database), ("/", None));
    assert_eq!(spec.arguments, ["--a=b"]);
    assert_eq!(spec.directory.as_deref(), Some(Path::new("shop")));
    assert_eq!(
        spec.configuration.as_deref(),
        Some(Path::new("shop/application.yml"))
    );
    assert!(spec.actuator);

    for (wrong, says) in [
        ("", "`app` is missing"),
        (
            "app = \"posts\"\narguments = [\"-Xmx1g\"]",
            "no setting of Spring Boot",
        ),
        ("app = \"posts\"\nactuator = 1", "true or false"),
    ] {
        let text = SWEEP.replace(
            "[target.builtin]",
            &format!("[target.spring-boot]\n{wrong}"),
        );
        let problems = StudyFile::parse(&text).unwrap_err();
        assert!(problems[0].says.contains(says), "{problems:?}");
    }
}

#[test]
fn a_database_with_little_memory_and_the_latency_of_a_disk() {
    let study = |database: &str| {
        let target = format!(
            "[target.spring-boot]\napp = \"posts\"\n[target.spring-boot.database]\n{database}"
        );
        StudyFile::parse(&SWEEP.replace("[target.builtin]", &target))
    };
    let bounded = study("memory = \"64 MiB\"\npost-text = \"1.9 kB\"\ndelay = \"30 ms\"").unwrap();
    let TargetKind::SpringBoot(spec) = bounded.target.kind else {
        panic!("a Spring Boot application")
    };
    let database = spec.database.unwrap();
    assert_eq!(
        (database.memory, database.post_text),
        (Some(64 << 20), Some(1_900))
    );
    assert_eq!(database.delay, Some(Duration::from_millis(30)));
    for (wrong, says) in [
        ("memory = \"64 s\"", "an amount such as"),
        ("memory = \"1 MB\"", "`memory` is at least 33554432 bytes"),
        ("post-text = \"8 kB\"", "`post-text` is at most 7000 bytes"),
        ("post-text = 2000", "a text in quotes"),
        ("delay = \"30 kB\"", "a length of time"),
    ] {
        let problems = study(wrong).unwrap_err();
        assert!(problems[0].says.contains(says), "{problems:?}");
    }
}

#[test]
fn an_httpd_has_a_configuration_of_its_own_or_of_the_users() {
    let study = |keys: &str| {
        let target = format!("[target.httpd]\n{keys}");
        StudyFile::parse(&SWEEP.replace("[target.builtin]", &target))
    };
    let TargetKind::Httpd(spec) = study("config = \"web/httpd.conf\"").unwrap().target.kind else {
        panic!("an httpd")
    };
    assert_eq!(
        spec.configuration.as_deref(),
        Some(Path::new("web/httpd.conf"))
    );
    for key in ["mpm = \"event\"", "documents = \"www\""] {
        study(key).unwrap();
        let problems = study(&format!("config = \"httpd.conf\"\n{key}")).unwrap_err();
        assert!(
            problems[0].says.contains("stands in the configuration"),
            "{problems:?}"
        );
    }
}

#[test]
fn a_study_of_a_tomcat() {
    let study = StudyFile::parse(TOMCAT).unwrap();
    let TargetKind::Tomcat(tomcat) = &study.target.kind else {
        panic!("a Tomcat")
    };
    assert_eq!(tomcat.server, TomcatServer::Line("10.1"));
    assert_eq!(tomcat.app, Some(TomcatApp::Stress));
    assert_eq!(tomcat.pool, PoolWord::Hikari);
    assert_eq!(tomcat.java_options, ["-Xmx512m"]);
    let database = tomcat.database.unwrap();
    assert_eq!((database.connections, database.posts), (50, Some(0)));
    assert_eq!(study.target.settings["native.minSpareThreads"], 0.0);
    let own = StudyFile::parse(
        &TOMCAT.replace("version = \"10.1\"\napp = \"stress\"", "home = \"/opt/t\""),
    );
    let TargetKind::Tomcat(own) = own.unwrap().target.kind else {
        panic!("a Tomcat")
    };
    assert!(matches!(own.server, TomcatServer::Home(home) if home.get_ref().ends_with("t")));
    assert_eq!((own.app, own.ready.as_str()), (None, "/"));
}

#[test]
fn a_study_that_finds() {
    let study = StudyFile::parse(FIND).unwrap();
    let TargetKind::Builtin(builtin) = &study.target.kind else {
        panic!("the sample server")
    };
    assert_eq!(builtin.when_full, Some(WhenFull::Refuse));
    assert_eq!(builtin.port, Some(9080));
    assert_eq!(study.target.settings["pool.db"], 10.0);
    assert_eq!(study.target.cpus.unwrap().get_ref().to_string(), "0");
    let LoadSource::Plan { path, users, .. } = &study.load.source else {
        panic!("a plan")
    };
    assert_eq!(path.get_ref().to_str(), Some("stress.jmx"));
    assert_eq!(users.as_ref().unwrap().get_ref(), "THREAD_NUMBER");
    assert_eq!(study.load.properties["BIT"], "512");
    assert_eq!(study.load.allow_hosts[0].get_ref(), "test.example");
    let Ask::Find(find) = &study.ask else {
        panic!("it finds")
    };
    assert_eq!(find.question, "How many?");
    assert_eq!(find.within, (1, 200));
    assert_eq!(find.requirements[1].to_string(), "p99 <= 300 ms");
    assert!((find.precision - 0.03).abs() < 1e-12);
    assert_eq!(find.window.min, Duration::from_secs(300));
    assert_eq!(find.window.warm_up_min, Duration::from_secs(30));
    assert_eq!((find.budget, find.seed), (None, 7));
}

#[test]
fn defaults_are_those_of_the_built_in_study() {
    let text =
        "schema = 'weir/study/1'\n[target.builtin]\n[load]\nurl = 'http://127.0.0.1/'\n[find]\n";
    let study = StudyFile::parse(text).unwrap();
    let Ask::Find(find) = &study.ask else {
        panic!("it finds")
    };
    assert_eq!(*find, weir_study::FindSpec::default());
    assert_eq!(study.target, weir_study::TargetSpec::default());
    let plan = plan_of_trials(&study.ask, None);
    assert_eq!(plan.at_most_s, 360.0);
    assert!(plan.expected_s <= plan.at_most_s && plan.steps.len() == 3);
}

const SWEEP: &str = r#"
schema = "weir/study/1"
[target.builtin]
[load]
plan = "stress.jmx"
users = "THREAD_NUMBER"
[sweep]
design = "cases"
replicates = 3
[[sweep.case]]
name = "pool 10"
set = { users = 14, "pool.db" = 10, "param.form" = "as-published" }
published = { "pool.db.waiting" = 14, "pool.db.wait" = "2.5 s" }
[[sweep.case]]
name = "pool 50"
set = { users = 14, "pool.db" = 50 }
[[sweep.column]]
title = "Waiting threads"
signal = "pool.db.waiting"
[[sweep.column]]
signal = "wait(pool.db)"
"#;

#[test]
fn a_rate_is_a_factor_when_its_property_is_named() {
    let rates = SWEEP.replace("users = 14", "rate = 500");
    let problems = StudyFile::parse(&rates).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].says.contains("`rate`"), "{problems:?}");
    let named = rates.replace("users = \"THREAD", "rate = \"RATE\"\nusers = \"THREAD");
    let study = StudyFile::parse(&named).unwrap();
    let LoadSource::Plan { rate, .. } = &study.load.source else {
        panic!("a plan")
    };
    assert_eq!(rate.as_ref().unwrap().get_ref(), "RATE");
}

#[test]
fn a_prefork_module_built_anew_is_asked_for_with_its_rate() {
    let prefork = "[target.httpd]\nmpm = \"prefork\"\nmax-spawn-rate = 64";
    let study = StudyFile::parse(&SWEEP.replace("[target.builtin]", prefork)).unwrap();
    let TargetKind::Httpd(httpd) = study.target.kind else {
        panic!("an httpd")
    };
    assert_eq!(httpd.max_spawn_rate, Some(64));
}

const EXTERNAL: &str = r#"
schema = "weir/study/1"
[target.external]
url = "http://127.0.0.1:8080"
jolokia = "attach"
set = { threads = "jmx", backlog = "ask", connections = "set-limit {value}" }
get = { connections = "get-limit" }
found = { backlog = 100 }
[load]
url = "/"
[find]
"#;

#[test]
fn a_server_that_runs_already() {
    let study = StudyFile::parse(EXTERNAL).unwrap();
    let TargetKind::External(external) = study.target.kind else {
        panic!("it runs already")
    };
    assert_eq!(external.jolokia, Some(JolokiaSpec::Attach));
    let limit = |name: &str| &external.limits[name];
    assert_eq!(limit("threads").set, LimitSetter::Jmx);
    assert_eq!(limit("backlog").set, LimitSetter::Ask);
    assert_eq!(limit("backlog").found, Some(100.0));
    let command = LimitSetter::Command("set-limit {value}".to_owned());
    assert_eq!(limit("connections").set, command);
    assert_eq!(limit("connections").get.as_deref(), Some("get-limit"));
}

#[test]
fn limits_are_raised_as_the_study_says() {
    let raise_of = |text: &str| {
        let study = StudyFile::parse(text).unwrap();
        let Ask::Find(find) = study.ask else {
            panic!("a search")
        };
        find.raise
    };
    // Nobody is asked in the middle of a search, unless the study says so.
    let own = raise_of(EXTERNAL);
    assert!(!own.never && own.bounds.is_empty(), "{own:?}");
    assert_eq!(own.kept.iter().collect::<Vec<_>>(), ["backlog"]);
    let bounded = format!("{EXTERNAL}raise = {{ threads = 400, pool.db = 30 }}\n");
    let bounded = raise_of(&bounded).bounds;
    assert_eq!(bounded.get("threads"), Some(&400.0));
    assert_eq!(bounded.get("pool.db"), Some(&30.0));
    assert!(raise_of(&format!("{EXTERNAL}raise = false\n")).never);
    for (raise, says) in [
        ("4", "the largest limit of each stage"),
        ("{ theads = 4 }", "threads"),
        ("{ threads = 0 }", "a whole number from 1"),
    ] {
        let problems = StudyFile::parse(&format!("{EXTERNAL}raise = {raise}\n")).unwrap_err();
        let problem = format!("{problems:?}");
        assert!(problem.contains(says), "{raise}: {problem}");
    }
}

#[test]
fn a_server_of_another_machine() {
    let there = EXTERNAL.replace(
        "jolokia = \"attach\"",
        "ssh = \"app01\"\nssh-config = \"hosts\"\njolokia = \"http://app01:8778/jolokia\"",
    );
    let study = StudyFile::parse(&there).unwrap();
    let TargetKind::External(external) = study.target.kind else {
        panic!("it runs already")
    };
    assert_eq!(external.ssh.unwrap().get_ref(), "app01");
    assert_eq!(external.ssh_config.unwrap().get_ref(), "hosts");
}

#[test]
fn a_case_can_measure_for_longer_than_the_others() {
    let longer = SWEEP.replace(
        "name = \"pool 10\"",
        "name = \"pool 10\"\nwindow = \"600 s\"",
    );
    let [short, long] = [SWEEP, &longer]
        .map(|text| plan_of_trials(&StudyFile::parse(text).unwrap().ask, None).at_most_s);
    // Three trials of 600 s instead of at most 30 s.
    assert!((long - short - 3.0 * 570.0).abs() < 1e-6, "{short} {long}");
}

#[test]
fn cases_are_compared_when_a_study_says_by_what() {
    let compared = SWEEP.replace("replicates = 3", "replicates = 3\ncompare = \"throughput\"");
    let study = StudyFile::parse(&compared).unwrap();
    let Ask::Sweep(sweep) = &study.ask else {
        panic!("it sweeps")
    };
    let compare = sweep.compare.as_ref().unwrap();
    assert_eq!(compare.signal, "throughput");
    assert!((compare.matters - 0.05).abs() < 1e-12);
}

#[test]
fn a_study_that_sweeps() {
    let study = StudyFile::parse(SWEEP).unwrap();
    let Ask::Sweep(sweep) = &study.ask else {
        panic!("it sweeps")
    };
    let Design::Cases(cases) = &sweep.design else {
        panic!("cases")
    };
    assert_eq!(
        cases[0].set["param.form"],
        Level::Text("as-published".to_owned())
    );
    assert_eq!(cases[0].published["pool.db.waiting"], "14");
    assert_eq!(cases[1].set["pool.db"], Level::Number(50.0));
    assert_eq!(sweep.columns[1].title, "wait(pool.db)");
    let steps = plan_of_trials(&study.ask, None).steps;
    let of_case = |step: usize| (&*steps[step].what, steps[step].at_most);
    assert_eq!(of_case(0), (&*cases[0].name, 3));
    assert_eq!(of_case(1), (&*cases[1].name, 3));
}

/// The problems of the valid study `whole` with `from` replaced by `to`: each as the marked text,
/// what is said and the help.
fn problems(whole: &str, from: &str, to: &str) -> Vec<(String, String, String)> {
    assert!(whole.contains(from), "{from}");
    let text = whole.replacen(from, to, 1);
    let problems = StudyFile::parse(&text).expect_err(to);
    problems
        .into_iter()
        .map(|problem| {
            let marked = text[problem.span].to_owned();
            (marked, problem.says, problem.help.unwrap_or_default())
        })
        .collect()
}

/// The study, what is replaced, by what; then the marked text and a part of what is said or helped.
const WRONG: &[(&str, &str, &str, &str, &str)] = &[
    (
        FIND,
        "precision",
        "presicion",
        "presicion",
        "did you mean `precision`?",
    ),
    (
        FIND,
        "\"3 %\"",
        "\"300 %\"",
        "\"300 %\"",
        "between 0.5 % and 50 %",
    ),
    (
        FIND,
        "\"3 %\"",
        "\"3 s\"",
        "\"3 s\"",
        "a share such as `5 %`",
    ),
    (
        FIND,
        "cpu <= 70 %",
        "cpu <= 180 %",
        "\"cpu <= 180 %\"",
        "between 0 % and 100 %",
    ),
    (
        FIND,
        "cpu <= 70 %",
        "cpu <= 100 %",
        "\"cpu <= 100 %\"",
        "always missed or always met",
    ),
    (
        FIND,
        "cpu <= 70 %",
        "cpv <= 70 %",
        "\"cpv <= 70 %\"",
        "find the metric `cpv`",
    ),
    (
        FIND,
        "p99 <=",
        "p97 <=",
        "\"p97 <= 300 ms\"",
        "p50, p90, p95, p99",
    ),
    (
        FIND,
        "300 ms\"]",
        "300 /s\"]",
        "\"p99 <= 300 /s\"",
        "p99 <= 300 ms",
    ),
    (
        FIND,
        "[1, 200]",
        "[200, 1]",
        "[200, 1]",
        "within = [1, 200]",
    ),
    (
        FIND,
        "[1, 200]",
        "[0, 200]",
        "[0, 200]",
        "whole numbers from 1",
    ),
    (
        FIND,
        "[1, 200]",
        "[1]",
        "[1]",
        "the smallest and the largest",
    ),
    (
        FIND,
        "goal = \"largest\"",
        "goal = \"best\"",
        "precision",
        "not known in [find]",
    ),
    (
        FIND,
        "goal = \"largest\"",
        "margin = \"5 %\"",
        "\"5 %\"",
        "has no `margin`",
    ),
    (
        SWEEP,
        "[target.builtin]",
        "[target.httpd]\nmax-spawn-rate = 64",
        "64",
        "only the prefork module",
    ),
    (
        BEST,
        "vary = \"threads\"",
        "",
        "[find]",
        "`vary` is missing",
    ),
    (
        BEST,
        "of = \"throughput\"",
        "of = \"cpu\"",
        "\"cpu\"",
        "more or less",
    ),
    (
        BEST,
        "\"3 %\"",
        "\"80 %\"",
        "\"80 %\"",
        "between 0.5 % and 50 %",
    ),
    (
        BEST,
        "users = 500",
        "threads = 500",
        "[find]",
        "is varied and set",
    ),
    (
        FIND,
        "goal = \"largest\"",
        "goal = \"larges\"",
        "\"larges\"",
        "did you mean `largest`?",
    ),
    (
        FIND,
        "vary = \"users\"",
        "vary = \"threads\"",
        "\"threads\"",
        "finding the largest `threads`",
    ),
    (
        FIND,
        "vary = \"users\"",
        "vary = \"heap\"",
        "\"heap\"",
        "no factor",
    ),
    (
        FIND,
        "[target.builtin]",
        "[target.bultin]",
        "bultin",
        "did you mean `builtin`?",
    ),
    (
        FIND,
        "threads = 50",
        "thread = 50",
        "thread",
        "did you mean `threads`?",
    ),
    (
        FIND,
        "threads = 50",
        "threads = 0",
        "0",
        "a whole number from 1",
    ),
    (FIND, "threads = 50", "users = 50", "users", "no setting"),
    (
        TOMCAT,
        "\"10.1\"",
        "\"9\"",
        "\"9\"",
        "write one of \"10.1\", \"11\"",
    ),
    (
        TOMCAT,
        "app = \"stress\"",
        "home = \"/opt/tomcat\"",
        "\"10.1\"",
        "keep one of",
    ),
    (TOMCAT, "\"hikari\"", "\"c3p0\"", "\"c3p0\"", "no pool"),
    (
        TOMCAT,
        "\"native.minSpareThreads\" = 0",
        "\"native.minSpareThreads\" = \"few\"",
        "\"few\"",
        "a whole number from 0",
    ),
    (
        TOMCAT,
        "\"native.minSpareThreads\" = 0",
        "\"property.SIZE\" = 0",
        "\"property.SIZE\"",
        "no setting",
    ),
    (FIND, "\"close\"", "\"drop\"", "\"drop\"", "write \"close\""),
    (
        FIND,
        "port = 9080",
        "port = 90800",
        "90800",
        "from 1 to 65535",
    ),
    (
        FIND,
        "cpus = \"0\"",
        "cpus = \"a\"",
        "\"a\"",
        "list of CPUs",
    ),
    (FIND, "cpus = \"0\"", "cpus = 0", "0", "a text in quotes"),
    (
        FIND,
        "window = \"300 s\"",
        "window = \"300\"",
        "\"300\"",
        "such as \"300 s\"",
    ),
    (
        FIND,
        "window = \"300 s\"",
        "steps = []",
        "[]",
        "not built yet",
    ),
    (
        FIND,
        "users = \"THREAD_NUMBER\"",
        "url = \"http://h/\"",
        "\"http://h/\"",
        "a plan and a URL",
    ),
    (
        FIND,
        "users = \"THREAD_NUMBER\"\n",
        "",
        "\"stress.jmx\"",
        "users = \"PROPERTY\"",
    ),
    (
        FIND,
        "weir/study/1",
        "weir/study/9",
        "\"weir/study/9\"",
        "weir/study/1",
    ),
    (
        SWEEP,
        "design = \"cases\"",
        "design = \"case\"",
        "\"case\"",
        "did you mean `cases`?",
    ),
    (
        SWEEP,
        "design = \"cases\"",
        "design = \"full\"",
        "\"full\"",
        "does not use",
    ),
    (
        SWEEP,
        "replicates = 3",
        "compare = \"throughput\"",
        "\"throughput\"",
        "one trial of each case cannot be compared",
    ),
    (
        SWEEP,
        "replicates = 3",
        "replicates = 3\ncompare = \"p99\"\nmatters = \"80 %\"",
        "\"80 %\"",
        "between 0.5 % and 50 %",
    ),
    (
        SWEEP,
        "replicates = 3",
        "replicates = 3\nmatters = \"5 %\"",
        "\"5 %\"",
        "nothing is compared",
    ),
    (
        SWEEP,
        "replicates = 3",
        "replicates = 0",
        "0",
        "from 1 to 100",
    ),
    (
        SWEEP,
        "name = \"pool 50\"",
        "name = \"pool 10\"",
        "\"pool 10\"",
        "two cases",
    ),
    (
        SWEEP,
        "users = 14, \"pool.db\" = 50",
        "user = 14",
        "user",
        "did you mean `users`?",
    ),
    (
        SWEEP,
        "signal = \"pool.db.waiting\"",
        "signl = \"x\"",
        "signl",
        "did you mean `signal`?",
    ),
    (
        SWEEP,
        "\"pool.db.waiting\" = 14",
        "\"pool.db.wating\" = 14",
        "\"pool.db.wating\"",
        "no column",
    ),
    (
        SWEEP,
        "name = \"pool 50\"",
        "name = \"pool 50\"\nwindow = \"2 s\"",
        "\"2 s\"",
        "write a time from 5 s to 24 h",
    ),
    (
        EXTERNAL,
        "jolokia = \"attach\"",
        "",
        "[target.external]",
        "`threads` is set over JMX",
    ),
    (
        EXTERNAL,
        "jolokia =",
        "ssh = \"app01\"\njolokia =",
        "[target.external]",
        "into a process of this machine only",
    ),
    (
        EXTERNAL,
        "jolokia =",
        "ssh-config = \"hosts\"\njolokia =",
        "\"hosts\"",
        "write `ssh = \"HOST\"` beside it",
    ),
];

#[test]
fn every_problem_points_at_its_place() {
    for (whole, from, to, marked, part) in WRONG {
        let found = problems(whole, from, to);
        let hit = found
            .iter()
            .any(|(at, says, help)| at == marked && (says.contains(part) || help.contains(part)));
        assert!(hit, "`{to}`: {found:#?}");
    }
}

#[test]
fn missing_parts_are_named() {
    let problems = StudyFile::parse("").unwrap_err();
    let says: Vec<&str> = problems
        .iter()
        .map(|problem| problem.says.as_str())
        .collect();
    for part in ["schema", "[target]", "[load]", "[find]"] {
        assert!(
            says.iter().any(|says| says.contains(part)),
            "{part}: {says:?}"
        );
    }
}

#[test]
fn a_study_of_levels_is_read() {
    let study = StudyFile::parse(BEST).unwrap();
    let Ask::Best(best) = &study.ask else {
        panic!("{:?}", study.ask)
    };
    assert_eq!(best.goal, BestGoal::SmallestNearBest);
    assert_eq!((best.vary.as_str(), best.within), ("threads", (1, 400)));
    assert_eq!(best.set["users"].number(), Some(500.0));
    assert_eq!((best.of.as_str(), best.margin), ("throughput", 0.03));
    assert_eq!(best.requirements[0].to_string(), "errors <= 0.1 %");
    assert_eq!(best.budget, None, "a fixed window has as long as it takes");
    assert!(
        best.question.contains("not worse than the best by 3 %"),
        "{}",
        best.question
    );
}

const MATTERS: &str = r#"
schema = "weir/study/1"
[target.builtin]
[load]
plan = "short.jmx"
users = "THREAD_NUMBER"
window = "20 s"
[find]
vary = "backlog"
goal = "matters"
levels = ["as-found", 200]
of = "p99"
margin = "4 %"
set = { users = 30 }
binds-at = { users = 600, connections = 100 }
"#;

#[test]
fn a_study_of_whether_it_matters_is_read() {
    let study = StudyFile::parse(MATTERS).unwrap();
    let Ask::Matters(matters) = &study.ask else {
        panic!("{:?}", study.ask)
    };
    assert_eq!(matters.question, "Does `backlog` matter at all?");
    assert_eq!(matters.levels, [None, Some(Level::Number(200.0))]);
    assert_eq!((matters.of.as_str(), matters.margin), ("p99", 0.04));
    assert_eq!(matters.set["users"].number(), Some(30.0));
    assert_eq!(matters.binds_at["connections"].number(), Some(100.0));
    let ends = MATTERS.replace("levels = [\"as-found\", 200]", "within = [10, 200]");
    let Ask::Matters(matters) = StudyFile::parse(&ends).unwrap().ask else {
        panic!("still the same question")
    };
    assert_eq!(
        matters.levels,
        [10.0, 200.0].map(|end| Some(Level::Number(end)))
    );
}

#[test]
fn what_is_wrong_with_the_two_levels_is_said() {
    for (levels, says) in [
        ("", "`levels` is missing"),
        ("levels = [10]", "`levels` has 1 of them"),
        ("levels = [10, 20, 30]", "`levels` has 3 of them"),
        ("levels = [10, 10]", "the two levels are the same"),
        (
            "levels = [10, \"many\"]",
            "`backlog` has to be a whole number",
        ),
        (
            "levels = [1, 2]\nwithin = [1, 2]",
            "named by `levels` and by `within`",
        ),
        (
            "levels = [1, 2]\nsubject-to = [\"cpu <= 80 %\"]",
            "`subject-to` is not known",
        ),
    ] {
        let text = MATTERS.replace("levels = [\"as-found\", 200]", levels);
        let problems = StudyFile::parse(&text).unwrap_err();
        assert!(
            problems.iter().any(|problem| problem.says.contains(says)),
            "{levels}: {problems:?}"
        );
    }
    let set_twice = MATTERS.replace("{ users = 30 }", "{ users = 30, backlog = 5 }");
    let problems = StudyFile::parse(&set_twice).unwrap_err();
    assert_eq!(problems[0].says, "`backlog` is varied and set");
    let of_largest = MATTERS.replace("\"matters\"", "\"largest\"");
    let problems = StudyFile::parse(&of_largest).unwrap_err();
    assert!(
        problems
            .iter()
            .any(|problem| problem.says == "the goal `largest` has no `binds-at`"),
        "{problems:?}"
    );
}

const SEVERAL: &str = r#"
schema = "weir/study/1"
[target.builtin]
[load]
plan = "short.jmx"
users = "THREAD_NUMBER"
window = "20 s"
[find]
vary = ["threads", "pool.db", "connections", "native.minSpareThreads"]
within = { threads = [1, 200], pool.db = [2, 50] }
goal = "smallest-near-best"
set = { users = 40 }
"#;

#[test]
fn a_study_of_several_settings_is_read() {
    let study = StudyFile::parse(SEVERAL).unwrap();
    let Ask::Several(several) = &study.ask else {
        panic!("{:?}", study.ask)
    };
    assert_eq!(several.vary.len(), 4);
    assert_eq!(several.within["pool.db"], (2, 50));
    assert_eq!(several.within.get("connections"), None);
    assert_eq!((several.of.as_str(), several.margin), ("throughput", 0.05));
    assert_eq!(several.goal, BestGoal::SmallestNearBest);
    assert!(
        several.question.contains("threads, pool.db"),
        "{}",
        several.question
    );
    let planned = plan_of_trials(&study.ask, None);
    let sum = |of: fn(&weir_study::PlannedTrials) -> u32| planned.steps.iter().map(of).sum::<u32>();
    let (expected, at_most) = (sum(|step| step.expected), sum(|step| step.at_most));
    assert!(
        (20..60).contains(&expected) && at_most > expected,
        "{expected} {at_most}"
    );
}

#[test]
fn what_is_wrong_with_several_settings_is_said() {
    for (from, to, says) in [
        (
            "\"pool.db\", ",
            "\"pool.db\", \"pool.db\", ",
            "`pool.db` is listed twice",
        ),
        (
            "\"pool.db\", ",
            "\"native.acceptCount\", ",
            "what `native.acceptCount` limits is not known",
        ),
        ("\"connections\", ", "\"users\", ", "`users` is no setting"),
        (
            ", \"pool.db\", \"connections\", \"native.minSpareThreads\"",
            "",
            "a list of 1 is not several settings",
        ),
        (
            "\"smallest-near-best\"",
            "\"largest\"",
            "the goal `largest` does not go with several settings",
        ),
        (
            "goal = \"smallest-near-best\"",
            "",
            "the goal `largest` does not go with several settings",
        ),
        (
            "\"smallest-near-best\"",
            "\"matters\"",
            "the goal `matters` does not go with several settings",
        ),
        (
            "{ threads = [1, 200], pool.db = [2, 50] }",
            "[1, 200]",
            "several settings have a range each",
        ),
        (
            "pool.db = [2, 50]",
            "pool.web = [2, 50]",
            "`pool.web` has a range and is not in `vary`",
        ),
        (
            "pool.db = [2, 50]",
            "pool.db = 50",
            "the range of `pool.db` has to be two whole numbers",
        ),
        (
            "pool.db = [2, 50]",
            "pool.db = [50, 2]",
            "the range from 50 to 2 holds nothing to choose from",
        ),
        (
            "{ users = 40 }",
            "{ users = 40, threads = 8 }",
            "`threads` is varied and set",
        ),
    ] {
        assert!(SEVERAL.contains(from), "{from}");
        let problems = StudyFile::parse(&SEVERAL.replacen(from, to, 1)).expect_err(to);
        assert!(
            problems.iter().any(|problem| problem.says.contains(says)),
            "{to}: {problems:?}"
        );
    }
}

const GATE: &str = r#"
schema = "weir/study/1"
[target.external]
url = "http://127.0.0.1:8080"
[gate]
max-wait = "60s"
max-queue = 500
[load]
plan = "short.jmx"
users = "THREAD_NUMBER"
[find]
vary = "gate.concurrency"
set = { users = 60 }
within = [1, 50]
subject-to = ["cpu <= 80 %"]
"#;

#[test]
fn a_study_that_varies_a_gateway_is_read() {
    let study = StudyFile::parse(GATE).unwrap();
    let gate = study.gate.as_ref().unwrap();
    assert_eq!(gate.max_wait, Duration::from_secs(60));
    assert_eq!((gate.max_queue, gate.concurrency), (500, None));
    let Ask::Find(find) = &study.ask else {
        panic!("{:?}", study.ask)
    };
    assert_eq!(find.varied, Varied::GateConcurrency);
    assert_eq!(find.set["users"], Level::Number(60.0));
    assert!(find.question.contains("may the gateway let in"));
    assert_eq!(find.budget, Some(Duration::from_secs(270)));
    // The table may be missing: then who finds the gateway full waits for as long as it takes.
    let bare = GATE.replace("[gate]\nmax-wait = \"60s\"\nmax-queue = 500\n", "");
    let gate = StudyFile::parse(&bare).unwrap().gate.unwrap();
    assert_eq!(gate.max_wait, Duration::from_secs(600));
    let planned = plan_of_trials(&study.ask, None);
    assert!(planned.steps[0].what.contains("1 to 50 requests"));
    assert!(StudyFile::parse(FIND).unwrap().gate.is_none());
}

#[test]
fn a_gateway_holds_a_rate_in_a_sweep() {
    let held = SWEEP_OF_RATES.replace("[load]", "[gate]\nrate = \"300/min\"\n[load]");
    let study = StudyFile::parse(&held).unwrap();
    assert_eq!(study.gate.unwrap().rate_per_s, Some(5.0));
    let varied = SWEEP_OF_RATES.replace("rate = 10 }", "rate = 10, gate.rate = 2.5 }");
    let study = StudyFile::parse(&varied).unwrap();
    assert_eq!(study.gate.unwrap().rate_per_s, None);
}

#[test]
fn a_gateway_has_limits_for_each_class() {
    let classes = "[gate]\n[[gate.class]]\nname = \"db-heavy\"\nmatch = { header = \"X-Users: db-heavy\" }\n\
                   concurrency = 20\n[[gate.class]]\nname = \"other.1\"\n[load]";
    let held = SWEEP_OF_RATES.replace("[load]", classes);
    let gate = StudyFile::parse(&held).unwrap().gate.unwrap();
    let [heavy, other] = gate.classes.as_slice() else {
        panic!("{:?}", gate.classes)
    };
    assert_eq!(
        (heavy.name.as_str(), heavy.concurrency),
        ("db-heavy", Some(20.0))
    );
    assert_eq!(heavy.matches["header"], "X-Users: db-heavy");
    assert_eq!((other.name.as_str(), other.concurrency), ("other.1", None));
    let varied = |factor: &str| {
        StudyFile::parse(&held.replace("rate = 10 }", &format!("rate = 10, {factor} = 2.5 }}")))
    };
    for factor in ["gate.db-heavy.concurrency", "gate.other.1.rate"] {
        assert!(varied(factor).unwrap().varies(factor), "{factor}");
    }
    let problems = varied("gate.gold.rate").unwrap_err();
    assert!(problems[0].says.contains("no class `gold`"), "{problems:?}");
    let problems = varied("gate.db-heavy.queue").unwrap_err();
    assert!(problems[0].says.contains("is no factor"), "{problems:?}");
    // Without a limit of its own or a factor a class holds nothing.
    let nothing = held.replace("concurrency = 20\n", "");
    let problems = StudyFile::parse(&nothing).unwrap_err();
    assert!(
        problems[0].says.contains("holds nothing back"),
        "{problems:?}"
    );
    let classes = "\n[gate]\n[[gate.class]]\nname = \"a\"\nmatch = { path = \"/a\" }\n[[gate.class]]\nname = \"b\"\n";
    let finds = format!("{FIND}{classes}");
    let file = StudyFile::parse(&finds).expect("a search for users finds caps for them");
    assert_eq!(file.gate.expect("a gateway").classes.len(), 2);
    let one = finds.replace("[[gate.class]]\nname = \"b\"\n", "");
    let problems = StudyFile::parse(&one).unwrap_err();
    assert!(
        problems[0].says.contains("holds nothing back"),
        "{problems:?}"
    );
    let slip = held.replace("header =", "heade =");
    let problems = StudyFile::parse(&slip).unwrap_err();
    assert!(problems[0].says.contains("heade"), "{problems:?}");
}

const SWEEP_OF_RATES: &str = r#"
schema = "weir/study/1"
[target.builtin]
[load]
plan = "rate.jmx"
rate = "RATE"
[sweep]
design = "cases"
[[sweep.case]]
name = "10"
set = { rate = 10 }
"#;

#[test]
fn what_is_wrong_with_a_gateway_is_said() {
    for (from, to, place, part) in [
        (
            "max-queue = 500",
            "max-queu = 500",
            "max-queu",
            "did you mean `max-queue`?",
        ),
        ("max-wait = \"60s\"", "max-wait = \"60\"", "\"60\"", "60"),
        (
            "max-wait = \"60s\"",
            "max-wait = \"1h\"",
            "\"1h\"",
            "up to \"600s\"",
        ),
        (
            "max-queue = 500",
            "rate = \"50\"",
            "\"50\"",
            "such as `rate = \"50/s\"`",
        ),
        (
            "max-queue = 500",
            "concurrency = 0",
            "0",
            "a number above 0",
        ),
        ("set = { users = 60 }\n", "", "", "set = { users = 60 }"),
        (
            "users = 60 }",
            "users = 60, gate.concurrency = 4 }",
            "{ users = 60, gate.concurrency = 4 }",
            "varied and set",
        ),
        (
            "cpu <= 80 %",
            "p99 <= 300 ms",
            "\"p99 <= 300 ms\"",
            "the less the others wait",
        ),
        (
            "cpu <= 80 %",
            "wait(gate) <= 1 s",
            "\"wait(gate) <= 1 s\"",
            "bound what happens in the server",
        ),
        (
            "vary = \"gate.concurrency\"",
            "vary = \"gate.concurency\"",
            "\"gate.concurency\"",
            "did you mean `gate.concurrency`?",
        ),
        (
            "vary = \"gate.concurrency\"\nset = { users = 60 }\n",
            "vary = \"users\"\n",
            "",
            "holds nothing back",
        ),
        (
            "vary = \"gate.concurrency\"",
            "vary = \"gate.rate\"",
            "\"gate.rate\"",
            "`vary = \"gate.concurrency\"`",
        ),
    ] {
        let told = problems(GATE, from, to);
        let found = told.iter().any(|(at, says, help)| {
            at.contains(place) && (says.contains(part) || help.contains(part))
        });
        assert!(found, "{to}: {told:?}");
    }
}

#[test]
fn all_problems_come_at_once_in_the_order_of_the_file() {
    let text = FIND
        .replace("precision", "presicion")
        .replace("port = 9080", "port = 0")
        .replace("\"largest\"", "\"larges\"");
    let problems = StudyFile::parse(&text).unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:#?}");
    assert!(problems.is_sorted_by_key(|problem| problem.span.start));
}

#[test]
fn broken_toml_is_said_at_its_place() {
    let problems = StudyFile::parse("schema = \"weir/study/1\"\nwindow = = 3\n").unwrap_err();
    assert!(problems[0].says.contains("not TOML"), "{problems:?}");
    assert!(problems[0].span.start >= 24, "{problems:?}");
}

proptest! {
    /// No text makes the reader panic, and no problem stands outside of the text.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        if let Err(problems) = StudyFile::parse(&text) {
            prop_assert!(!problems.is_empty());
            prop_assert!(problems.iter().all(|problem| problem.span.end <= text.len()));
        }
    }

    /// Nor does a valid study with a part cut out or doubled.
    #[test]
    fn mutated_studies_are_read_or_refused(start in 0..FIND.len(), length in 1..60usize, double: bool) {
        let end = (start + length).min(FIND.len());
        let middle = if double { &FIND[start..end] } else { "" };
        let text = format!("{}{middle}{middle}{}", &FIND[..start], &FIND[end..]);
        if let Err(problems) = StudyFile::parse(&text) {
            prop_assert!(problems.iter().all(|problem| problem.span.end <= text.len()));
        }
    }
}
