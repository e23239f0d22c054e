//! From the answer to settings that hold: proposed by the model, confirmed by trials.

use weir_record::{Held, Level, Levels, Role, TargetFacts, TrialRecord, Window};

use crate::check::{self, Expected, OneMore, SURPLUS, WAITING_BELOW};
use crate::file::FindSpec;
use crate::raise;
use crate::search::USERS;
use crate::search::users::Users;
use crate::settings::classes::Classes;
use crate::settings::{Demand, Front, Settings, ThreadSearch};
use crate::trials::{Effort, Stop, Trials, Wanted, least_cost_s};

/// Trials of the check at most.
pub(crate) const CONFIRM_MAX: usize = 5;
/// Trials of settings that missed by less than one trial can tell. Their number does not depend on
/// how they come out, so that repeating is no way to be lucky.
const NEAR_MISS_TRIALS: usize = 3;
/// More trials that they get where no other settings hold, at most.
pub(crate) const NEAR_MISS_MORE: usize = NEAR_MISS_TRIALS - 1;
/// And one of a place more, which holds or shows that no whole number of them keeps more.
pub(crate) const ONE_MORE: usize = 1;
/// The fitted CPU may exceed the goal by this without another trial.
const FITTED_ABOVE: f64 = 0.0075;
/// Places are chosen to keep this share of the answer's CPU, so that the check's 97 % of its
/// throughput are met with something to spare.
const KEEP: f64 = 0.98;

/// Fitted figures at the answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerPoint {
    pub(crate) users: u32,
    pub(crate) cpu: f64,
    pub(crate) throughput_per_s: f64,
    pub(crate) response_ms: f64,
    /// Mean think time of a user.
    pub(crate) think_s: f64,
}

/// What holds the flow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Hold {
    /// The server's limit on threads, with what belongs to it.
    Threads,
    /// A cap for each class of requests in the gateway in front; the server stays as it is.
    Classes(Classes),
}

/// Settings with their check.
#[derive(Debug, Clone)]
pub(crate) struct Confirmed {
    pub(crate) settings: Settings,
    pub(crate) held: Held,
}

/// One trial of a proposal.
struct Attempt {
    places: u32,
    settings: Settings,
    record: TrialRecord,
}

/// All that were tried under the users of the check.
struct Attempts {
    hold: Hold,
    users: u32,
    expected: Expected,
    facts: TargetFacts,
    all: Vec<Attempt>,
}

/// Tries limits under half as many users again until one holds. Nothing is learned when no number
/// of requests in the server keeps the CPU at the goal; what was learned stays when a trial stops
/// the study.
pub(crate) fn confirm(
    spec: &FindSpec,
    trials: &mut Trials<'_>,
    hold: Hold,
    mut demand: Demand,
    (goal, at): (f64, &AnswerPoint),
    learned: &mut Option<Confirmed>,
) -> Result<(), Stop> {
    let Some(mut search) = ThreadSearch::new(&demand, goal) else {
        return Ok(());
    };
    let users = users_of_check(at);
    let front = front(spec, trials, &demand, goal, f64::from(users));
    let mut attempts = Attempts {
        hold,
        users,
        expected: Expected {
            cpu: goal,
            throughput_per_s: at.throughput_per_s,
            think_s: demand.think_s,
            one_more: None,
        },
        facts: trials.facts().clone(),
        all: Vec::new(),
    };
    let mut places = search.largest(KEEP * at.cpu);
    while attempts.all.len() < CONFIRM_MAX {
        let settings = attempts.proposal(places, &search, &demand, &front, trials);
        // The cost at the answer is measured last, if the budget still reaches for it.
        let later_s = if attempts.all.is_empty() {
            least_cost_s(spec.window)
        } else {
            0.0
        };
        let Some(window) = trials.window(spec.window, Effort::Full, later_s) else {
            break;
        };
        let why = format!("whether {} hold {users} users", attempts.hold.says(places));
        let record = attempts.run(trials, places, settings, window, &why)?;
        search.add(places, record);
        let short = add_missing(&mut demand, record);
        // Behind caps in a gateway the pools are as they were found.
        let short = short && attempts.hold == Hold::Threads;
        let (best_places, best) = attempts.best();
        let next = search.largest(KEEP * at.cpu);
        let settled = best.held.passed
            && next <= best_places
            && search.cpu(best_places) <= goal + FITTED_ABOVE;
        *learned = Some(best);
        // The same number again can only help if it is within the check's bounds as fitted.
        let hopeless = next == places && !check::cpu_fits(search.cpu(next), goal);
        if (settled || hopeless) && !short {
            break;
        }
        places = next;
    }
    attempts.repeat_near_miss(spec, trials, learned)?;
    let Some(places) = attempts.keeps_too_little() else {
        return Ok(());
    };
    let settings = attempts.proposal(places + 1, &search, &demand, &front, trials);
    attempts.one_more(spec, trials, settings, places)?;
    let (_, best) = attempts.best();
    if best.held.passed {
        *learned = Some(best);
    }
    Ok(())
}

/// The level of users of the check.
pub(crate) fn users_of_check(at: &AnswerPoint) -> u32 {
    (SURPLUS * f64::from(at.users)).ceil() as u32
}

/// Users and all settings that differ from what was found.
pub(crate) fn levels(users: u32, settings: &Settings, facts: &TargetFacts) -> Levels {
    let users = Level::Number(f64::from(users));
    let mut levels = Levels::from([(USERS.to_owned(), users)]);
    levels.extend(
        settings
            .changed(facts)
            .map(|(stage, to)| (stage.clone(), Level::Number(to))),
    );
    levels
}

fn front(spec: &FindSpec, trials: &Trials<'_>, demand: &Demand, goal: f64, users: f64) -> Front {
    let used: Vec<&TrialRecord> = trials.records().iter().collect();
    let population = Users::of(&used).map_or(users, |of| of.population(users));
    let throughput_per_s = goal * f64::from(demand.servers) / demand.cpu_s;
    Front::new(
        throughput_per_s,
        population.round() as u32,
        &spec.requirements,
    )
}

fn because(search: &ThreadSearch, demand: &Demand, threads: u32) -> String {
    if search.contradicts_its_model() {
        return format!(
            "with all {threads} busy the CPU is {:.1} %, with {} it is {:.1} % (between the trials). They contradict the \
             model of one class of requests: the limit shifts the mix",
            search.cpu(threads) * 100.0,
            threads + 1,
            search.cpu(threads + 1) * 100.0,
        );
    }
    format!(
        "with all {threads} busy the CPU is {:.1} %, with {} it is {:.1} % (fitted). Per request: \
         {:.1} ms CPU + {:.0} ms waiting while it holds a thread",
        search.cpu(threads) * 100.0,
        threads + 1,
        search.cpu(threads + 1) * 100.0,
        demand.cpu_s * 1e3,
        demand.delay_in_thread_s * 1e3,
    )
}

/// Notes the connections that a trial has shown to be missing from a pool; says whether any was.
fn add_missing(demand: &mut Demand, record: &TrialRecord) -> bool {
    let mut short = false;
    for pool in &mut demand.pools {
        let waiting = record.waiting(&pool.stage).unwrap_or(0.0);
        if waiting > WAITING_BELOW {
            pool.missing += 1 + waiting.ceil() as u32;
            short = true;
        }
    }
    short
}

impl Hold {
    /// So many places, as they are read.
    fn says(&self, places: u32) -> String {
        match self {
            Self::Threads => format!("{places} threads"),
            Self::Classes(classes) => classes.says(places),
        }
    }

    /// What a place is.
    fn noun(&self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Classes(_) => "places",
        }
    }
}

impl Attempts {
    /// The settings with so many places.
    fn proposal(
        &self,
        places: u32,
        search: &ThreadSearch,
        demand: &Demand,
        front: &Front,
        trials: &Trials<'_>,
    ) -> Settings {
        let facts = trials.facts();
        let mut settings = match &self.hold {
            Hold::Threads => {
                let because = because(search, demand, places);
                Settings::around(places, because, demand, front, facts)
            }
            Hold::Classes(classes) => classes.caps(places, search, demand),
        };
        settings.add_missing(raise::settings(trials.raised(), facts));
        settings
    }

    /// Runs a trial of a proposal.
    fn run(
        &mut self,
        trials: &mut Trials<'_>,
        places: u32,
        settings: Settings,
        window: Window,
        why: &str,
    ) -> Result<&TrialRecord, Stop> {
        let record = trials.run(&Wanted {
            role: Role::Check,
            case: None,
            levels: levels(self.users, &settings, &self.facts),
            window,
            why,
        })?;
        self.all.push(Attempt {
            places,
            settings,
            record,
        });
        Ok(&self.all[self.all.len() - 1].record)
    }

    /// Where nothing holds, what could hold for all that its trials can tell gets some more.
    fn repeat_near_miss(
        &mut self,
        spec: &FindSpec,
        trials: &mut Trials<'_>,
        learned: &mut Option<Confirmed>,
    ) -> Result<(), Stop> {
        let Some(near) = self.near_miss() else {
            return Ok(());
        };
        let (places, settings) = (near.places, near.settings.clone());
        let why = format!(
            "again whether {} hold {} users: they missed by less than so few trials can tell",
            self.hold.says(places),
            self.users
        );
        for _ in self.same(&settings).len()..NEAR_MISS_TRIALS {
            let Some(window) = trials.window(spec.window, Effort::Full, 0.0) else {
                break;
            };
            self.run(trials, places, settings.clone(), window, &why)?;
            *learned = Some(self.best().1);
        }
        Ok(())
    }

    /// Where those that come nearest keep too little, one place more: it holds, or it exceeds the
    /// goal, so that no whole number of them keeps more than those do.
    fn one_more(
        &mut self,
        spec: &FindSpec,
        trials: &mut Trials<'_>,
        settings: Settings,
        places: u32,
    ) -> Result<(), Stop> {
        let goal = self.expected.cpu;
        let noun = self.hold.noun();
        let more = places + 1;
        let tried = self.all.iter().rfind(|attempt| attempt.places == more);
        let record = if let Some(attempt) = tried {
            &attempt.record
        } else {
            let Some(window) = trials.window(spec.window, Effort::Full, 0.0) else {
                return Ok(());
            };
            let why = format!("whether {} keep more than {places}", self.hold.says(more));
            self.run(trials, more, settings, window, &why)?
        };
        if let Some(cpu) = record.cpu.as_ref().map(|cpu| cpu.total)
            && check::exceeds(cpu, goal)
        {
            self.expected.one_more = Some(OneMore {
                places: more,
                noun,
                cpu,
                trial: record.id,
            });
        }
        Ok(())
    }

    /// The most places of those that keep too little, where none holds.
    fn keeps_too_little(&self) -> Option<u32> {
        let is_held = |attempt: &Attempt| self.judge(attempt).held.passed;
        if self.all.iter().any(is_held) {
            return None;
        }
        let near = self.all.iter().filter(|attempt| {
            let same = self.same(&attempt.settings);
            check::could_keep_more(&same, &self.expected, &self.facts)
        });
        near.map(|attempt| attempt.places).max()
    }

    /// The proposal with the most places that holds, else the last one.
    fn best(&self) -> (u32, Confirmed) {
        let judged = |attempt: &Attempt| (attempt.places, self.judge(attempt));
        let mut all = self.all.iter().map(judged).collect::<Vec<_>>();
        let last = all.pop().expect("a proposal was tried");
        all.into_iter()
            .chain(std::iter::once(last.clone()))
            .filter(|(_, confirmed)| confirmed.held.passed)
            .max_by_key(|(places, _)| *places)
            .unwrap_or(last)
    }

    /// Where none holds: the one with the most places of those that could.
    fn near_miss(&self) -> Option<&Attempt> {
        let judged = self
            .all
            .iter()
            .map(|attempt| (attempt, self.judge(attempt).held));
        let judged: Vec<_> = judged.collect();
        if judged.iter().any(|(_, held)| held.passed) {
            return None;
        }
        let near = judged.into_iter().filter(|(_, held)| held.is_open());
        near.map(|(attempt, _)| attempt)
            .max_by_key(|attempt| attempt.places)
    }

    /// All trials of the same proposal are judged together, so that repeating it is no way to be
    /// lucky.
    fn judge(&self, attempt: &Attempt) -> Confirmed {
        let same = self.same(&attempt.settings);
        let mut settings = attempt.settings.clone();
        let ids: Vec<u32> = same.iter().map(|record| record.id).collect();
        settings.add_trials(&ids);
        let held = check::judge(&same, &self.expected, &self.facts);
        Confirmed { settings, held }
    }

    /// The trials of a proposal.
    fn same(&self, settings: &Settings) -> Vec<&TrialRecord> {
        let same = self
            .all
            .iter()
            .filter(|attempt| attempt.settings.limits == settings.limits);
        same.map(|attempt| &attempt.record).collect()
    }
}
