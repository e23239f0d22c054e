//! The open load in front of the gateways: arrivals at planned times, each on a connection that is
//! free, or a new one.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// From a refusal to the next try of a client that tries again.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// What is sent.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) port: u16,
    /// In order of their times.
    pub(crate) arrivals: Vec<Arrival>,
    /// Clients at once; they bound how many requests can be without an answer.
    pub(crate) clients: usize,
    /// Without an answer for so long, the request is given up.
    pub(crate) patience: Duration,
    /// How often a request is sent again that was refused or given up.
    pub(crate) retries: u32,
}

/// A request that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Arrival {
    /// From the begin of the load.
    pub(crate) at: Duration,
    pub(crate) path: &'static str,
}

/// What came back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) arrival: Arrival,
    /// 0 when nothing came.
    pub(crate) status: u16,
    /// From the intended start to the last byte.
    pub(crate) took: Duration,
    /// From the intended start until a client began with it: the load's own part of `took`.
    pub(crate) late: Duration,
    /// The connection ended in the middle of the answer.
    pub(crate) is_cut: bool,
    /// A connection that was kept ended without an answer; the request was sent over another.
    pub(crate) is_second: bool,
}

/// So many requests a second for so long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Phase {
    pub(crate) per_s: f64,
    pub(crate) length: Duration,
}

/// Poisson arrivals for a path, phase after phase: the gaps are -ln(u)/λ.
pub(crate) fn poisson(path: &'static str, phases: &[Phase], seed: u64) -> Vec<Arrival> {
    let mut chance = Chance(seed);
    let mut arrivals = Vec::new();
    let mut begun = Duration::ZERO;
    for phase in phases {
        let mut at = 0.0;
        loop {
            at -= (1.0 - chance.uniform()).ln() / phase.per_s;
            if at >= phase.length.as_secs_f64() {
                break;
            }
            let at = begun + Duration::from_secs_f64(at);
            arrivals.push(Arrival { at, path });
        }
        begun += phase.length;
    }
    arrivals
}

/// `SplitMix64` (Steele, Lea, Flood 2014).
#[derive(Debug)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// A number in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Load {
    /// Sends all of it and waits for the last answer.
    pub(crate) fn send(self) -> Vec<Answer> {
        let (jobs, taken) = mpsc::channel();
        let taken = Arc::new(Mutex::new(taken));
        let client = Client {
            port: self.port,
            patience: self.patience,
            retries: self.retries,
        };
        let clients: Vec<_> = (0..self.clients)
            .map(|_| {
                let taken = Arc::clone(&taken);
                let thread = thread::Builder::new().stack_size(64 * 1024);
                thread.spawn(move || client.work(&taken))
            })
            .collect();
        let begun = Instant::now() + Duration::from_millis(200);
        for arrival in self.arrivals {
            let intended = begun + arrival.at;
            thread::sleep(intended.saturating_duration_since(Instant::now()));
            // The clients end only when there is nothing more to take.
            let _ = jobs.send((arrival, intended));
        }
        drop(jobs);
        let joined = clients
            .into_iter()
            .flatten()
            .filter_map(|one| one.join().ok());
        joined.flatten().collect()
    }
}

/// Somebody who sends one request after the other.
#[derive(Debug, Clone, Copy)]
struct Client {
    port: u16,
    patience: Duration,
    retries: u32,
}

type Jobs = Mutex<Receiver<(Arrival, Instant)>>;

impl Client {
    fn work(self, jobs: &Jobs) -> Vec<Answer> {
        let mut answers = Vec::new();
        let mut connection = None;
        loop {
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((arrival, intended)) = job else {
                return answers;
            };
            let late = intended.elapsed();
            let mut come = self.ask(arrival.path, &mut connection);
            for _ in 0..self.retries {
                if matches!(come.status, 1..=399) {
                    break;
                }
                thread::sleep(RETRY_AFTER);
                come = self.ask(arrival.path, &mut connection);
            }
            answers.push(Answer {
                arrival,
                status: come.status,
                took: intended.elapsed(),
                late,
                is_cut: come.is_cut,
                is_second: come.is_second,
            });
        }
    }

    /// Asks over the connection that is kept, unless the gateway has closed it. It may be closing
    /// it just now, and is asked again over a new one.
    fn ask(self, path: &str, connection: &mut Option<TcpStream>) -> Come {
        let mut is_second = false;
        if let Some(mut kept) = connection.take().filter(is_open) {
            match exchange(&mut kept, path) {
                Ok(come) => {
                    if !come.is_cut && !come.closes {
                        *connection = Some(kept);
                    }
                    return come;
                }
                Err(error) if is_late(&error) => return Come::default(),
                Err(_) => is_second = true,
            }
        }
        let over_new = || {
            let mut new = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
            new.set_read_timeout(Some(self.patience))?;
            new.set_nodelay(true)?;
            exchange(&mut new, path).map(|come| (new, come))
        };
        let Ok((new, come)) = over_new() else {
            return Come {
                is_second,
                ..Come::default()
            };
        };
        if !come.is_cut && !come.closes {
            *connection = Some(new);
        }
        Come { is_second, ..come }
    }
}

/// Whether the other side has not ended it; nothing is there to be read between two requests.
fn is_open(kept: &TcpStream) -> bool {
    let look = || {
        kept.set_nonblocking(true)?;
        let seen = kept.peek(&mut [0]);
        kept.set_nonblocking(false)?;
        seen
    };
    look().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

#[derive(Debug, Clone, Copy, Default)]
struct Come {
    status: u16,
    is_cut: bool,
    is_second: bool,
    /// The gateway keeps the connection no longer.
    closes: bool,
}

/// One request and its answer, of which the length is known from its head.
fn exchange(stream: &mut TcpStream, path: &str) -> io::Result<Come> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n").as_bytes())?;
    let mut answer = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        let count = stream.read(&mut bytes)?;
        answer.extend_from_slice(&bytes[..count]);
        if let Some((status, closes, is_whole)) = read(&answer) {
            if is_whole || count == 0 {
                return Ok(Come {
                    status,
                    is_cut: !is_whole,
                    is_second: false,
                    closes,
                });
            }
        } else if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// The status of an answer whose head is there, whether its connection is closed after it, and
/// whether its body is there too; one without a length ends with its connection.
fn read(answer: &[u8]) -> Option<(u16, bool, bool)> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let head = head.to_ascii_lowercase();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
    let length = field("content-length:").and_then(|length| length.trim().parse::<usize>().ok());
    let is_whole = match length {
        Some(length) => body.len() >= length,
        None => field("transfer-encoding:").is_some() && body.ends_with("0\r\n\r\n"),
    };
    let closes = field("connection:").is_some_and(|value| value.trim() == "close");
    Some((head.get(9..12)?.parse().ok()?, closes, is_whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_come_at_the_rate_of_their_phase() {
        let [slow, fast] = [50.0, 500.0].map(|per_s| Phase {
            per_s,
            length: Duration::from_secs(100),
        });
        let arrivals = poisson("/", &[slow, fast], 7);
        assert!(arrivals.is_sorted_by_key(|arrival| arrival.at));
        let early = arrivals.iter().filter(|one| one.at < slow.length).count();
        // Four standard deviations of a Poisson count, which this seed does not reach.
        assert!((4717..=5283).contains(&early), "{early}");
        let late = arrivals.len() - early;
        assert!((49_106..=50_894).contains(&late), "{late}");
    }

    #[test]
    fn an_answer_is_whole_when_its_length_has_come() {
        for (text, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Le", None),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no",
                Some((200, false, false)),
            ),
            (
                "HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nok",
                Some((503, false, true)),
            ),
            (
                "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
                Some((200, true, false)),
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                Some((200, false, true)),
            ),
        ] {
            assert_eq!(read(text.as_bytes()), expected, "{text}");
        }
    }
}
