//! Sockets that go from one gateway to the next, so that no connection is lost in between.
//!
//! A gateway with `hand-over` listens on a socket of the file system, too. Another one that starts
//! with the same file asks there for the sockets on which clients connect, and takes requests
//! beside the first. Then it says so, and the first takes no more connections and ends when its
//! requests have. What waits in the kernel to be accepted waits in the same socket. Sockets that
//! systemd has opened (`LISTEN_FDS`) are taken in the same way.

use std::fs::{self, Permissions};
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use listenfd::ListenFd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Uid, geteuid};
use socket2::Socket;

use crate::error::GatewayError;
use crate::listening::{Listening, SocketFile, address, refuse_other_files};
use crate::settings::ListenAddress;

/// Sockets that can go at once; the kernel takes no more than 253.
const SOCKETS_MAX: usize = 64;
/// What is sent beside the sockets, and what is said once their taker takes requests.
const HERE_THEY_ARE: &[u8] = b"weir/gate-hand-over/1\n";
const READY: &[u8] = b"ready\n";
/// How long the one waits for the other's word. A successor may look up names before it is ready.
const WITHIN: Duration = Duration::from_secs(60);
/// Only its own user reaches the socket.
const MODE: u32 = 0o600;

/// Sockets that somebody else has opened.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    sockets: Vec<Socket>,
    /// The gateway whose sockets they are, until this one takes requests.
    predecessor: Option<UnixStream>,
}

impl Inherited {
    /// What systemd and a gateway that runs have for this one.
    pub(crate) fn find(hand_over: Option<&Path>) -> Result<Self, GatewayError> {
        let mut inherited = Self::default();
        let mut opened = ListenFd::from_env();
        for at in 0..opened.len() {
            // What is of another kind stays where it is, as an error.
            let tcp = opened.take_tcp_listener(at).ok().flatten();
            let unix = opened.take_unix_listener(at).ok().flatten();
            inherited.sockets.extend(tcp.map(Socket::from));
            inherited.sockets.extend(unix.map(Socket::from));
        }
        if let Some(path) = hand_over {
            inherited.ask(path).map_err(|source| failed(path, source))?;
        }
        for socket in &inherited.sockets {
            socket.set_nonblocking(true).map_err(GatewayError::Thread)?;
        }
        Ok(inherited)
    }

    /// The socket that listens there, if one does.
    pub(crate) fn take(&mut self, wanted: &ListenAddress) -> Option<Listening> {
        let is_it = |socket: &Socket| address(socket).as_ref() == Some(wanted);
        let at = self.sockets.iter().position(is_it)?;
        Some(Listening::inherited(self.sockets.remove(at)))
    }

    /// Where sockets listen of which the file says nothing.
    pub(crate) fn left(&self) -> impl Iterator<Item = ListenAddress> {
        self.sockets.iter().filter_map(address)
    }

    /// Requests are taken from now on: the predecessor may end.
    pub(crate) fn succeed(self) {
        if let Some(mut predecessor) = self.predecessor {
            // One that has died meanwhile needs no telling.
            let _ = predecessor.write_all(READY);
        }
    }

    /// Asks a gateway for its sockets, if one is there.
    fn ask(&mut self, path: &Path) -> io::Result<()> {
        let stream = match UnixStream::connect(path) {
            Ok(stream) => stream,
            // Nobody, or nobody any more.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
                ) =>
            {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        // Who may write where the path leads could have put anything there.
        if !is_one_of_us(&stream)? {
            let says = "who listens there is another user";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, says));
        }
        stream.set_read_timeout(Some(WITHIN))?;
        self.sockets.extend(receive(&stream)?);
        self.predecessor = Some(stream);
        Ok(())
    }
}

/// Whether the other side is this user, or root.
fn is_one_of_us(stream: &UnixStream) -> io::Result<bool> {
    let peer = socket_peercred(stream)?;
    Ok(peer.uid == geteuid() || peer.uid == Uid::ROOT)
}

fn failed(path: &Path, source: io::Error) -> GatewayError {
    GatewayError::HandOver {
        path: path.to_owned(),
        source,
    }
}

fn receive(stream: &UnixStream) -> io::Result<Vec<Socket>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SOCKETS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut word = [0; HERE_THEY_ARE.len()];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(
        stream,
        &mut [IoSliceMut::new(&mut word)],
        &mut control,
        flags,
    )?;
    if word[..received.bytes] != *HERE_THEY_ARE {
        let says = "who listens there is no gateway, or has nothing to hand over";
        return Err(io::Error::new(io::ErrorKind::InvalidData, says));
    }
    let mut sockets = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            sockets.extend(sent.map(Socket::from));
        }
    }
    Ok(sockets)
}

fn send(stream: &UnixStream, sockets: &[Socket]) -> io::Result<()> {
    let sockets: Vec<_> = sockets.iter().map(|socket| socket.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SOCKETS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&sockets)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sendmsg(
        stream,
        &[IoSlice::new(HERE_THEY_ARE)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// The thread that hands the sockets over; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct HandOver {
    ends: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl HandOver {
    /// Hands these sockets to whoever asks at the path; `then` is called once a successor takes
    /// requests.
    pub(crate) fn start(
        path: &Path,
        sockets: Vec<Socket>,
        then: impl FnOnce() + Send + 'static,
    ) -> Result<Self, GatewayError> {
        if sockets.len() > SOCKETS_MAX {
            let says = format!("{} sockets, {SOCKETS_MAX} at most", sockets.len());
            return Err(failed(path, io::Error::other(says)));
        }
        let start = || {
            let there = There::bind(path)?;
            let (ends, ended) = UnixStream::pair()?;
            let thread = thread::Builder::new()
                .name("weir-gate-hand-over".to_owned())
                .spawn(move || {
                    if there.until_succeeded(&sockets, &ended) {
                        then();
                    }
                })?;
            Ok(Self {
                ends: Some(ends),
                thread: Some(thread),
            })
        };
        start().map_err(|source| failed(path, source))
    }
}

impl Drop for HandOver {
    fn drop(&mut self) {
        self.ends = None;
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has told so already.
            let _ = thread.join();
        }
    }
}

/// The socket at its path, which is taken away with it, unless a successor has put its own there.
#[derive(Debug)]
struct There {
    listener: UnixListener,
    _file: SocketFile,
}

impl There {
    /// In the place of what is there: a predecessor's, or what one has left behind.
    fn bind(path: &Path) -> io::Result<Self> {
        refuse_other_files(path)?;
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}", std::process::id()));
        let beside = PathBuf::from(beside);
        let _ = fs::remove_file(&beside);
        let listener = UnixListener::bind(&beside)?;
        let placed = fs::set_permissions(&beside, Permissions::from_mode(MODE))
            .and_then(|()| fs::rename(&beside, path));
        if placed.is_err() {
            let _ = fs::remove_file(&beside);
        }
        placed?;
        Ok(Self {
            listener,
            _file: SocketFile::at(path)?,
        })
    }

    /// Hands the sockets to whoever asks, until one of those takes requests (`true`), or this is to
    /// end.
    fn until_succeeded(&self, sockets: &[Socket], ended: &UnixStream) -> bool {
        loop {
            let mut waited = [
                PollFd::new(&self.listener, PollFlags::IN),
                PollFd::new(ended, PollFlags::IN | PollFlags::HUP),
            ];
            if poll(&mut waited, None).is_err() {
                continue;
            }
            if !waited[1].revents().is_empty() {
                return false;
            }
            if let Ok((stream, _)) = self.listener.accept()
                && hand(&stream, sockets, ended).unwrap_or(false)
            {
                return true;
            }
        }
    }
}

/// Hands the sockets to one that asks; whether it takes requests then. Not waited for any longer
/// when this is to end.
fn hand(mut stream: &UnixStream, sockets: &[Socket], ended: &UnixStream) -> io::Result<bool> {
    if !is_one_of_us(stream)? {
        return Ok(false);
    }
    send(stream, sockets)?;
    let within = Timespec::try_from(WITHIN).ok();
    let mut waited = [
        PollFd::new(stream, PollFlags::IN),
        PollFd::new(ended, PollFlags::IN | PollFlags::HUP),
    ];
    poll(&mut waited, within.as_ref())?;
    if waited[0].revents().is_empty() {
        return Ok(false);
    }
    let mut word = [0; READY.len()];
    // One that could not start closes without a word.
    stream.read_exact(&mut word)?;
    Ok(word == *READY)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::sync::mpsc;

    use super::*;

    fn handle(listener: &TcpListener) -> Socket {
        listener.try_clone().unwrap().into()
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn sockets_go_to_the_successor_with_what_waits_in_them() {
        let folder = folder();
        let path = folder.path().join("gate.sock");
        let first = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = first.local_addr().unwrap();
        let (told, succeeded) = mpsc::channel();
        let hand_over = HandOver::start(&path, vec![handle(&first)], move || {
            told.send(()).unwrap();
        });
        let hand_over = hand_over.unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, MODE);
        let mut waits = TcpStream::connect(address).unwrap();
        let mut inherited = Inherited::find(Some(&path)).unwrap();
        let other: SocketAddr = "127.0.0.1:1".parse().unwrap();
        assert!(inherited.take(&other.into()).is_none());
        let second = inherited.take(&address.into()).unwrap().handle().unwrap();
        assert!(
            succeeded.try_recv().is_err(),
            "it does not take requests yet"
        );
        inherited.succeed();
        succeeded.recv_timeout(Duration::from_secs(10)).unwrap();
        drop((first, hand_over));
        assert!(!path.exists(), "nobody has put another there");
        second.set_nonblocking(false).unwrap();
        let (accepted, _) = second.accept().unwrap();
        (&accepted).write_all(b"ok").unwrap();
        let mut bytes = [0; 2];
        waits.read_exact(&mut bytes).unwrap();
    }

    /// A successor that cannot start leaves everything as it is, for the next one.
    #[test]
    fn one_that_fails_takes_nothing_over() {
        let folder = folder();
        let path = folder.path().join("gate.sock");
        let first = TcpListener::bind("127.0.0.1:0").unwrap();
        let (told, succeeded) = mpsc::channel();
        let hand_over = HandOver::start(&path, vec![handle(&first)], move || {
            told.send(()).unwrap();
        });
        drop(Inherited::find(Some(&path)).unwrap());
        Inherited::find(Some(&path)).unwrap().succeed();
        succeeded.recv_timeout(Duration::from_secs(10)).unwrap();
        drop(hand_over);
    }

    #[test]
    fn where_nobody_is_nothing_is_inherited() {
        let folder = folder();
        let path = folder.path().join("gate.sock");
        assert!(Inherited::find(Some(&path)).unwrap().sockets.is_empty());
        drop(UnixListener::bind(&path).unwrap());
        assert!(Inherited::find(Some(&path)).unwrap().sockets.is_empty());
        // What was left behind is replaced, and a successor's stays.
        let first = HandOver::start(&path, Vec::new(), || {}).unwrap();
        let second = HandOver::start(&path, Vec::new(), || {}).unwrap();
        drop(first);
        assert!(path.exists());
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn somebody_else_at_the_path_is_told_apart() {
        let folder = folder();
        let path = folder.path().join("gate.sock");
        let other = UnixListener::bind(&path).unwrap();
        let asked = thread::spawn(move || {
            let (mut stream, _) = other.accept().unwrap();
            stream.write_all(b"220 mail.example ready\r\n").unwrap();
        });
        let error = Inherited::find(Some(&path)).unwrap_err();
        assert!(matches!(error, GatewayError::HandOver { .. }), "{error}");
        asked.join().unwrap();
    }
}
