//! A schedule of requests against one stall: what measuring from the actual start hides
//! (coordinated omission).

use crate::ModelError;
use crate::error::Check;

/// Requests due at a fixed rate, sent by clients that each wait for their answer.
///
/// `end = max(due, end of the client's last) + service`, first come first served. The term is Gil
/// Tene's (2013, "How not to measure latency"): a client that waits for a slow answer does not send
/// what was due meanwhile, so the response times that would have been worst are missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Requests due per second.
    pub due_per_s: f64,
    /// Length of the schedule.
    pub duration_s: f64,
    /// Time of one request.
    pub service_s: f64,
    /// From here on the server stands still …
    pub stall_at_s: f64,
    /// … for this long.
    pub stall_s: f64,
    /// Clients that send.
    pub clients: u32,
}

/// Response times of a [`Schedule`], each list in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleTimes {
    /// From the moment at which each request was due.
    pub from_due_s: Vec<f64>,
    /// From the moment at which each was sent.
    pub from_sent_s: Vec<f64>,
}

impl Schedule {
    /// All response times.
    pub fn solve(&self) -> Result<ScheduleTimes, ModelError> {
        let check = Check("the schedule");
        check.positive("the rate", self.due_per_s)?;
        check.not_negative("the duration", self.duration_s)?;
        check.not_negative("the service time", self.service_s)?;
        check.not_negative("the start of the stall", self.stall_at_s)?;
        check.not_negative("the length of the stall", self.stall_s)?;
        check.at_least_one("the number of clients", self.clients)?;
        check.population("clients", self.clients)?;
        let count = (self.due_per_s * self.duration_s).round();
        check.fits("requests", count, 10_000_000)?;
        let stall_end = self.stall_at_s + self.stall_s;
        // Sums of tenths and hundredths may end just before the stall that they start.
        let nearly = 1e-9 * (1.0 + self.duration_s);
        let mut free_at = vec![f64::NEG_INFINITY; self.clients as usize];
        let mut times = ScheduleTimes {
            from_due_s: Vec::with_capacity(count as usize),
            from_sent_s: Vec::with_capacity(count as usize),
        };
        for number in 0..count as u64 {
            let due = number as f64 / self.due_per_s;
            let (client, free) = free_at
                .iter()
                .copied()
                .enumerate()
                .min_by(|left, right| left.1.total_cmp(&right.1))
                .expect("there is a client");
            let sent = due.max(free);
            let stalled = (self.stall_at_s - nearly..stall_end - nearly).contains(&sent);
            let end = if stalled { stall_end } else { sent } + self.service_s;
            free_at[client] = end;
            times.from_due_s.push(end - due);
            times.from_sent_s.push(end - sent);
        }
        times.from_due_s.sort_by(f64::total_cmp);
        times.from_sent_s.sort_by(f64::total_cmp);
        Ok(times)
    }
}

/// The `ceil(q n)`-th smallest of sorted values; `None` of none.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    // Products such as 0.95 * 1000 may land a hair above the whole number that they are.
    let rank = (q * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}
