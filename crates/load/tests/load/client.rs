//! Connections and what is sent on them.

use std::net::Ipv6Addr;

use weir_plan::Argument;

use crate::server::{Reply, Server, ok, response};
use crate::support::{Done, after_ms, get, group, request_of, run, sample, settings, text, times};

/// One user that sends one request three times.
fn three(server: &Server, keep_alive: bool) -> Done {
    let mut step = get("/");
    request_of(&mut step).keep_alive = keep_alive;
    let mut users = group(1, vec![step]);
    users.iterations = times(3);
    let done = run(settings(server, vec![users]));
    assert_eq!(
        (done.summary.samples, done.summary.failed),
        (3, 0),
        "{done:?}"
    );
    done
}

#[test]
fn connections_are_kept_when_both_sides_agree() {
    let server = Server::good();
    let done = three(&server, true);
    assert_eq!(server.connections(), 1);
    assert_eq!(server.seen()[0].field("Connection"), Some("keep-alive"));
    let connects: Vec<u64> = done.rows[1..].iter().map(|row| row.connect_ms).collect();
    assert_eq!(connects, [0, 0]);

    let server = Server::good();
    three(&server, false);
    assert_eq!(server.connections(), 3);
    assert_eq!(server.seen()[0].field("Connection"), Some("close"));

    let closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx";
    let server = Server::start(|_| Reply::SendAndClose(closing.to_vec()));
    assert_eq!(three(&server, true).summary.resent, 0);
    assert_eq!(server.connections(), 3);

    let short_idle = b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 1\r\n\r\nx";
    let server = Server::start(|_| Reply::Send(short_idle.to_vec()));
    three(&server, true);
    assert_eq!(server.connections(), 3);
}

#[test]
fn a_body_to_the_end_of_the_connection_ends_with_it() {
    let server =
        Server::start(|_| Reply::SendAndClose(b"HTTP/1.1 200 OK\r\n\r\nall of it".to_vec()));
    let done = three(&server, true);
    assert!(done.rows.iter().all(|row| row.received_bytes == 28));
}

#[test]
fn a_connection_that_was_closed_while_idle_is_opened_again() {
    // The server promises to keep the connection and closes it while the user thinks.
    let server = Server::start(|_| Reply::SendAndClose(response("200 OK", "hello")));
    let mut users = group(1, vec![after_ms(50, get("/"))]);
    users.iterations = times(3);
    let done = run(settings(&server, vec![users]));
    assert_eq!((done.summary.samples, done.summary.failed), (3, 0));
    assert_eq!((server.connections(), server.seen().len()), (3, 3));
}

#[test]
fn a_request_that_was_written_is_never_sent_again() {
    // The worker dies with the second request of a connection: it has read it, and says nothing.
    let server = Server::start(|seen| match seen.place {
        0 => ok(),
        _ => Reply::SendAndClose(Vec::new()),
    });
    for method in ["GET", "POST", "PUT", "DELETE"] {
        let before = server.seen().len();
        let mut step = get("/");
        request_of(&mut step).method = text(method);
        let mut users = group(1, vec![step]);
        users.iterations = times(4);
        let done = run(settings(&server, vec![users]));
        assert_eq!(server.seen().len() - before, 4, "{method}: one each");
        assert_eq!((done.summary.resent, done.summary.failed), (0, 2));
        let outcomes: Vec<&str> = done.rows.iter().map(|row| &*row.response_code).collect();
        let gone = "Non HTTP response code: org.apache.http.NoHttpResponseException";
        assert_eq!(outcomes, ["200", gone, "200", gone], "{method}");
    }
}

#[test]
fn a_half_answer_on_a_kept_connection_is_a_failure() {
    let server = Server::start(|seen| match seen.place {
        0 => ok(),
        _ => Reply::SendAndClose(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec()),
    });
    let mut users = group(1, vec![get("/")]);
    users.iterations = times(2);
    let done = run(settings(&server, vec![users]));
    assert_eq!((done.summary.resent, done.summary.failed), (0, 1));
}

#[test]
fn forms_are_sent_whole_whatever_their_size() {
    let server = Server::good();
    let mut step = get("/form");
    request_of(&mut step).method = text("POST");
    let value = "v".repeat(3_000_000);
    request_of(&mut step).arguments = vec![Argument {
        name: text("field"),
        value: text(&value),
        always_encode: false,
        use_equals: true,
        content_type: text(""),
    }];
    let row = sample(&server, step);
    assert!(
        row.success,
        "{:?} {:?}",
        row.response_code, row.response_message
    );
    let seen = &server.seen()[0];
    assert!(seen.body.starts_with("field=vvv"));
    assert_eq!(seen.body.len(), value.len() + 6);
    assert_eq!(row.sent_bytes, (seen.head.len() + seen.body.len()) as u64);
}

#[test]
fn large_bodies_pass_through() {
    let body = "b".repeat(5_000_000);
    let whole = response("200 OK", &body);
    let length = whole.len() as u64;
    let server = Server::start(move |_| Reply::Send(whole.clone()));
    assert_eq!(sample(&server, get("/")).received_bytes, length);
}

#[test]
fn head_requests_do_not_wait_for_a_body() {
    let server =
        Server::start(|_| Reply::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec()));
    let mut step = get("/");
    request_of(&mut step).method = text("HEAD");
    let row = sample(&server, step);
    assert!(row.success);
    assert_eq!((row.received_bytes, row.latency_ms), (38, 0));
}

#[test]
fn a_target_gets_everything_whatever_the_plan_says() {
    let server = Server::good();
    let row = sample(&server, get("/path"));
    assert!(row.success);
    let authority = server.address.to_string();
    assert_eq!(server.seen()[0].field("Host"), Some(authority.as_str()));
    assert_eq!(&*row.url, format!("http://{authority}/path"));
}

#[test]
fn without_a_target_the_plan_says_where() {
    let server = Server::good();
    let mut step = get("/");
    request_of(&mut step).host = text("localhost");
    request_of(&mut step).port = text(server.address.port());
    let mut settings = settings(&server, vec![group(1, vec![step])]);
    settings.target = None;
    assert_eq!(run(settings).summary.failed, 0);
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn addresses_of_version_six_work() {
    let local = (Ipv6Addr::LOCALHOST, 0).into();
    // Not every machine has the address; those that have it must pass.
    let Some(server) = Server::start_on(local, |_| ok()) else {
        return;
    };
    let row = sample(&server, get("/"));
    assert!(row.success, "{row:?}");
    assert!(row.url.starts_with("http://[::1]:"));
}
