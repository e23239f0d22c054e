//! The searches down the funnel: each setting with the others as proposed so far.

use weir_record::{Role, TrialRecord};

use super::found::{By, Chosen};
use super::limits::{self, Standing};
use super::model::Model;
use super::study::{Study, Tried};
use super::walk::{FINER_MAX, Walk};
use super::{AGAIN_MAX, End};
use crate::best::ladder;
use crate::fullness::full;
use crate::settings::THREADS;
use crate::trials::Effort;

impl Study<'_> {
    /// Searches every setting, outermost first, and once more those in front of one that was made
    /// small.
    pub(super) fn search(&mut self) -> Result<(), End> {
        for at in 0..self.found.searched.len() {
            self.explore(at, None)?;
            if self.found.nothing_meets {
                return Ok(());
            }
        }
        for at in 0..self.found.searched.len() {
            if self.is_waited_for_behind(at) {
                let proposed = self.found.proposal[at];
                self.explore(at, Some(proposed))?;
            }
        }
        Ok(())
    }

    /// Whether, with what is proposed, requests wait for a stage behind this one: then this one
    /// holds them longer.
    fn is_waited_for_behind(&self, at: usize) -> bool {
        let tried = self.tried.get(&self.found.proposal);
        let Some(record) = tried.and_then(|tried| self.record(tried.trial)) else {
            return false;
        };
        (at + 1..self.found.searched.len()).any(|behind| {
            let stage = &self.found.limits[self.found.searched[behind]].stage;
            let made_small = self.found.proposal[behind] < self.found.open[behind];
            let limit = f64::from(self.found.proposal[behind]);
            made_small && full(record, stage, limit).is_some()
        })
    }

    fn record(&self, trial: u32) -> Option<&TrialRecord> {
        self.trials
            .records()
            .iter()
            .find(|record| record.id == trial)
    }

    /// Searches one setting with the others as proposed; a second time around what it was.
    fn explore(&mut self, at: usize, again: Option<u32>) -> Result<(), End> {
        let Some(within) = self.range(at, again.is_some()) else {
            return Ok(());
        };
        let share = self.found.scale.margin() / self.found.searched.len() as f64;
        let most = if again.is_some() {
            AGAIN_MAX
        } else {
            ladder(within).len() + FINER_MAX
        };
        let mut walk = Walk::new(self.spec.goal, within, share, most);
        // What more lets in than can want in acts like the top of the range.
        if let Some(known) = self.tried.get(&self.found.proposal).copied() {
            let level = self.found.proposal[at].min(within.1);
            walk.know(level, known.value);
            let mut top = self.found.proposal.clone();
            top[at] = level;
            self.tried.entry(top).or_insert(known);
        }
        let mut random = self.random.clone();
        let mut around = again.or_else(|| {
            self.model()
                .and_then(|model| self.by_model(&model, at, within))
        });
        if around.is_none() && self.model().is_none() && self.is_inside(at) {
            // With the CPU saturated nothing is known of the rest; a trial in the middle tells.
            let middle = walk.middle();
            let value = self.try_level(at, middle, "to see what a request needs")?;
            walk.know(middle, value);
            around = self
                .model()
                .and_then(|model| self.by_model(&model, at, within));
        }
        let ended = walk.run(around, &mut random, &mut |level, why| {
            self.try_level(at, level, why)
        });
        self.random = random;
        ended?;
        let Some(choice) = walk.choice() else {
            self.found.nothing_meets = true;
            return Ok(());
        };
        let (below, above) = walk.beside(choice);
        self.found.proposal[at] = choice;
        self.found.chosen[at] = Chosen {
            within,
            below,
            above,
            by: By::Search,
        };
        Ok(())
    }

    fn is_inside(&self, at: usize) -> bool {
        let stage = &self.found.limits[self.found.searched[at]].stage;
        stage == THREADS || stage.starts_with("pool.")
    }

    /// The levels among which a setting is searched: a pool behind fewer threads is wanted by
    /// fewer. Behind a stage that was made small, more may be wanted than with all limits open,
    /// and that is how it is for a second search.
    fn range(&mut self, at: usize, again: bool) -> Option<(u32, u32)> {
        let limit = &self.found.limits[self.found.searched[at]];
        let Standing::Searched { reach, .. } = &limit.standing else {
            return None;
        };
        let (low, mut high) = (limit.within.0, *reach);
        if again {
            let users = self.trials.records().first().map(|open| open.population);
            high = users.map_or(high, |users| users.clamp(high, limit.within.1));
        }
        let threads = self.found.stages().position(|stage| stage == THREADS);
        if let Some(threads) = threads.filter(|threads| *threads < at) {
            let threads = self.found.proposal[threads];
            let here = self
                .tried
                .get(&self.found.proposal)
                .and_then(|tried| self.record(tried.trial));
            let occupied = here.and_then(|record| record.occupancy(&limit.stage));
            high = high.min(occupied.map_or(threads, |occupied| limits::wanted(occupied, threads)));
        }
        if high > low {
            return Some((low, high));
        }
        // One is enough for what the threads let through.
        self.found.proposal[at] = low;
        self.found.chosen[at] = Chosen {
            within: (low, low),
            below: None,
            above: None,
            by: By::Model,
        };
        None
    }

    fn model(&self) -> Option<Model> {
        Model::of(&self.trials.valid(), self.facts)
    }

    fn by_model(&self, model: &Model, at: usize, within: (u32, u32)) -> Option<u32> {
        let loss = self.spec.margin / self.found.searched.len() as f64;
        let stages: Vec<&str> = self.found.stages().collect();
        match stages[at] {
            THREADS => Some(model.threads(within, loss)),
            stage if stage.starts_with("pool.") => {
                let threads = stages.iter().position(|stage| *stage == THREADS);
                let threads = threads.map(|threads| self.found.proposal[threads]);
                model.pool(stage, threads, within, loss)
            }
            _ => None,
        }
    }

    /// What the model says of settings for whose search the budget does not reach.
    pub(super) fn derive_the_rest(&mut self) {
        let Some(model) = self.model() else {
            return;
        };
        for at in 0..self.found.searched.len() {
            if self.found.chosen[at].by != By::Open {
                continue;
            }
            let limit = &self.found.limits[self.found.searched[at]];
            let Standing::Searched { reach, .. } = limit.standing else {
                continue;
            };
            let within = (limit.within.0, reach);
            if let Some(level) = self.by_model(&model, at, within) {
                self.found.proposal[at] = level;
                self.found.chosen[at] = Chosen {
                    within,
                    below: None,
                    above: None,
                    by: By::Model,
                };
            }
        }
    }

    /// One trial of a search; the same point is not measured twice.
    fn try_level(&mut self, at: usize, level: u32, why: &str) -> Result<Option<f64>, End> {
        let mut point = self.found.proposal.clone();
        point[at] = level;
        if let Some(tried) = self.tried.get(&point) {
            return Ok(tried.value);
        }
        let stage = &self.found.limits[self.found.searched[at]].stage;
        let why = format!("{stage}: {why}");
        let (record, value) =
            self.measure(&point, Role::Search, Effort::Rough, &why, self.reserve_s())?;
        if let Some(record) = record {
            self.tried.insert(
                point,
                Tried {
                    value,
                    trial: record.id,
                },
            );
        }
        Ok(value)
    }
}
