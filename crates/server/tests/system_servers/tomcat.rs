//! A real Tomcat with both pools and a real database: started, watched, set while it runs, put
//! back, gone.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::print_stderr,
    reason = "tests state what must hold (limits are whole numbers), or say that they did not run"
)]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use weir_apps::{App, ServletApi};
use weir_probe::{Reading, WatchPlan, WatchedMachine, Watcher};
use weir_record::{CpuScope, TargetFacts};
use weir_server::{
    External, ExternalLimit, ExternalOptions, JmxAgent, Journal, PoolKind, Postgresql,
    PostgresqlOptions, Server, SetBy, Tomcat, TomcatOptions, TomcatPool,
};
use weir_shelf::{HIKARICP, JOLOKIA, POSTGRESQL_JDBC, Package, Shelf, TOMCAT_10, TOMCAT_11};

static GO_ON: AtomicBool = AtomicBool::new(false);

fn shelf() -> Option<Shelf> {
    if std::env::var_os("WEIR_SYSTEM_TESTS").is_none() {
        eprintln!("skipped: it needs Java, Maven and PostgreSQL; WEIR_SYSTEM_TESTS=1 runs it");
        return None;
    }
    // What one test has fetched serves the others too.
    Some(Shelf::new(concat!(
        env!("CARGO_TARGET_TMPDIR"),
        "/weir-cache"
    )))
}

fn jars(shelf: &Shelf, package: &Package) -> Vec<PathBuf> {
    let home = shelf.provide(package, &GO_ON, &mut |_| {}).unwrap();
    let files = std::fs::read_dir(home)
        .unwrap()
        .map(|file| file.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|kind| kind == "jar"))
        .collect()
}

fn start(shelf: &Shelf, line: &Package, kind: PoolKind, place: &Path) -> Box<Tomcat> {
    let path = std::env::var_os("PATH");
    let programs = shelf
        .provide_postgresql(path.as_deref(), &GO_ON, &mut |_| {})
        .unwrap();
    let database = PostgresqlOptions {
        programs: programs.bin,
        libraries: programs.libraries,
        connections: 100,
        memory: None,
        table: None,
        delay: None,
        kept: place.join("kept"),
        cpus: None,
        log: place.join("database.log"),
        journal: Journal::new(place.join("state")),
    };
    let mut libraries = jars(shelf, &POSTGRESQL_JDBC);
    libraries.extend(jars(shelf, &HIKARICP));
    let stress = App::Stress(ServletApi::Jakarta);
    Box::new(
        Tomcat::start(TomcatOptions {
            home: shelf.provide(line, &GO_ON, &mut |_| {}).unwrap(),
            own_configuration: false,
            java: PathBuf::from("java"),
            javas: BTreeMap::new(),
            java_options: [
                "-Xmx256m",
                "-Dweir.regulator.on=false",
                "-Dweir.regulator.class.seldom.urls=/light",
                "-Dweir.regulator.class.seldom.rate=0.01",
                "-Dweir.regulator.class.seldom.max-wait=0 ms",
            ]
            .map(str::to_owned)
            .to_vec(),
            base: place.join("base"),
            app: Some(weir_apps::build(stress, shelf.cache(), &GO_ON, &mut |_| {}).unwrap()),
            ready: "/stress?searchTime=0&updateTime=0&duration=0&bit=64".to_owned(),
            pool: Some(TomcatPool {
                kind,
                libraries,
                database: Postgresql::start(&database, &GO_ON, &mut |_| {}).unwrap(),
            }),
            agent: jars(shelf, &JOLOKIA).pop().unwrap(),
            port: 0,
            interrupted: Arc::default(),
            cpus: None,
            settings: BTreeMap::from([("threads".to_owned(), 50.0), ("pool.db".to_owned(), 10.0)]),
            log: place.join("target.log"),
            journal: Journal::new(place.join("state")),
        })
        .unwrap(),
    )
}

fn limits(of: &[(&str, f64)]) -> BTreeMap<String, f64> {
    of.iter()
        .map(|(name, limit)| ((*name).to_owned(), *limit))
        .collect()
}

fn facts(server: &dyn Server) -> TargetFacts {
    server.facts(2, CpuScope::SharedCpus)
}

/// What a watch reads within some seconds, once it has read these signals.
fn watched(server: &dyn Server, wanted: &[&str]) -> Reading {
    let watched = server.watched();
    let mut watcher = Watcher::new(WatchPlan {
        target_pids: watched.pids,
        ports: watched.ports,
        sources: watched.sources,
        ..WatchPlan::default()
    });
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let reading = watcher.sample(Instant::now());
        let missing = wanted.iter().find(|name| !reading.contains_key(**name));
        match missing {
            None => return reading,
            Some(name) => assert!(Instant::now() < until, "{name} is not in {reading:?}"),
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Length that the listening socket's queue may have.
fn backlog_of(server: &dyn Server) -> String {
    let port = server.address().port();
    let shown = Command::new("ss")
        .args(["-Hltn", &format!("sport = :{port}")])
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    shown.split_whitespace().nth(2).unwrap().to_owned()
}

/// The user's own Tomcat, whose connector takes the threads of an executor.
#[test]
fn threads_of_an_executor_are_set_watched_and_written() {
    let Some(shelf) = shelf() else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    let fetched = shelf.provide(&TOMCAT_11, &GO_ON, &mut |_| {}).unwrap();
    let copied = Command::new("cp")
        .arg("-r")
        .args([&fetched, &home])
        .status();
    assert!(copied.unwrap().success());
    let server_xml = "<Server port=\"8005\">\n <Service name=\"Catalina\">\n  \
                      <Executor name=\"shared\" maxThreads=\"37\"/>\n  \
                      <Connector port=\"8080\" executor=\"shared\"/>\n  \
                      <Engine name=\"Catalina\" defaultHost=\"localhost\">\n   \
                      <Host name=\"localhost\" appBase=\"webapps\"/>\n  </Engine>\n </Service>\n</Server>\n";
    std::fs::write(home.join("conf/server.xml"), server_xml).unwrap();
    let mut server: Box<dyn Server> = Box::new(
        Tomcat::start(TomcatOptions {
            home,
            own_configuration: true,
            java: PathBuf::from("java"),
            javas: BTreeMap::new(),
            java_options: vec!["-Xmx128m".to_owned()],
            base: place.path().join("base"),
            app: None,
            ready: "/".to_owned(),
            pool: None,
            agent: jars(&shelf, &JOLOKIA).pop().unwrap(),
            port: 0,
            interrupted: Arc::default(),
            cpus: None,
            settings: limits(&[("connections", 300.0)]),
            log: place.path().join("target.log"),
            journal: Journal::new(place.path().join("state")),
        })
        .unwrap(),
    );
    let limit = |server: &dyn Server| facts(server).stage("threads").unwrap().limit;
    assert_eq!(limit(server.as_ref()), Some(37.0));
    server.apply(&limits(&[("threads", 12.0)])).unwrap();
    let read = watched(server.as_ref(), &["threads.occupancy", "threads.limit"]);
    assert_eq!(read["threads.limit"], 12.0);
    let changes = server.configuration(&limits(&[("threads", 12.0)])).unwrap();
    assert_eq!(changes.len(), 1);
    let written = "+  <Executor name=\"shared\" maxThreads=\"12\"/>\n";
    assert!(changes[0].diff().contains(written), "{}", changes[0].diff());
    server.stop().unwrap();
}

fn the_whole_life(line: &Package, kind: PoolKind) {
    let Some(shelf) = shelf() else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let mut server = start(&shelf, line, kind, place.path());
    let found = facts(server.as_ref());
    let limit = |facts: &TargetFacts, stage: &str| facts.stage(stage).unwrap().limit;
    assert_eq!(limit(&found, "threads"), Some(50.0));
    assert_eq!(limit(&found, "pool.db"), Some(10.0));
    assert_eq!(limit(&found, "connections"), Some(8192.0));
    assert_eq!(limit(&found, "backlog"), Some(100.0));
    assert_eq!(limit(&found, "database"), Some(100.0));
    assert!(found.name.starts_with("Apache Tomcat/"), "{}", found.name);

    let read = watched(
        server.as_ref(),
        &[
            "threads.occupancy",
            "pool.db.waiting",
            "pool.db.limit",
            "request-queue.waiting",
            "gc.time",
        ],
    );
    assert_eq!(read["threads.limit"], 50.0);
    assert_eq!(read["pool.db.limit"], 10.0);

    server
        .apply(&limits(&[
            ("threads", 4.0),
            ("pool.db", 3.0),
            ("backlog", 7.0),
            ("connections", 40.0),
        ]))
        .unwrap();
    let read = watched(
        server.as_ref(),
        &["threads.limit", "pool.db.limit", "connections.limit"],
    );
    assert_eq!(
        (
            read["threads.limit"],
            read["pool.db.limit"],
            read["connections.limit"]
        ),
        (4.0, 3.0, 40.0)
    );
    assert_eq!(backlog_of(server.as_ref()), "7");
    server
        .apply(&limits(&[("native.minSpareThreads", 20.0)]))
        .unwrap();
    let read = watched(server.as_ref(), &["threads.limit", "pool.db.limit"]);
    assert_eq!(
        (read["threads.limit"], read["pool.db.limit"]),
        (50.0, 10.0),
        "as found"
    );
    assert_eq!(backlog_of(server.as_ref()), "100");
    let refused = server.apply(&limits(&[("pool.other", 4.0)])).unwrap_err();
    assert!(refused.to_string().contains("pool.db"), "{refused}");

    its_regulator_is_set_and_put_back(server.as_mut());
    as_if_somebody_else_had_started_it(&shelf, server.as_ref(), place.path());

    server.check_alive().unwrap();
    let pids = server.watched().pids;
    server.stop().unwrap();
    for pid in pids {
        assert!(
            !Path::new(&format!("/proc/{pid}")).exists(),
            "{pid} still runs"
        );
    }
}

/// The server was started with one that is off and would hardly let anything in.
fn its_regulator_is_set_and_put_back(server: &mut dyn Server) {
    let address = server.address();
    let two = || [status_of(address, "/light"), status_of(address, "/light")];
    assert_eq!(two(), [200, 200]);
    let on = BTreeMap::from([("regulator.on".to_owned(), "true".to_owned())]);
    server.regulate(&on).unwrap();
    assert_eq!(two(), [200, 429]);
    server.regulate(&BTreeMap::new()).unwrap();
    assert_eq!(two(), [200, 200], "off, as it was found");
}

fn status_of(address: SocketAddr, path: &str) -> u16 {
    let mut connection = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: tested\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).map(str::parse);
    status.and_then(Result::ok).expect("an answer")
}

/// The server as one that runs already, of which only port and process are known.
fn as_if_somebody_else_had_started_it(shelf: &Shelf, server: &dyn Server, place: &Path) {
    let journal = Journal::new(place.join("state"));
    let by_jmx = |name: &str| {
        let limit = ExternalLimit {
            set: SetBy::Jmx,
            get: None,
            found: None,
        };
        (name.to_owned(), limit)
    };
    let limits_of = |names: &[&str]| ExternalOptions {
        name: "theirs".to_owned(),
        address: server.address(),
        machine: WatchedMachine::This,
        cpus: None,
        pid: server.watched().pids.first().copied(),
        metrics: Vec::new(),
        jmx: Some(JmxAgent::Load(jars(shelf, &JOLOKIA).pop().unwrap())),
        dumps: false,
        recognised: None,
        limits: names.iter().map(|name| by_jmx(name)).collect(),
        settings: BTreeMap::new(),
        directory: place.to_owned(),
        log: place.join("commands.log"),
        journal: journal.clone(),
        takes_effect: External::TAKES_EFFECT,
        ask: |what| panic!("nobody is to be asked: {what}"),
        serving: |_| None,
    };
    // A new backlog would take the server off its port.
    let error = External::join(limits_of(&["backlog"])).unwrap_err();
    assert!(error.to_string().contains("threads over JMX"), "{error}");

    let mut theirs = External::join(limits_of(&["threads", "pool.db"])).unwrap();
    assert_eq!(facts(&theirs).stage("threads").unwrap().limit, Some(50.0));
    theirs
        .apply(&limits(&[("threads", 4.0), ("pool.db", 2.0)]))
        .unwrap();
    let now = |server: &dyn Server| {
        let read = watched(server, &["threads.limit", "pool.db.limit", "gc.time"]);
        (read["threads.limit"], read["pool.db.limit"])
    };
    assert_eq!(now(&theirs), (4.0, 2.0));
    // As if it had been killed: nothing of it runs any more.
    std::mem::forget(theirs);
    assert_eq!(journal.put_back().failed, [""; 0]);
    assert_eq!(now(server), (50.0, 10.0));
}

#[test]
fn tomcat_11_with_its_own_pool() {
    the_whole_life(&TOMCAT_11, PoolKind::TomcatJdbc);
}

#[test]
fn tomcat_10_with_hikari() {
    the_whole_life(&TOMCAT_10, PoolKind::Hikari);
}
