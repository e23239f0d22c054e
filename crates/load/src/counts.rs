//! What one runtime counts in a second, and how the runtimes' seconds become one.

use std::collections::BTreeMap;
use std::sync::Arc;

use hdrhistogram::Histogram;
use weir_record::{
    ClassSecond, Connects, LABELS_MAX, LoadSecond, OTHER_LABELS, OpenSecond, response_histogram,
};

use crate::clock::Moment;

/// How a sample is counted, beside its row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count {
    /// The class of the label that it began with.
    pub(crate) class: usize,
    pub(crate) ended: Moment,
    pub(crate) response_us: u64,
}

/// Response codes with how often each came: a few.
type Codes = Vec<(Arc<str>, u64)>;

/// Samples of one label.
#[derive(Debug)]
pub(crate) struct ClassCounts {
    pub(crate) label: Arc<str>,
    succeeded: u64,
    failed: u64,
    succeeded_by_code: Codes,
    failed_by_code: Codes,
    response_us: Histogram<u64>,
}

impl ClassCounts {
    fn new(label: Arc<str>) -> Self {
        Self {
            label,
            succeeded: 0,
            failed: 0,
            succeeded_by_code: Codes::new(),
            failed_by_code: Codes::new(),
            response_us: response_histogram(),
        }
    }

    /// This class for the next second; its histogram is as large as this one has become.
    fn next(&self) -> Self {
        Self {
            response_us: Histogram::new_from(&self.response_us),
            ..Self::new(Arc::clone(&self.label))
        }
    }

    fn record(&mut self, response_us: u64, code: &Arc<str>, success: bool) {
        record(&mut self.response_us, response_us);
        let (all, by_code) = if success {
            (&mut self.succeeded, &mut self.succeeded_by_code)
        } else {
            (&mut self.failed, &mut self.failed_by_code)
        };
        *all += 1;
        match by_code.iter_mut().find(|(known, _)| known == code) {
            Some((_, count)) => *count += 1,
            None => by_code.push((Arc::clone(code), 1)),
        }
    }
}

/// What a runtime counted in one second.
#[derive(Debug)]
pub(crate) struct CoreSecond {
    pub(crate) second: u64,
    pub(crate) classes: Vec<ClassCounts>,
    pub(crate) lateness_us: Histogram<u64>,
    pub(crate) open: Option<OpenSecond>,
    pub(crate) redirected: u64,
    pub(crate) gauges: Gauges,
}

/// What there is at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Gauges {
    pub(crate) users: u32,
    pub(crate) in_flight: u32,
    pub(crate) sockets: u32,
    /// What happened since the beginning.
    pub(crate) so_far: SoFar,
}

/// What a runtime has counted since the beginning beside its samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SoFar {
    /// Requests that were sent on a second connection.
    pub(crate) resent: u64,
    /// Connections that were made.
    pub(crate) connected: u64,
    /// Microseconds that connecting took.
    pub(crate) connecting_us: u64,
}

/// Counts for one runtime, second by second.
#[derive(Debug)]
pub(crate) struct Counts {
    second: u64,
    classes: Vec<ClassCounts>,
    lateness_us: Histogram<u64>,
    /// Of an open workload.
    open: Option<OpenSecond>,
    redirected: u64,
}

impl Counts {
    /// Counts from the first second; the first classes are those of the labels that are known.
    pub(crate) fn new(labels: &[Arc<str>], is_open: bool) -> Self {
        Self {
            second: 0,
            classes: labels.iter().cloned().map(ClassCounts::new).collect(),
            lateness_us: response_histogram(),
            open: is_open.then(OpenSecond::new),
            redirected: 0,
        }
    }

    /// Class of a label that is known only now, and the label.
    pub(crate) fn class_of(&mut self, label: &str) -> (usize, Arc<str>) {
        let known = self.classes.iter().position(|class| *class.label == *label);
        match known {
            Some(at) => (at, Arc::clone(&self.classes[at].label)),
            None if self.classes.len() < LABELS_MAX || label == OTHER_LABELS => {
                let label: Arc<str> = label.into();
                self.classes.push(ClassCounts::new(Arc::clone(&label)));
                (self.classes.len() - 1, label)
            }
            None => (self.class_of(OTHER_LABELS).0, label.into()),
        }
    }

    /// Whether the class is that of the label.
    pub(crate) fn is_of_class(&self, label: &Arc<str>, class: usize) -> bool {
        let own = &self.classes[class].label;
        Arc::ptr_eq(own, label) || **own == **label
    }

    /// Counts a sample that ended.
    pub(crate) fn sample(
        &mut self,
        class: usize,
        response_us: u64,
        code: &Arc<str>,
        success: bool,
    ) {
        self.classes[class].record(response_us, code, success);
    }

    /// Counts a redirect among the samples.
    pub(crate) fn redirected(&mut self) {
        self.redirected += 1;
    }

    /// Counts a wake.
    pub(crate) fn woke(&mut self, late_us: u64) {
        record(&mut self.lateness_us, late_us);
    }

    /// Counts a sample that should have started so long before it did.
    pub(crate) fn open_sample(&mut self, service_us: u64, start_delay_us: u64) {
        if let Some(open) = &mut self.open {
            record(&mut open.service_us, service_us);
            record(&mut open.start_delay_us, start_delay_us);
        }
    }

    /// The next second that ended before `second`, if any; empty ones too.
    pub(crate) fn roll(&mut self, second: u64, gauges: Gauges) -> Option<CoreSecond> {
        (self.second < second).then(|| self.take(gauges))
    }

    /// The second that has begun.
    pub(crate) fn take(&mut self, gauges: Gauges) -> CoreSecond {
        let second = self.second;
        self.second += 1;
        let next = self.classes.iter().map(ClassCounts::next).collect();
        let next_lateness = Histogram::new_from(&self.lateness_us);
        let next_open = self.open.as_ref().map(|open| OpenSecond {
            service_us: Histogram::new_from(&open.service_us),
            start_delay_us: Histogram::new_from(&open.start_delay_us),
        });
        CoreSecond {
            second,
            classes: std::mem::replace(&mut self.classes, next),
            lateness_us: std::mem::replace(&mut self.lateness_us, next_lateness),
            open: std::mem::replace(&mut self.open, next_open),
            redirected: std::mem::take(&mut self.redirected),
            gauges,
        }
    }
}

/// Puts the seconds of all runtimes together.
#[derive(Debug)]
pub(crate) struct Merger {
    labels: Vec<Arc<str>>,
    /// For each runtime the first second that it has not delivered; `None` when it has ended.
    next_of_core: Vec<Option<u64>>,
    /// For each runtime what it had counted so far.
    so_far_of_core: Vec<SoFar>,
    next: u64,
    pending: BTreeMap<u64, LoadSecond>,
}

impl Merger {
    /// Nothing delivered yet.
    pub(crate) fn new(labels: &[Arc<str>], cores: usize) -> Self {
        Self {
            labels: labels.to_vec(),
            next_of_core: vec![Some(0); cores],
            so_far_of_core: vec![SoFar::default(); cores],
            next: 0,
            pending: BTreeMap::new(),
        }
    }

    /// A runtime has delivered a second.
    pub(crate) fn add(&mut self, core: usize, part: &CoreSecond) {
        self.next_of_core[core] = Some(part.second + 1);
        let labels = &self.labels;
        let second = self.pending.entry(part.second);
        let second = second.or_insert_with(|| empty_second(part.second, labels));
        second.users += part.gauges.users;
        second.in_flight = Some(second.in_flight.unwrap_or(0) + part.gauges.in_flight);
        second.sockets = Some(second.sockets.unwrap_or(0) + part.gauges.sockets);
        second.redirected = Some(second.redirected.unwrap_or(0) + part.redirected);
        let now = part.gauges.so_far;
        let before = std::mem::replace(&mut self.so_far_of_core[core], now);
        second.resent = Some(second.resent.unwrap_or(0) + now.resent - before.resent);
        let connects = second.connects.get_or_insert_default();
        connects.made = Some(connects.made.unwrap_or(0) + now.connected - before.connected);
        connects.took_s += (now.connecting_us - before.connecting_us) as f64 / 1e6;
        add(&mut second.lateness_us, &part.lateness_us);
        if let Some(open) = &part.open {
            let sum = second.open.get_or_insert_with(OpenSecond::new);
            add(&mut sum.service_us, &open.service_us);
            add(&mut sum.start_delay_us, &open.start_delay_us);
        }
        for class in &part.classes {
            add_class(&mut second.classes, class);
        }
    }

    /// A runtime will deliver nothing more.
    pub(crate) fn end(&mut self, core: usize) {
        self.next_of_core[core] = None;
    }

    /// The next second that is complete.
    pub(crate) fn next(&mut self) -> Option<LoadSecond> {
        let complete = self
            .next_of_core
            .iter()
            .flatten()
            .all(|next| *next > self.next);
        let second = complete
            .then(|| self.pending.remove(&self.next))
            .flatten()?;
        self.next += 1;
        Some(second)
    }
}

fn empty_second(second: u64, labels: &[Arc<str>]) -> LoadSecond {
    LoadSecond {
        second,
        classes: labels.iter().map(|label| empty_class(label)).collect(),
        users: 0,
        in_flight: Some(0),
        sockets: Some(0),
        lateness_us: response_histogram(),
        redirected: Some(0),
        resent: Some(0),
        connects: Some(Connects {
            made: Some(0),
            took_s: 0.0,
        }),
        open: None,
    }
}

fn empty_class(label: &str) -> ClassSecond {
    ClassSecond::empty(label)
}

fn add_class(classes: &mut Vec<ClassSecond>, part: &ClassCounts) {
    let known = classes.iter().position(|class| *class.label == *part.label);
    let at = known.unwrap_or_else(|| {
        classes.push(empty_class(&part.label));
        classes.len() - 1
    });
    let class = &mut classes[at];
    class.succeeded += part.succeeded;
    class.failed += part.failed;
    for (codes, sum) in [
        (&part.succeeded_by_code, &mut class.succeeded_by_code),
        (&part.failed_by_code, &mut class.failed_by_code),
    ] {
        for (code, count) in codes {
            *sum.entry(code.to_string()).or_default() += count;
        }
    }
    add(&mut class.response_us, &part.response_us);
}

fn record(histogram: &mut Histogram<u64>, value: u64) {
    histogram
        .record(value)
        .expect("the histogram grows to any number of microseconds");
}

/// Adds one histogram of microseconds to another.
pub(crate) fn add(sum: &mut Histogram<u64>, part: &Histogram<u64>) {
    sum.add(part)
        .expect("the histogram grows to any number of microseconds");
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn gauges(users: u32) -> Gauges {
        Gauges {
            users,
            in_flight: 1,
            sockets: 2,
            so_far: SoFar {
                resent: 5,
                connected: 3,
                connecting_us: 250_000,
            },
        }
    }

    #[test]
    fn a_second_comes_when_all_runtimes_have_delivered_it() {
        let labels: [Arc<str>; 2] = ["a".into(), "b".into()];
        let mut merger = Merger::new(&labels, 2);
        let (mut first, mut second) = (Counts::new(&labels, false), Counts::new(&labels, false));
        first.sample(0, 1_000, &"204".into(), true);
        second.sample(0, 3_000, &"503".into(), false);
        second.sample(1, 5_000, &"503".into(), false);
        second.woke(7);
        merger.add(0, &first.roll(1, gauges(3)).unwrap());
        merger.add(0, &first.roll(2, gauges(3)).unwrap());
        assert!(merger.next().is_none());
        merger.add(1, &second.roll(1, gauges(4)).unwrap());
        let whole = merger.next().unwrap();
        assert_eq!(
            (whole.second, whole.users, whole.in_flight, whole.sockets),
            (0, 7, Some(2), Some(4))
        );
        assert_eq!(whole.lateness_us.max(), 7);
        assert_eq!(whole.resent, Some(10));
        let six = Connects {
            made: Some(6),
            took_s: 0.5,
        };
        assert_eq!(whole.connects, Some(six));
        assert_eq!(
            (whole.classes[0].succeeded, whole.classes[0].failed),
            (1, 1)
        );
        assert_eq!(whole.classes[0].response_us.len(), 2);
        assert_eq!(whole.classes[1].failed_by_code["503"], 1);
        assert_eq!(whole.classes[0].succeeded_by_code["204"], 1);
        assert!(merger.next().is_none());
        merger.end(1);
        let next = merger.next().unwrap();
        assert_eq!((next.users, next.resent), (3, Some(0)));
        assert_eq!(next.connects.unwrap().made, Some(0));
        merger.end(0);
        assert!(merger.next().is_none());
    }

    #[test]
    fn labels_are_bounded() {
        let mut counts = Counts::new(&["known".into()], false);
        for number in 0..3 * LABELS_MAX {
            let (class, label) = counts.class_of(&number.to_string());
            assert_eq!(&*label, number.to_string());
            counts.sample(class, 1, &"200".into(), true);
        }
        assert_eq!(counts.class_of("known").0, 0);
        let second = counts.take(Gauges::default());
        assert_eq!(second.classes.len(), LABELS_MAX + 1);
        let others = second.classes.last().unwrap();
        assert_eq!(&*others.label, OTHER_LABELS);
        assert_eq!(others.succeeded as usize, 2 * LABELS_MAX + 1);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_between_runtimes_and_seconds(
            samples in proptest::collection::vec((0_usize..3, 0_u64..3, 0_u64..90_000_000), 0..200),
        ) {
            let labels: [Arc<str>; 1] = ["a".into()];
            let mut merger = Merger::new(&labels, 3);
            let mut counts = [Counts::new(&labels, false), Counts::new(&labels, false), Counts::new(&labels, false)];
            let mut merged = Vec::new();
            for (core, later, response_us) in &samples {
                let counts = &mut counts[*core];
                let until = counts.second + later;
                while let Some(over) = counts.roll(until, gauges(1)) {
                    merger.add(*core, &over);
                }
                counts.sample(0, *response_us, &"200".into(), true);
                merged.extend(std::iter::from_fn(|| merger.next()));
            }
            for (core, mut counts) in counts.into_iter().enumerate() {
                merger.add(core, &counts.take(gauges(0)));
                merger.end(core);
                merged.extend(std::iter::from_fn(|| merger.next()));
            }
            let places: Vec<u64> = merged.iter().map(|second| second.second).collect();
            prop_assert_eq!(places, (0..merged.len() as u64).collect::<Vec<_>>());
            let sum: u64 = merged.iter().map(LoadSecond::completed).sum();
            prop_assert_eq!(sum, samples.len() as u64);
            let largest = samples.iter().map(|(_, _, us)| *us).max().unwrap_or(0);
            let seen = merged.iter().map(|s| s.classes[0].response_us.max()).max().unwrap_or(0);
            prop_assert!(seen >= largest && seen <= largest + largest / 500 + 1);
        }
    }
}
