//! The PROXY protocol (versions 1 and 2, as `HAProxy` has defined it): before anything else, a
//! proxy tells on a connection for whom it is.

use std::io;

use proxy_header::{Error, ParseConfig, ProxyHeader};
use tokio::io::AsyncReadExt as _;

use crate::client::ClientAddress;
use crate::socket::{Connected as _, Socket};

/// The longest head; one with a client's certificate in it is longer, and nobody needs that here.
const HEAD_MAX: usize = 4096;

/// Whom a connection is for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    /// `None`: the proxy speaks for itself, as it does to look whether the gateway is well.
    pub(crate) client: Option<ClientAddress>,
    /// Whether the client speaks TLS to the proxy.
    pub(crate) is_secure: bool,
}

/// Takes the head from the connection, and nothing of what comes after it; `None` if it ends
/// without a byte, as that of a look whether somebody listens does.
pub(crate) async fn read(stream: &mut Socket) -> io::Result<Option<Declared>> {
    let mut head = Vec::new();
    loop {
        let known = head.len();
        head.resize(HEAD_MAX, 0);
        let seen = stream.peek(&mut head[known..]).await?;
        head.truncate(known + seen);
        if head.is_empty() {
            return Ok(None);
        }
        if seen == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match ProxyHeader::parse(&head, ParseConfig::default()) {
            Ok((header, length)) => {
                let declared = Declared::of(&header);
                let mut rest = vec![0; length.saturating_sub(known)];
                stream.read_exact(&mut rest).await?;
                return Ok(Some(declared));
            }
            // All of it belongs to the head, and more is to come.
            Err(Error::BufferTooShort) if head.len() < HEAD_MAX => {
                stream.read_exact(&mut head[known..]).await?;
            }
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
}

impl Declared {
    fn of(header: &ProxyHeader<'_>) -> Self {
        let client = header.proxied_address();
        Self {
            client: client.map(|address| ClientAddress::Socket(address.source)),
            is_secure: header.ssl().is_some_and(|ssl| ssl.client_ssl()),
        }
    }
}
