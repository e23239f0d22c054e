//! Through a proxy: what it is asked, what it is told, how it says no.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use weir_plan::{FileUpload, Proxy, Sampler};
use weir_script::Target;

use crate::secure::SecureServer;
use crate::server::{Reply, Server, response};
use crate::support::{Done, get, group, request_of, run, settings, text, times};

/// The step by way of a proxy.
fn by(proxy: SocketAddr, user: &str, mut step: Sampler) -> Sampler {
    request_of(&mut step).proxy = Some(Proxy {
        host: text(proxy.ip()),
        port: text(proxy.port()),
        user: text(user),
        password: text("secret"),
        ..Proxy::default()
    });
    step
}

fn load(step: Sampler, count: u64, target: Option<Target>) -> Done {
    let mut users = group(1, vec![step]);
    users.iterations = times(count);
    let mut settings = settings(&Server::good(), vec![users]);
    settings.target = target;
    run(settings)
}

/// `Basic`, the user "weir" and the password "secret".
const PASSWORD: &str = "Basic d2VpcjpzZWNyZXQ=";

#[test]
fn a_proxy_gets_whole_urls_and_one_connection_for_a_server() {
    let proxy = Server::good();
    let mut step = by(proxy.address, "", get("/a?b=c"));
    request_of(&mut step).port = text(8080);
    let done = load(step, 2, None);
    assert_eq!((done.summary.samples, done.summary.failed), (2, 0));
    let seen = proxy.seen();
    assert_eq!(
        seen[0].head.lines().next(),
        Some("GET http://192.0.2.1:8080/a?b=c HTTP/1.1")
    );
    assert_eq!(seen[0].field("Host"), Some("192.0.2.1:8080"));
    assert_eq!(seen[0].field("Proxy-Connection"), Some("Keep-Alive"));
    assert_eq!(seen[0].field("Proxy-Authorization"), None);
    assert_eq!(proxy.connections(), 1);
    assert_eq!(&*done.rows[0].url, "http://192.0.2.1:8080/a?b=c");
}

#[test]
fn a_password_is_told_once_it_is_asked_for() {
    let proxy = Server::start(|seen| {
        Reply::Send(match seen.field("Proxy-Authorization") {
            Some(PASSWORD) => response("200 OK", "hello"),
            _ => response("407 Proxy Authentication Required", "who?"),
        })
    });
    let done = load(by(proxy.address, "weir", get("/")), 2, None);
    assert_eq!((done.summary.samples, done.summary.failed), (2, 0));
    let told: Vec<bool> = proxy
        .seen()
        .iter()
        .map(|seen| seen.field("Proxy-Authorization").is_some())
        .collect();
    assert_eq!(told, [false, true, true]);
    // JMeter counts the last request and the last response.
    let length = proxy.seen()[1].head.len() as u64;
    assert_eq!(done.rows[0].sent_bytes, length);
    let answer = response("200 OK", "hello");
    assert_eq!(done.rows[0].received_bytes, answer.len() as u64);

    let done = load(by(proxy.address, "other", get("/")), 1, None);
    assert_eq!(&*done.rows[0].response_code, "407");
}

#[test]
fn a_proxy_that_is_not_there() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let done = load(by(address, "", get("/")), 1, None);
    assert_eq!(
        &*done.rows[0].response_message,
        format!(
            "Non HTTP response message: Connect to {address} [/127.0.0.1] failed: \
             Connection refused"
        )
    );
}

/// A proxy that opens tunnels for those who know the password, if there is one.
struct TunnelProxy {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl TunnelProxy {
    fn start(password: Option<&'static str>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&heads);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let seen = Arc::clone(&seen);
                thread::spawn(move || tunnel(stream.unwrap(), password, &seen));
            }
        });
        Self { address, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn tunnel(mut client: TcpStream, password: Option<&str>, seen: &Mutex<Vec<String>>) {
    loop {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            match client.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        let to = head.split(' ').nth(1).unwrap().to_owned();
        let knows = password.is_none_or(|password| head.contains(password));
        seen.lock().unwrap().push(head);
        if !knows {
            let says = response("407 Proxy Authentication Required", "who?");
            client.write_all(&says).unwrap();
            continue;
        }
        let Ok(mut server) = TcpStream::connect(to) else {
            let _ = client.write_all(&response("502 Bad Gateway", "nobody there"));
            return;
        };
        // Some proxies speak 1.0, after which other connections end.
        client
            .write_all(b"HTTP/1.0 200 Connection established\r\n\r\n")
            .unwrap();
        let mut back = (server.try_clone().unwrap(), client.try_clone().unwrap());
        thread::spawn(move || {
            let _ = std::io::copy(&mut back.0, &mut back.1);
            let _ = back.1.shutdown(Shutdown::Write);
        });
        let _ = std::io::copy(&mut client, &mut server);
        let _ = server.shutdown(Shutdown::Write);
        return;
    }
}

#[test]
fn https_goes_through_a_tunnel() {
    let server = SecureServer::good();
    let proxy = TunnelProxy::start(None);
    let done = load(by(proxy.address, "", get("/")), 3, Some(server.target()));
    assert_eq!(
        (done.summary.samples, done.summary.failed),
        (3, 0),
        "{done:?}"
    );
    let heads = proxy.heads();
    assert_eq!(heads.len(), 1, "{heads:?}");
    let to = server.address;
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        heads[0],
        format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nUser-Agent: weir/{version}\r\n\r\n")
    );
}

#[test]
fn files_go_through_the_tunnel_and_not_to_the_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "content").unwrap();
    let server = SecureServer::good();
    let proxy = TunnelProxy::start(None);
    let mut step = by(proxy.address, "", get("/"));
    request_of(&mut step).method = text("PUT");
    request_of(&mut step).files = vec![FileUpload {
        path: text(path.display()),
        parameter: text(""),
        media_type: text("text/plain"),
    }];
    let done = load(step, 1, Some(server.target()));
    assert_eq!(done.summary.failed, 0, "{done:?}");
    assert_eq!(proxy.heads().len(), 1);
    let sent = done.rows[0].sent_bytes;
    assert!(sent > "content".len() as u64 + 50, "{sent}");
}

#[test]
fn tunnels_are_opened_for_those_who_know_the_password() {
    let server = SecureServer::good();
    let proxy = TunnelProxy::start(Some(PASSWORD));
    let mut step = by(proxy.address, "weir", get("/"));
    request_of(&mut step).keep_alive = false;
    let done = load(step, 2, Some(server.target()));
    assert_eq!(
        (done.summary.samples, done.summary.failed),
        (2, 0),
        "{done:?}"
    );
    let told: Vec<bool> = proxy
        .heads()
        .iter()
        .map(|head| head.contains(PASSWORD))
        .collect();
    assert_eq!(told, [false, true, true]);

    let done = load(by(proxy.address, "", get("/")), 1, Some(server.target()));
    // JMeter's row has the lengths of the proxy's answer and of what it was asked.
    let row = &done.rows[0];
    assert_eq!(&*row.response_code, "407");
    let answer = response("407 Proxy Authentication Required", "who?");
    assert_eq!(row.received_bytes, answer.len() as u64);
    assert_eq!(row.sent_bytes, proxy.heads()[3].len() as u64);
    assert!(!row.success);
}

#[test]
fn a_tunnel_to_nowhere_is_the_proxys_answer() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let nowhere = Target {
        scheme: weir_script::Scheme::Https,
        ..Target::from(listener.local_addr().unwrap())
    };
    drop(listener);
    let proxy = TunnelProxy::start(None);
    let done = load(by(proxy.address, "", get("/")), 1, Some(nowhere));
    let row = &done.rows[0];
    assert_eq!(
        (&*row.response_code, &*row.response_message),
        ("502", "Bad Gateway")
    );
}
