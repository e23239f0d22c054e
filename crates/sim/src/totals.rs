//! What one replication has seen.

use hdrhistogram::Histogram;

/// The figures of one replication, from the end of its warm-up on.
#[derive(Debug, Clone, PartialEq)]
pub struct Totals {
    /// Length of the time they are about.
    pub seconds: f64,
    /// Events that happened in it.
    pub events: u64,
    /// Of each class of the network.
    pub classes: Vec<ClassTotals>,
    /// Of each station and limit; copies in a group together.
    pub centers: Vec<CenterTotals>,
    /// Of each gate.
    pub gates: Vec<GateTotals>,
    /// Of each group.
    pub groups: Vec<GroupTotals>,
}

/// What the clients of one class have seen.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassTotals {
    /// Requests sent for the first time.
    pub fresh: u64,
    /// Attempts that were not the first.
    pub retries: u64,
    /// Requests answered.
    pub answered: u64,
    /// Requests that failed in the end.
    pub failed: u64,
    /// Attempts that found something full.
    pub refused: u64,
    /// Attempts that gave up in a queue.
    pub abandoned: u64,
    /// Attempts whose client gave up.
    pub timed_out: u64,
    /// Attempts whose server died.
    pub lost: u64,
    /// Requests that servers finished although nobody waited for them any more.
    pub wasted: u64,
    /// Sum of the response times of those answered, from the first attempt on.
    pub response_s: f64,
    /// The response times in microseconds.
    pub responses_us: Histogram<u64>,
    /// Clients that wait for an answer at the end.
    pub in_flight: u32,
}

/// What a station or limit has seen.
#[derive(Debug, Clone, PartialEq)]
pub struct CenterTotals {
    /// Requests that got in.
    pub entries: u64,
    /// Requests that were through.
    pub exits: u64,
    /// Requests that found it full.
    pub refused: u64,
    /// Requests that gave up in its queue.
    pub abandoned: u64,
    /// Requests inside (in service, or holding), summed over time.
    pub inside_s: f64,
    /// Requests in its queue, summed over time.
    pub waiting_s: f64,
    /// Servers at work, summed over time.
    pub busy_s: f64,
    /// Servers kept by requests that are blocked by the next station, summed over time.
    pub blocked_s: f64,
    /// Servers there were, summed over time; `None` where there is no limit.
    pub capacity_s: Option<f64>,
    /// Time in which nobody was inside or waiting; copies in a group summed.
    pub empty_s: f64,
    /// Sum of the waits of those that got in.
    pub wait_s: f64,
    /// The waits that were longer than 0, in microseconds.
    pub waits_us: Histogram<u64>,
    /// Requests inside and in the queue at the end.
    pub number: u32,
}

/// What a gate has seen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GateTotals {
    /// Requests that passed.
    pub passed: u64,
    /// Requests that would have had to wait too long.
    pub refused: u64,
    /// Sum of the waits.
    pub wait_s: f64,
}

/// What a group has seen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GroupTotals {
    /// Servers that got requests, summed over time.
    pub up_s: f64,
    /// Servers that were paid for, summed over time: starting and draining ones too.
    pub paid_s: f64,
    /// Decisions to have more or fewer.
    pub scaled: u64,
    /// Servers that get requests at the end.
    pub up: u32,
}

impl Totals {
    /// The figures of several replications as those of one that is as long as all of them; `None`
    /// for no replications.
    pub fn together(replications: &[Self]) -> Option<Self> {
        let (first, others) = replications.split_first()?;
        let mut sum = first.clone();
        for other in others {
            sum.add(other);
        }
        Some(sum)
    }

    fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.events += other.events;
        for (class, other) in self.classes.iter_mut().zip(&other.classes) {
            class.add(other);
        }
        for (center, other) in self.centers.iter_mut().zip(&other.centers) {
            center.add(other);
        }
        for (gate, other) in self.gates.iter_mut().zip(&other.gates) {
            gate.passed += other.passed;
            gate.refused += other.refused;
            gate.wait_s += other.wait_s;
        }
        for (group, other) in self.groups.iter_mut().zip(&other.groups) {
            group.up_s += other.up_s;
            group.paid_s += other.paid_s;
            group.scaled += other.scaled;
            group.up += other.up;
        }
    }

    /// Answers per second of a class.
    pub fn throughput_per_s(&self, class: usize) -> f64 {
        self.classes[class].answered as f64 / self.seconds
    }

    /// Mean response time of a class, from the first attempt to the answer; `None` when nothing was
    /// answered.
    pub fn response_s(&self, class: usize) -> Option<f64> {
        let class = &self.classes[class];
        (class.answered > 0).then(|| class.response_s / class.answered as f64)
    }

    /// Busy share of the servers of a center; `None` where there is no limit.
    pub fn utilization(&self, center: usize) -> Option<f64> {
        let center = &self.centers[center];
        center
            .capacity_s
            .filter(|capacity| *capacity > 0.0)
            .map(|capacity| center.busy_s / capacity)
    }

    /// Mean number of requests at a center, in service and in its queue.
    pub fn number(&self, center: usize) -> f64 {
        let center = &self.centers[center];
        (center.inside_s + center.waiting_s) / self.seconds
    }

    /// Mean number of requests in the queue of a center.
    pub fn waiting(&self, center: usize) -> f64 {
        self.centers[center].waiting_s / self.seconds
    }

    /// Mean wait of those that got into a center; `None` when nobody did.
    pub fn wait_s(&self, center: usize) -> Option<f64> {
        let center = &self.centers[center];
        (center.entries > 0).then(|| center.wait_s / center.entries as f64)
    }

    /// A quantile of the response times of a class, in seconds; `None` when nothing was answered.
    pub fn response_quantile_s(&self, class: usize, quantile: f64) -> Option<f64> {
        let responses = &self.classes[class].responses_us;
        (!responses.is_empty()).then(|| responses.value_at_quantile(quantile) as f64 / 1e6)
    }

    /// A quantile of the waits at a center, those of 0 included; `None` when nobody got in.
    pub fn wait_quantile_s(&self, center: usize, quantile: f64) -> Option<f64> {
        let center = &self.centers[center];
        if center.entries == 0 {
            return None;
        }
        let waited = center.waits_us.len() as f64;
        let beyond = (1.0 - quantile) * center.entries as f64;
        if beyond >= waited {
            return Some(0.0);
        }
        let among = 1.0 - beyond / waited;
        Some(center.waits_us.value_at_quantile(among) as f64 / 1e6)
    }
}

impl ClassTotals {
    fn add(&mut self, other: &Self) {
        self.fresh += other.fresh;
        self.retries += other.retries;
        self.answered += other.answered;
        self.failed += other.failed;
        self.refused += other.refused;
        self.abandoned += other.abandoned;
        self.timed_out += other.timed_out;
        self.lost += other.lost;
        self.wasted += other.wasted;
        self.response_s += other.response_s;
        self.in_flight += other.in_flight;
        add_histogram(&mut self.responses_us, &other.responses_us);
    }
}

impl CenterTotals {
    fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.exits += other.exits;
        self.refused += other.refused;
        self.abandoned += other.abandoned;
        self.inside_s += other.inside_s;
        self.waiting_s += other.waiting_s;
        self.busy_s += other.busy_s;
        self.blocked_s += other.blocked_s;
        let capacities = self.capacity_s.zip(other.capacity_s);
        self.capacity_s = capacities.map(|(one, other)| one + other);
        self.empty_s += other.empty_s;
        self.wait_s += other.wait_s;
        self.number += other.number;
        add_histogram(&mut self.waits_us, &other.waits_us);
    }
}

fn add_histogram(sum: &mut Histogram<u64>, other: &Histogram<u64>) {
    sum.add(other).expect("the sum resizes by itself");
}
