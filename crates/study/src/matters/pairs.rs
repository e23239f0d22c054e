//! Pairs of trials at the two levels, and what they say so far.
//!
//! Three figures decide. The one that was asked for has to be shown to be the same, or to differ
//! (sequential test by pairs, `weir_stats::sequential_equivalence`). A setting that leaves
//! throughput alone may still refuse requests or make them wait, so the share of errors and the
//! response time are compared too: they can make a difference of what looks the same, and errors
//! that are not clear keep the study going.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;
use weir_record::{FigureDifference, Role, TrialRecord};
use weir_stats::{
    Equivalence, Estimate, LOOK_LEVEL, LOOKS, LogRatio, Margin, Progress, StatsError, Verdict,
    mean_of_independent, sequential_equivalence,
};

use super::{End, case_name, levels_of};
use crate::figure::Figure;
use crate::file::MattersSpec;
use crate::trials::{Effort, Stop, Trials, Wanted, least_cost_s};

pub(crate) use weir_stats::PAIRS_MAX;

/// So many pairs may have a trial that cannot be used.
pub(crate) const DROPPED_MAX: usize = 4;
/// A share of errors that differs by less does not matter; what studies ask for by default.
const ERRORS_MATTER: f64 = 0.001;
/// A response time has to differ by at least so much: in a closed system it answers to a small
/// change of throughput with a large one of its own.
const RESPONSE_MATTERS: f64 = 0.1;

/// The pairs of a study.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Complete pairs, each in the order of the study's two levels.
    complete: Vec<[TrialRecord; 2]>,
    /// Why pairs were dropped.
    pub(super) dropped: Vec<String>,
}

/// What the pairs say.
#[derive(Debug)]
pub(super) struct Compared {
    pub(super) verdict: Verdict,
    /// The first is the one that was asked for.
    pub(super) figures: Vec<FigureDifference>,
    /// Standard deviation of one trial, as a share.
    pub(super) noise: f64,
}

impl Pairs {
    /// All trials of complete pairs at one of the two levels.
    pub(super) fn at(&self, slot: usize) -> impl Iterator<Item = &TrialRecord> {
        self.complete.iter().map(move |pair| &pair[slot])
    }

    pub(super) fn count(&self) -> usize {
        self.complete.len()
    }

    /// Runs one more pair, the first level first or last by chance.
    pub(super) fn next(
        &mut self,
        spec: &MattersSpec,
        trials: &mut Trials<'_>,
        random: &mut Xoshiro256PlusPlus,
        reserve_s: f64,
    ) -> Result<(), End> {
        let first = usize::from(random.next_u64() >> 63 == 1);
        let other_s = reserve_s + least_cost_s(spec.window);
        let window = trials
            .window(spec.window, Effort::Full, other_s)
            .ok_or(End::Budget)?;
        let mut pair: [Option<TrialRecord>; 2] = [None, None];
        for slot in [first, 1 - first] {
            let run = trials.run(&Wanted {
                role: Role::Search,
                case: Some(&case_name(spec, slot)),
                levels: levels_of(spec, slot),
                window,
                why: &format!("pair {} of at most {PAIRS_MAX}", self.count() + 1),
            });
            match run.map(|record| usable(record, spec)) {
                Ok(Ok(record)) => pair[slot] = Some(record),
                Ok(Err(because)) | Err(Stop::Invalid { because, .. }) => {
                    return self.drop_pair(because);
                }
                Err(stop @ Stop::Error(_)) => return Err(stop.into()),
            }
        }
        if let [Some(a), Some(b)] = pair {
            self.complete.push([a, b]);
        }
        Ok(())
    }

    fn drop_pair(&mut self, because: String) -> Result<(), End> {
        self.dropped.push(because);
        if self.dropped.len() > DROPPED_MAX {
            return Err(End::Dropped);
        }
        Ok(())
    }

    /// What the pairs say at the last look; `None` before there are two of them.
    pub(super) fn compared(&self, spec: &MattersSpec) -> Option<Compared> {
        let asked = Figure::named(&spec.of);
        let margin = Margin::new(spec.margin).ok()?;
        let pairs = self.values(&asked)?;
        let (found, at_look) = match sequential_equivalence(&pairs, margin).ok()? {
            Progress::Over(found) => (found, true),
            Progress::More { .. } => {
                let so_far = LogRatio::of_pairs(&pairs).ok()?;
                let found = so_far.equivalence(margin, LOOK_LEVEL).ok()?;
                (found, LOOKS.contains(&pairs.len()))
            }
        };
        let ratio = LogRatio::of_pairs(&pairs).ok()?;
        let mut figures = vec![self.figure(&asked, &found, margin)];
        figures.extend(self.other_ratio(&asked, spec.margin));
        figures.extend(self.errors());
        // Between two looks nothing is claimed, whatever the figures are.
        let verdict = if at_look {
            together(&figures)
        } else {
            Verdict::Undecided
        };
        let per_trial = ratio.standard_error * (ratio.count as f64 / 2.0).sqrt();
        Some(Compared {
            verdict,
            figures,
            noise: per_trial.exp_m1(),
        })
    }

    /// Whether no more pairs are needed.
    pub(super) fn is_over(&self, compared: Option<&Compared>) -> bool {
        let decided = compared.is_some_and(|compared| compared.verdict != Verdict::Undecided);
        let look = LOOKS.contains(&self.count());
        self.count() >= PAIRS_MAX || (look && decided)
    }

    /// A figure of every pair; `None` if a trial lacks it.
    fn values(&self, figure: &Figure) -> Option<Vec<(f64, f64)>> {
        let read = |trial: &TrialRecord| figure.read(trial).map(|measured| measured.value);
        let each = self.complete.iter();
        each.map(|[a, b]| Some((read(a)?, read(b)?))).collect()
    }

    fn figure(&self, figure: &Figure, found: &Equivalence, margin: Margin) -> FigureDifference {
        FigureDifference {
            figure: figure.to_string(),
            means: self.means(figure),
            change: Estimate {
                value: found.ratio.value - 1.0,
                low: found.ratio.low - 1.0,
                high: found.ratio.high - 1.0,
                ..found.ratio
            },
            margin: margin.relative(),
            verdict: found.verdict,
        }
    }

    fn means(&self, figure: &Figure) -> [f64; 2] {
        let pairs = self.values(figure).unwrap_or_default();
        let count = pairs.len().max(1) as f64;
        let sum = pairs
            .iter()
            .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        [sum.0 / count, sum.1 / count]
    }

    /// The mean response time, or the throughput where a response time was asked for.
    fn other_ratio(&self, asked: &Figure, margin: f64) -> Option<FigureDifference> {
        let (name, margin) = match asked {
            Figure::Response(..) => ("throughput", margin),
            _ => ("mean", margin.max(RESPONSE_MATTERS)),
        };
        let figure = Figure::named(name);
        let margin = Margin::new(margin).ok()?;
        let ratio = LogRatio::of_pairs(&self.values(&figure)?).ok()?;
        let found = ratio.equivalence(margin, LOOK_LEVEL).ok()?;
        Some(self.figure(&figure, &found, margin))
    }

    /// The share of errors: the same while it differs by less than matters, different if that is
    /// shown.
    fn errors(&self) -> Option<FigureDifference> {
        let figure = Figure::named("errors");
        let pairs = self.values(&figure)?;
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
        let change = errors_differ_by(&differences).ok()?;
        let matters = change.value.abs() > ERRORS_MATTER;
        Some(FigureDifference {
            figure: figure.to_string(),
            means: self.means(&figure),
            change,
            margin: ERRORS_MATTER,
            verdict: match (matters, change.contains(0.0)) {
                (false, _) => Verdict::Same,
                (true, false) => Verdict::Different,
                (true, true) => Verdict::Undecided,
            },
        })
    }
}

fn errors_differ_by(differences: &[f64]) -> Result<Estimate, StatsError> {
    mean_of_independent(differences, 1.0 - LOOK_LEVEL)
}

/// A trial that has the figure that was asked for, or why it cannot be used.
fn usable(record: TrialRecord, spec: &MattersSpec) -> Result<TrialRecord, String> {
    let figure = Figure::named(&spec.of);
    match figure.read(&record) {
        Some(measured) if measured.value > 0.0 => Ok(record),
        _ => Err(format!("trial {} has no {figure}", record.id)),
    }
}

/// All figures together: one that differs is a difference; the same is what was asked for and the
/// errors.
fn together(figures: &[FigureDifference]) -> Verdict {
    let errors = Figure::named("errors").to_string();
    let needed = |at: usize, figure: &FigureDifference| at == 0 || figure.figure == errors;
    if figures
        .iter()
        .any(|figure| figure.verdict == Verdict::Different)
    {
        return Verdict::Different;
    }
    let mut needed = figures
        .iter()
        .enumerate()
        .filter(|(at, figure)| needed(*at, figure));
    if needed.all(|(_, figure)| figure.verdict == Verdict::Same) {
        Verdict::Same
    } else {
        Verdict::Undecided
    }
}
