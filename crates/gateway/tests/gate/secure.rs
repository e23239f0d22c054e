//! TLS: both protocols, and certificates that change while the gateway runs.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use weir_gateway::{Gateway, GatewayError};

use crate::client::Client;
use crate::recorder::Recorder;
use crate::support::{front, gate, holding, settings, stands, until};

const ONE: (&str, &str) = (
    include_str!("secure/one.pem"),
    include_str!("secure/one.key.pem"),
);
const TWO: (&str, &str) = (
    include_str!("secure/two.pem"),
    include_str!("secure/two.key.pem"),
);

const SHOP: (&str, &str) = (
    include_str!("secure/shop.pem"),
    include_str!("secure/shop.key.pem"),
);
/// Signed by the signer of tests.
const CLIENT: (&str, &str) = (
    include_str!("secure/client.pem"),
    include_str!("secure/client.key.pem"),
);

fn write(directory: &Path, (cert, key): (&str, &str)) {
    std::fs::write(directory.join("cert.pem"), cert).unwrap();
    std::fs::write(directory.join("key.pem"), key).unwrap();
}

fn rest(directory: &Path) -> String {
    format!(
        "[tls]\ncert = \"{0}/cert.pem\"\nkey = \"{0}/key.pem\"\n[timeouts]\nhead = \"200ms\"\n",
        directory.display()
    )
}

fn secure(directory: &Path, backend: &Recorder) -> Gateway {
    gate(backend, &rest(directory))
}

/// What a client gets that trusts one certificate and wants one of these protocols.
fn trusting(certificate: &str, protocols: &[&str]) -> Arc<ClientConfig> {
    showing(None, certificate, protocols)
}

/// As [`trusting`], for a client that shows a certificate.
fn showing(own: Option<(&str, &str)>, certificate: &str, protocols: &[&str]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap())
        .unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match own {
        None => builder.with_no_client_auth(),
        Some((cert, key)) => {
            let cert = CertificateDer::from_pem_slice(cert.as_bytes()).unwrap();
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(vec![cert], key).unwrap()
        }
    };
    config.alpn_protocols = protocols
        .iter()
        .map(|one| one.as_bytes().to_vec())
        .collect();
    Arc::new(config)
}

type Stream = StreamOwned<ClientConnection, TcpStream>;

fn connect(address: SocketAddr, config: Arc<ClientConfig>) -> Stream {
    speak(TcpStream::connect(address).unwrap(), config)
}

fn speak(stream: TcpStream, config: Arc<ClientConfig>) -> Stream {
    speak_to("gate.example", stream, config)
}

fn speak_to(name: &'static str, stream: TcpStream, config: Arc<ClientConfig>) -> Stream {
    let name = ServerName::try_from(name).unwrap();
    StreamOwned::new(ClientConnection::new(config, name).unwrap(), stream)
}

/// The answer to a request, or why there is none.
fn get(address: SocketAddr, certificate: &str) -> std::io::Result<String> {
    let mut stream = connect(address, trusting(certificate, &["http/1.1"]));
    stream.write_all(b"GET / HTTP/1.1\r\nHost: gate.example\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn clients_speak_tls_and_backends_are_told() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), ONE);
    let backend = Recorder::ok();
    let gate = secure(directory.path(), &backend);
    let answer = get(front(&gate), ONE.0).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let arrived = &backend.arrived()[0];
    assert_eq!(arrived.fields("x-forwarded-proto"), ["https"]);
    assert!(arrived.fields("forwarded")[0].contains("proto=https"));
    for (offered, agreed) in [
        (&["h2", "http/1.1"][..], Some(&b"h2"[..])),
        (&["http/1.1"], Some(b"http/1.1")),
        (&[], None),
    ] {
        let mut stream = connect(front(&gate), trusting(ONE.0, offered));
        // The handshake is done when something has been written.
        stream.write_all(b" ").unwrap();
        stream.flush().unwrap();
        assert_eq!(stream.conn.alpn_protocol(), agreed, "{offered:?}");
    }
}

/// The certificate that a client is shown who asks for a name.
fn shown(address: SocketAddr, name: &'static str, trusted: &str) -> bool {
    let stream = TcpStream::connect(address).unwrap();
    let mut stream = speak_to(name, stream, trusting(trusted, &["http/1.1"]));
    stream.write_all(b" ").and_then(|()| stream.flush()).is_ok()
}

#[test]
fn the_name_that_is_asked_for_chooses_the_certificate() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), ONE);
    let at = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(at("shop.pem"), SHOP.0).unwrap();
    std::fs::write(at("shop.key.pem"), SHOP.1).unwrap();
    let others = format!(
        "[[tls.certificate]]\ncert = \"{}\"\nkey = \"{}\"\n",
        at("shop.pem"),
        at("shop.key.pem")
    );
    let backend = Recorder::ok();
    let gate = gate(&backend, &format!("{}{others}", rest(directory.path())));
    for name in ["shop.example", "SHOP.EXAMPLE", "a.shop.example"] {
        assert!(shown(front(&gate), name, SHOP.0), "{name}");
    }
    assert!(shown(front(&gate), "gate.example", ONE.0));
    // What is asked for is in none: the first is shown, which the client does not take.
    assert!(!shown(front(&gate), "a.b.shop.example", SHOP.0));
    // Others are read again like the first.
    std::fs::write(at("shop.pem"), TWO.0).unwrap();
    std::fs::write(at("shop.key.pem"), TWO.1).unwrap();
    until("nobody is shown the old one", || {
        !shown(front(&gate), "shop.example", SHOP.0)
    });
}

#[test]
fn clients_may_have_to_show_who_they_are() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), ONE);
    let signer = directory.path().join("signer.pem");
    std::fs::write(&signer, include_str!("secure/signer.pem")).unwrap();
    let backend = Recorder::ok();
    let asks = |how: &str, own| {
        let rest = rest(directory.path());
        let clients = format!("client-ca = \"{}\"\n{how}[timeouts]", signer.display());
        let gate = gate(&backend, &rest.replace("[timeouts]", &clients));
        let mut stream = connect(front(&gate), showing(own, ONE.0, &["http/1.1"]));
        let request = b"GET / HTTP/1.1\r\nHost: gate.example\r\nClient-Cert: :claim:\r\nConnection: close\r\n\r\n";
        let mut answer = String::new();
        let asked = stream.write_all(request);
        asked
            .and_then(|()| stream.read_to_string(&mut answer))
            .is_ok()
    };
    let optional = "client-auth = \"optional\"\n";
    assert!(asks("", Some(CLIENT)));
    assert!(!asks("", None), "it has none");
    assert!(!asks("", Some(TWO)), "nobody known has signed it");
    assert!(asks(optional, Some(CLIENT)));
    assert!(asks(optional, None));
    assert!(!asks(optional, Some(TWO)));
    let arrived = backend.arrived();
    let told = arrived.iter().map(|request| request.fields("client-cert"));
    // The PEM file has the base64 of RFC 9440 in lines, between its marks.
    let own: String = CLIENT
        .0
        .lines()
        .filter(|line| !line.starts_with('-'))
        .collect();
    let own = format!(":{own}:");
    assert_eq!(told.collect::<Vec<_>>(), [vec![&own], vec![&own], vec![]]);
}

#[test]
fn a_proxy_says_for_whom_it_is_before_the_handshake() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), ONE);
    let backend = Recorder::ok();
    let log = directory.path().join("log");
    let proxies = format!(
        "access-log = \"{}\"\ntrusted-proxies = [\"127.0.0.1\"]\nproxy-protocol = true\n",
        log.display()
    );
    let gate = gate(&backend, &format!("{proxies}{}", rest(directory.path())));
    let mut plain = TcpStream::connect(front(&gate)).unwrap();
    plain
        .write_all(b"PROXY TCP4 192.0.2.7 10.0.0.1 1 443\r\n")
        .unwrap();
    let mut stream = speak(plain, trusting(ONE.0, &["http/1.1"]));
    let request = b"GET / HTTP/1.1\r\nHost: gate.example\r\nConnection: close\r\n\r\n";
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let arrived = &backend.arrived()[0];
    assert_eq!(arrived.fields("x-forwarded-for"), ["192.0.2.7"]);
    assert_eq!(arrived.fields("x-forwarded-proto"), ["https"]);
    assert!(gate.drain().has_ended());
    let line = std::fs::read_to_string(log).unwrap();
    assert!(line.contains("\"tls\":\"TLSv1.3\""), "{line}");
    assert!(line.contains("\"client\":\"192.0.2.7:1\""), "{line}");
}

/// A client that has asked for what the backend holds back.
fn asking(gate: &Gateway) -> Stream {
    let mut stream = connect(front(gate), trusting(ONE.0, &["http/1.1"]));
    let request = b"GET /held HTTP/1.1\r\nHost: gate.example\r\n\r\n";
    stream.write_all(request).unwrap();
    stream
}

#[test]
fn a_client_that_leaves_while_it_waits_gives_its_place_back() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), ONE);
    let (backend, _release) = holding();
    let limit = "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\n";
    let gate = gate(&backend, &format!("{}{limit}", rest(directory.path())));
    let _first = asking(&gate);
    stands(&gate, "one is in flight", |status| {
        status.all.in_flight == 1
    });
    let leaving = asking(&gate);
    stands(&gate, "one waits", |status| status.all.queued == 1);
    drop(leaving);
    stands(&gate, "its place is free", |status| {
        status.all.queued == 0 && status.all.left == 1
    });
}

#[test]
fn a_slot_stays_with_the_backend_when_its_client_leaves() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), ONE);
    let (backend, release) = holding();
    let limit = "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\n";
    let gate = gate(&backend, &format!("{}{limit}", rest(directory.path())));
    let stream = asking(&gate);
    until("it has arrived", || backend.arrived().len() == 1);
    drop(stream);
    stands(&gate, "nobody waits for it", |status| {
        status.all.in_flight == 1 && status.in_flight_without_client == 1
    });
    release.send(()).unwrap();
    stands(&gate, "it is over", |status| {
        status.all.in_flight == 0 && status.in_flight_without_client == 0
    });
}

#[test]
fn a_new_certificate_is_shown_without_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), ONE);
    let backend = Recorder::ok();
    let gate = secure(directory.path(), &backend);
    assert!(get(front(&gate), TWO.0).is_err(), "it is not shown yet");
    write(directory.path(), TWO);
    until("the files are looked at", || {
        get(front(&gate), TWO.0).is_ok()
    });
    // A key that does not fit changes nothing.
    write(directory.path(), (ONE.0, TWO.1));
    let reloaded = gate.reload(settings(&[backend.address], &rest(directory.path())));
    assert!(
        matches!(reloaded, Err(GatewayError::Certificate { .. })),
        "{reloaded:?}"
    );
    assert!(get(front(&gate), TWO.0).is_ok());
}

#[test]
fn a_handshake_has_to_end_in_time() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), ONE);
    let gate = secure(directory.path(), &Recorder::ok());
    for begin in ["", "\x16\x03\x01\x02\x00\x01", "GET / HTTP/1.1\r\n\r\n"] {
        Client::with(front(&gate), begin).rest();
    }
}
