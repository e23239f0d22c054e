//! `raise` of `[find]`: how far a limit may be raised that ends the search before its goal.

use std::collections::{BTreeMap, BTreeSet};

use toml::de::DeValue;
use weir_userfile::Section;

use super::factor::{Allowed, check_name, flat, read_level};

/// A limit for which the study states no bound may be raised to so many times what was found.
const TIMES: f64 = 10.0;

/// Which limits may be raised, and how far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RaiseSpec {
    /// `raise = false`: none.
    pub never: bool,
    /// The largest limit of a stage.
    pub bounds: BTreeMap<String, f64>,
    /// Limits that the study sets itself, or asks the user for: they stay, unless `bounds` names
    /// them.
    pub kept: BTreeSet<String>,
}

impl RaiseSpec {
    /// How far the limit of a stage may be raised; `None`: it stays as it is.
    pub(crate) fn bound(&self, stage: &str, found: f64) -> Option<f64> {
        if self.never {
            return None;
        }
        let stated = self.bounds.get(stage).copied();
        let own = (!self.kept.contains(stage)).then_some(TIMES * found);
        stated.or(own).filter(|bound| *bound > found)
    }
}

pub(super) fn read(section: &Section<'_>) -> RaiseSpec {
    let Some(value) = section.value("raise") else {
        return RaiseSpec::default();
    };
    if let DeValue::Boolean(may) = value.get_ref() {
        return RaiseSpec {
            never: !may,
            ..RaiseSpec::default()
        };
    }
    let problems = section.problems();
    let Some(table) = value.get_ref().as_table() else {
        problems.add_with_help(
            value.span(),
            "`raise` says how far limits may be raised",
            "write the largest limit of each stage, `raise = { threads = 400 }`, or `raise = false`",
        );
        return RaiseSpec::default();
    };
    let entries = flat(table).into_iter();
    let bounds = entries
        .filter(|(name, span, _)| check_name(name, span.clone(), Allowed::Limits, problems))
        .filter_map(|(name, _, value)| {
            let limit = read_level(&name, value, problems)?.number()?;
            Some((name, limit))
        });
    RaiseSpec {
        bounds: bounds.collect(),
        ..RaiseSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_raised_as_far_as_the_study_says_or_ten_times() {
        let raise = RaiseSpec {
            bounds: BTreeMap::from([("threads".to_owned(), 40.0)]),
            kept: ["threads", "pool.db"].map(str::to_owned).into(),
            ..RaiseSpec::default()
        };
        assert_eq!(raise.bound("threads", 30.0), Some(40.0));
        assert_eq!(raise.bound("threads", 40.0), None, "as far as it may");
        assert_eq!(raise.bound("pool.db", 8.0), None, "the study sets it");
        assert_eq!(raise.bound("connections", 8.0), Some(80.0));
        let never = RaiseSpec {
            never: true,
            ..raise
        };
        assert_eq!(never.bound("threads", 30.0), None);
    }
}
