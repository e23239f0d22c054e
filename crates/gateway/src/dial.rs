//! A new connection to a backend: over TCP or a path, with TLS or without.

use std::io;
use std::net::SocketAddr;

use proxy_header::{ProxiedAddress, ProxyHeader};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;

use crate::backend::Backend;
use crate::backend_tls::BackendTlsInForce;
use crate::client::ClientAddress;
use crate::settings::{BackendAddress, ProxyVersion};
use crate::socket::{Connected as _, Socket};

/// A connection to a backend, without TLS or with it.
pub(crate) type BackendStream = Either<Socket, Box<TlsStream<Socket>>>;

/// Connects to a backend; `for_whom` is told to one that asks for it, and `None` there is the
/// gateway itself.
pub(crate) async fn dial(
    backend: &Backend,
    tls: Option<&BackendTlsInForce>,
    for_whom: Option<ClientAddress>,
    offers_http2: bool,
) -> io::Result<BackendStream> {
    let mut socket = match &backend.address {
        BackendAddress::Tcp { .. } => {
            Socket::Left(TcpStream::connect(&*backend.addresses()).await?)
        }
        BackendAddress::Unix(path) => Socket::Right(UnixStream::connect(path).await?),
    };
    socket.without_delay();
    if let Some(version) = backend.proxy_protocol {
        let head = proxy_head(version, for_whom, socket.peer())?;
        socket.write_all(&head).await?;
    }
    match (&backend.address, tls) {
        (BackendAddress::Tcp { host, .. }, Some(tls)) if backend.address.is_secure() => {
            let secure = tls.handshake(host, socket, offers_http2).await?;
            Ok(Either::Right(Box::new(secure)))
        }
        _ => Ok(Either::Left(socket)),
    }
}

/// What begins a connection that is for somebody.
fn proxy_head(
    version: ProxyVersion,
    for_whom: Option<ClientAddress>,
    to: Option<SocketAddr>,
) -> io::Result<Vec<u8>> {
    let source = match for_whom {
        Some(ClientAddress::Socket(address)) => Some(address),
        Some(ClientAddress::Named(ip)) => Some(SocketAddr::new(ip, 0)),
        Some(ClientAddress::Unix) | None => None,
    };
    let header = source.map_or_else(ProxyHeader::with_local, |source| {
        let (source, to) = same_family(source, to);
        ProxyHeader::with_address(ProxiedAddress::stream(source, to))
    });
    let mut head = Vec::new();
    let written = match version {
        ProxyVersion::One => header.encode_v1(&mut head),
        ProxyVersion::Two => header.encode_v2(&mut head),
    };
    written.map_err(io::Error::other)?;
    Ok(head)
}

/// Both addresses as the protocol wants them: of one family. Where nothing is known of the second
/// it is the unspecified one.
fn same_family(source: SocketAddr, to: Option<SocketAddr>) -> (SocketAddr, SocketAddr) {
    let canonical =
        |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let as_v6 = |address: SocketAddr| match address {
        SocketAddr::V4(v4) => SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port()),
        v6 @ SocketAddr::V6(_) => v6,
    };
    let source = canonical(source);
    let to = to.map_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)), canonical);
    if source.is_ipv4() == to.is_ipv4() {
        (source, to)
    } else {
        (as_v6(source), as_v6(to))
    }
}

/// Whether a connection is to be spoken to in HTTP/2, which was offered or not.
pub(crate) fn is_http2(stream: &BackendStream, was_offered: bool) -> bool {
    match stream {
        // Without TLS there is no agreeing.
        Either::Left(_) => was_offered,
        Either::Right(secure) => secure.get_ref().1.alpn_protocol() == Some(b"h2"),
    }
}

/// The address that was reached; a path has none.
pub(crate) fn peer(stream: &BackendStream) -> Option<SocketAddr> {
    match stream {
        Either::Left(socket) => socket.peer(),
        Either::Right(secure) => secure.get_ref().0.peer(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn line(client: Option<ClientAddress>, to: Option<&str>) -> String {
        let to = to.map(|to| to.parse().unwrap());
        String::from_utf8(proxy_head(ProxyVersion::One, client, to).unwrap()).unwrap()
    }

    #[test]
    fn a_backend_is_told_for_whom_a_connection_is() {
        let at = |address: &str| Some(ClientAddress::Socket(address.parse().unwrap()));
        for (client, to, expected) in [
            (
                at("192.0.2.7:4711"),
                Some("10.0.0.1:80"),
                "PROXY TCP4 192.0.2.7 10.0.0.1 4711 80\r\n",
            ),
            (
                at("[::ffff:192.0.2.7]:4711"),
                Some("10.0.0.1:80"),
                "PROXY TCP4 192.0.2.7 10.0.0.1 4711 80\r\n",
            ),
            (
                at("[2001:db8::7]:4711"),
                Some("10.0.0.1:80"),
                "PROXY TCP6 2001:db8::7 ::ffff:10.0.0.1 4711 80\r\n",
            ),
            (
                at("192.0.2.7:4711"),
                None,
                "PROXY TCP4 192.0.2.7 0.0.0.0 4711 0\r\n",
            ),
            (Some(ClientAddress::Unix), None, "PROXY UNKNOWN\r\n"),
            (None, Some("10.0.0.1:80"), "PROXY UNKNOWN\r\n"),
        ] {
            assert_eq!(line(client, to), expected);
        }
    }
}
