//! A way through a proxy that does not look at what passes: `CONNECT` (RFC 9110, section 9.3.6).

use crate::http::client::{Answered, Client, Notes};
use crate::http::outcome::Failure;
use crate::http::request::Request;
use crate::http::response::{Asked, Head};
use crate::http::server::Server;
use crate::http::socket::Socket;

/// "Proxy Authentication Required".
pub(super) const PROXY_WANTS_PASSWORD: u16 = 407;

/// What a proxy says to the wish for a tunnel.
pub(super) enum Tunnel {
    /// What is sent from here on goes to the server.
    Open(Socket),
    /// Its answer, which becomes the sample's.
    Refused(Box<Head>),
}

impl Client {
    /// Asks the proxy for a tunnel; a second time, with name and password, if it wants them.
    pub(super) async fn tunnel(
        &mut self,
        mut socket: Socket,
        server: &Server,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Tunnel, Failure> {
        let plain = connect_request(&server.host, server.port);
        let proxy = server.proxy.as_ref();
        let authorization = proxy.and_then(|proxy| proxy.authorization.as_deref());
        let with_password = authorization.map(|value| authorized(&plain, value));
        loop {
            let is_known = self.is_known_to_proxy(request.server);
            let bytes = with_password.as_ref().filter(|_| is_known);
            let connect = Request {
                bytes: bytes.unwrap_or(&plain),
                uploads: &[],
                ..*request
            };
            let mut own = Notes::on(notes.connected());
            let answered = self
                .ask(&mut socket, Asked::Tunnel, &connect, &mut own)
                .await?;
            let Answered { head, is_free } = answered;
            let asks = head.status.number == PROXY_WANTS_PASSWORD;
            let goes_on = asks && !is_known && with_password.is_some();
            if !goes_on && !(200..300).contains(&head.status.number) {
                *notes = own;
                return Ok(Tunnel::Refused(Box::new(head)));
            }
            if let Some(kept) = own.take_kept() {
                self.give_back(kept);
            }
            if !goes_on {
                return is_free
                    .then_some(Tunnel::Open(socket))
                    .ok_or(Failure::NotHttp);
            }
            self.is_asked_by_proxy(request.server);
            if !is_free {
                socket = self.connect(server, request.connect_timeout).await?;
            }
        }
    }
}

/// What JMeter's HTTP library asks a proxy.
fn connect_request(host: &str, port: u16) -> Vec<u8> {
    let bracketed;
    let host = if host.contains(':') {
        bracketed = format!("[{host}]");
        &bracketed
    } else {
        host
    };
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\
         User-Agent: weir/{version}\r\n\r\n"
    )
    .into_bytes()
}

/// A request with name and password for the proxy, as the last field.
pub(super) fn authorized(bytes: &[u8], value: &str) -> Vec<u8> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 2));
    [
        head,
        b"Proxy-Authorization: ",
        value.as_bytes(),
        b"\r\n",
        rest,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_the_last_field() {
        let bytes = authorized(b"GET / HTTP/1.1\r\nA: b\r\n\r\nbody", "Basic x");
        let expect = b"GET / HTTP/1.1\r\nA: b\r\nProxy-Authorization: Basic x\r\n\r\nbody";
        assert_eq!(bytes, expect);
    }

    #[test]
    fn addresses_are_written_as_in_urls() {
        let bytes = connect_request("::1", 443);
        assert!(bytes.starts_with(b"CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n"));
    }
}
