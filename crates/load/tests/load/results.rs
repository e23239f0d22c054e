//! Seconds, rows and sums.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use rustix::process::{Resource, getrlimit, setrlimit};
use weir_load::{SampleSink, start};
use weir_record::{DataType, SampleRow};

use crate::server::{Reply, Server, ok, response};
use crate::support::{Done, after_ms, finish, get, group, run, settings, text, times};

#[test]
fn a_row_says_what_happened() {
    let whole = response("200 OK", "hello");
    let length = whole.len() as u64;
    let server = Server::start(move |_| Reply::Late(Duration::from_millis(30), whole.clone()));
    let mut step = get("/path?a=b");
    step.label = text("a label, \"quoted\"");
    let settings = settings(&server, vec![group(1, vec![step])]);
    let started = settings
        .started
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_millis() as u64;
    let done = run(settings);
    let row = done.rows[0].clone();
    assert!(row.timestamp_ms >= started && row.timestamp_ms < started + 60_000);
    assert!(row.elapsed_ms >= 29 && row.latency_ms >= 29);
    assert!(row.latency_ms <= row.elapsed_ms && row.connect_ms <= row.latency_ms);
    let expect = SampleRow {
        label: "a label, \"quoted\"".into(),
        response_code: "200".into(),
        response_message: "OK".into(),
        thread_name: "G 1-1".into(),
        data_type: DataType::Text,
        success: true,
        received_bytes: length,
        sent_bytes: server.seen()[0].head.len() as u64,
        group_threads: 1,
        all_threads: 1,
        url: format!("http://{}/path?a=b", server.address).into(),
        timestamp_ms: row.timestamp_ms,
        elapsed_ms: row.elapsed_ms,
        latency_ms: row.latency_ms,
        connect_ms: row.connect_ms,
        is_http: true,
        ..SampleRow::default()
    };
    assert_eq!(row, expect);
    assert_eq!(done.summary.received_bytes, length);
    assert_eq!(done.summary.sent_bytes, row.sent_bytes);
}

#[test]
fn a_response_without_a_body_has_no_latency() {
    let server = Server::start(|_| {
        let empty = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        Reply::Late(Duration::from_millis(20), empty.to_vec())
    });
    let row = crate::support::sample(&server, get("/"));
    assert_eq!((row.latency_ms, row.data_type), (0, DataType::Empty));
    assert!(row.elapsed_ms >= 19);
}

/// What all seconds together say of a label: succeeded, failed.
fn of_label(done: &Done, label: &str) -> (u64, u64) {
    let classes = done.seconds.iter().flat_map(|second| &second.classes);
    let mine = classes.filter(|class| class.label == label);
    mine.fold((0, 0), |sum, class| {
        (sum.0 + class.succeeded, sum.1 + class.failed)
    })
}

#[test]
fn seconds_are_complete_and_add_up() {
    let server = Server::start(|seen| match seen.path() {
        "/bad" => Reply::Send(response("500 Oops", "")),
        _ => ok(),
    });
    let mut users = group(4, vec![after_ms(11, get("/good")), get("/bad")]);
    users.iterations = times(100);
    let mut others = group(3, vec![after_ms(7, get("/good"))]);
    others.iterations = times(50);
    let done = run(settings(&server, vec![users, others]));
    for (place, second) in (0_u64..).zip(&done.seconds) {
        assert_eq!(second.second, place);
        let labels: Vec<&str> = second.classes.iter().map(|class| &*class.label).collect();
        assert_eq!(labels, ["/good", "/bad"]);
        for class in &second.classes {
            assert_eq!(class.response_us.len(), class.completed());
        }
    }
    assert!(
        done.seconds.len() >= 2,
        "a thousand milliseconds of waiting"
    );
    assert_eq!(of_label(&done, "/good"), (550, 0));
    assert_eq!(of_label(&done, "/bad"), (0, 400));
    let mut codes = BTreeMap::new();
    for class in done.seconds.iter().flat_map(|second| &second.classes) {
        for (code, count) in &class.failed_by_code {
            *codes.entry(code.as_str()).or_insert(0) += count;
        }
    }
    assert_eq!(codes, BTreeMap::from([("500", 400)]));
    assert_eq!((done.summary.samples, done.summary.failed), (950, 400));
    assert_eq!((done.summary.rows, done.rows.len()), (950, 950));
    // The others need less than half a second, unless the machine is busy.
    assert!((4..=7).contains(&done.seconds[0].users));
    assert_eq!(done.seconds.last().unwrap().users, 0);
    assert!(done.summary.problem.is_none());
}

#[test]
fn seconds_count_from_the_origin() {
    let server = Server::good();
    let mut settings = settings(&server, vec![group(1, vec![get("/")])]);
    settings.origin -= Duration::from_millis(2_500);
    settings.started -= Duration::from_millis(2_500);
    let done = run(settings);
    let completed: Vec<u64> = done
        .seconds
        .iter()
        .map(weir_record::LoadSecond::completed)
        .collect();
    assert_eq!(completed[..2], [0, 0]);
    assert_eq!(completed.iter().sum::<u64>(), 1);
}

#[test]
fn labels_may_differ_from_user_to_user() {
    let server = Server::good();
    let mut step = get("/");
    step.label = text("user ${__threadNum}");
    let done = run(settings(&server, vec![group(3, vec![step])]));
    for user in 1..=3 {
        assert_eq!(of_label(&done, &format!("user {user}")), (1, 0));
    }
}

#[test]
fn a_thousand_users_at_once() {
    // Client and server are one process here: both ends of a thousand connections.
    let mut limits = getrlimit(Resource::Nofile);
    limits.current = limits.current.map(|current| current.max(4_000));
    setrlimit(Resource::Nofile, limits).unwrap();
    let server = Server::good();
    let mut users = group(1_000, vec![after_ms(50, get("/"))]);
    users.iterations = times(3);
    let done = run(settings(&server, vec![users]));
    assert_eq!(
        (done.summary.samples, done.summary.failed),
        (3_000, 0),
        "{:?}",
        done.summary
    );
    assert_eq!(
        (done.summary.users_started, done.summary.users_finished),
        (1_000, 1_000)
    );
    assert_eq!(server.seen().len(), 3_000);
    assert_eq!(server.connections(), 1_000);
    assert_eq!(done.rows.len(), 3_000);
    let most = done.rows.iter().map(|row| row.all_threads).max().unwrap();
    assert!(most <= 1_000, "{most}");
}

#[test]
fn rows_of_many_runtimes_are_all_there() {
    let server = Server::good();
    let mut users = group(8, vec![get("/")]);
    users.iterations = times(400);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.jtl");
    let mut settings = settings(&server, vec![users]);
    settings.samples = Some(SampleSink::new(&path));
    let done = finish(start(settings).unwrap(), Some(&path));
    let mut of_user: BTreeMap<String, u64> = BTreeMap::new();
    for row in &done.rows {
        *of_user.entry(row.thread_name.to_string()).or_default() += 1;
    }
    assert_eq!(of_user.len(), 8);
    assert!(of_user.values().all(|rows| *rows == 400));
    assert_eq!(done.summary.rows, 3_200);
}
