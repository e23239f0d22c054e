//! A user's connections: opened when needed, kept when both sides agree.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use tokio::net::{TcpSocket, TcpStream};

use crate::clock::Moment;
use crate::core::Core;

/// How long a connection is used at most, counted from its opening: JMeter's default
/// (`httpclient4.time_to_live`).
const LIFE_MAX: Duration = Duration::from_secs(60);

/// An open socket, counted while it lives.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
    opened: Moment,
    core: Rc<Core>,
}

impl Socket {
    /// Connects; waits as long as the system does.
    pub(crate) async fn connect(core: &Rc<Core>, to: (IpAddr, u16)) -> io::Result<Self> {
        let address = SocketAddr::from(to);
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        let stream = socket.connect(address).await?;
        // A request is written in one piece: there is nothing to wait for.
        stream.set_nodelay(true)?;
        core.sockets.set(core.sockets.get() + 1);
        Ok(Self {
            stream,
            opened: core.clock.now(),
            core: Rc::clone(core),
        })
    }

    /// Whether the server has neither closed the connection nor sent what nobody asked for, as far
    /// as this machine knows. Costs a system call only if something has come.
    fn is_quiet(&self) -> bool {
        let read = self.stream.try_read(&mut [0]);
        matches!(read, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.core.sockets.set(self.core.sockets.get() - 1);
    }
}

/// The connections that a user has kept: at most one for each server of the plan.
#[derive(Debug, Default)]
pub(crate) struct Connections(Vec<Kept>);

#[derive(Debug)]
struct Kept {
    server: usize,
    socket: Socket,
    until: Moment,
}

impl Connections {
    /// The connection to a server, if one was kept and can still be used.
    pub(crate) fn take(&mut self, server: usize, now: Moment) -> Option<Socket> {
        let at = self.0.iter().position(|kept| kept.server == server)?;
        let kept = self.0.swap_remove(at);
        (now < kept.until && kept.socket.is_quiet()).then_some(kept.socket)
    }

    /// Keeps a connection after a response that was complete at `now`; the server closes it when
    /// it has been idle for `idle_s`, if it says so.
    pub(crate) fn keep(&mut self, server: usize, socket: Socket, now: Moment, idle_s: Option<u64>) {
        let end_of_life = socket.opened.after(LIFE_MAX);
        let idle = idle_s.map(|seconds| now.after(Duration::from_secs(seconds)));
        self.0.push(Kept {
            server,
            until: idle.map_or(end_of_life, |idle| idle.min(end_of_life)),
            socket,
        });
    }
}
