//! `[find]` with `goal = "matters"`: whether one setting makes a difference that matters.

use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;
use weir_record::{Level, Levels, Window};
use weir_userfile::Section;

use super::best::{Terms, read_vary};
use super::factor::read_level;
use super::find::{WITHIN_MAX, read_within};
use super::load::LoadSpec;
use super::sweep::read_set;

/// The smallest difference that matters, when a study does not say.
const MARGIN: f64 = 0.03;
/// The word for a level that is left as the server has it.
pub(crate) const AS_FOUND: &str = "as-found";

/// "Does … matter at all?"
#[derive(Debug, Clone, PartialEq)]
pub struct MattersSpec {
    /// The question in the user's words.
    pub question: String,
    /// The factor that is varied.
    pub vary: String,
    /// Its two levels; `None` leaves it as it was found.
    pub levels: [Option<Level>; 2],
    /// The levels of other factors, the same in every trial.
    pub set: Levels,
    /// The figure that has to be the same.
    pub of: String,
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// Levels of other factors with which the setting is thought to act as a limit; none: they are
    /// worked out, where that is possible.
    pub binds_at: Levels,
    /// How long a trial measures.
    pub window: Window,
    /// The most seconds of load, all trials together; `None`: as many as it takes.
    pub budget: Option<Duration>,
    /// Seed of the order and of the trials' randomness.
    pub seed: u64,
}

impl MattersSpec {
    /// The factors that trials set.
    pub(crate) fn factors(&self) -> impl Iterator<Item = &str> {
        let set = self.set.keys().chain(self.binds_at.keys());
        set.map(String::as_str).chain([self.vary.as_str()])
    }
}

/// Reads `[find]` with this goal.
pub(crate) fn read(
    section: &Section<'_>,
    question: Option<String>,
    load: Option<&LoadSpec>,
    seed: u64,
) -> Option<MattersSpec> {
    let vary = read_vary(section);
    let levels = read_levels(section, vary.as_deref());
    let set = read_factors(section, "set", vary.as_deref());
    let binds_at = read_factors(section, "binds-at", vary.as_deref());
    let terms = Terms::read(section, MARGIN, load);
    section.finish();
    let (vary, levels) = (vary?, levels?);
    let Terms {
        of,
        margin,
        window,
        budget,
    } = terms;
    Some(MattersSpec {
        question: question.unwrap_or_else(|| format!("Does `{vary}` matter at all?")),
        vary,
        levels,
        set,
        of,
        margin,
        binds_at,
        window,
        budget,
        seed,
    })
}

/// The table `set` or `binds-at`.
fn read_factors(section: &Section<'_>, key: &'static str, vary: Option<&str>) -> Levels {
    let Some(table) = section.section(key, &format!("`{key}`")) else {
        return Levels::new();
    };
    let levels = read_set(&table);
    if let Some(vary) = vary.filter(|vary| levels.contains_key(*vary)) {
        section.problems().add_with_help(
            table.span(),
            format!("`{vary}` is varied and set"),
            format!("leave it out of `{key}`"),
        );
    }
    levels
}

/// `levels`, else the ends of `within`.
fn read_levels(section: &Section<'_>, vary: Option<&str>) -> Option<[Option<Level>; 2]> {
    if section.value("levels").is_none() {
        if section.value("within").is_none() {
            section.missing("levels", "levels = [\"as-found\", 200]");
            return None;
        }
        let (low, high) = read_within(section, WITHIN_MAX)?;
        return Some([low, high].map(|end| Some(Level::Number(f64::from(end)))));
    }
    if let Some(within) = section.value("within") {
        section.problems().add_with_help(
            within.span(),
            "two levels are named by `levels` and by `within`",
            "leave one of the two out",
        );
    }
    let (span, list) = section.list("levels")?;
    let [first, second] = list else {
        section.problems().add_with_help(
            span,
            format!(
                "`levels` has {} of them; it takes two to differ",
                list.len()
            ),
            "write the two ends of what would be set, such as `levels = [10, 200]`",
        );
        return None;
    };
    let vary = vary?;
    let levels = [
        read_one(section, vary, first)?,
        read_one(section, vary, second)?,
    ];
    if levels[0] == levels[1] {
        section.problems().add_with_help(
            span,
            "the two levels are the same",
            "write the two ends of what would be set, such as `levels = [10, 200]`",
        );
        return None;
    }
    let as_found = Level::Text(AS_FOUND.to_owned());
    Some(levels.map(|level| Some(level).filter(|level| *level != as_found)))
}

/// The text [`AS_FOUND`] stands for no level at all, whatever the factor.
fn read_one(section: &Section<'_>, vary: &str, value: &Spanned<DeValue<'_>>) -> Option<Level> {
    if value.get_ref().as_str() == Some(AS_FOUND) {
        return Some(Level::Text(AS_FOUND.to_owned()));
    }
    read_level(vary, value, section.problems())
}
