//! The trials that decide: which ones hypotheses ask for, how a study says them, and what their
//! outcome says.

mod compared;
mod figures;
mod judge;
mod start;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_record::{Level, Levels};
use weir_stats::Estimate;

use crate::diagnosis::Diagnosis;
use crate::hypothesis::{Change, Hypothesis, LevelChange, TrialIdea};

pub use figures::TrialFigures;
pub use start::{ByHand, Started, Starter};

/// A trial that decides on a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decisive<'d> {
    /// What it decides on.
    pub hypothesis: &'d Hypothesis,
    /// What is done.
    pub idea: &'d TrialIdea,
    /// What is different in it.
    change: &'d Change,
}

/// A trial that decides, as a case of a study beside one in which everything is as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned<'d> {
    /// What it decides on.
    pub decisive: Decisive<'d>,
    /// The factor that stands for what is different.
    pub factor: String,
    /// Its level as it was, and changed.
    pub levels: [Level; 2],
    /// All levels that the case sets beside those of the trial that is explained.
    pub set: Levels,
    /// The class of requests whose time counts, where the others do other work.
    judged_by: Option<String>,
}

/// Requests that make no garbage, as somebody names them who knows the application.
#[derive(Debug, Clone, PartialEq)]
pub struct GarbageFree {
    /// The levels that make them so.
    pub set: Levels,
    /// A class of requests that stay as they were: its time counts, since the others do other
    /// work.
    pub judged_by: String,
}

/// A trial that would decide and that `--run` could not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotRun {
    /// The hypothesis.
    pub hypothesis: String,
    /// The trial's short name.
    pub idea: String,
    /// Why not, and what can be done instead.
    pub why: String,
}

/// The response of a case: means over its trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// Requests answered per second.
    pub throughput_per_s: f64,
    /// Mean time of a request, in milliseconds.
    pub mean_ms: f64,
    /// 99th percentile of the response time, in milliseconds.
    pub p99_ms: f64,
    /// Share of the time in which a garbage collector had stopped the application; null when none
    /// was told.
    pub stopped: Option<f64>,
}

/// What a decisive trial said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// The hypothesis.
    pub hypothesis: String,
    /// The trial's short name.
    pub idea: String,
    /// The factor that was changed.
    pub factor: String,
    /// Its level as it was, and changed.
    pub levels: [Level; 2],
    /// The responses as it was, and changed.
    pub responses: [Response; 2],
    /// How many trials of each there were.
    pub trials: [usize; 2],
    /// The figure that decides: `throughput_per_s`, `mean_ms`, `p99_ms`, `mean_ms` of a class as
    /// `mean_ms(LABEL)`, or `unaccounted_ms`: what is neither work nor a wait that is counted.
    pub figure: String,
    /// That figure changed, over what it was; null where there is one trial only, which tells
    /// nothing of chance.
    pub ratio: Option<Estimate>,
    /// Where the ratio has to lie for the hypothesis to hold, in words.
    pub expected: String,
    /// Whether the hypothesis held; null when the trials leave it open.
    pub holds: Option<bool>,
    /// The judgement in a sentence.
    pub says: String,
    /// Where the trials lie.
    pub run: String,
}

impl<'d> Decisive<'d> {
    /// The trials for the hypotheses that are named; when none is, for all that are supported, the
    /// first one's first. Where the load generator was the limit nothing else was measured, and
    /// nothing else is decided without being named.
    pub fn all(diagnosis: &'d Diagnosis, named: &[String]) -> Vec<Self> {
        let first = diagnosis.first.as_deref();
        let spoilt = diagnosis.load_tool_was_the_limit();
        let wanted = |hypothesis: &&Hypothesis| match named {
            [] => hypothesis.is_supported() && !spoilt,
            named => named.contains(&hypothesis.id),
        };
        let mut hypotheses: Vec<&Hypothesis> = diagnosis.hypotheses.iter().filter(wanted).collect();
        hypotheses.sort_by_key(|hypothesis| Some(hypothesis.id.as_str()) != first);
        let with_ideas = hypotheses.into_iter().flat_map(|hypothesis| {
            let ideas = hypothesis.would_decide.iter();
            ideas.map(move |idea| (hypothesis, idea))
        });
        let decisive = with_ideas.filter_map(|(hypothesis, idea)| {
            let change = idea.change.as_ref()?;
            Some(Self {
                hypothesis,
                idea,
                change,
            })
        });
        decisive.collect()
    }

    /// Whether it is a trial with other requests.
    pub fn changes_requests(&self) -> bool {
        matches!(self.change, Change::Requests)
    }

    /// The case of a study that does it, or why there can be none. `was` is the level of a factor
    /// in the trial that is explained; `garbage_free` are requests without garbage, where they
    /// are known.
    pub fn plan(
        self,
        was: impl Fn(&str) -> Option<f64>,
        starter: &Starter<'_>,
        garbage_free: Option<&GarbageFree>,
    ) -> Result<Planned<'d>, NotRun> {
        let planned = match self.change {
            Change::Level(change) => of_level(change, was),
            Change::Start(change) => start::levels(*change, starter),
            Change::Requests => of_requests(garbage_free, was),
        };
        let judged_by = garbage_free
            .filter(|_| matches!(self.change, Change::Requests))
            .map(|garbage_free| garbage_free.judged_by.clone());
        let (factor, levels, set) = planned.map_err(|why| self.not_run(&why))?;
        Ok(Planned {
            decisive: self,
            factor,
            levels,
            set,
            judged_by,
        })
    }

    /// A hypothesis without a study that could be run again: `why` not, and how a change of the
    /// start is made by hand.
    pub fn without_study(self, why: &str, by_hand: &ByHand) -> NotRun {
        match self.change {
            Change::Start(change) => self.not_run(&format!("{why}; {}", by_hand.instead(*change))),
            Change::Level(_) | Change::Requests => self.not_run(why),
        }
    }

    fn not_run(self, why: &str) -> NotRun {
        NotRun {
            hypothesis: self.hypothesis.id.clone(),
            idea: self.idea.id.clone(),
            why: why.to_owned(),
        }
    }
}

impl Planned<'_> {
    /// Whether the server has to be started for it.
    pub fn starts_server(&self) -> bool {
        matches!(self.decisive.change, Change::Start(_))
    }

    /// What the outcome says: of the trials as it was and of those with the change.
    pub fn decide(
        &self,
        was: &[TrialFigures],
        changed: &[TrialFigures],
        run: &str,
    ) -> Result<Decision, NotRun> {
        let responses = figures::response(was).zip(figures::response(changed));
        let Some((before, after)) = responses else {
            let why = "no trial of one of the two cases can be used";
            return Err(self.decisive.not_run(why));
        };
        let Decisive {
            hypothesis, idea, ..
        } = self.decisive;
        let outcome = judge::rule(
            hypothesis,
            self.decisive.change,
            &idea.id,
            self.judged_by.as_deref(),
        )
        .judge(was, changed);
        let word = match outcome.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "stays open",
        };
        let [level_was, level] = &self.levels;
        Ok(Decision {
            hypothesis: hypothesis.id.clone(),
            idea: idea.id.clone(),
            factor: self.factor.clone(),
            levels: self.levels.clone(),
            responses: [before, after],
            trials: [was.len(), changed.len()],
            says: format!(
                "`{}` {word}: with {} {level} instead of {level_was}, {}.",
                hypothesis.id, self.factor, outcome.why
            ),
            figure: outcome.figure,
            ratio: outcome.ratio,
            expected: outcome.expected,
            holds: outcome.holds,
            run: run.to_owned(),
        })
    }
}

const OTHER_REQUESTS: &str = "only those who know the application can name a request that makes no garbage: name it by what a study sets, \
     such as `--garbage-free property.HEAVY_PATH=/heavy/numeric` for the stress application, with `--judged-by light` for the class of \
     requests that stay as they are";

/// What a case sets: the factor that stands for it, its level as it was and changed, and all
/// levels.
type Set = (String, [Level; 2], Levels);

fn of_requests(
    garbage_free: Option<&GarbageFree>,
    was: impl Fn(&str) -> Option<f64>,
) -> Result<Set, String> {
    let set = garbage_free.map(|garbage_free| &garbage_free.set);
    let (factor, changed) = set
        .and_then(Levels::first_key_value)
        .ok_or_else(|| OTHER_REQUESTS.to_owned())?;
    let was = was(factor).map_or_else(|| Level::Text("what it was".to_owned()), Level::Number);
    Ok((
        factor.clone(),
        [was, changed.clone()],
        set.cloned().unwrap_or_default(),
    ))
}

fn of_level(change: &LevelChange, was: impl Fn(&str) -> Option<f64>) -> Result<Set, String> {
    let factor = &change.factor;
    let was = was(factor).ok_or_else(|| {
        format!("the level of `{factor}` in that trial is not known, or Weir cannot set it in this server")
    })?;
    let times = (was * change.times).round().max(1.0);
    if (times - was).abs() < 0.5 {
        return Err(format!("`{factor}` was {was} already"));
    }
    let changed = Level::Number(times);
    let set = Levels::from([(factor.clone(), changed.clone())]);
    Ok((factor.clone(), [Level::Number(was), changed], set))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::diagnosis::diagnose;
    use crate::evidence::made::evidence;

    fn external() -> Starter<'static> {
        Starter::Other {
            why: "Weir did not start this server".to_owned(),
            by_hand: ByHand::of_server("a"),
        }
    }

    fn ids(decisive: &[Decisive<'_>]) -> Vec<String> {
        let ids = decisive.iter();
        ids.map(|one| format!("{}/{}", one.hypothesis.id, one.idea.id))
            .collect()
    }

    const FULL: [(&str, f64); 4] = [
        ("cpu", 0.98),
        ("target.cpu.user", 1.9),
        ("target.cpu.system", 0.0),
        ("target.run-queue-wait", 7.0),
    ];

    #[test]
    fn all_supported_hypotheses_are_decided_the_first_one_first() {
        let found = diagnose(&evidence(
            &[
                FULL.as_slice(),
                &[("gc.time", 0.5), ("gc.count", 10.0), ("load.cpus", 1.0)],
            ]
            .concat(),
        ));
        assert_eq!(
            ids(&Decisive::all(&found, &[])),
            [
                "garbage-collection/no-garbage",
                "garbage-collection/serial",
                "garbage-collection/epsilon",
                "cpu/fewer-users",
                "scheduler/batch",
                "scheduler/pinned"
            ]
        );
        let named = Decisive::all(&found, &["locks".to_owned()]);
        assert_eq!(ids(&named), ["locks/one-user"], "supported or not");
        assert!(Decisive::all(&diagnose(&evidence(&[])), &[]).is_empty());
    }

    #[test]
    fn nothing_is_decided_of_a_run_that_its_load_tool_limited() {
        let tool = [("load.cpu", 0.95), ("load.cpus", 1.0)];
        let found = diagnose(&evidence(&[FULL.as_slice(), &tool].concat()));
        assert_eq!(found.first.as_deref(), Some("load-tool"));
        assert!(Decisive::all(&found, &[]).is_empty());
        assert_eq!(Decisive::all(&found, &["cpu".to_owned()]).len(), 1);
    }

    #[test]
    fn a_level_is_multiplied_and_one_user_is_one() {
        let small = [
            ("pool.db.waiting", 6.0),
            ("pool.db.occupancy", 2.0),
            ("pool.db.limit", 2.0),
        ];
        let found = diagnose(&evidence(&small));
        let planned = Decisive::all(&found, &[])[0].plan(|_| Some(2.0), &external(), None);
        let planned = planned.unwrap();
        assert_eq!(planned.factor, "pool.db");
        assert_eq!(planned.levels, [Level::Number(2.0), Level::Number(4.0)]);
        assert!(!planned.starts_server());
        let locks = Decisive::all(&found, &["locks".to_owned()]);
        let planned = locks[0].plan(|_| Some(16.0), &external(), None).unwrap();
        assert_eq!(planned.set["users"], Level::Number(1.0));
        let unknown = locks[0].plan(|_| None, &external(), None).unwrap_err();
        assert!(unknown.why.contains("`users`"), "{unknown:?}");
        let alone = locks[0].plan(|_| Some(1.0), &external(), None).unwrap_err();
        assert_eq!(alone.why, "`users` was 1 already");
    }

    #[test]
    fn requests_without_garbage_are_those_that_somebody_names() {
        let found = diagnose(&evidence(&[("gc.time", 0.3), ("gc.count", 10.0)]));
        let decisive = Decisive::all(&found, &[]);
        let numeric = Level::Text("/heavy/numeric".to_owned());
        let garbage_free = GarbageFree {
            set: Levels::from([("property.HEAVY_PATH".to_owned(), numeric.clone())]),
            judged_by: "light".to_owned(),
        };
        let planned = decisive[0]
            .plan(|_| None, &external(), Some(&garbage_free))
            .unwrap();
        assert_eq!(planned.decisive.idea.id, "no-garbage");
        assert_eq!(planned.levels[1], numeric);
        assert_eq!(planned.set, garbage_free.set);
        assert!(!planned.starts_server());
        let trial = |light_ms: f64, stopped: f64| {
            [0.98, 1.0, 1.02].map(|part| TrialFigures {
                throughput_per_s: 100.0,
                mean_ms: part * 50.0,
                p99_ms: 100.0,
                class_means_ms: [("light".to_owned(), part * light_ms)].into(),
                stopped: Some(stopped),
                unaccounted_ms: None,
                cpu: None,
                failed: 0.0,
            })
        };
        let decided = planned.decide(&trial(20.0, 0.3), &trial(20.0, 0.0), "r");
        let decided = decided.unwrap();
        assert_eq!(decided.figure, "mean_ms(light)");
        assert_eq!(decided.holds, Some(false), "{}", decided.says);
        assert!(
            decided
                .says
                .contains("/heavy/numeric instead of what it was"),
            "{}",
            decided.says
        );
    }

    #[test]
    fn what_cannot_be_run_says_why_and_what_to_do_instead() {
        let found = diagnose(&evidence(&FULL));
        let named = ["garbage-collection", "scheduler"].map(str::to_owned);
        let why = |id: &str| {
            let all = Decisive::all(&found, &named);
            let one = all.into_iter().find(|one| one.idea.id == id).unwrap();
            one.plan(|_| None, &external(), None).unwrap_err().why
        };
        assert!(why("no-garbage").contains("--garbage-free property.HEAVY_PATH"));
        for (id, typed) in [
            ("serial", "-XX:+UseSerialGC"),
            ("epsilon", "-XX:+UseEpsilonGC"),
            ("batch", "chrt --all-tasks --batch --pid 0 PID"),
            ("pinned", "taskset --all-tasks"),
        ] {
            let says = why(id);
            assert!(says.starts_with("Weir did not start this server"), "{says}");
            assert!(says.contains(typed), "{says}");
            assert!(says.contains("`weir explain a last`"), "{says}");
        }
    }
}
