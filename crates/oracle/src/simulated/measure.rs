//! Values read from what a replication has seen.

use weir_sim::{CenterTotals, Totals};

use crate::judge::Place;

type Read = Box<dyn Fn(&Totals) -> Option<f64> + Send + Sync>;

/// A value of a case as a figure of the simulation.
pub(super) struct Measure {
    pub(super) place: Place,
    read: Read,
}

impl Measure {
    /// A value with this name; `None` where the replication has nothing to say of it.
    pub(super) fn new(
        name: &str,
        read: impl Fn(&Totals) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        Self::at(name, &[], read)
    }

    /// As `new`, inside a list, or a list of lists.
    pub(super) fn at(
        name: &str,
        indices: &[usize],
        read: impl Fn(&Totals) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        Self {
            place: Place::new(name, indices),
            read: Box::new(read),
        }
    }

    /// This figure under another name.
    pub(super) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.place.name);
        self
    }

    /// This figure inside a list.
    pub(super) fn in_list(mut self, index: usize) -> Self {
        self.place.indices.push(index);
        self
    }

    /// What this many replications, or one, say of it.
    pub(super) fn of(&self, totals: &Totals) -> Option<f64> {
        (self.read)(totals).filter(|value| value.is_finite())
    }
}

/// `part / whole`, unless there is no whole.
pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Answers per second of a class.
pub(super) fn throughput(name: &str, class: usize) -> Measure {
    Measure::new(name, move |totals| Some(totals.throughput_per_s(class)))
}

/// Mean response time of a class.
pub(super) fn response(name: &str, class: usize) -> Measure {
    Measure::new(name, move |totals| totals.response_s(class))
}

/// Share of the requests of the first class that were refused, of those that came to an end or were
/// let in.
pub(super) fn refused_share(name: &str) -> Measure {
    Measure::new(name, |totals| {
        let class = &totals.classes[0];
        share(class.refused, class.fresh)
    })
}

/// Mean number at a center, waiting and served.
pub(super) fn number(name: &str, center: usize) -> Measure {
    Measure::new(name, move |totals| Some(totals.number(center)))
}

/// Mean number waiting.
pub(super) fn waiting(name: &str, center: usize) -> Measure {
    Measure::new(name, move |totals| Some(totals.waiting(center)))
}

/// Mean number inside: served, or holding.
pub(super) fn inside(name: &str, center: usize) -> Measure {
    Measure::new(name, move |totals| {
        Some(totals.centers[center].inside_s / totals.seconds)
    })
}

/// Mean wait of those that got in.
pub(super) fn wait(name: &str, center: usize) -> Measure {
    Measure::new(name, move |totals| totals.wait_s(center))
}

/// Busy share of this many servers.
pub(super) fn busy_share(name: &str, center: usize, servers: u32) -> Measure {
    Measure::new(name, move |totals| {
        Some(totals.centers[center].busy_s / totals.seconds / f64::from(servers))
    })
}

/// Share of the time in which nobody is at a center.
pub(super) fn empty_share(name: &str, center: usize) -> Measure {
    Measure::new(name, move |totals| {
        Some(totals.centers[center].empty_s / totals.seconds)
    })
}

/// Mean time at a center.
pub(super) fn residence(name: &str, center: usize) -> Measure {
    Measure::new(name, move |totals| {
        let CenterTotals {
            inside_s,
            waiting_s,
            entries,
            ..
        } = totals.centers[center];
        (entries > 0).then(|| (inside_s + waiting_s) / entries as f64)
    })
}
