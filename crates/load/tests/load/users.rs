//! Who sends what, when, how often.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use weir_plan::{Iterations, OnSampleError};

use crate::server::{Reply, Server, ok, response};
use crate::support::{after_ms, get, group, run, schedule, settings, text, times, wait_until};

#[test]
fn every_user_sends_its_steps_in_order_on_its_connection() {
    let server = Server::good();
    let steps = vec![get("/a?u=${__threadNum}"), get("/b?u=${__threadNum}")];
    let mut users = group(3, steps);
    users.iterations = times(2);
    let done = run(settings(&server, vec![users]));
    assert_eq!(done.summary.samples, 12);
    assert_eq!(done.summary.failed, 0, "{:?}", done.rows);
    assert_eq!(
        (done.summary.users_started, done.summary.users_finished),
        (3, 3)
    );
    assert_eq!(server.connections(), 3);
    for user in 1..=3 {
        let mine = |path: &String| path.ends_with(&format!("u={user}"));
        let paths: Vec<String> = server.paths().into_iter().filter(mine).collect();
        let (a, b) = (format!("/a?u={user}"), format!("/b?u={user}"));
        assert_eq!(paths, [a.clone(), b.clone(), a, b]);
    }
    let mut by_connection = server.seen();
    by_connection.sort_by_key(|seen| (seen.connection, seen.place));
    for of_one_connection in by_connection.chunks(4) {
        let user = |path: &str| path.split_once('=').unwrap().1.to_owned();
        let first = user(of_one_connection[0].path());
        assert!(
            of_one_connection
                .iter()
                .all(|seen| user(seen.path()) == first)
        );
    }
}

#[test]
fn another_user_has_other_connections() {
    for (same_user, connections) in [(true, 1), (false, 3)] {
        let server = Server::good();
        let mut users = group(1, vec![get("/a"), get("/b")]);
        users.iterations = times(3);
        users.same_user = same_user;
        let done = run(settings(&server, vec![users]));
        assert_eq!((done.summary.samples, done.summary.failed), (6, 0));
        assert_eq!(server.connections(), connections);
    }
}

#[test]
fn groups_run_side_by_side_and_are_numbered() {
    let server = Server::good();
    let mut other = group(2, vec![get("/b")]);
    other.name = text("Others");
    let done = run(settings(&server, vec![group(1, vec![get("/a")]), other]));
    let mut names: Vec<&str> = done.rows.iter().map(|row| &*row.thread_name).collect();
    names.sort_unstable();
    assert_eq!(names, ["G 1-1", "Others 2-1", "Others 2-2"]);
}

#[test]
fn users_start_along_the_ramp() {
    let server = Server::good();
    let mut users = group(4, vec![get("/${__threadNum}")]);
    users.ramp_up_s = text(1);
    let settings = settings(&server, vec![users]);
    let origin = settings.origin;
    let done = run(settings);
    let mut arrivals: Vec<(String, Duration)> = server
        .seen()
        .iter()
        .map(|seen| (seen.path().to_owned(), seen.at - origin))
        .collect();
    arrivals.sort();
    for (user, (path, at)) in (0_u64..).zip(&arrivals) {
        assert_eq!(*path, format!("/{}", user + 1));
        assert!(*at >= Duration::from_millis(250 * user), "{path} at {at:?}");
    }
    // The first begins with the group, and cannot be late.
    assert_eq!(done.summary.lateness_us.len(), 3);
}

#[test]
fn waits_are_the_sum_of_all_timers() {
    let server = Server::good();
    let step = after_ms(20, after_ms(15, get("/")));
    let mut users = group(1, vec![step]);
    users.iterations = times(4);
    let settings = settings(&server, vec![users]);
    let origin = settings.origin;
    let done = run(settings);
    for (place, seen) in (1_u32..).zip(server.seen()) {
        assert!(seen.at - origin >= place * Duration::from_millis(35));
    }
    // Four waits; the wait is no part of the response time.
    assert_eq!(done.summary.lateness_us.len(), 4);
    let seconds: u64 = done
        .seconds
        .iter()
        .map(|second| second.lateness_us.len())
        .sum();
    assert_eq!(seconds, 4);
}

#[test]
fn no_iterations_means_no_samples() {
    let server = Server::good();
    let mut users = group(2, vec![get("/")]);
    users.iterations = times(0);
    let done = run(settings(&server, vec![users]));
    assert_eq!((done.summary.samples, done.summary.users_finished), (0, 2));
}

#[test]
fn the_end_of_the_time_is_looked_at_between_samples() {
    let server =
        Server::start(|_| Reply::Late(Duration::from_millis(1_300), response("200 OK", "x")));
    let mut users = group(1, vec![get("/")]);
    users.iterations = Iterations::Forever;
    users.schedule = Some(schedule(0, 1));
    let done = run(settings(&server, vec![users]));
    assert_eq!((done.summary.samples, done.summary.failed), (1, 0));
    assert!(done.rows[0].elapsed_ms >= 1_299, "{:?}", done.rows);
    assert!(done.seconds.len() >= 2);
}

#[test]
fn samples_start_only_before_the_end() {
    let server = Server::good();
    let mut users = group(3, vec![after_ms(7, get("/"))]);
    users.iterations = Iterations::Forever;
    users.ramp_up_s = text(1);
    users.schedule = Some(schedule(0, 1));
    let settings = settings(&server, vec![users]);
    let origin = settings
        .started
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let done = run(settings);
    assert!(done.summary.samples > 3);
    // Waits end before the end; how late the users wake is all that a sample may start after it,
    // and how long this process may stand still right after that.
    let late_ms = u128::from(done.summary.lateness_us.max()) / 1_000 + 500;
    for row in &done.rows {
        let at = u128::from(row.timestamp_ms) - origin.as_millis();
        assert!(at <= 1_000 + late_ms, "{at} ms, late {late_ms} ms");
    }
}

#[test]
fn a_wait_beyond_the_end_ends_the_user_at_once() {
    let server = Server::good();
    let mut users = group(1, vec![after_ms(45_000, get("/"))]);
    users.iterations = Iterations::Forever;
    users.schedule = Some(schedule(0, 40));
    let from = Instant::now();
    let done = run(settings(&server, vec![users]));
    assert_eq!((done.summary.samples, done.summary.users_finished), (0, 1));
    assert!(from.elapsed() < Duration::from_secs(40));
}

#[test]
fn the_delay_comes_before_the_ramp() {
    let server = Server::good();
    let mut users = group(2, vec![get("/")]);
    users.schedule = Some(schedule(1, 30));
    let settings = settings(&server, vec![users]);
    let origin = settings.origin;
    run(settings);
    assert_eq!(server.seen().len(), 2);
    for seen in server.seen() {
        assert!(seen.at - origin >= Duration::from_secs(1));
    }
}

/// Paths that arrive from one user with the steps `/bad` (which fails) and `/good`, twice.
fn paths_after_errors(on_error: OnSampleError) -> Vec<String> {
    let server = Server::start(|seen| match seen.path() {
        "/bad" => Reply::Send(response("500 Oops", "")),
        _ => ok(),
    });
    let mut users = group(1, vec![get("/bad"), get("/good")]);
    users.iterations = times(2);
    users.on_error = on_error;
    run(settings(&server, vec![users]));
    server.paths()
}

#[test]
fn errors_do_to_the_user_what_the_plan_says() {
    let check = |on_error, expect: &[&str]| assert_eq!(paths_after_errors(on_error), expect);
    check(OnSampleError::Continue, &["/bad", "/good", "/bad", "/good"]);
    check(OnSampleError::StartNextLoop, &["/bad", "/bad"]);
    check(OnSampleError::StopThread, &["/bad"]);
    check(OnSampleError::StopTest, &["/bad"]);
    check(OnSampleError::StopTestNow, &["/bad"]);
}

#[test]
fn an_error_can_stop_all_users() {
    let server = Server::start(|_| Reply::Send(response("503 Busy", "")));
    let mut failing = group(1, vec![get("/")]);
    failing.on_error = OnSampleError::StopTest;
    let sleeping = group(5, vec![after_ms(3_600_000, get("/never"))]);
    let done = run(settings(&server, vec![failing, sleeping]));
    assert_eq!(done.summary.samples, 1);
    assert!(!server.paths().contains(&"/never".to_owned()));
}

#[test]
fn an_error_can_cut_all_users_off() {
    let hanging = AtomicUsize::new(0);
    let server = Server::start(move |seen| {
        if seen.path() == "/hang" {
            hanging.fetch_add(1, Ordering::SeqCst);
            return Reply::Hang;
        }
        wait_until("both hang", || hanging.load(Ordering::SeqCst) == 2);
        Reply::Send(response("503 Busy", ""))
    });
    let mut failing = group(1, vec![get("/")]);
    failing.on_error = OnSampleError::StopTestNow;
    let hanging = group(2, vec![get("/hang")]);
    let done = run(settings(&server, vec![hanging, failing]));
    assert_eq!(done.summary.samples, 1);
    assert_eq!(done.summary.cut, 2);
    assert_eq!(done.rows.len(), 1);
}
