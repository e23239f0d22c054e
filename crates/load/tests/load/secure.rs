//! TLS: whom it goes to, what is agreed on, how it fails.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{
    HandshakeKind, ServerConfig, ServerConnection, Stream, SupportedProtocolVersion,
};
use weir_record::SampleRow;
use weir_script::{Scheme, Target};

use crate::server::{Server, response};
use crate::support::{Done, get, group, request_of, run, settings, text, times};

/// What the server learned of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Shaken {
    pub(crate) kind: HandshakeKind,
    pub(crate) name: Option<String>,
    pub(crate) version: String,
    pub(crate) requests: usize,
}

/// A server with a certificate that nobody signed and no name fits.
pub(crate) struct SecureServer {
    pub(crate) address: SocketAddr,
    shaken: Arc<Mutex<Vec<Shaken>>>,
}

/// What a server with this certificate accepts.
pub(crate) fn server_config(versions: &[&'static SupportedProtocolVersion]) -> ServerConfig {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("secure/certificate.pem"));
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("secure/key.pem"));
    ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.unwrap()], key.unwrap())
        .unwrap()
}

impl SecureServer {
    pub(crate) fn start(config: ServerConfig) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shaken: Arc<Mutex<Vec<Shaken>>> = Arc::default();
        let (config, seen) = (Arc::new(config), Arc::clone(&shaken));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (config, seen) = (Arc::clone(&config), Arc::clone(&seen));
                thread::spawn(move || serve(stream.unwrap(), config, &seen));
            }
        });
        Self { address, shaken }
    }

    pub(crate) fn good() -> Self {
        Self::start(server_config(&[&TLS13, &TLS12]))
    }

    pub(crate) fn target(&self) -> Target {
        target(self.address)
    }

    fn shaken(&self) -> Vec<Shaken> {
        self.shaken.lock().unwrap().clone()
    }
}

fn target(address: SocketAddr) -> Target {
    Target {
        scheme: Scheme::Https,
        ..Target::from(address)
    }
}

/// Answers every request of a connection; a path `/cut` with a body that ends with the connection.
fn serve(mut socket: TcpStream, config: Arc<ServerConfig>, seen: &Mutex<Vec<Shaken>>) {
    let mut connection = ServerConnection::new(config).unwrap();
    let mut stream = Stream::new(&mut connection, &mut socket);
    let mut request = Vec::new();
    let mut place = None;
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        request.extend_from_slice(&buffer[..read]);
        if !request.windows(4).any(|four| four == b"\r\n\r\n") {
            continue;
        }
        let place = *place.get_or_insert_with(|| {
            let mut seen = seen.lock().unwrap();
            seen.push(Shaken {
                kind: stream.conn.handshake_kind().unwrap(),
                name: stream.conn.server_name().map(str::to_owned),
                version: format!("{:?}", stream.conn.protocol_version().unwrap()),
                requests: 0,
            });
            seen.len() - 1
        });
        seen.lock().unwrap()[place].requests += 1;
        if request.starts_with(b"GET /cut ") {
            // The end of TCP without the end of TLS.
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nall of it");
            return;
        }
        request.clear();
        if stream.write_all(&response("200 OK", "hello")).is_err() {
            return;
        }
    }
}

/// Some users that send a request some times.
fn load(target: Target, users: u32, count: u64, keep_alive: bool, path: &str) -> Done {
    let mut step = get(path);
    request_of(&mut step).keep_alive = keep_alive;
    request_of(&mut step).connect_timeout_ms = text(20_000);
    let mut users = group(users, vec![step]);
    users.iterations = times(count);
    let mut settings = settings(&Server::good(), vec![users]);
    settings.target = Some(target);
    run(settings)
}

fn check_failure(row: &SampleRow, class: &str, message: &str) {
    assert_eq!(
        (&*row.response_code, &*row.response_message),
        (
            &*format!("Non HTTP response code: {class}"),
            &*format!("Non HTTP response message: {message}")
        )
    );
    assert!(!row.success && row.sent_bytes == 0);
}

#[test]
fn any_certificate_is_taken_in_both_versions() {
    for version in [&TLS12, &TLS13] {
        let server = SecureServer::start(server_config(&[version]));
        let done = load(server.target(), 1, 3, true, "/");
        assert_eq!((done.summary.samples, done.summary.failed), (3, 0));
        let shaken = server.shaken();
        assert_eq!(shaken.len(), 1, "the connection is kept: {shaken:?}");
        assert_eq!(shaken[0].requests, 3);
        assert_eq!(shaken[0].version, format!("{:?}", version.version));
        let row = &done.rows[0];
        assert_eq!(&*row.url, format!("https://{}/", server.address));
        assert_eq!(row.received_bytes, response("200 OK", "hello").len() as u64);
        assert!(row.latency_ms >= row.connect_ms && row.elapsed_ms >= row.latency_ms);
        assert_eq!(done.rows[1].connect_ms, 0);
    }
}

#[test]
fn a_user_resumes_its_own_session_and_nobody_elses() {
    let server = SecureServer::good();
    load(server.target(), 1, 3, false, "/");
    let kinds: Vec<HandshakeKind> = server.shaken().iter().map(|shaken| shaken.kind).collect();
    assert_eq!(
        kinds,
        [
            HandshakeKind::Full,
            HandshakeKind::Resumed,
            HandshakeKind::Resumed
        ]
    );
    let server = SecureServer::good();
    load(server.target(), 3, 1, false, "/");
    let shaken = server.shaken();
    assert_eq!(shaken.len(), 3);
    assert!(
        shaken
            .iter()
            .all(|shaken| shaken.kind == HandshakeKind::Full)
    );
}

#[test]
fn servers_are_told_the_name_but_no_address() {
    let server = SecureServer::good();
    let by_name = Target {
        host: "localhost".to_owned(),
        ..server.target()
    };
    load(by_name, 1, 1, true, "/");
    load(server.target(), 1, 1, true, "/");
    let names: Vec<Option<String>> = server.shaken().into_iter().map(|s| s.name).collect();
    assert_eq!(names, [Some("localhost".to_owned()), None]);
}

#[test]
fn the_end_of_tcp_is_the_end_of_a_response() {
    let server = SecureServer::good();
    let done = load(server.target(), 1, 1, true, "/cut");
    assert!(done.rows[0].success, "{:?}", done.rows[0]);
    assert_eq!(done.rows[0].received_bytes, 28);
}

/// What becomes of a request to a server that reads the first message of TLS, sends this and ends
/// the connection.
fn against(sends: &'static [u8]) -> SampleRow {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(sends);
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read(&mut [0; 4096]);
    });
    load(target(address), 1, 1, true, "/").rows[0].clone()
}

/// As JMeter 5.6.3 on Java 17 says it.
#[test]
fn handshakes_fail_with_javas_names() {
    const HANDSHAKE: &str = "javax.net.ssl.SSLHandshakeException";
    for (sends, class, message) in [
        (
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".as_slice(),
            "javax.net.ssl.SSLException",
            "Unsupported or unrecognized SSL message",
        ),
        (
            b"\x15\x03\x03\x00\x02\x02\x28",
            HANDSHAKE,
            "Received fatal alert: handshake_failure",
        ),
        (
            b"\x15\x03\x03\x00\x02\x02\x46",
            HANDSHAKE,
            "Received fatal alert: protocol_version",
        ),
        (b"", HANDSHAKE, "Remote host terminated the handshake"),
    ] {
        let row = against(sends);
        check_failure(&row, class, message);
        assert!(row.latency_ms == 0 && row.elapsed_ms >= row.connect_ms);
    }
}

#[test]
fn a_server_that_is_silent_in_the_handshake() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let mut step = get("/");
    request_of(&mut step).connect_timeout_ms = text(80);
    let mut settings = settings(&Server::good(), vec![group(1, vec![step])]);
    settings.target = Some(target(address));
    let row = run(settings).rows[0].clone();
    let says = format!("Connect to {address} [/127.0.0.1] failed: Read timed out");
    check_failure(&row, "org.apache.http.conn.ConnectTimeoutException", &says);
    assert!(row.connect_ms >= 79, "{row:?}");
}
