//! `weir tune` with `goal = "best"` or `"smallest-near-best"`: which level of one factor is best,
//! and which smaller one is not worse.
//!
//! [`search`] asks for trials and compares; here they are run, and [`told`] puts into words what
//! came of it.

mod levels;
mod pooled;
mod search;
mod setting;
mod told;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use weir_metric::Requirement;
use weir_record::{Levels, Role, TargetFacts, TrialRecord, TrialRunner};

use crate::figure::Figure;
use crate::file::{Across, BestGoal, BestSpec};
use crate::findings;
use crate::observer::StudyObserver;
use crate::outcome::Outcome;
use crate::search::bounded::Bounded;
use crate::sweep::{Case, table};
use crate::trials::{Stop, Trials, Wanted};
use levels::Aim;
use search::{Search, Try};

pub(crate) use levels::{between, ladder};
pub(crate) use pooled::ROUNDS_MAX;
pub(crate) use search::{CONTENDERS_MAX, FINER_MAX};

/// Why a search goes no further.
enum End {
    /// The budget does not reach for another trial.
    Budget,
    Stop(Stop),
}

/// A level that is not compared, and why.
struct Out {
    level: u32,
    because: String,
}

/// Finds the best level of one factor, or the smallest that is not worse.
pub fn best(
    spec: &BestSpec,
    runner: &mut dyn TrialRunner,
    observer: &mut dyn StudyObserver,
) -> Outcome {
    let facts = runner.facts().clone();
    let scale = Scale::new(&spec.of, spec.margin, &spec.requirements);
    let aim = match spec.goal {
        BestGoal::Best => Aim::Best,
        BestGoal::SmallestNearBest => Aim::SmallestNearBest,
    };
    let mut trials = Trials::new(runner, observer, spec.seed, spec.budget);
    let mut search = Search::new(aim, spec.within, scale.margin());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(spec.seed);
    let mut out = Vec::new();
    let mut measure = |asked: Try| measure(spec, &scale, &mut trials, &mut out, &asked);
    let end = search.run(&mut random, &mut measure).err();
    let trials = trials.into_records();
    outcome(spec, &scale, facts, &search, &out, trials, end)
}

/// Runs a trial and gives its figure as the search wants it; nothing when the level is out.
fn measure(
    spec: &BestSpec,
    scale: &Scale,
    trials: &mut Trials<'_>,
    out: &mut Vec<Out>,
    asked: &Try,
) -> Result<Option<f64>, End> {
    let Some(window) = trials.window(spec.window, asked.effort, 0.0) else {
        return Err(End::Budget);
    };
    let case = case_name(spec, asked.level);
    let run = trials.run(&Wanted {
        role: Role::Search,
        case: Some(&case),
        levels: levels_of(spec, asked.level),
        window,
        why: &asked.why,
    });
    let usable = match run {
        Ok(record) => scale.read(&record),
        Err(Stop::Invalid { because, .. }) => Err(because),
        Err(stop @ Stop::Error(_)) => return Err(End::Stop(stop)),
    };
    match usable {
        Ok(value) => Ok(Some(value)),
        Err(because) => {
            let level = asked.level;
            out.push(Out { level, because });
            Ok(None)
        }
    }
}

fn levels_of(spec: &BestSpec, level: u32) -> Levels {
    let mut levels = spec.set.clone();
    levels.insert(spec.vary.clone(), f64::from(level).into());
    levels
}

fn case_name(spec: &BestSpec, level: u32) -> String {
    format!("{} {level}", spec.vary)
}

/// The figure that is compared, on a scale on which more is better and differences are shares.
pub(crate) struct Scale {
    pub(crate) figure: Figure,
    /// 1 where more is better, -1 where less is.
    sign: f64,
    margin: f64,
    pub(crate) requirements: Vec<Bounded>,
}

impl Scale {
    pub(crate) fn new(of: &str, margin: f64, requirements: &[Requirement]) -> Self {
        let figure = Figure::named(of);
        let sign = match figure {
            Figure::Throughput(_) => 1.0,
            _ => -1.0,
        };
        Self {
            figure,
            sign,
            margin,
            requirements: requirements.iter().filter_map(Bounded::new).collect(),
        }
    }

    /// The margin on this scale.
    pub(crate) fn margin(&self) -> f64 {
        self.sign * -(-self.sign * self.margin).ln_1p()
    }

    /// A trial's figure on this scale, or why it has none.
    pub(crate) fn read(&self, trial: &TrialRecord) -> Result<f64, String> {
        for bounded in &self.requirements {
            if let Some(value) = bounded.value(trial)
                && !bounded.met_by(value)
            {
                return Err(format!(
                    "`{}` did not hold in trial {}",
                    bounded.requirement, trial.id
                ));
            }
        }
        let value = self.figure.read(trial).map(|measured| measured.value);
        match value {
            Some(value) if value > 0.0 => Ok(self.sign * value.ln()),
            _ => Err(format!("trial {} has no {}", trial.id, self.figure)),
        }
    }

    /// The figure of a value on this scale.
    pub(crate) fn figure_of(&self, value: f64) -> f64 {
        (self.sign * value).exp()
    }

    /// A loss on this scale as a share of the best.
    pub(crate) fn share(&self, loss: f64) -> f64 {
        -self.sign * (-self.sign * loss).exp_m1()
    }
}

fn outcome(
    spec: &BestSpec,
    scale: &Scale,
    facts: TargetFacts,
    search: &Search,
    out: &[Out],
    trials: Vec<TrialRecord>,
    end: Option<End>,
) -> Outcome {
    let told = told::Told {
        spec,
        scale,
        facts: &facts,
        compared: search.compared(),
        curve: search.curve(),
        out,
        trials: &trials,
        end: end.as_ref(),
    };
    let (settings, settings_detail) = told.settings();
    Outcome {
        status: told.status(),
        question: spec.question.clone(),
        summary: told.summary(),
        answer: told.answer(),
        raised: Vec::new(),
        settings,
        settings_detail,
        held: None,
        findings: findings::of_sweep(&trials, &facts),
        table: Some(table(
            &told::columns(spec),
            &cases(spec, &trials),
            &trials,
            &Across::default(),
        )),
        comparison: told.comparison(),
        joint: None,
        difference: None,
        target: facts,
        trials,
        stopped_by: match end {
            Some(End::Stop(Stop::Error(error))) => Some(error),
            _ => None,
        },
    }
}

/// Every level that was tried, ascending.
fn cases(spec: &BestSpec, trials: &[TrialRecord]) -> Vec<Case> {
    let mut levels: Vec<u32> = trials
        .iter()
        .filter_map(|trial| Some(trial.level(&spec.vary)? as u32))
        .collect();
    levels.sort_unstable();
    levels.dedup();
    levels
        .into_iter()
        .map(|level| Case {
            name: case_name(spec, level),
            levels: levels_of(spec, level),
            ..Case::default()
        })
        .collect()
}
