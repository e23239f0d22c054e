//! `[find]` with `goal = "best"` or `"smallest-near-best"`: the level of one factor that is best,
//! and the smallest that is not worse.

use std::time::Duration;

use toml::Spanned;
use weir_metric::{Requirement, parse_duration, parse_share};
use weir_record::{Levels, Window};
use weir_userfile::Section;

use super::factor::{Allowed, check_name};
use super::find::{BUDGET_MIN, WITHIN_MAX, check_missed, read_requirements, read_within};
use super::load::{LoadSpec, auto_window};
use super::sweep::{MATTERS, MATTERS_UNSAID, read_set};
use crate::figure::Figure;

/// Levels that are tried when a study names no range.
const WITHIN: (u32, u32) = (1, 400);
/// What is compared when a study does not say.
const FIGURE: &str = "throughput";
/// What every level has to meet when a study does not say: fast errors are no throughput.
const REQUIREMENT: &str = "errors <= 0.1 %";
/// The most load of a study with automatic windows, all trials and warm-ups together.
const BUDGET: Duration = Duration::from_secs(40 * 60);

/// What a study wants of the levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BestGoal {
    /// The best level.
    Best,
    /// The smallest level that is not worse than the best by the margin.
    SmallestNearBest,
}

/// "Which level of … is best, and which smaller one is not worse?"
#[derive(Debug, Clone, PartialEq)]
pub struct BestSpec {
    /// The question in the user's words.
    pub question: String,
    /// What is asked for.
    pub goal: BestGoal,
    /// The factor that is varied.
    pub vary: String,
    /// The smallest and the largest level that may be tried.
    pub within: (u32, u32),
    /// The levels of other factors, the same in every trial.
    pub set: Levels,
    /// The figure by which levels are compared; of throughput more is better, of response times
    /// less.
    pub of: String,
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// What every trial has to meet for its level to count.
    pub requirements: Vec<Requirement>,
    /// How long a trial measures.
    pub window: Window,
    /// The most seconds of load, all trials together; `None`: as many as it takes.
    pub budget: Option<Duration>,
    /// Seed of the order and of the trials' randomness.
    pub seed: u64,
}

/// Reads `[find]` with one of these goals.
pub(crate) fn read(
    section: &Section<'_>,
    goal: BestGoal,
    question: Option<String>,
    load: Option<&LoadSpec>,
    seed: u64,
) -> Option<BestSpec> {
    let vary = read_vary(section);
    let within = read_within(section, WITHIN_MAX).unwrap_or(WITHIN);
    let set = section
        .section("set", "`set`")
        .map(|set| read_set(&set))
        .unwrap_or_default();
    if let Some(vary) = vary.as_ref().filter(|vary| set.contains_key(*vary)) {
        section.problems().add_with_help(
            section.span(),
            format!("`{vary}` is varied and set"),
            "leave it out of `set`",
        );
    }
    let terms = Terms::read(section, MATTERS_UNSAID, load);
    let requirements = read_asked_or_default(section);
    section.finish();
    let vary = vary?;
    let Terms {
        of,
        margin,
        window,
        budget,
    } = terms;
    Some(BestSpec {
        question: question.unwrap_or_else(|| match goal {
            BestGoal::Best => format!("Which level of `{vary}` gives the best {of}?"),
            BestGoal::SmallestNearBest => format!(
                "Which is the smallest level of `{vary}` whose {of} {}?",
                not_worse(margin)
            ),
        }),
        goal,
        vary,
        within,
        set,
        of,
        margin,
        requirements,
        window,
        budget,
        seed,
    })
}

/// How levels are compared and what that may cost, whatever is asked of them.
pub(super) struct Terms {
    pub(super) of: String,
    pub(super) margin: f64,
    pub(super) window: Window,
    pub(super) budget: Option<Duration>,
}

impl Terms {
    /// Reads them; a margin that is not said is `margin`.
    pub(super) fn read(section: &Section<'_>, margin: f64, load: Option<&LoadSpec>) -> Self {
        let of = read_figure(section);
        let margin = read_margin(section, margin);
        let budget = read_budget(section);
        let auto = load.is_none_or(|load| load.window_is_auto);
        Self {
            of,
            margin,
            window: load.map_or_else(auto_window, |load| load.window),
            budget: budget.or(auto.then_some(BUDGET)),
        }
    }
}

/// `is not worse than the best by 5 %`.
pub(super) fn not_worse(margin: f64) -> String {
    format!(
        "is not worse than the best by {} %",
        (margin * 1e5).round() / 1e3
    )
}

pub(super) fn read_asked_or_default(section: &Section<'_>) -> Vec<Requirement> {
    let by_default = || vec![REQUIREMENT.parse().expect("the requirement parses")];
    check_missed(section, false);
    read_requirements(section).unwrap_or_else(by_default)
}

pub(super) fn read_vary(section: &Section<'_>) -> Option<String> {
    let Some(vary) = section.text("vary") else {
        if section.value("vary").is_none() {
            section.missing("vary", "vary = \"threads\"");
        }
        return None;
    };
    let fits = check_name(
        vary.get_ref(),
        vary.span(),
        Allowed::All,
        section.problems(),
    );
    fits.then(|| vary.into_inner())
}

fn read_figure(section: &Section<'_>) -> String {
    let Some(of) = section.text("of") else {
        return FIGURE.to_owned();
    };
    if !matches!(
        Figure::named(of.get_ref()),
        Figure::Throughput(_) | Figure::Response(..)
    ) {
        section.problems().add_with_help(
            of.span(),
            format!(
                "nobody knows whether more or less of `{}` is better",
                of.get_ref()
            ),
            "write `of = \"throughput\"`, or a response time such as \"p99\" or \"mean\"",
        );
    }
    of.into_inner()
}

fn read_margin(section: &Section<'_>, unsaid: f64) -> f64 {
    let Some(margin) = section.parsed("margin", parse_share) else {
        return unsaid;
    };
    if !MATTERS.contains(margin.get_ref()) {
        section.problems().add_with_help(
            margin.span(),
            "a difference that matters lies between 0.5 % and 50 %",
            "write `margin = \"5 %\"`",
        );
    }
    margin.into_inner()
}

fn read_budget(section: &Section<'_>) -> Option<Duration> {
    let budget = section.parsed("budget", parse_duration)?;
    if *budget.get_ref() < BUDGET_MIN {
        section.problems().add(
            budget.span(),
            "a budget of less than 60 s does not reach for a search",
        );
    }
    Some(Spanned::into_inner(budget))
}
