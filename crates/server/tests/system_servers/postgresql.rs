//! A private PostgreSQL, really run: filled, kept, limited, gone.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests state what must hold, or say that they did not run"
)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use weir_probe::{WatchPlan, Watcher};
use weir_server::{Filled, Journal, Postgresql, PostgresqlOptions, PostsTable, TargetError};

/// Where PostgreSQL's programs are; `None` when the test may be skipped.
fn programs() -> Option<PathBuf> {
    if std::env::var_os("WEIR_SYSTEM_TESTS").is_none() {
        eprintln!("skipped: it needs PostgreSQL; WEIR_SYSTEM_TESTS=1 runs it");
        return None;
    }
    if let Some(named) = std::env::var_os("POSTGRESQL_BIN") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH").unwrap();
    let in_path = std::env::split_paths(&path).filter_map(|directory| {
        let program = fs::canonicalize(directory.join("initdb")).ok()?;
        Some(program.parent()?.to_owned())
    });
    let of_debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut all = in_path.chain(
        of_debian
            .flatten()
            .map(|version| version.path().join("bin")),
    );
    let found = all.find(|bin| bin.join("postgres").is_file());
    Some(found.expect("PostgreSQL is installed (Debian: postgresql)"))
}

fn start(
    programs: &Path,
    place: &Path,
    table: Option<PostsTable>,
    progress: &mut dyn FnMut(Filled),
) -> Result<Postgresql, TargetError> {
    Postgresql::start(
        &options(programs, place, table),
        &AtomicBool::new(false),
        progress,
    )
}

fn options(programs: &Path, place: &Path, table: Option<PostsTable>) -> PostgresqlOptions {
    PostgresqlOptions {
        programs: programs.to_owned(),
        libraries: Vec::new(),
        connections: 2,
        memory: None,
        table,
        delay: None,
        kept: place.join("kept"),
        cpus: None,
        log: place.join("postgresql.log"),
        journal: Journal::new(place.join("state")),
    }
}

/// A client over TCP, as this user.
fn psql(programs: &Path, server: &Postgresql, user: &str) -> Command {
    let mut psql = Command::new(programs.join("psql"));
    psql.args(["-X", "-A", "-t", "-q", "-w", "-h", "127.0.0.1"])
        .args(["-p", &server.address().port().to_string()])
        .args(["-U", user, "-d", server.database()]);
    psql
}

/// What the application gets to see: over TCP, as itself.
fn as_application(programs: &Path, server: &Postgresql, statement: &str) -> Output {
    let mut session = psql(programs, server, server.user());
    session.args(["-c", statement]).output().unwrap()
}

fn answer(programs: &Path, server: &Postgresql, statement: &str) -> String {
    let output = as_application(programs, server, statement);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_filled_table_is_kept_and_is_that_of_the_sample_server() {
    let Some(programs) = programs() else { return };
    let place = tempfile::tempdir().unwrap();
    let table = Some(PostsTable {
        rows: 2_000,
        text: None,
    });
    let mut heard = Vec::new();
    let server = start(&programs, place.path(), table, &mut |filled| {
        heard.push(filled);
    })
    .unwrap();
    assert_eq!(
        heard,
        [Filled {
            rows: 2_000,
            of: 2_000
        }]
    );
    server.stop();

    let server = start(&programs, place.path(), table, &mut |_| {
        panic!("it was filled already")
    })
    .unwrap();
    // What `weir sample-server` answers to /posts?board=2, word for word.
    let row = "991|2|Post 991 of the day|writer991|water river bridge stone flow gate river bridge stone flow gate wall \
               bridge stone flow gate wall level stone flow gate wall level water river gate wall level water river \
               bridge wall |2020-01-01 16:31:00";
    let statement = "SELECT * FROM posts WHERE id = 991";
    // The answer is trimmed at its ends only.
    assert_eq!(answer(&programs, &server, statement), row);
    assert_eq!(
        answer(&programs, &server, "SELECT count(*) FROM posts"),
        "2000"
    );
    let page = "EXPLAIN SELECT * FROM posts WHERE board_id = 2 ORDER BY id DESC LIMIT 10";
    assert!(answer(&programs, &server, page).contains("Index Scan Backward"));
    server.stop();
}

#[test]
fn an_empty_table_is_there_and_empty() {
    let Some(programs) = programs() else { return };
    let place = tempfile::tempdir().unwrap();
    let table = Some(PostsTable {
        rows: 0,
        text: None,
    });
    let server = start(&programs, place.path(), table, &mut |_| ()).unwrap();
    assert_eq!(
        answer(&programs, &server, "SELECT count(*) FROM posts"),
        "0"
    );
    server.stop();
}

#[test]
fn the_application_gets_its_connections_and_no_more() {
    let Some(programs) = programs() else { return };
    let place = tempfile::tempdir().unwrap();
    let mut server = start(&programs, place.path(), None, &mut |_| ()).unwrap();
    assert_eq!(server.stage().limit, Some(2.0));
    server.check_alive().unwrap();
    let mut held: Vec<_> = (0..2)
        .map(|_| {
            psql(&programs, &server, server.user())
                .args(["-c", "SELECT 'held'", "-c", "SELECT pg_sleep(60)"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in &mut held {
        let mut line = String::new();
        let output = child.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        assert_eq!(line, "held\n");
    }
    let refused = as_application(&programs, &server, "SELECT 1").stderr;
    let refused = String::from_utf8(refused).unwrap();
    assert!(refused.contains("remaining connection slots"), "{refused}");
    let no_way_in = psql(&programs, &server, "weir")
        .args(["-c", "SELECT 1"])
        .output()
        .unwrap();
    let says = String::from_utf8(no_way_in.stderr).unwrap();
    assert!(says.contains("no pg_hba.conf entry"), "{says}");
    // With clients connected, too, it stops at once.
    server.stop();
    for mut child in held {
        child.wait().unwrap();
    }
}

#[test]
fn its_statements_are_watched_from_the_side() {
    let Some(programs) = programs() else { return };
    let place = tempfile::tempdir().unwrap();
    let server = start(&programs, place.path(), None, &mut |_| ()).unwrap();
    let mut watcher = Watcher::new(WatchPlan {
        sources: vec![server.source()],
        ..WatchPlan::default()
    });
    let mut sample_until = |signal: &str| {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let reading = watcher.sample(Instant::now());
            if reading.get(signal).is_some_and(|figure| *figure > 0.0) {
                return reading;
            }
            assert!(Instant::now() < until, "no {signal} in {reading:?}");
        }
    };
    let limit = sample_until("database.limit")["database.limit"];
    assert!((limit - 2.0).abs() < f64::EPSILON, "{limit}");
    // A client that goes has reported all that it did.
    answer(&programs, &server, "SELECT pg_sleep(0.2)");
    assert!(sample_until("database.entries")["database.occupancy"] > 0.0);
    server.stop();
}

#[test]
fn posts_come_as_late_as_from_a_disk() {
    let Some(programs) = programs() else { return };
    let place = tempfile::tempdir().unwrap();
    let table = Some(PostsTable {
        rows: 2_000,
        text: None,
    });
    let delayed = PostgresqlOptions {
        delay: Some(Duration::from_millis(200)),
        ..options(&programs, place.path(), table)
    };
    // Filled, and from what is kept.
    for _ in 0..2 {
        let server = Postgresql::start(&delayed, &AtomicBool::new(false), &mut |_| ()).unwrap();
        let page = "SELECT * FROM posts WHERE board_id = 2 ORDER BY id DESC LIMIT 10 OFFSET 50";
        let plan = answer(&programs, &server, &format!("EXPLAIN (ANALYZE) {page}"));
        assert!(plan.contains("Index Scan Backward"), "{plan}");
        let took = plan
            .lines()
            .find_map(|line| line.strip_prefix("Execution Time: "));
        let took_ms: f64 = took.unwrap().trim_end_matches(" ms").parse().unwrap();
        assert!(
            (200.0..400.0).contains(&took_ms),
            "once a statement: {plan}"
        );
        server.stop();
    }
}

/// The bytes that a session has fetched from the disk which reads the whole table twice.
fn fetched(programs: &Path, server: &Postgresql) -> u64 {
    let read = "SELECT sum(length(body)) FROM posts";
    let mut session = psql(programs, server, server.user())
        .args(["-c", "SET max_parallel_workers_per_gather = 0"])
        .args(["-c", read, "-c", read])
        .args(["-c", "SELECT pg_backend_pid()", "-c", "SELECT pg_sleep(60)"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let told = BufReader::new(session.stdout.as_mut().unwrap()).lines();
    let pid = told.take(3).last().unwrap().unwrap();
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    session.kill().unwrap();
    session.wait().unwrap();
    let read = io
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "));
    read.unwrap().parse().unwrap()
}

#[test]
fn with_less_memory_than_its_table_takes_it_reads_from_the_disk_again() {
    let Some(programs) = programs() else { return };
    let place = tempfile::tempdir().unwrap();
    let table = Some(PostsTable {
        rows: 50_000,
        text: Some(1_900),
    });
    let ample = start(&programs, place.path(), table, &mut |_| ()).unwrap();
    let row = answer(
        &programs,
        &ample,
        "SELECT length(body), body LIKE 'water river bridge%' FROM posts WHERE id = 991",
    );
    assert_eq!(
        row, "1900|t",
        "the words of the sample server, again and again"
    );
    let table_bytes: u64 = answer(&programs, &ample, "SELECT pg_table_size('posts')")
        .parse()
        .unwrap();
    assert!(table_bytes > 95_000_000, "{table_bytes}");
    let from_memory = fetched(&programs, &ample);
    ample.stop();
    assert!(from_memory < table_bytes / 2, "{from_memory}");

    let bounded = PostgresqlOptions {
        memory: Some(48 << 20),
        ..options(&programs, place.path(), table)
    };
    let bounded = Postgresql::start(&bounded, &AtomicBool::new(false), &mut |_| ());
    let bounded = match bounded {
        Err(TargetError::Setting { says, .. }) => {
            eprintln!("not tried: {says}");
            return;
        }
        started => started.unwrap(),
    };
    let from_disk = fetched(&programs, &bounded);
    let groups = || {
        let parents = ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"];
        let entries = parents.iter().flat_map(fs::read_dir).flatten().flatten();
        let own = format!("weir-postgresql-{}-", std::process::id());
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&own))
            .count()
    };
    assert_eq!(groups(), 1);
    bounded.stop();
    assert!(
        from_disk > table_bytes * 3 / 2,
        "{from_disk} of twice {table_bytes}"
    );
    assert_eq!(groups(), 0, "nothing is left");
}

#[test]
fn a_stopped_server_leaves_nothing() {
    let Some(programs) = programs() else { return };
    let place = tempfile::tempdir().unwrap();
    let server = start(&programs, place.path(), None, &mut |_| ()).unwrap();
    let prefix = format!("weir-postgresql-{}-", std::process::id());
    let directory_of = |pid: u32| {
        let arguments = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
        let data = arguments.split('\0').find(|part| part.contains(&prefix));
        Path::new(data.unwrap()).parent().unwrap().to_owned()
    };
    let (pid, directory) = (server.pid(), directory_of(server.pid()));
    assert!(directory.join("data").is_dir());
    // It never runs as root.
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let uid = status
        .lines()
        .find(|line| line.starts_with("Uid:"))
        .unwrap();
    assert_ne!(uid.split_whitespace().nth(1), Some("0"));
    server.stop();
    assert!(!directory.exists());
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}
