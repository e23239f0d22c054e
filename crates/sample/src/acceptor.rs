//! From the backlog to an open connection: the thread that accepts.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use crate::connection::Connection;
use crate::funnel::Funnel;
use crate::http::HttpStream;

/// How long to wait for a connection to close when no file can be opened for another.
const OUT_OF_FILES_PAUSE: Duration = Duration::from_millis(10);

/// Accepts until `stop` becomes readable. The listener does not block.
pub(crate) fn accept(listener: &TcpListener, stop: &OwnedFd, funnel: &Funnel, timeout: Duration) {
    while funnel.gate.wait_before_accept() {
        match listener.accept() {
            Ok((socket, _)) => admit(socket, funnel, timeout),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if !wait_for_either(listener, stop) {
                    return;
                }
            }
            // The client has given up, or the process is out of files or memory; both end by
            // themselves.
            Err(_) => funnel.gate.wait_for_a_close(OUT_OF_FILES_PAUSE),
        }
    }
}

fn admit(socket: TcpStream, funnel: &Funnel, timeout: Duration) {
    // Without a slot the socket is dropped, which closes it.
    let Some(slot) = funnel.gate.admit() else {
        return;
    };
    if let Ok(stream) = HttpStream::new(socket, timeout) {
        funnel.parking.park(Connection::new(stream, slot));
    }
}

/// Blocks until a connection or the stop is there; false for the stop.
fn wait_for_either(listener: &TcpListener, stop: &OwnedFd) -> bool {
    let mut sources = [
        PollFd::new(listener, PollFlags::IN),
        PollFd::new(stop, PollFlags::IN),
    ];
    match poll(&mut sources, None) {
        Ok(_) => sources[1].revents().is_empty(),
        Err(rustix::io::Errno::INTR) => true,
        Err(error) => unreachable!("waiting on our own listener failed: {error}"),
    }
}

/// Whether another connection is there before the stop is; for a listener without a gate.
pub(crate) fn next_connection(listener: &TcpListener, stop: &OwnedFd) -> Option<TcpStream> {
    loop {
        match listener.accept() {
            Ok((socket, _)) => return Some(socket),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if !wait_for_either(listener, stop) {
                    return None;
                }
            }
            Err(_) => std::thread::sleep(OUT_OF_FILES_PAUSE),
        }
    }
}
