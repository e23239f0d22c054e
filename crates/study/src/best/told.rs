//! What came of the search: status, sentences, answer, settings.
//!
//! A plateau is called one: where no level was shown to be ahead of the others, none is called the
//! best.

use std::collections::BTreeMap;

use weir_record::{
    Answer, LevelComparison, LevelStanding, LevelVerdict, Status, TargetFacts, TrialRecord,
};
use weir_stats::Estimate;

use super::levels::Curve;
use super::search::{Compared, Standing};
use super::{End, Out, Scale};
use crate::contest::CONFIDENCE;
use crate::figure::Figure;
use crate::file::{BestGoal, BestSpec, ColumnSpec, default_columns};
use crate::sweep::percent;
use crate::trials::Stop;

/// All that words are made of.
pub(super) struct Told<'a> {
    pub(super) spec: &'a BestSpec,
    pub(super) scale: &'a Scale,
    pub(super) facts: &'a TargetFacts,
    pub(super) compared: Option<Compared>,
    pub(super) curve: Option<Curve>,
    pub(super) out: &'a [Out],
    pub(super) trials: &'a [TrialRecord],
    pub(super) end: Option<&'a End>,
}

/// The columns of the table of levels.
pub(super) fn columns(spec: &BestSpec) -> Vec<ColumnSpec> {
    let mut columns = default_columns();
    columns.push(ColumnSpec::new("Memory", "memory"));
    let compared = Figure::named(&spec.of);
    if !columns
        .iter()
        .any(|column| Figure::named(&column.signal) == compared)
    {
        let (title, signal) = (spec.of.clone(), spec.of.clone());
        columns.insert(0, ColumnSpec::new(title, signal));
    }
    columns
}

impl Told<'_> {
    pub(super) fn status(&self) -> Status {
        if matches!(self.end, Some(End::Stop(Stop::Error(_)))) {
            return Status::Interrupted;
        }
        if !self.trials.iter().any(|trial| trial.valid) {
            return Status::Invalid;
        }
        let Some(compared) = &self.compared else {
            return Status::Undecided;
        };
        match self.spec.goal {
            BestGoal::SmallestNearBest if compared.smallest_as_good().is_some() => Status::Answered,
            BestGoal::Best if compared.leads_alone() => Status::Answered,
            BestGoal::Best if compared.is_plateau() => Status::Same,
            _ => Status::Undecided,
        }
    }

    /// The level that is asked for, when there is one.
    pub(super) fn level(&self) -> Option<&Standing> {
        let compared = self.compared.as_ref()?;
        match (self.status(), self.spec.goal) {
            (Status::Answered, BestGoal::Best) => Some(compared.leader()),
            // Of equals the smallest costs least.
            (Status::Answered, BestGoal::SmallestNearBest) | (Status::Same, _) => {
                compared.smallest_as_good()
            }
            _ => None,
        }
    }

    pub(super) fn answer(&self) -> Option<Answer> {
        let compared = self.compared.as_ref()?;
        let level = self.level()?;
        let (low, high) = match self.spec.goal {
            BestGoal::SmallestNearBest => (
                self.above_the_worse(compared, level.contender),
                level.contender,
            ),
            BestGoal::Best => {
                range(compared.not_beaten()).unwrap_or((level.contender, level.contender))
            }
        };
        let value = f64::from(level.contender);
        let population = self
            .trials
            .iter()
            .find(|trial| trial.level(&self.spec.vary) == Some(value));
        Some(Answer {
            factor: self.spec.vary.clone(),
            value,
            low: f64::from(low.min(level.contender)),
            high: f64::from(high.max(level.contender)),
            confidence: CONFIDENCE,
            population: population.map_or(0, |trial| trial.population),
            limited_by: self.ends_the_range(compared).then(|| "within".to_owned()),
            binding: None,
            at_value: BTreeMap::new(),
            interpolated: false,
            at_next: BTreeMap::new(),
            curves: self.curves(),
        })
    }

    /// The next level behind those that were shown to be worse.
    fn above_the_worse(&self, compared: &Compared, level: u32) -> u32 {
        let worse = compared
            .of(LevelVerdict::Worse)
            .map(|worse| worse.contender);
        worse
            .filter(|&worse| worse < level)
            .max()
            .map_or(self.spec.within.0, |worse| worse + 1)
    }

    /// Whether the best may lie behind the range.
    fn ends_the_range(&self, compared: &Compared) -> bool {
        compared.leader().contender == self.spec.within.1 && !compared.is_plateau()
    }

    fn curves(&self) -> BTreeMap<String, Vec<(f64, f64)>> {
        let points = self.curve.iter().flat_map(Curve::points);
        let points: Vec<(f64, f64)> = points
            .map(|(level, value)| (f64::from(level), self.scale.figure_of(value)))
            .collect();
        BTreeMap::from([(self.scale.figure.to_string(), points)])
    }

    pub(super) fn comparison(&self) -> Option<LevelComparison> {
        let compared = self.compared.as_ref()?;
        let standing = |standing: &Standing| LevelStanding {
            level: f64::from(standing.contender),
            value: self.scale.figure_of(standing.mean),
            loss: self.loss(standing),
            verdict: standing.verdict,
        };
        Some(LevelComparison {
            factor: self.spec.vary.clone(),
            figure: self.scale.figure.to_string(),
            margin: self.spec.margin,
            confidence: CONFIDENCE,
            blocks: compared.blocks as u32,
            noise: compared.noise.exp_m1(),
            levels: compared.standings.iter().map(standing).collect(),
        })
    }

    fn loss(&self, standing: &Standing) -> Estimate {
        let share = |loss| self.scale.share(loss);
        Estimate {
            value: share(standing.loss.value),
            low: share(standing.loss.low),
            high: share(standing.loss.high),
            ..standing.loss
        }
    }

    pub(super) fn summary(&self) -> String {
        let mut sentences = Vec::new();
        match &self.compared {
            Some(compared) => self.of_contenders(compared, &mut sentences),
            None => sentences.push(
                "Not decided: it takes two levels with two complete blocks of valid trials to compare."
                    .to_owned(),
            ),
        }
        for out in self.out {
            sentences.push(format!(
                "{} {} is not compared: {}.",
                self.spec.vary, out.level, out.because
            ));
        }
        match self.end {
            Some(End::Budget) => sentences.push(
                "The budget of load ended before the search did; a larger `budget` takes it further."
                    .to_owned(),
            ),
            Some(End::Stop(Stop::Error(error))) => {
                sentences.push(format!("The study was cut short: failed to {error}."));
            }
            _ => {}
        }
        sentences.extend(self.held_by_gate());
        sentences.join(" ")
    }

    fn of_contenders(&self, compared: &Compared, sentences: &mut Vec<String>) {
        match self.level() {
            Some(level) => sentences.push(self.headline(level) + "."),
            None => sentences.push(self.not_decided(compared)),
        }
        if compared.leads_alone() {
            if self.spec.goal == BestGoal::SmallestNearBest {
                let leader = compared.leader();
                sentences.push(format!(
                    "The best of those compared is {} ({}).",
                    leader.contender,
                    self.figure(leader)
                ));
            }
        } else if let Some((first, last)) = range(compared.not_beaten()) {
            let word = if compared.is_plateau() {
                "that is a plateau, and none of it the best"
            } else {
                "none of them was shown to be ahead"
            };
            let of_what = compared
                .not_beaten()
                .map(|standing| format!("{} ({})", standing.contender, self.figure(standing)));
            let listed: Vec<String> = of_what.collect();
            sentences.push(format!(
                "From {first} to {last}, {word}: {}.",
                listed.join(", ")
            ));
        }
        for (verdict, words) in [
            (LevelVerdict::Worse, "Worse"),
            (LevelVerdict::Open, "Not to be told"),
        ] {
            let named: Vec<String> = compared.of(verdict).map(|one| self.named(one)).collect();
            if !named.is_empty() {
                sentences.push(format!("{words}: {}.", named.join(", ")));
            }
        }
        if self.ends_the_range(compared) {
            sentences.push(format!(
                "The best that was tried is the end of the range, {}: a wider `within` may have a better one.",
                self.spec.within.1
            ));
        }
    }

    fn not_decided(&self, compared: &Compared) -> String {
        let noise = percent(compared.noise.exp_m1());
        let margin = percent(self.spec.margin);
        let count = compared.blocks;
        match self.spec.goal {
            BestGoal::Best => format!(
                "Not decided: trials of one level differ by {noise} %, too much to tell {} levels apart by {margin} % in {count} \
                 blocks.",
                compared.standings.len()
            ),
            BestGoal::SmallestNearBest => format!(
                "Not decided: trials of one level differ by {noise} %. Within {count} of them that is too much to show that a level is not \
                 worse than the best by {margin} %."
            ),
        }
    }

    /// The answer in a sentence without its full stop.
    pub(super) fn headline(&self, level: &Standing) -> String {
        let (vary, margin) = (&self.spec.vary, percent(self.spec.margin));
        let confidence = percent(CONFIDENCE);
        match (self.status(), self.spec.goal) {
            (Status::Same, _) => format!(
                "No difference that matters ({margin} %, {confidence} % confidence) between {vary} {}; {} costs least",
                self.as_good(),
                level.contender
            ),
            (_, BestGoal::Best) => format!(
                "{vary} {} is ahead of all others that were compared ({confidence} % confidence): {}",
                level.contender,
                self.figure(level)
            ),
            (_, BestGoal::SmallestNearBest) => format!(
                "{vary} {} is the smallest that is shown not to be worse than the best by {margin} % \
                 ({confidence} % confidence): {}, {}",
                level.contender,
                self.figure(level),
                self.lost(level)
            ),
        }
    }

    /// `8, 16 and 400`.
    fn as_good(&self) -> String {
        let compared = self.compared.iter();
        let levels: Vec<String> = compared
            .flat_map(|compared| compared.of(LevelVerdict::AsGood))
            .map(|standing| standing.contender.to_string())
            .collect();
        match levels.split_last() {
            Some((last, before)) if !before.is_empty() => {
                format!("{} and {last}", before.join(", "))
            }
            _ => levels.concat(),
        }
    }

    fn figure(&self, standing: &Standing) -> String {
        let figure = &self.scale.figure;
        figure
            .unit(self.trials)
            .text(self.scale.figure_of(standing.mean))
    }

    /// `4 (11 % off, 8.2 to 14)`.
    fn named(&self, standing: &Standing) -> String {
        format!("{} ({})", standing.contender, self.lost(standing))
    }

    fn lost(&self, standing: &Standing) -> String {
        let loss = self.loss(standing);
        format!(
            "{} % off, {} to {}",
            percent(loss.value),
            percent(loss.low),
            percent(loss.high)
        )
    }
}

/// The smallest and the largest level; standings ascend.
fn range<'s>(mut standings: impl Iterator<Item = &'s Standing>) -> Option<(u32, u32)> {
    let first = standings.next()?.contender;
    Some((first, standings.last().map_or(first, |last| last.contender)))
}
