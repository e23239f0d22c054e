//! `[find]` with a list in `vary`: the best levels of several settings together, and the smallest
//! that are not worse.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use weir_metric::Requirement;
use weir_record::{Levels, Window};
use weir_userfile::{Section, hint};

use super::best::{BestGoal, Terms, not_worse, read_asked_or_default};
use super::factor::{Allowed, check_name, flat};
use super::find::{Goal, WITHIN_MAX, range_of};
use super::load::LoadSpec;
use super::sweep::{MATTERS_UNSAID, read_set};

/// A word of the server that holds this is a number of threads or processes kept in reserve.
const SPARE: &str = "spare";

/// "Which levels of …, … and … together are best, and which smaller ones are not worse?"
#[derive(Debug, Clone, PartialEq)]
pub struct SeveralSpec {
    /// The question in the user's words.
    pub question: String,
    /// What is asked for.
    pub goal: BestGoal,
    /// The settings that are varied, as they are listed.
    pub vary: Vec<String>,
    /// The smallest and the largest level that may be tried, where the study says; of the others
    /// they follow from the target.
    pub within: BTreeMap<String, (u32, u32)>,
    /// The levels of other factors, the same in every trial.
    pub set: Levels,
    /// The figure by which levels are compared; of throughput more is better, of response times
    /// less.
    pub of: String,
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// What every trial has to meet for its levels to count.
    pub requirements: Vec<Requirement>,
    /// How long a trial measures.
    pub window: Window,
    /// The most seconds of load, all trials together; `None`: as many as it takes.
    pub budget: Option<Duration>,
    /// Seed of the order and of the trials' randomness.
    pub seed: u64,
}

/// Whether a setting is a minimum of idle threads or processes: `native.minSpareThreads`.
pub(crate) fn is_spare(name: &str) -> bool {
    name.starts_with("native.") && name.to_ascii_lowercase().contains(SPARE)
}

/// Whether the table varies a list.
pub(super) fn is_list(section: &Section<'_>) -> bool {
    let vary = section.value("vary");
    vary.is_some_and(|vary| vary.get_ref().as_array().is_some())
}

/// Reads `[find]` whose `vary` is a list.
pub(super) fn read(
    section: &Section<'_>,
    goal: Goal,
    question: Option<String>,
    load: Option<&LoadSpec>,
    seed: u64,
) -> Option<SeveralSpec> {
    let vary = read_vary(section);
    let goal = goal_of(section, goal);
    section.know(&["within", "set"]);
    // What is wrong with the list would make problems of ranges that are none.
    let named = vary.as_deref();
    let within = named.map(|named| read_within(section, named));
    let set = named.map(|named| read_others(section, named));
    let terms = Terms::read(section, MATTERS_UNSAID, load);
    let requirements = read_asked_or_default(section);
    section.finish();
    let (vary, goal) = (vary?, goal?);
    let Terms {
        of,
        margin,
        window,
        budget,
    } = terms;
    Some(SeveralSpec {
        question: question.unwrap_or_else(|| {
            let all = vary.join(", ");
            match goal {
                BestGoal::Best => format!("Which levels of {all} together give the best {of}?"),
                BestGoal::SmallestNearBest => {
                    format!(
                        "Which are the smallest levels of {all} whose {of} {}?",
                        not_worse(margin)
                    )
                }
            }
        }),
        goal,
        vary,
        within: within.unwrap_or_default(),
        set: set.unwrap_or_default(),
        of,
        margin,
        requirements,
        window,
        budget,
        seed,
    })
}

/// Only levels that are compared can be several at once.
fn goal_of(section: &Section<'_>, goal: Goal) -> Option<BestGoal> {
    let (name, help) = match goal {
        Goal::Best(goal) => return Some(goal),
        Goal::Largest => (
            "largest",
            "write `goal = \"smallest-near-best\"` or `goal = \"best\"`, or `vary = \"users\"`",
        ),
        Goal::Matters => (
            "matters",
            "ask of one setting at a time, such as `vary = \"backlog\"`",
        ),
    };
    let typed = section.value("goal");
    let span = typed.map_or_else(|| section.span(), toml::Spanned::span);
    section.problems().add_with_help(
        span,
        format!("the goal `{name}` does not go with several settings"),
        help,
    );
    None
}

/// The settings of `vary`; nothing where none of them can be read.
fn read_vary(section: &Section<'_>) -> Option<Vec<String>> {
    let (span, _) = section.list("vary")?;
    let mut vary: Vec<String> = Vec::new();
    let listed = section.texts("vary")?;
    for name in &listed {
        if vary.contains(name.get_ref()) {
            let says = format!("`{}` is listed twice", name.get_ref());
            section.problems().add(name.span(), says);
        } else if fits(section, name.get_ref(), name.span()) {
            vary.push(name.get_ref().clone());
        }
    }
    if listed.len() < 2 {
        section.problems().add_with_help(
            span,
            format!("a list of {} is not several settings", listed.len()),
            "write two or more, such as `vary = [\"threads\", \"pool.db\"]`, or one without brackets",
        );
        return None;
    }
    (vary.len() == listed.len()).then_some(vary)
}

/// Whether it is known what the setting limits.
fn fits(section: &Section<'_>, name: &str, span: Range<usize>) -> bool {
    if !check_name(name, span.clone(), Allowed::Limits, section.problems()) {
        return false;
    }
    let known = !name.starts_with("native.") || is_spare(name);
    if !known {
        section.problems().add_with_help(
            span,
            format!(
                "what `{name}` limits is not known, so that it cannot be said at which load it limits"
            ),
            "leave it out, set it in `set`, or ask of it alone with `goal = \"matters\"`",
        );
    }
    known
}

/// The table `within`: a range for some of the settings.
fn read_within(section: &Section<'_>, vary: &[String]) -> BTreeMap<String, (u32, u32)> {
    let Some(within) = section.value("within") else {
        return BTreeMap::new();
    };
    let problems = section.problems();
    let Some(table) = within.get_ref().as_table() else {
        problems.add_with_help(
            within.span(),
            "several settings have a range each",
            "write `within = { threads = [1, 200], \"pool.db\" = [1, 50] }`, or leave it out",
        );
        return BTreeMap::new();
    };
    let mut ranges = BTreeMap::new();
    for (name, span, value) in flat(table) {
        if !vary.contains(&name) {
            let known: Vec<&str> = vary.iter().map(String::as_str).collect();
            problems.add_with_help(
                span,
                format!("`{name}` has a range and is not in `vary`"),
                hint(&name, &known),
            );
            continue;
        }
        let range = value.get_ref().as_array();
        match range {
            Some(list) => {
                if let Some(range) = range_of(problems, value.span(), list, WITHIN_MAX) {
                    ranges.insert(name, range);
                }
            }
            None => problems.add_with_help(
                value.span(),
                format!("the range of `{name}` has to be two whole numbers"),
                "write the smallest and the largest level, such as `[1, 200]`",
            ),
        }
    }
    ranges
}

/// The table `set`: levels of what is not varied.
fn read_others(section: &Section<'_>, vary: &[String]) -> Levels {
    let Some(table) = section.section("set", "`set`") else {
        return Levels::new();
    };
    let set = read_set(&table);
    for name in vary.iter().filter(|name| set.contains_key(*name)) {
        section.problems().add_with_help(
            table.span(),
            format!("`{name}` is varied and set"),
            "leave it out of `set`",
        );
    }
    set
}
