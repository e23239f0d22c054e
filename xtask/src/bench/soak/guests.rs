//! Clients that behave badly beside the load: some leave before their answer, some read slowly.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_recv_buffer_size;

use crate::bench::gate::clients::Chance;

/// From one client that leaves to the next, at least and at most.
const LEAVES_EVERY_S: (f64, f64) = (0.01, 0.09);
/// How long it stays; its answer takes 20 ms and more.
const STAYS_S: (f64, f64) = (0.0, 0.04);
const LEAVING: &str =
    "GET /heavy?walks=1&pause-ms=20 HTTP/1.1\r\nHost: bench\r\nX-Guest: 1\r\n\r\n";
/// 29 KB an answer.
const READING: &str = "GET /posts?size=1000 HTTP/1.1\r\nHost: bench\r\nX-Guest: 1\r\n\r\n";
/// Requests one after the other that a slow reader sends at once: more than all buffers on the way
/// hold of their answers.
const ASKED_AT_ONCE: usize = 200;
/// Bytes that the kernel may keep for it.
const KEPT: usize = 8 * 1024;
/// It reads so many bytes at a time.
const BITE: usize = 16 * 1024;
const BITE_EVERY: Duration = Duration::from_millis(40);
/// Bites before it leaves, whatever is still to come.
const BITES: (f64, f64) = (20.0, 500.0);
const GIVES_UP: Duration = Duration::from_secs(5);

/// How many there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Guests {
    /// Requests of clients that left before their answer.
    pub(crate) left: u64,
    /// Connections of slow readers.
    pub(crate) slow: u64,
}

/// Clients that leave, one after the other, until the load has ended.
pub(crate) fn leave(port: u16, seed: u64, ended: &AtomicBool) -> Guests {
    let mut chance = Chance(seed ^ 0x1eaf);
    let mut guests = Guests::default();
    while !ended.load(Ordering::Relaxed) {
        thread::sleep(seconds(&mut chance, LEAVES_EVERY_S));
        let stays = seconds(&mut chance, STAYS_S);
        // A backlog that is full for a moment is not what is looked at.
        if let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            if stream.write_all(LEAVING.as_bytes()).is_ok() {
                guests.left += 1;
            }
            thread::sleep(stays);
        }
    }
    guests
}

/// Clients that ask for much and read slowly, one after the other, until the load has ended.
pub(crate) fn read_slowly(port: u16, seed: u64, ended: &AtomicBool) -> Guests {
    let mut chance = Chance(seed ^ 0x510);
    let mut guests = Guests::default();
    while !ended.load(Ordering::Relaxed) {
        let bites = between(&mut chance, BITES) as usize;
        if read_once(port, bites, ended).is_some() {
            guests.slow += 1;
        }
        thread::sleep(BITE_EVERY);
    }
    guests
}

/// Nothing if there was no connection, or it was closed before anything came.
fn read_once(port: u16, bites: usize, ended: &AtomicBool) -> Option<()> {
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect(at).ok()?;
    set_socket_recv_buffer_size(&stream, KEPT).ok()?;
    stream.set_read_timeout(Some(GIVES_UP)).ok()?;
    stream
        .write_all(READING.repeat(ASKED_AT_ONCE).as_bytes())
        .ok()?;
    let mut bite = vec![0; BITE];
    let mut some = None;
    for _ in 0..bites {
        if ended.load(Ordering::Relaxed) || !matches!(stream.read(&mut bite), Ok(1..)) {
            break;
        }
        some = Some(());
        thread::sleep(BITE_EVERY);
    }
    some
}

fn seconds(chance: &mut Chance, range: (f64, f64)) -> Duration {
    Duration::from_secs_f64(between(chance, range))
}

/// A number between the two.
pub(crate) fn between(chance: &mut Chance, (least, most): (f64, f64)) -> f64 {
    least + chance.uniform() * (most - least)
}
