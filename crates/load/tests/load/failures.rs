//! Servers that misbehave: every failure is an outcome with JMeter's name.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use weir_plan::Sampler;
use weir_record::{DataType, SampleRow};
use weir_script::{Scheme, Target};

use crate::server::{Reply, Server};
use crate::support::{get, group, request_of, run, sample, settings, text};

fn check(row: &SampleRow, class: &str, message: &str) {
    assert!(!row.success);
    assert_eq!(
        &*row.response_code,
        format!("Non HTTP response code: {class}")
    );
    assert_eq!(
        &*row.response_message,
        format!("Non HTTP response message: {message}")
    );
    assert_eq!((row.sent_bytes, row.data_type), (0, DataType::Text));
}

/// The sample that one reply makes.
fn after(reply: impl Fn() -> Reply + Send + Sync + 'static) -> (SampleRow, SocketAddr) {
    let server = Server::start(move |_| reply());
    (sample(&server, get("/")), server.address)
}

/// The sample of one step against this address.
fn against(address: SocketAddr, step: Sampler) -> SampleRow {
    let unused = Server::good();
    let mut settings = settings(&unused, vec![group(1, vec![step])]);
    settings.target = Some(Target::from(address));
    run(settings).rows[0].clone()
}

#[test]
fn a_reset_connection() {
    let (row, _) = after(|| Reply::Reset);
    check(&row, "java.net.SocketException", "Connection reset");
}

#[test]
fn no_answer() {
    let (row, address) = after(|| Reply::SendAndClose(Vec::new()));
    let says = format!("{address} failed to respond");
    check(&row, "org.apache.http.NoHttpResponseException", &says);
    assert_eq!((row.received_bytes, row.latency_ms), (0, 0));
}

#[test]
fn a_body_that_is_too_short() {
    let (row, _) = after(|| {
        Reply::SendAndClose(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello".to_vec())
    });
    check(
        &row,
        "org.apache.http.ConnectionClosedException",
        "Premature end of Content-Length delimited message body (expected: 1,000; received: 5)",
    );
}

#[test]
fn bytes_that_are_no_http() {
    let (row, _) = after(|| Reply::SendAndClose(b"220 mail.example ESMTP\r\n".to_vec()));
    check(
        &row,
        "org.apache.http.client.ClientProtocolException",
        "null",
    );
}

#[test]
fn a_body_that_is_not_in_chunks() {
    let (row, _) = after(|| {
        Reply::Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n".to_vec())
    });
    let class = "org.apache.http.MalformedChunkCodingException";
    check(&row, class, "Bad chunk header: hello");
}

#[test]
fn a_head_without_end() {
    let (row, _) = after(|| {
        let endless = "X-Long: y\r\n".repeat(40_000);
        Reply::Send(format!("HTTP/1.1 200 OK\r\n{endless}").into_bytes())
    });
    let class = "org.apache.http.MessageConstraintException";
    check(&row, class, "Maximum line length limit exceeded");
}

#[test]
fn a_server_that_hangs() {
    let server = Server::start(|_| Reply::Hang);
    let mut step = get("/");
    request_of(&mut step).response_timeout_ms = text(60);
    let row = sample(&server, step);
    check(&row, "java.net.SocketTimeoutException", "Read timed out");
    assert!(row.elapsed_ms >= 59, "{row:?}");
}

#[test]
fn a_time_out_counts_from_the_last_byte() {
    // Each piece comes in time, all together take longer than the time-out.
    let pieces = [
        "HTTP/1.1 200 OK\r\n",
        "Content-Length: 2\r\n",
        "\r\n",
        "o",
        "k",
    ];
    let server = Server::start(move |_| Reply::Pieces(Duration::from_millis(600), pieces.to_vec()));
    let mut step = get("/");
    request_of(&mut step).response_timeout_ms = text(2_000);
    let row = sample(&server, step);
    assert!(row.success, "{row:?}");
    assert!(
        row.elapsed_ms > 2_000 && row.latency_ms < row.elapsed_ms,
        "{row:?}"
    );
}

#[test]
fn a_port_where_nobody_listens() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let row = against(address, get("/"));
    let says = format!("Connect to {address} [/127.0.0.1] failed: Connection refused");
    check(&row, "org.apache.http.conn.HttpHostConnectException", &says);
}

/// JMeter writes the address in the plan's way first, then in Java's.
#[test]
fn an_ipv6_port_where_nobody_listens() {
    // Not every machine speaks IPv6.
    let Ok(listener) = TcpListener::bind(("::1", 0)) else {
        return;
    };
    let address = listener.local_addr().unwrap();
    drop(listener);
    let row = against(address, get("/"));
    let says = format!("Connect to {address} [/0:0:0:0:0:0:0:1] failed: Connection refused");
    check(&row, "org.apache.http.conn.HttpHostConnectException", &says);
    assert_eq!(&*row.url, format!("http://{address}/"));
}

#[test]
fn a_server_that_does_not_accept() {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket
        .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    // The kernel lets one connection into a queue of none, and drops what comes after it.
    socket.listen(0).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    let _first = TcpStream::connect(address).unwrap();
    let mut step = get("/");
    request_of(&mut step).connect_timeout_ms = text(80);
    let row = against(address, step);
    let says = format!("Connect to {address} [/127.0.0.1] failed: Connect timed out");
    check(&row, "org.apache.http.conn.ConnectTimeoutException", &says);
    assert!(
        row.connect_ms >= 79 && row.elapsed_ms >= row.connect_ms,
        "{row:?}"
    );
}

#[test]
fn a_name_that_nobody_knows() {
    // Too long to be a name, so that no name server is asked.
    let host = "a".repeat(64);
    let unused = Server::good();
    let mut settings = settings(&unused, vec![group(1, vec![get("/")])]);
    settings.target = Some(Target {
        scheme: Scheme::Http,
        host: host.clone(),
        port: 80,
    });
    let done = run(settings);
    let says = format!("{host}: Name or service not known");
    check(&done.rows[0], "java.net.UnknownHostException", &says);
    assert_eq!(done.summary.local_failures, 0);
}

#[test]
fn a_url_that_java_refuses() {
    let server = Server::good();
    let row = sample(&server, get("/a|b"));
    assert_eq!(
        &*row.response_code,
        "Non HTTP response code: java.net.URISyntaxException"
    );
    assert_eq!((row.elapsed_ms, row.sent_bytes), (0, 0));
    assert!(server.seen().is_empty());
}

#[test]
fn status_codes_are_not_failures_of_the_connection() {
    for (status, success) in [
        ("200 OK", true),
        ("304 Not Modified", true),
        ("399 Odd", true),
        ("400 Bad Request", false),
        ("503 Service Unavailable", false),
    ] {
        let server = Server::start(move |_| Reply::Send(crate::server::response(status, "text")));
        let row = sample(&server, get("/"));
        let (code, reason) = status.split_once(' ').unwrap();
        assert_eq!(
            (&*row.response_code, &*row.response_message),
            (code, reason)
        );
        assert_eq!(row.success, success, "{status}");
    }
}
