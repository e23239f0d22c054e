//! Sockets on which somebody connects.

use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, fchmod};
use socket2::{Domain, Protocol, SockAddr, Type};
use tokio::net::{TcpListener, UnixListener};

use crate::client::ClientAddress;
use crate::error::GatewayError;
use crate::settings::ListenAddress;
use crate::socket::Socket;

/// Connections that the kernel holds until they are accepted; it cuts it down to
/// `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// A socket on which somebody connects.
#[derive(Debug)]
pub(crate) struct Listening {
    socket: socket2::Socket,
    file: Option<SocketFile>,
}

impl Listening {
    /// Listens at an address; at a path with these rights.
    pub(crate) fn open(address: &ListenAddress, rights: u32) -> Result<Self, GatewayError> {
        let opened = match address {
            ListenAddress::Tcp(address) => open_tcp(*address),
            ListenAddress::Unix(path) => open_unix(path, rights),
        };
        opened.map_err(|source| GatewayError::Listen {
            address: address.clone(),
            source,
        })
    }

    /// One that listens already. A file of it stays: it may be systemd's, and the next gateway
    /// finds out that nobody listens there.
    pub(crate) fn inherited(socket: socket2::Socket) -> Self {
        Self { socket, file: None }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> Option<ListenAddress> {
        address(&self.socket)
    }

    /// Another handle of the same socket.
    pub(crate) fn handle(&self) -> io::Result<socket2::Socket> {
        self.socket.try_clone()
    }

    /// The file that is to go when nobody listens any more.
    pub(crate) fn take_file(&mut self) -> Option<SocketFile> {
        self.file.take()
    }

    /// In the runtime that this runs in.
    pub(crate) fn watch(&self) -> io::Result<Listener> {
        let handle = OwnedFd::from(self.handle()?);
        if self.socket.domain()? == Domain::UNIX {
            return UnixListener::from_std(handle.into()).map(Listener::Unix);
        }
        TcpListener::from_std(handle.into()).map(Listener::Tcp)
    }
}

/// Where a socket listens; `None` where it has no name.
pub(crate) fn address(socket: &socket2::Socket) -> Option<ListenAddress> {
    let address = socket.local_addr().ok()?;
    let tcp = address.as_socket().map(ListenAddress::Tcp);
    tcp.or_else(|| {
        address
            .as_pathname()
            .map(|path| ListenAddress::Unix(path.to_owned()))
    })
}

fn open_tcp(address: SocketAddr) -> io::Result<Listening> {
    let domain = Domain::for_address(address);
    let socket = socket2::Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    // A gateway that starts again takes the port of its predecessor at once.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(Listening { socket, file: None })
}

fn open_unix(path: &Path, rights: u32) -> io::Result<Listening> {
    remove_left_behind(path)?;
    let socket = socket2::Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    // The file never has more rights than these, not even for a moment.
    fchmod(socket.as_fd(), Mode::from_raw_mode(rights))?;
    socket.bind(&SockAddr::unix(path)?)?;
    let file = SocketFile::at(path)?;
    // What the mask of the process has taken away.
    fs::set_permissions(path, Permissions::from_mode(rights))?;
    socket.listen(BACKLOG)?;
    let file = Some(file);
    Ok(Listening { socket, file })
}

/// Makes room for a socket where one is of which nobody listens any more.
fn remove_left_behind(path: &Path) -> io::Result<()> {
    refuse_other_files(path)?;
    match UnixStream::connect(path) {
        Ok(_) => Err(io::ErrorKind::AddrInUse.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

/// A file that is no socket is somebody's.
pub(crate) fn refuse_other_files(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if !there.file_type().is_socket() => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "what is there is no socket",
        )),
        _ => Ok(()),
    }
}

/// The file of a socket, which is taken away with this, unless another has been put there.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl SocketFile {
    /// The one that is there.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self {
            inode: fs::metadata(path)?.ino(),
            path: path.to_owned(),
        })
    }

    /// It stays: somebody else listens there now.
    pub(crate) fn keep(mut self) {
        self.path = PathBuf::new();
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_same = fs::metadata(&self.path).is_ok_and(|there| there.ino() == self.inode);
        if is_same {
            // One that somebody has just taken away is gone, too.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A socket that takes connections.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// The next connection, and who is at its other end.
    pub(crate) async fn accept(&self) -> io::Result<(Socket, ClientAddress)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                Ok((Socket::Left(stream), ClientAddress::Socket(address)))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Right(stream), ClientAddress::Unix))
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn rights(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_path_has_the_rights_that_are_asked_for_and_goes_with_its_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.sock");
        let address = ListenAddress::Unix(path.clone());
        for asked in [0o600, 0o666] {
            let listening = Listening::open(&address, asked).unwrap();
            assert_eq!(rights(&path), asked);
            assert_eq!(listening.address().as_ref(), Some(&address));
            let again = Listening::open(&address, asked).unwrap_err();
            assert!(matches!(again, GatewayError::Listen { .. }), "{again}");
            drop(listening);
            assert!(!path.exists());
        }
    }

    #[test]
    fn what_was_left_behind_is_replaced_and_what_is_no_socket_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.sock");
        let address = ListenAddress::Unix(path.clone());
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(Listening::open(&address, 0o600).unwrap());
        fs::write(&path, "somebody's").unwrap();
        Listening::open(&address, 0o600).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's");
    }
}
