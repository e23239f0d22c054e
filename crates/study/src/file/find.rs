//! `[find]`: the largest number of users, or of requests that a gateway lets in at a time, that
//! meets the requirements; other goals stand in `best`.

use std::ops::Range;
use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;
use weir_metric::{Metric, Requirement, parse_duration, parse_share};
use weir_record::{Levels, Window};
use weir_userfile::{Problems, Section, cannot, hint};

use super::best::BestGoal;
use super::factor::{Allowed, check_name};
use super::load::{EngineKind, LoadSpec, auto_window};
use super::raise::{self, RaiseSpec};
use super::sweep::read_set;

/// The goal when a study names none.
pub const DEFAULT_REQUIREMENTS: [&str; 2] = ["cpu <= 80 %", "errors <= 0.1 %"];
/// Users that are tried at most when a study names no range.
const WITHIN: (u32, u32) = (1, 1_000);
/// Arrivals a second that are tried at most when a study names no range, and that may be named.
const WITHIN_OF_RATE: (u32, u32) = (1, 100_000);
const RATE_MAX: u32 = 1_000_000;
/// What an open load has to meet in any case: it keeps its rate.
const KEEPS_ITS_RATE: &str = "missed <= 2 %";
/// The most load of a study that varies the gateway, its check included: five minutes with the
/// waits for the last requests.
const BUDGET_OF_GATE: Duration = Duration::from_secs(270);
/// The largest end of a range: one process cannot open more connections to one address anyway.
pub(super) const WITHIN_MAX: u32 = 60_000;
/// How well the answer is known when the search stops, when a study does not say.
const PRECISION: f64 = 0.05;
const PRECISIONS: std::ops::RangeInclusive<f64> = 0.005..=0.5;
/// The most load of a study with automatic windows, all trials and warm-ups together.
const BUDGET: Duration = Duration::from_secs(6 * 60);
pub(super) const BUDGET_MIN: Duration = Duration::from_secs(60);
/// Percentiles that every trial records.
pub(crate) const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// What a search for the largest level varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Varied {
    /// The users of the load.
    Users,
    /// The requests that a gateway in front of the server lets in at a time. The load stays as it
    /// is, large enough that some of it waits.
    GateConcurrency,
    /// The arrivals a second of an open load.
    Rate,
}

impl Varied {
    const ALL: [Self; 3] = [Self::Users, Self::GateConcurrency, Self::Rate];

    /// Its name among the factors.
    pub fn factor(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::GateConcurrency => "gate.concurrency",
            Self::Rate => "rate",
        }
    }

    /// What its levels count.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::GateConcurrency => "requests at a time",
            Self::Rate => "arrivals/s",
        }
    }

    /// The levels that are tried when a study names no range.
    fn within(self) -> (u32, u32) {
        match self {
            Self::Users | Self::GateConcurrency => WITHIN,
            Self::Rate => WITHIN_OF_RATE,
        }
    }

    /// The largest end of a range.
    fn within_max(self) -> u32 {
        match self {
            Self::Users | Self::GateConcurrency => WITHIN_MAX,
            Self::Rate => RATE_MAX,
        }
    }
}

/// "What is the largest number of users at which … holds?"
#[derive(Debug, Clone, PartialEq)]
pub struct FindSpec {
    /// The question in the user's words.
    pub question: String,
    /// What is varied.
    pub varied: Varied,
    /// The levels of other factors, the same in every trial.
    pub set: Levels,
    /// The smallest and the largest level that may be tried.
    pub within: (u32, u32),
    /// What has to hold; all of it.
    pub requirements: Vec<Requirement>,
    /// Which limits may be raised when they end the search before its goal.
    pub raise: RaiseSpec,
    /// The search stops when the answer is known to this share of itself.
    pub precision: f64,
    /// How long a trial measures.
    pub window: Window,
    /// The most seconds of load, all trials together; `None`: as many as it takes.
    pub budget: Option<Duration>,
    /// Seed of the trials' randomness.
    pub seed: u64,
}

impl Default for FindSpec {
    /// The question of `weir tune` without a file.
    fn default() -> Self {
        let requirements = default_requirements();
        Self {
            question: question(Varied::Users, &requirements),
            varied: Varied::Users,
            set: Levels::new(),
            within: WITHIN,
            requirements,
            raise: RaiseSpec::default(),
            precision: PRECISION,
            window: auto_window(),
            budget: Some(BUDGET),
            seed: 1,
        }
    }
}

fn default_requirements() -> Vec<Requirement> {
    DEFAULT_REQUIREMENTS
        .iter()
        .map(|text| text.parse().expect("the default requirements parse"))
        .collect()
}

fn question(varied: Varied, requirements: &[Requirement]) -> String {
    let all: Vec<String> = requirements.iter().map(ToString::to_string).collect();
    let asked = match varied {
        Varied::Users => "How many concurrent users while",
        Varied::GateConcurrency => "How many requests may the gateway let in at a time while",
        Varied::Rate => "How many arrivals a second while",
    };
    format!("{asked} {}?", all.join(" and "))
}

/// Reads `[find]`.
pub(crate) fn read(
    section: &Section<'_>,
    question_typed: Option<String>,
    load: Option<&LoadSpec>,
    seed: u64,
) -> FindSpec {
    let varied = read_vary(section);
    refuse_comparison(section, varied);
    let set = read_fixed(section, varied, load);
    let within = read_within(section, varied.within_max()).unwrap_or(varied.within());
    let mut requirements = read_requirements(section).unwrap_or_else(default_requirements);
    check_bounded(&requirements, section);
    check_missed(section, varied == Varied::Rate);
    if varied == Varied::Rate {
        check_open(section, load, &set);
        add_missed(&mut requirements);
    }
    if varied == Varied::GateConcurrency {
        check_rises_with_gate(section);
    }
    let precision = read_precision(section).unwrap_or(PRECISION);
    let raise = raise::read(section);
    let budget = section.parsed("budget", parse_duration);
    if let Some(budget) = budget
        .as_ref()
        .filter(|budget| *budget.get_ref() < BUDGET_MIN)
    {
        section.problems().add(
            budget.span(),
            "a budget of less than 60 s does not reach for a search",
        );
    }
    section.finish();
    let window = load.map_or_else(auto_window, |load| load.window);
    let auto = load.is_none_or(|load| load.window_is_auto);
    let most = match varied {
        Varied::Users | Varied::Rate => BUDGET,
        Varied::GateConcurrency => BUDGET_OF_GATE,
    };
    if window.requests.is_some() {
        section.problems().add_with_help(
            section.span(),
            "a search needs trials of which it can set the length, and the load has `requests`",
            "write `window` instead of `requests` in [load], or ask with [sweep]",
        );
    }
    FindSpec {
        question: question_typed.unwrap_or_else(|| question(varied, &requirements)),
        varied,
        set,
        within,
        requirements,
        raise,
        precision,
        window,
        budget: budget.map(Spanned::into_inner).or(auto.then_some(most)),
        seed,
    }
}

/// What is varied; the users when the table names nothing, or nothing of which a largest level can
/// be found.
fn read_vary(section: &Section<'_>) -> Varied {
    let Some(vary) = section.text("vary") else {
        return Varied::Users;
    };
    let name = vary.get_ref().as_str();
    if let Some(varied) = Varied::ALL
        .into_iter()
        .find(|varied| varied.factor() == name)
    {
        return varied;
    }
    if check_name(name, vary.span(), Allowed::All, section.problems()) {
        not_built(section, vary.span(), name);
    }
    Varied::Users
}

/// `set`: the levels of what is not varied. The load in front of a gateway has to be said: one user
/// more than it lets in is the least that shows anything.
fn read_fixed(section: &Section<'_>, varied: Varied, load: Option<&LoadSpec>) -> Levels {
    if varied == Varied::Users {
        return Levels::new();
    }
    let table = section.section("set", "`set`");
    let set = table.as_ref().map(read_set).unwrap_or_default();
    let problems = section.problems();
    if let Some(table) = table.filter(|_| set.contains_key(varied.factor())) {
        problems.add_with_help(
            table.span(),
            format!("`{}` is varied and set", varied.factor()),
            "leave it out of `set`",
        );
    }
    if let Some(load) = load.filter(|_| varied == Varied::GateConcurrency)
        && !set.contains_key("users")
        && load.takes_users()
    {
        problems.add_with_help(
            section.span(),
            "nothing says how many users press against the gateway",
            "write `set = { users = 60 }`, clearly more than it is to let in at a time",
        );
    }
    set
}

/// Of what grows with the requests that are let in, a largest level can be found. Who waits in the
/// gateway waits the less the more it lets in, and so response times fall.
fn check_rises_with_gate(section: &Section<'_>) {
    let Some(texts) = section.texts("subject-to") else {
        return;
    };
    for text in &texts {
        let Ok(requirement) = text.get_ref().parse::<Requirement>() else {
            continue;
        };
        let falls = match &requirement.metric {
            Metric::Mean | Metric::Percentile(_) | Metric::Max => true,
            Metric::Waiting(stage) | Metric::Wait(stage) => stage == "gate",
            Metric::Cpu | Metric::Throughput | Metric::Errors | Metric::Missed | Metric::Memory => {
                false
            }
        };
        if falls && requirement.comparison.bounds_from_above() {
            section.problems().add_with_help(
                text.span(),
                format!(
                    "`{requirement}` has no largest `gate.concurrency`: the more are let in, the less the others wait"
                ),
                "bound what happens in the server, such as \"cpu <= 80 %\" or \"waiting(pool.db) <= 1\", or write \
                 `goal = \"smallest-near-best\"`",
            );
        }
    }
}

/// An open load is kept only if what is due is answered.
fn add_missed(requirements: &mut Vec<Requirement>) {
    let asked = requirements
        .iter()
        .any(|requirement| requirement.metric == Metric::Missed);
    if !asked {
        let own = KEEPS_ITS_RATE.parse();
        requirements.push(own.expect("the project's own requirement parses"));
    }
}

/// Nothing is due in a closed load: its users wait for their answers.
pub(super) fn check_missed(section: &Section<'_>, is_open: bool) {
    for text in section.texts("subject-to").iter().flatten() {
        let requirement = text.get_ref().parse::<Requirement>();
        if !is_open && requirement.is_ok_and(|asked| asked.metric == Metric::Missed) {
            section.problems().add_with_help(
                text.span(),
                "only a search for a rate knows what is `missed`",
                "write `vary = \"rate\"`, or bound errors and response times",
            );
        }
    }
}

/// What a search for a rate needs: an engine that says what was due, and nothing else that decides
/// how much is let in.
fn check_open(section: &Section<'_>, load: Option<&LoadSpec>, set: &Levels) {
    let problems = section.problems();
    if load.is_some_and(|load| load.engine == EngineKind::Jmeter) {
        problems.add_with_help(
            section.span(),
            "JMeter as engine does not say which arrivals were due",
            "leave out `engine`: the plan runs on Weir's own engine",
        );
    }
    if set.contains_key(Varied::GateConcurrency.factor()) {
        problems.add_with_help(
            section.span(),
            "a search for a rate with a fixed `gate.concurrency` is not built yet",
            "leave it out of `set`: what the gateway's own file says holds",
        );
    }
}

fn not_built(section: &Section<'_>, span: Range<usize>, name: &str) {
    section.problems().add_with_help(
        span,
        format!("finding the largest `{name}` is not built yet"),
        "write `vary = \"users\"`, `vary = \"rate\"` or `vary = \"gate.concurrency\"`, or ask for the best: `goal = \"smallest-near-best\"`",
    );
}

/// What a `[find]` is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// The largest level that meets the requirements.
    Largest,
    /// A level that is best.
    Best(BestGoal),
    /// Whether the level matters at all.
    Matters,
}

/// The goal of the table; `largest` when it names none or one that does not exist.
pub(super) fn read_goal(section: &Section<'_>) -> Goal {
    let Some(goal) = section.text("goal") else {
        return Goal::Largest;
    };
    match goal.get_ref().as_str() {
        "largest" => {}
        "best" => return Goal::Best(BestGoal::Best),
        "smallest-near-best" => return Goal::Best(BestGoal::SmallestNearBest),
        "matters" => return Goal::Matters,
        name => section.problems().add_with_help(
            goal.span(),
            format!("`{name}` is no goal"),
            hint(name, &["largest", "best", "smallest-near-best", "matters"]),
        ),
    }
    Goal::Largest
}

/// What only the goals that compare levels have.
fn refuse_comparison(section: &Section<'_>, varied: Varied) {
    let keys = ["of", "margin", "levels", "binds-at"].into_iter();
    for key in keys.chain((varied == Varied::Users).then_some("set")) {
        if let Some(value) = section.value(key) {
            section.problems().add_with_help(
                value.span(),
                format!("the goal `largest` has no `{key}`"),
                "leave it out, or write `goal = \"smallest-near-best\"`",
            );
        }
    }
}

pub(super) fn read_within(section: &Section<'_>, most: u32) -> Option<(u32, u32)> {
    let (span, list) = section.list("within")?;
    range_of(section.problems(), span, list, most)
}

/// The two ends of a range of levels.
pub(super) fn range_of(
    problems: &Problems,
    span: Range<usize>,
    list: &[Spanned<DeValue<'_>>],
    most: u32,
) -> Option<(u32, u32)> {
    let ends: Vec<Option<u32>> = list
        .iter()
        .map(|value| {
            let number = super::level::level(value.get_ref())?.number()?;
            let fits = number.fract() == 0.0 && (1.0..=f64::from(most)).contains(&number);
            fits.then_some(number as u32)
        })
        .collect();
    let help = "write the smallest and the largest level, such as `within = [1, 200]`";
    match ends[..] {
        [Some(low), Some(high)] if low < high => Some((low, high)),
        [Some(low), Some(high)] => {
            problems.add_with_help(
                span,
                format!("the range from {low} to {high} holds nothing to choose from"),
                format!(
                    "write `within = [{}, {}]`",
                    low.min(high),
                    low.max(high).max(2)
                ),
            );
            None
        }
        _ => {
            problems.add_with_help(
                span,
                format!("`within` has to be two whole numbers from 1 to {most}"),
                help,
            );
            None
        }
    }
}

pub(super) fn read_requirements(section: &Section<'_>) -> Option<Vec<Requirement>> {
    let texts = section.texts("subject-to")?;
    if texts.is_empty() {
        section.missing("subject-to", "subject-to = [\"cpu <= 80 %\"]");
        return None;
    }
    let problems = section.problems();
    let mut requirements: Vec<Requirement> = Vec::new();
    for text in &texts {
        match text.get_ref().parse::<Requirement>() {
            Ok(requirement) => {
                check_requirement(&requirement, text.span(), section);
                requirements.push(requirement);
            }
            Err(error) => problems.add(text.span(), cannot(&error)),
        }
    }
    Some(requirements)
}

fn check_bounded(requirements: &[Requirement], section: &Section<'_>) {
    let bounded = requirements
        .iter()
        .any(|requirement| requirement.comparison.bounds_from_above());
    if !requirements.is_empty() && !bounded {
        section.problems().add_with_help(
            section.span(),
            "nothing in `subject-to` grows too large with more users, so that there is no largest",
            "add a bound from above such as \"cpu <= 80 %\" or \"p99 <= 300 ms\"",
        );
    }
}

fn check_requirement(requirement: &Requirement, span: Range<usize>, section: &Section<'_>) {
    let problems = section.problems();
    let from_above = requirement.comparison.bounds_from_above();
    match requirement.metric {
        Metric::Cpu if from_above && !(0.01..0.995).contains(&requirement.bound_base()) => {
            problems.add_with_help(
                span,
                format!("the goal `{requirement}` is always missed or always met"),
                "a CPU goal lies between 1 % and 99 %, such as \"cpu <= 80 %\"",
            );
        }
        Metric::Throughput if from_above => problems.add_with_help(
            span,
            "throughput from above is no requirement of a search",
            "to cap throughput is the gateway's work; here write a bound from below",
        ),
        Metric::Percentile(percent) if !recorded(percent) => problems.add_with_help(
            span,
            format!("p{percent} is not recorded"),
            "write p50, p90, p95, p99 or p99.9",
        ),
        _ => {}
    }
}

pub(crate) fn recorded(percent: f64) -> bool {
    PERCENTILES
        .iter()
        .any(|known| (known - percent).abs() < 1e-9)
}

fn read_precision(section: &Section<'_>) -> Option<f64> {
    let precision = section.parsed("precision", parse_share)?;
    if PRECISIONS.contains(precision.get_ref()) {
        return Some(precision.into_inner());
    }
    section.problems().add_with_help(
        precision.span(),
        "a precision lies between 0.5 % and 50 %",
        "write `precision = \"5 %\"`",
    );
    None
}
