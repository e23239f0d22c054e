//! A client that sends exactly the bytes it is told to.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A machine that is busy may take its time; a test that hangs may not.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection, and what was read of it too early.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    ahead: Vec<u8>,
}

/// A response as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The value of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (field, value) = line.split_once(": ")?;
            field.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).unwrap())
    }

    /// Over a socket of the file system; reading and writing is the same for both.
    pub(crate) fn connect_to_path(path: &Path) -> Self {
        Self::over(OwnedFd::from(UnixStream::connect(path).unwrap()).into())
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream,
            ahead: Vec::new(),
        }
    }

    /// Connects and sends.
    pub(crate) fn with(address: SocketAddr, bytes: impl AsRef<[u8]>) -> Self {
        let mut client = Self::connect(address);
        client.send(bytes);
        client
    }

    /// Sends; a server that has closed is seen when its answer is read.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Asks for a path and takes the answer.
    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n"));
        self.answer()
    }

    /// The next response, whole.
    pub(crate) fn answer(&mut self) -> Answer {
        self.try_answer().expect("a whole answer comes")
    }

    /// The next response; `None` if the connection ends before it is whole.
    pub(crate) fn try_answer(&mut self) -> Option<Answer> {
        let head = self.until(b"\r\n\r\n")?;
        let status = head.get(9..12)?.parse().ok()?;
        let mut answer = Answer {
            status,
            head,
            body: String::new(),
        };
        if (100..200).contains(&status) || status == 204 || status == 304 {
            return Some(answer);
        }
        if answer.field("transfer-encoding") == Some("chunked") {
            loop {
                let line = self.until(b"\r\n")?;
                let size = usize::from_str_radix(line.trim_end(), 16).ok()?;
                let chunk = self.exactly(size + 2)?;
                if size == 0 {
                    return Some(answer);
                }
                answer.body.push_str(&chunk[..size]);
            }
        }
        match answer.field("content-length") {
            Some(length) => {
                let length = length.parse().ok()?;
                answer.body = self.exactly(length)?;
            }
            None => answer.body = self.rest(),
        }
        Some(answer)
    }

    /// Everything up to and with these bytes.
    pub(crate) fn until(&mut self, end: &[u8]) -> Option<String> {
        loop {
            let found = self.ahead.windows(end.len()).position(|bytes| bytes == end);
            if let Some(at) = found {
                return Some(self.take(at + end.len()));
            }
            self.more()?;
        }
    }

    /// So many bytes.
    pub(crate) fn exactly(&mut self, count: usize) -> Option<String> {
        while self.ahead.len() < count {
            self.more()?;
        }
        Some(self.take(count))
    }

    /// Everything until the connection ends.
    pub(crate) fn rest(&mut self) -> String {
        while self.more().is_some() {}
        self.take(self.ahead.len())
    }

    /// So many bytes as they are; `None` if the connection ends before.
    pub(crate) fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.ahead.len() < count {
            self.more()?;
        }
        Some(self.ahead.drain(..count).collect())
    }

    fn take(&mut self, count: usize) -> String {
        let taken: Vec<u8> = self.ahead.drain(..count).collect();
        String::from_utf8_lossy(&taken).into_owned()
    }

    fn more(&mut self) -> Option<()> {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => None,
            Ok(count) => {
                self.ahead.extend_from_slice(&bytes[..count]);
                Some(())
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("nothing comes: {error}"),
        }
    }
}
