//! What went wrong with a request, under the names that JMeter 5.6.3 gives it.
//!
//! JMeter shows the class and the message of the Java exception that ended a sample. All of them
//! were measured with JMeter against a server that misbehaves, except those for a machine without
//! a route, port or file, which are what Java is known to throw, [`Failure::LongHead`], because
//! JMeter reads heads of any length, and [`Failure::Http2`], which it does not speak.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::net::IpAddr;

use weir_script::{SentRequest, Unsendable};

use crate::http::tls_error::{says, tls_error};

/// Why a sample has no complete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server's name has no address.
    UnknownHost,
    /// No address of the server could be connected to, for this reason.
    Connect(ConnectFailure),
    /// The connection was reset.
    Reset,
    /// The connection failed in another way; the operating system's text.
    Socket(String),
    /// The connection ended before the first byte of the response.
    NoResponse,
    /// The server says that it has not looked at the request, and ends the connection (RFC 9113,
    /// section 8.7).
    Unprocessed,
    /// Nothing was received for the response time-out.
    ReadTimeOut,
    /// The body ended before its announced length.
    ShortBody { expected: u64, received: u64 },
    /// The body ended inside a chunk.
    ShortChunk { expected: u64, received: u64 },
    /// The body ended where the size of a chunk should stand.
    NoClosingChunk,
    /// The body is not in chunks although its head says so.
    BadChunk(BadChunk),
    /// The body is not in the coding that its head names.
    BadCoding(BadCoding),
    /// What came is no HTTP response.
    NotHttp,
    /// The head of the response is longer than the engine reads.
    LongHead,
    /// Something is wrong with the TLS of the connection.
    Ssl(String),
    /// The two sides did not come to an understanding about TLS.
    SslHandshake(String),
    /// The stream or the connection ended in HTTP/2's own way.
    Http2(String),
    /// The response sends elsewhere and does not say where; the request line.
    NoLocation(String),
    /// Redirects that are followed out of sight do not come to an end, or lead nowhere.
    Redirects,
    /// A request that cannot be sent.
    Unsendable(Box<Unsendable>),
    /// A response leads to a server that nobody has allowed to load, or that cannot be reached.
    NotAllowed(String),
    /// A file that is sent cannot be read.
    Upload(String),
}

/// Why a connection could not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectFailure {
    /// It was refused.
    Refused,
    /// The engine's or the system's time for connecting was over.
    TimeOut,
    /// The server was silent for the time for connecting while TLS was agreed on.
    SilentHandshake,
    /// There is no way to the host.
    NoRoute,
    /// There is no way to the network.
    NoNetwork,
    /// This machine has no port left.
    NoLocalPort,
    /// This process may not open more files.
    NoFiles,
    /// Anything else.
    Other,
}

/// What is wrong with a body in chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BadChunk {
    /// The line that should hold a size.
    Size(String),
    /// A size below 0.
    Negative,
    /// More bytes than announced.
    Surplus,
    /// The body ended right after a chunk.
    NoLineEnd,
    /// A line behind the last chunk that is no field.
    Trailer(String),
}

/// What is wrong with a coded body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadCoding {
    /// It does not begin as gzip does.
    NotGzip,
    /// It is not what gzip's checksum was made of.
    Checksum,
    /// It is not what zlib's checksum was made of.
    ZlibChecksum,
    /// It ends inside what gzip puts in front of or behind the data.
    Cut,
    /// It ends inside the data.
    Short,
    /// A block has a type that there is not.
    BlockType,
    /// A block that is stored as it is contradicts its own length.
    StoredLength,
    /// The code lengths of a block make no code.
    CodeLengths,
    /// A block refers to data before the beginning, or holds a code that there is not.
    Data,
    /// It is no Brotli stream.
    Brotli,
}

/// Where a request went, as messages show it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The host as the plan names it.
    pub(crate) host: &'a str,
    /// The port.
    pub(crate) port: u16,
    /// Host and port that were connected to: a proxy's, or the same.
    pub(crate) peer: (&'a str, u16),
    /// The addresses that were tried.
    pub(crate) addresses: &'a [IpAddr],
}

impl<'a> Place<'a> {
    /// The place of a request whose host has no address.
    pub(crate) fn named(sent: &'a SentRequest) -> Self {
        Self {
            host: &sent.host,
            port: sent.port,
            peer: (&sent.host, sent.port),
            addresses: &[],
        }
    }
}

impl Failure {
    /// What reading or writing an open connection failed with.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionReset => Self::Reset,
            _ => match tls_error(error) {
                Some(error) => Self::Ssl(says(error)),
                None => Self::Socket(system_text(error)),
            },
        }
    }

    /// The connection died: on one that was kept from an earlier sample, before a byte was written,
    /// this means that the server had closed it.
    pub(crate) fn is_closed_connection(&self) -> bool {
        matches!(self, Self::Reset | Self::Socket(_) | Self::NoResponse)
    }

    /// The server took no connection, or closed it.
    pub(crate) fn is_turned_away(&self) -> bool {
        matches!(self, Self::Connect(ConnectFailure::Refused)) || self.is_closed_connection()
    }

    /// The server has said that it did nothing of the request.
    pub(crate) fn is_unprocessed(&self) -> bool {
        matches!(self, Self::Unprocessed)
    }

    /// The failure is this machine's own: it ran out of something, whatever the server does.
    pub(crate) fn is_local(&self) -> bool {
        use ConnectFailure::{NoFiles, NoLocalPort};
        matches!(self, Self::Connect(NoFiles | NoLocalPort))
    }

    /// Class name of the exception that JMeter reports.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::UnknownHost => "java.net.UnknownHostException",
            Self::Connect(failure) => failure.class(),
            Self::Reset | Self::Socket(_) => "java.net.SocketException",
            Self::NoResponse | Self::Unprocessed => "org.apache.http.NoHttpResponseException",
            Self::ReadTimeOut => "java.net.SocketTimeoutException",
            Self::ShortBody { .. } | Self::NoClosingChunk => {
                "org.apache.http.ConnectionClosedException"
            }
            Self::ShortChunk { .. } => "org.apache.http.TruncatedChunkException",
            Self::BadChunk(_) => "org.apache.http.MalformedChunkCodingException",
            Self::BadCoding(coding) => coding.class(),
            Self::NotHttp | Self::Redirects => "org.apache.http.client.ClientProtocolException",
            Self::LongHead => "org.apache.http.MessageConstraintException",
            Self::Ssl(_) => "javax.net.ssl.SSLException",
            Self::SslHandshake(_) => "javax.net.ssl.SSLHandshakeException",
            // What Java's own client for HTTP/2 throws; JMeter has none.
            Self::Http2(_) => "java.io.IOException",
            Self::NoLocation(_) => "java.lang.IllegalArgumentException",
            Self::Unsendable(unsendable) => unsendable.class(),
            Self::NotAllowed(_) => "weir.NotAllowed",
            Self::Upload(_) => "java.io.FileNotFoundException",
        }
    }

    /// Message of the exception that JMeter reports.
    pub(crate) fn message(&self, place: Place<'_>) -> String {
        match self {
            Self::UnknownHost => format!("{}: Name or service not known", place.peer.0),
            Self::Connect(failure) => failure.message(place),
            Self::Reset => "Connection reset".to_owned(),
            Self::Socket(text) | Self::Ssl(text) | Self::SslHandshake(text) | Self::Http2(text) => {
                text.clone()
            }
            Self::NoResponse | Self::Unprocessed => {
                format!("{}:{} failed to respond", bracketed(place.host), place.port)
            }
            Self::ReadTimeOut => "Read timed out".to_owned(),
            Self::ShortBody { expected, received } => format!(
                "Premature end of Content-Length delimited message body (expected: {}; received: {})",
                Grouped(*expected),
                Grouped(*received)
            ),
            Self::ShortChunk { expected, received } => format!(
                "Truncated chunk (expected size: {}; actual size: {})",
                Grouped(*expected),
                Grouped(*received)
            ),
            Self::NoClosingChunk => {
                "Premature end of chunk coded message body: closing chunk expected".to_owned()
            }
            Self::BadChunk(BadChunk::Size(line)) => format!("Bad chunk header: {line}"),
            Self::BadChunk(BadChunk::Negative) => "Negative chunk size".to_owned(),
            Self::BadChunk(BadChunk::Surplus) => {
                "Unexpected content at the end of chunk".to_owned()
            }
            Self::BadChunk(BadChunk::Trailer(line)) => {
                format!("Invalid footer: Invalid header: {line}")
            }
            Self::BadChunk(BadChunk::NoLineEnd) => "CRLF expected at end of chunk".to_owned(),
            Self::BadCoding(coding) => coding.message().to_owned(),
            // The exception wraps another one and has no message of its own.
            Self::NotHttp | Self::Redirects => "null".to_owned(),
            Self::NoLocation(line) => format!("Missing location header in redirect for {line}"),
            Self::Unsendable(unsendable) => unsendable.message().to_owned(),
            Self::NotAllowed(says) | Self::Upload(says) => says.clone(),
            Self::LongHead => "Maximum line length limit exceeded".to_owned(),
        }
    }
}

impl BadCoding {
    fn class(self) -> &'static str {
        match self {
            Self::Cut | Self::Short => "java.io.EOFException",
            Self::Brotli => "java.io.IOException",
            _ => "java.util.zip.ZipException",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::NotGzip => "Not in GZIP format",
            Self::Checksum => "Corrupt GZIP trailer",
            Self::ZlibChecksum => "incorrect data check",
            // Java gives this exception no message.
            Self::Cut => "null",
            Self::Short => "Unexpected end of ZLIB input stream",
            Self::BlockType => "invalid block type",
            Self::StoredLength => "invalid stored block lengths",
            Self::CodeLengths => "invalid code lengths set",
            Self::Data => "invalid distance too far back",
            Self::Brotli => "Brotli stream decoding failed",
        }
    }
}

impl ConnectFailure {
    /// What opening a socket or connecting it failed with.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        use rustix::io::Errno;
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::CONNREFUSED) => Self::Refused,
            Some(Errno::TIMEDOUT) => Self::TimeOut,
            Some(Errno::HOSTUNREACH) => Self::NoRoute,
            Some(Errno::NETUNREACH) => Self::NoNetwork,
            Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) => Self::NoLocalPort,
            Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => Self::NoFiles,
            _ => Self::Other,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Refused => "org.apache.http.conn.HttpHostConnectException",
            Self::TimeOut | Self::SilentHandshake => "org.apache.http.conn.ConnectTimeoutException",
            Self::NoRoute => "java.net.NoRouteToHostException",
            Self::NoLocalPort => "java.net.BindException",
            Self::NoNetwork | Self::NoFiles | Self::Other => "java.net.SocketException",
        }
    }

    fn message(self, place: Place<'_>) -> String {
        let says = match self {
            Self::Refused => "Connection refused",
            Self::TimeOut => "Connect timed out",
            Self::SilentHandshake => "Read timed out",
            Self::NoRoute => return "No route to host".to_owned(),
            Self::NoNetwork => return "Network is unreachable".to_owned(),
            Self::NoLocalPort => return "Cannot assign requested address".to_owned(),
            Self::NoFiles => return "Too many open files".to_owned(),
            Self::Other => return "Connection failed".to_owned(),
        };
        let (host, port) = place.peer;
        // As Java shows addresses: `name/address`, without a name when the plan has none.
        let name = if host.parse::<IpAddr>().is_ok() {
            ""
        } else {
            host
        };
        let shown = place.addresses.iter();
        let shown: Vec<String> = shown
            .map(|ip| format!("{name}/{}", JavaAddress(*ip)))
            .collect();
        format!(
            "Connect to {}:{port} [{}] failed: {says}",
            bracketed(host),
            shown.join(", ")
        )
    }
}

/// A host as it stands in a URL: an IPv6 address in brackets.
fn bracketed(host: &str) -> Cow<'_, str> {
    if host.contains(':') {
        format!("[{host}]").into()
    } else {
        host.into()
    }
}

/// An address as Java writes it: all eight groups of an IPv6 address, none left out.
struct JavaAddress(IpAddr);

impl fmt::Display for JavaAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => write!(f, "{address}"),
            IpAddr::V6(address) => {
                let groups = address.segments().map(|group| format!("{group:x}"));
                f.write_str(&groups.join(":"))
            }
        }
    }
}

/// The operating system's text, as Java shows it: without Rust's error number.
fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((says, _)) => says.to_owned(),
        None => text,
    }
}

/// A number with commas between thousands, as Java's `%,d` writes it.
struct Grouped(u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    /// The set measured with JMeter 5.6.3.
    #[test]
    fn names_what_jmeter_names() {
        let addresses = [IpAddr::from([127, 0, 0, 1])];
        let place = Place {
            host: "127.0.0.1",
            port: 9080,
            peer: ("127.0.0.1", 9080),
            addresses: &addresses,
        };
        let check = |failure: Failure, class: &str, message: &str| {
            assert_eq!(failure.class(), class);
            assert_eq!(failure.message(place), message);
        };
        check(
            Failure::Connect(ConnectFailure::Refused),
            "org.apache.http.conn.HttpHostConnectException",
            "Connect to 127.0.0.1:9080 [/127.0.0.1] failed: Connection refused",
        );
        check(
            Failure::UnknownHost,
            "java.net.UnknownHostException",
            "127.0.0.1: Name or service not known",
        );
        check(
            Failure::ReadTimeOut,
            "java.net.SocketTimeoutException",
            "Read timed out",
        );
        check(
            Failure::Reset,
            "java.net.SocketException",
            "Connection reset",
        );
        check(
            Failure::NoResponse,
            "org.apache.http.NoHttpResponseException",
            "127.0.0.1:9080 failed to respond",
        );
        check(
            Failure::ShortBody {
                expected: 100,
                received: 5,
            },
            "org.apache.http.ConnectionClosedException",
            "Premature end of Content-Length delimited message body (expected: 100; received: 5)",
        );
    }

    #[test]
    fn names_have_their_addresses() {
        let addresses = [
            IpAddr::from([127, 0, 0, 1]),
            IpAddr::from(Ipv6Addr::LOCALHOST),
        ];
        let place = Place {
            host: "away",
            port: 80,
            peer: ("localhost", 3128),
            addresses: &addresses,
        };
        assert_eq!(
            Failure::Connect(ConnectFailure::TimeOut).message(place),
            "Connect to localhost:3128 [localhost/127.0.0.1, localhost/0:0:0:0:0:0:0:1] failed: \
             Connect timed out"
        );
        assert_eq!(
            Failure::NoResponse.message(place),
            "away:80 failed to respond"
        );
    }

    #[test]
    fn groups_thousands() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(Grouped(number).to_string(), text);
        }
    }

    #[test]
    fn system_errors_lose_their_number() {
        let error = io::Error::from_raw_os_error(32);
        assert_eq!(
            Failure::of_io(&error),
            Failure::Socket("Broken pipe".to_owned())
        );
    }
}
