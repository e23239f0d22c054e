//! JMeter's way to stop a running test from outside: a word to a port of this machine.
//!
//! Whatever sends `Shutdown` or `StopTestNow` as one UDP datagram to the port (JMeter's
//! `shutdown.sh` and `stoptest.sh` do) ends the test. Only the loopback address listens.

use std::net::{Ipv4Addr, UdpSocket};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often the end of the test is looked for.
const LOOK: Duration = Duration::from_millis(200);

/// Someone who listens until dropped.
#[derive(Debug)]
pub(crate) struct ShutdownPort {
    /// The port.
    pub(crate) port: u16,
    over: Arc<AtomicBool>,
    told: Arc<AtomicBool>,
}

impl ShutdownPort {
    /// Listens on the first free port; `None` when there is none.
    pub(crate) fn listen(ports: RangeInclusive<u16>, stop: &Arc<AtomicBool>) -> Option<Self> {
        let mut ports = ports;
        let socket = ports.find_map(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok())?;
        socket.set_read_timeout(Some(LOOK)).ok()?;
        let port = socket.local_addr().ok()?.port();
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::new(AtomicBool::new(false));
        let (ends, tells, stop) = (Arc::clone(&over), Arc::clone(&told), Arc::clone(stop));
        thread::spawn(move || {
            let mut word = [0; 64];
            while !ends.load(Ordering::Relaxed) {
                let Ok((length, _)) = socket.recv_from(&mut word) else {
                    continue;
                };
                if is_end(&word[..length]) {
                    tells.store(true, Ordering::Relaxed);
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        Some(Self { port, over, told })
    }

    /// Whether somebody ended the test through the port.
    pub(crate) fn was_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }
}

impl Drop for ShutdownPort {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn is_end(word: &[u8]) -> bool {
    matches!(word.trim_ascii(), b"Shutdown" | b"StopTestNow")
}
