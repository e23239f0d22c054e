//! The open load in front of the gateways: Poisson arrivals, each on a connection that is free, or a new one.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Clients at once; more than any of the queues holds.
const CLIENTS: usize = 600;
/// A gateway that does not answer within this has lost the request.
const PATIENCE: Duration = Duration::from_secs(20);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n";

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) port: u16,
    /// Mean arrivals a second.
    pub(crate) per_s: f64,
    pub(crate) length: Duration,
    pub(crate) seed: u64,
}

/// What came back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// 0 when nothing came.
    pub(crate) status: u16,
    /// From the intended start to the last byte.
    pub(crate) took: Duration,
}

impl Load {
    /// Sends all of it and waits for the last answer.
    pub(crate) fn send(self) -> Vec<Answer> {
        let (jobs, taken) = mpsc::channel::<Instant>();
        let taken = Arc::new(Mutex::new(taken));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let taken = Arc::clone(&taken);
                let client = thread::Builder::new().stack_size(64 * 1024);
                client.spawn(move || client_of(self.port, &taken))
            })
            .collect();
        let begun = Instant::now() + Duration::from_millis(200);
        for at in self.times() {
            let intended = begun + at;
            thread::sleep(intended.saturating_duration_since(Instant::now()));
            // The clients end only when there is nothing more to take.
            let _ = jobs.send(intended);
        }
        drop(jobs);
        let joined = clients
            .into_iter()
            .flatten()
            .filter_map(|one| one.join().ok());
        joined.flatten().collect()
    }

    /// Poisson arrivals: the gaps are -ln(u)/λ.
    fn times(self) -> impl Iterator<Item = Duration> {
        let mut state = self.seed;
        let mut at = 0.0;
        std::iter::from_fn(move || {
            at -= (1.0 - uniform(&mut state)).ln() / self.per_s;
            (at < self.length.as_secs_f64()).then(|| Duration::from_secs_f64(at))
        })
    }
}

/// `SplitMix64` (Steele, Lea, Flood 2014), as a number in [0, 1).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn client_of(port: u16, jobs: &Mutex<Receiver<Instant>>) -> Vec<Answer> {
    let mut answers = Vec::new();
    let mut connection = None;
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(intended) = job else {
            return answers;
        };
        let status = ask(port, &mut connection).unwrap_or_default();
        answers.push(Answer {
            status,
            took: intended.elapsed(),
        });
    }
}

/// Asks over the connection that is kept; a gateway may have closed it, and is asked again over a new one.
fn ask(port: u16, connection: &mut Option<TcpStream>) -> std::io::Result<u16> {
    if let Some(mut kept) = connection.take()
        && let Ok(status) = exchange(&mut kept)
    {
        *connection = Some(kept);
        return Ok(status);
    }
    let mut new = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    new.set_read_timeout(Some(PATIENCE))?;
    new.set_nodelay(true)?;
    let status = exchange(&mut new)?;
    *connection = Some(new);
    Ok(status)
}

/// One request and its answer, of which the length is known from its head.
fn exchange(stream: &mut TcpStream) -> std::io::Result<u16> {
    stream.write_all(REQUEST)?;
    let mut answer = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        let count = stream.read(&mut bytes)?;
        answer.extend_from_slice(&bytes[..count]);
        let text = String::from_utf8_lossy(&answer);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .and_then(|length| length.trim().parse().ok());
            let is_whole = length.map_or(count == 0, |length: usize| body.len() >= length);
            let status = head.get(9..12).and_then(|status| status.parse().ok());
            if is_whole {
                return status.ok_or_else(|| std::io::ErrorKind::InvalidData.into());
            }
        }
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}
