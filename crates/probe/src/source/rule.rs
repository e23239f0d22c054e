//! From figures of a server to signals: sums, growth per second, growth of one over growth of
//! another.
//!
//! A rule says what becomes of the samples of one metric (or the values of one attribute). Where
//! several rules lead to one signal, the first that finds anything counts, so that a table can name
//! the better figure first: a time integral before a single reading.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::reading::{Reading, put};
use weir_metric::describe;

/// What signals end in of which a server writes -1 when it has no such thing: a limit, or threads
/// of its own (Tomcat with virtual threads).
const NONE_IS_NEGATIVE: [&str; 4] = [".limit", ".occupancy", ".idle", ".waiting"];

/// What becomes of the figures that a rule finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The signal, as in the catalogue. `{NAME}` stands for the value of a label, or of a property
    /// of an MBean's name: `pool.{pool}.occupancy`.
    pub signal: String,
    /// Whether it is the growth per second that counts, and not the figure itself. Growth of a
    /// time integral is the time average.
    pub growth: bool,
    /// What the figure is multiplied by: `0.001` for milliseconds.
    pub scale: f64,
    /// What is taken off each figure first, down to 0.
    pub minus: f64,
}

impl Rule {
    /// The figure as it is.
    pub fn level(signal: impl Into<String>) -> Self {
        Self {
            signal: signal.into(),
            growth: false,
            scale: 1.0,
            minus: 0.0,
        }
    }

    /// The growth of the figure per second.
    pub fn growth(signal: impl Into<String>) -> Self {
        Self {
            growth: true,
            ..Self::level(signal)
        }
    }
}

/// The part that a figure has in its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Adds to the sum.
    Value,
    /// Is taken off the sum.
    Less,
    /// Adds to the sum that the growth of the other is divided by the growth of.
    Per,
}

/// One figure that a rule has found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// Place of the rule.
    pub(crate) rule: usize,
    pub(crate) role: Role,
    /// The signal, with nothing left to fill in.
    pub(crate) signal: String,
    pub(crate) figure: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sum {
    value: Option<f64>,
    less: f64,
    per: Option<f64>,
}

impl Sum {
    fn total(&self) -> Option<f64> {
        Some(self.value? - self.less)
    }
}

/// By signal and by the rule that led to it.
type Sums = BTreeMap<(String, usize), Sum>;

/// The rules of one source, and what they found last.
#[derive(Debug)]
pub(crate) struct Figures {
    rules: Vec<Rule>,
    last: Option<(Instant, Sums)>,
    /// The rule that each signal came by.
    came_by: BTreeMap<String, usize>,
}

impl Figures {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        Self {
            rules,
            last: None,
            came_by: BTreeMap::new(),
        }
    }

    /// Signals that there have been, and the rules they came by.
    pub(crate) fn came_by(&self) -> impl Iterator<Item = (&str, usize)> {
        self.came_by
            .iter()
            .map(|(signal, &rule)| (signal.as_str(), rule))
    }

    /// Takes what was found at a moment; nothing when there was no answer.
    pub(crate) fn take(&mut self, found: Option<Vec<Found>>, now: Instant, reading: &mut Reading) {
        let sums = found.map(|found| self.sums(found));
        if let Some(sums) = &sums {
            let mut told = None;
            for ((signal, rule), sum) in sums {
                // They are sorted: the first rule of a signal comes first.
                if sum.value.is_none() || told == Some(signal) {
                    continue;
                }
                told = Some(signal);
                let before = self.last.as_ref().and_then(|(then, before)| {
                    let elapsed_s = now.duration_since(*then).as_secs_f64();
                    Some((before.get(&(signal.clone(), *rule))?, elapsed_s))
                });
                let figure = figure(&self.rules[*rule], sum, before);
                if figure.is_some_and(f64::is_finite) {
                    self.came_by.insert(signal.clone(), *rule);
                }
                put(reading, signal.clone(), figure);
            }
        }
        self.last = sums.map(|sums| (now, sums));
    }

    fn sums(&self, found: Vec<Found>) -> Sums {
        let mut sums = Sums::new();
        // What is not in the catalogue could pass for another signal.
        let known = found
            .into_iter()
            .filter(|found| found.figure.is_finite() && describe(&found.signal).is_some());
        for found in known {
            // How much the others add up to is not known then.
            let may_be_none = NONE_IS_NEGATIVE
                .iter()
                .any(|end| found.signal.ends_with(end));
            let is_none = found.figure < 0.0 && may_be_none;
            let figure = if is_none { f64::NAN } else { found.figure };
            let sum = sums.entry((found.signal, found.rule)).or_default();
            match found.role {
                Role::Value => {
                    let minus = self.rules[found.rule].minus;
                    let figure = if minus == 0.0 {
                        figure
                    } else {
                        (figure - minus).max(0.0)
                    };
                    *sum.value.get_or_insert(0.0) += figure;
                }
                Role::Less => sum.less += figure,
                Role::Per => *sum.per.get_or_insert(0.0) += figure,
            }
        }
        sums.retain(|_, sum| !sum.total().is_some_and(f64::is_nan));
        sums
    }
}

fn figure(rule: &Rule, sum: &Sum, before: Option<(&Sum, f64)>) -> Option<f64> {
    let total = sum.total()?;
    if let Some(per) = sum.per {
        // In a second in which nobody came through there is no mean.
        let (before, _) = before?;
        let per = grown(before.per, Some(per)).filter(|&per| per > 0.0)?;
        return Some(grown(before.total(), Some(total))? / per * rule.scale);
    }
    if rule.growth {
        let (before, elapsed_s) = before?;
        return Some(grown(before.total(), Some(total))? / elapsed_s * rule.scale);
    }
    Some(total * rule.scale)
}

/// Growth of a counter; `None` when the server was started anew in between.
fn grown(before: Option<f64>, now: Option<f64>) -> Option<f64> {
    let grown = now? - before?;
    (grown >= 0.0).then_some(grown)
}

/// A signal with `{NAME}` filled in, where all of these are known.
pub(crate) fn filled(signal: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut filled = String::with_capacity(signal.len());
    let mut rest = signal;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, behind) = behind.split_once('}')?;
        filled.push_str(before);
        filled.push_str(&as_part(&value(name)?));
        rest = behind;
    }
    filled.push_str(rest);
    Some(filled)
}

/// What servers call a pool, as part of a signal's name: of `Pool (db)` what stands in brackets,
/// without the folder of JNDI, and with a hyphen for what a name cannot have.
fn as_part(name: &str) -> String {
    let inner = name
        .strip_suffix(')')
        .and_then(|name| name.rsplit_once('('))
        .map_or(name, |(_, inner)| inner);
    let local = inner.strip_prefix("java:comp/env/").unwrap_or(inner);
    let plain = ["jdbc/", "jdbc_"]
        .iter()
        .find_map(|folder| local.strip_prefix(folder))
        .filter(|plain| !plain.is_empty())
        .unwrap_or(local);
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    plain
        .chars()
        .map(|c| if fits(c) { c } else { '-' })
        .collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#[expect(clippy::float_cmp, reason = "the figures are exact in binary")]
mod tests {
    use super::*;
    use std::time::Duration;

    fn found(rule: usize, role: Role, signal: &str, figure: f64) -> Found {
        Found {
            rule,
            role,
            signal: signal.to_owned(),
            figure,
        }
    }

    /// What two answers, two seconds apart, give at the second.
    fn second(rules: Vec<Rule>, first: Vec<Found>, second: Vec<Found>) -> Reading {
        let mut figures = Figures::new(rules);
        let start = Instant::now();
        figures.take(Some(first), start, &mut Reading::new());
        let mut reading = Reading::new();
        let later = start + Duration::from_secs(2);
        figures.take(Some(second), later, &mut reading);
        reading
    }

    #[test]
    fn levels_add_up_after_what_is_taken_off_each() {
        let rule = Rule {
            minus: 1.0,
            ..Rule::level("connections.occupancy")
        };
        let connector = |figure| found(0, Role::Value, "connections.occupancy", figure);
        let reading = second(
            vec![rule],
            Vec::new(),
            vec![connector(26.0), connector(0.0)],
        );
        assert_eq!(reading["connections.occupancy"], 25.0);
    }

    #[test]
    fn the_first_rule_that_finds_anything_counts() {
        let rules = vec![
            Rule::growth("threads.occupancy"),
            Rule::level("threads.occupancy"),
        ];
        let both = |integral| {
            vec![
                found(1, Role::Value, "threads.occupancy", 50.0),
                found(0, Role::Value, "threads.occupancy", integral),
            ]
        };
        let reading = second(rules.clone(), both(100.0), both(152.0));
        assert_eq!(reading["threads.occupancy"], 26.0);
        let mut figures = Figures::new(rules);
        let mut reading = Reading::new();
        figures.take(Some(both(100.0)), Instant::now(), &mut reading);
        assert!(
            reading.is_empty(),
            "one reading is not passed off as an average"
        );
    }

    #[test]
    fn differences_and_growth_over_growth() {
        let rules = vec![
            Rule::level("pool.db.occupancy"),
            Rule {
                scale: 0.001,
                ..Rule::growth("pool.db.wait")
            },
        ];
        let at = |managed, free, waited_ms, entries| {
            vec![
                found(0, Role::Value, "pool.db.occupancy", managed),
                found(0, Role::Less, "pool.db.occupancy", free),
                found(1, Role::Value, "pool.db.wait", waited_ms),
                found(1, Role::Per, "pool.db.wait", entries),
            ]
        };
        let reading = second(
            rules.clone(),
            at(10.0, 4.0, 1000.0, 100.0),
            at(10.0, 3.0, 4000.0, 112.0),
        );
        assert_eq!(reading["pool.db.occupancy"], 7.0);
        assert_eq!(reading["pool.db.wait"], 0.25);
        let nobody = second(
            rules.clone(),
            at(10.0, 4.0, 9.0, 5.0),
            at(10.0, 4.0, 9.0, 5.0),
        );
        assert!(!nobody.contains_key("pool.db.wait"));
        let anew = second(rules, at(10.0, 4.0, 9.0, 5.0), at(1.0, 1.0, 1.0, 6.0));
        assert!(!anew.contains_key("pool.db.wait"));
    }

    /// Tomcat 11 with virtual threads: busy, threads and limit all read -1.
    #[test]
    fn what_a_server_does_not_have_is_no_figure() {
        let rules = vec![
            Rule::level("threads.occupancy"),
            Rule::level("threads.idle"),
            Rule::level("threads.limit"),
            Rule::level("pool.db.occupancy"),
        ];
        let told = vec![
            found(0, Role::Value, "threads.occupancy", -1.0),
            found(1, Role::Value, "threads.idle", -1.0),
            found(1, Role::Less, "threads.idle", -1.0),
            found(2, Role::Value, "threads.limit", -1.0),
            found(3, Role::Value, "pool.db.occupancy", 5.0),
        ];
        let reading = second(rules, Vec::new(), told);
        let names: Vec<&str> = reading.keys().map(crate::SignalName::as_str).collect();
        assert_eq!(names, ["pool.db.occupancy"]);
    }

    #[test]
    fn what_is_not_in_the_catalogue_is_no_signal() {
        let rules = vec![Rule::level("disks.occupancy")];
        let reading = second(
            rules,
            Vec::new(),
            vec![found(0, Role::Value, "disks.occupancy", 1.0)],
        );
        assert!(reading.is_empty());
    }

    #[test]
    fn names_of_pools_become_parts_of_signals() {
        for (name, expected) in [
            ("HikariPool-1", "pool.HikariPool-1.limit"),
            ("Pool (orders)", "pool.orders.limit"),
            ("jdbc/db", "pool.db.limit"),
            ("jdbc_db", "pool.db.limit"),
            ("java:comp/env/jdbc/db", "pool.db.limit"),
            ("a b/c", "pool.a-b-c.limit"),
            ("jdbc/", "pool.jdbc-.limit"),
        ] {
            let signal = filled("pool.{name}.limit", |_| Some(name.to_owned())).unwrap();
            assert_eq!(signal, expected);
        }
        assert_eq!(filled("pool.{name}.limit", |_| None), None);
        assert_eq!(filled("pool.{name", |_| Some(String::new())), None);
        assert_eq!(filled("cpu", |_| None).as_deref(), Some("cpu"));
    }
}
