//! Backends that are spoken to in other ways than plain TCP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use weir_gateway::{Gateway, Settings};

use crate::client::Client;
use crate::support::{front, stands, status};

const SIGNER: &str = include_str!("secure/signer.pem");
/// Signed by the signer of tests, for `backend.example` and `127.0.0.1`.
const BACKEND: (&str, &str) = (
    include_str!("secure/backend.pem"),
    include_str!("secure/backend.key.pem"),
);
const CLIENT: (&str, &str) = (
    include_str!("secure/client.pem"),
    include_str!("secure/client.key.pem"),
);

/// Answers each request of a connection with 200, and tells of its head.
fn answer_each(mut stream: impl Read + Write, heads: &mpsc::Sender<String>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while let Ok(1) = stream.read(&mut byte) {
        head.extend(byte);
        if head.ends_with(b"\r\n\r\n") {
            let text = String::from_utf8(std::mem::take(&mut head)).unwrap();
            // The test may have seen enough.
            let _ = heads.send(text);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            let _ = stream.flush();
        }
    }
}

fn chain(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

/// A backend that speaks TLS, and perhaps only with those who show a certificate.
fn secure(asks_for_certificate: bool) -> (SocketAddr, Receiver<String>) {
    let provider = Arc::new(default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if asks_for_certificate {
        let mut roots = RootCertStore::empty();
        roots.add(chain(SIGNER)).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::from_pem_slice(BACKEND.1.as_bytes()).unwrap();
    let config = builder.with_single_cert(vec![chain(BACKEND.0)], key);
    let config = Arc::new(config.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (heads, arrived) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let stream = StreamOwned::new(connection, stream.unwrap());
            let heads = heads.clone();
            thread::spawn(move || answer_each(stream, &heads));
        }
    });
    (address, arrived)
}

/// Where HTTP/2 is not agreed to, HTTP/1.1 is spoken.
#[test]
fn a_backend_need_not_agree_to_http2() {
    let (backend, arrived) = secure(false);
    let backend = format!("{{ url = \"https://{backend}\", http2 = true }}");
    let gate = gate(&backend, "[backend-tls]\nverify = false\n");
    let mut client = Client::connect(front(&gate));
    assert_eq!((client.get("/").status, client.get("/").status), (200, 200));
    assert!(arrived.recv().unwrap().starts_with("GET / HTTP/1.1\r\n"));
    assert_eq!(status(&gate).backends[0].connections, 1);
}

/// A gateway in front of this; `rest` is the rest of its file.
fn gate(backend: &str, rest: &str) -> Gateway {
    let text = format!(
        "listen = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\nthreads = 1\nbackends = [{backend}]\n{rest}"
    );
    let settings = Settings::parse(&text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    Gateway::start(settings, String::new()).unwrap()
}

#[test]
fn backends_speak_tls_if_their_certificate_is_good() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let ca = format!("ca = \"{}\"\n", at("ca.pem", SIGNER));
    let own = format!(
        "cert = \"{}\"\nkey = \"{}\"\n",
        at("client.pem", CLIENT.0),
        at("client.key.pem", CLIENT.1)
    );
    for (tls, asks, expected, why) in [
        (ca.clone(), false, 200, ""),
        (
            format!("{ca}server-name = \"backend.example\"\n"),
            false,
            200,
            "",
        ),
        (
            format!("{ca}server-name = \"other.example\"\n"),
            false,
            502,
            "not valid for name",
        ),
        (String::new(), false, 502, "UnknownIssuer"),
        ("verify = false\n".to_owned(), false, 200, ""),
        (format!("{ca}{own}"), true, 200, ""),
        (ca.clone(), true, 502, ""),
    ] {
        let (backend, arrived) = secure(asks);
        let gate = gate(
            &format!("\"https://{backend}\""),
            &format!("[backend-tls]\n{tls}"),
        );
        let mut client = Client::connect(front(&gate));
        for _ in 0..2 {
            assert_eq!(client.get("/").status, expected, "{tls}");
        }
        let unreachable = status(&gate).backends[0].unreachable.clone();
        if expected == 200 {
            assert!(arrived.recv().unwrap().starts_with("GET / HTTP/1.1\r\n"));
            assert_eq!(unreachable, None);
            assert_eq!(status(&gate).backends[0].connections, 1, "it is kept");
        } else {
            let told = unreachable.unwrap_or_default();
            assert!(told.contains(why), "{told}");
        }
    }
}

#[test]
fn a_backend_is_asked_for_its_health_over_tls() {
    let (backend, arrived) = secure(false);
    let rest = "[health]\npath = \"/health\"\nevery = \"20ms\"\n[backend-tls]\nverify = false\n";
    let _gate = gate(&format!("\"https://{backend}\""), rest);
    let head = arrived.recv().unwrap();
    assert!(head.starts_with("GET /health HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("host: {backend}\r\n")), "{head}");
}

#[test]
fn a_backend_may_listen_at_a_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let (heads, arrived) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let heads = heads.clone();
            thread::spawn(move || answer_each(stream.unwrap(), &heads));
        }
    });
    let gate = gate(&format!("\"unix:{}\"", path.display()), "");
    let mut client = Client::connect(front(&gate));
    assert_eq!(client.get("/a").status, 200);
    assert_eq!(client.get("/b").status, 200);
    assert!(
        arrived
            .recv()
            .unwrap()
            .starts_with("GET /a HTTP/1.1\r\nhost: test\r\n")
    );
    // A client of HTTP/1.0 may name no host.
    client.send("GET /c HTTP/1.0\r\n\r\n");
    assert_eq!(client.answer().status, 200);
    arrived.recv().unwrap();
    assert!(arrived.recv().unwrap().contains("\r\nhost: localhost\r\n"));
    let backend = &status(&gate).backends[0];
    assert_eq!(backend.url, format!("unix:{}", path.display()));
    assert_eq!(backend.connections, 1);
}

#[test]
fn a_backend_is_told_for_whom_each_connection_is() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (heads, arrived) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let heads = heads.clone();
            thread::spawn(move || answer_each(stream.unwrap(), &heads));
        }
    });
    let backend = format!("{{ url = \"http://{address}\", proxy-protocol = 1 }}");
    let gate = gate(&backend, "");
    let mut clients = [0, 1].map(|_| Client::connect(front(&gate)));
    for client in &mut clients {
        let from = client.stream.local_addr().unwrap().port();
        assert_eq!(client.get("/").status, 200);
        assert_eq!(client.get("/").status, 200);
        let told = format!(
            "PROXY TCP4 127.0.0.1 127.0.0.1 {from} {}\r\nGET / ",
            address.port()
        );
        let head = arrived.recv().unwrap();
        assert!(head.starts_with(&told), "{head}");
        let head = arrived.recv().unwrap();
        assert!(head.starts_with("GET / "), "it is told once: {head}");
    }
    stands(&gate, "each client has one", |status| {
        status.backends[0].connections == 2
    });
    // Each finds its own again.
    for client in &mut clients {
        assert_eq!(client.get("/").status, 200);
    }
    assert_eq!(status(&gate).backends[0].connections, 2);
}
