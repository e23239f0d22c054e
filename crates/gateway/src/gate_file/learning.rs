//! Learning from the requests of people: what a file has to say for it, and the file with what was
//! learnt.

use std::fmt;
use std::ops::Range;

use toml_edit::{DocumentMut, Item, TableLike, Value};
use weir_userfile::Problem;

use crate::settings::{Algorithm, Settings};
use crate::status::LearntStatus;

/// The largest change of the limit at a time where the file does not say.
const STEP: f64 = 0.05;

/// What of it is to hold from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The number, as a fixed limit.
    Limit,
    /// Where the number has been, as the bounds of the limit that is found.
    Bounds,
}

/// What a file gets of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lasting {
    /// A fixed limit in the place of [limit.adaptive].
    Limit(f64),
    /// Narrower bounds in [limit.adaptive].
    Bounds {
        /// The limit is never lower.
        min: f64,
        /// Nor higher.
        max: f64,
    },
    /// Only where the limit stood: it has not come to rest, and learning goes on from there.
    Start(f64),
}

impl Lasting {
    /// What was learnt within these bounds.
    fn of(learnt: &LearntStatus, limit: f64, keep: Keep, (min, max): (f64, f64)) -> Self {
        let within = |number: f64| number.max(min).min(max);
        match (keep, learnt.range) {
            (Keep::Limit, _) if learnt.settled => {
                Self::Limit(within(rounded(learnt.concurrency, f64::floor)))
            }
            (Keep::Bounds, Some((least, most))) => Self::Bounds {
                min: within(rounded(least - learnt.spread, f64::floor)),
                max: within(rounded(most + learnt.spread, f64::ceil)),
            },
            _ => Self::Start(within(rounded(limit, f64::floor))),
        }
    }

    fn put_into(self, limit: &mut dyn TableLike) -> Option<()> {
        match self {
            Self::Limit(number) => {
                limit.remove("adaptive");
                put(limit, "concurrency", number);
                Some(())
            }
            Self::Bounds { min, max } => put_into_found(limit, &[("min", min), ("max", max)]),
            Self::Start(start) => put_into_found(limit, &[("start", start)]),
        }
    }
}

/// To a whole number, or where the limit is small to a hundredth.
fn rounded(limit: f64, to: fn(f64) -> f64) -> f64 {
    if limit >= 2.0 {
        to(limit)
    } else {
        to(limit * 100.0) / 100.0
    }
}

/// As it stands in the file.
impl fmt::Display for Lasting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => write!(f, "concurrency = {limit}"),
            Self::Bounds { min, max } => write!(f, "min = {min}, max = {max}"),
            Self::Start(start) => write!(f, "start = {start}"),
        }
    }
}

/// Bounds have to be said before anything is learnt from people's requests, and the limit goes in
/// small steps.
pub(super) fn prepare(settings: &mut Settings, limit: Range<usize>) -> Option<Problem> {
    let refused = |says: &str, help: &str| {
        Some(Problem {
            span: limit,
            says: says.to_owned(),
            help: Some(help.to_owned()),
        })
    };
    let Some(adaptive) = &mut settings.limit.adaptive else {
        return refused(
            "a limit can only be learnt where the gateway finds it",
            "write [limit.adaptive] with `goal`, `min` and `max` in the place of `concurrency`",
        );
    };
    if adaptive.algorithm != Algorithm::Weir {
        return refused(
            "only Weir's own limit says what it has learnt",
            "leave `algorithm` out of [limit.adaptive]",
        );
    }
    if adaptive.min.is_none() || adaptive.max.is_none() {
        return refused(
            "learning needs `min` and `max` in [limit.adaptive]",
            "write what the limit is never to go below and what it is never to go above, such as `min = 20` and `max = 200`",
        );
    }
    adaptive.step.get_or_insert(STEP);
    None
}

/// A file's text with what was learnt while the limit stands here, and what that is. Nothing if the
/// file is written in a way that this does not understand: what comes out is read again before it
/// is believed.
pub(crate) fn with_learnt(
    text: &str,
    learnt: &LearntStatus,
    limit: f64,
    keep: Keep,
) -> Option<(String, Lasting)> {
    let adaptive = Settings::parse(text).ok()?.limit.adaptive?;
    let bounds = (adaptive.min?, adaptive.max?);
    let lasting = Lasting::of(learnt, limit, keep, bounds);
    let mut document: DocumentMut = text.parse().ok()?;
    let limit = document.get_mut("limit")?;
    lasting.put_into(limit.as_table_like_mut()?)?;
    if let Some(table) = limit.as_table_mut() {
        // It was, if nothing but [limit.adaptive] was written.
        table.set_implicit(false);
    }
    let text = document.to_string();
    Settings::parse(&text).is_ok().then_some((text, lasting))
}

fn put_into_found(limit: &mut dyn TableLike, keys: &[(&str, f64)]) -> Option<()> {
    let adaptive = limit.get_mut("adaptive")?.as_table_like_mut()?;
    adaptive.remove("start");
    for (key, number) in keys {
        put(adaptive, key, *number);
    }
    Some(())
}

/// Sets a key; a comment behind it stays.
fn put(table: &mut dyn TableLike, key: &str, number: f64) {
    let whole = number.fract() == 0.0 && number.abs() < 1e15;
    let mut value = if whole {
        Value::from(number as i64)
    } else {
        Value::from(number)
    };
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *value.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(value));
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::settings::AdaptiveSettings;

    const FRONT: &str =
        "listen = \"127.0.0.1:1\"  # clients\nbackends = [\"http://127.0.0.1:2\"]\n";
    const TABLE: &str =
        "[limit.adaptive]  # found\ngoal = \"p99 <= 300 ms\"\nmin = 2  # never below\nmax = 90\n";

    fn learnt() -> LearntStatus {
        LearntStatus {
            concurrency: 41.6,
            spread: 1.2,
            cpu: Some(0.8),
            pressed_s: 300.0,
            range: Some((38.4, 43.1)),
            settled: true,
            at_max: false,
        }
    }

    fn written(text: &str, keep: Keep) -> String {
        with_learnt(text, &learnt(), 41.0, keep).unwrap().0
    }

    fn adaptive(text: &str) -> AdaptiveSettings {
        Settings::parse(text).unwrap().limit.adaptive.unwrap()
    }

    #[test]
    fn the_number_stands_in_the_place_of_the_table() {
        for rest in [
            format!("[limit]\nmax-wait = \"1s\"\n{TABLE}"),
            format!("{TABLE}[[class]]\nname = \"a\"\n"),
            format!("[[class]]\nname = \"a\"\n{TABLE}"),
            "limit = { adaptive = { min = 2, max = 90 } }\n".to_owned(),
            "[limit]\nadaptive.min = 2\nadaptive.max = 90\n".to_owned(),
        ] {
            let held = written(&format!("{FRONT}{rest}"), Keep::Limit);
            let settings = Settings::parse(&held).unwrap();
            assert_eq!(settings.limit.concurrency, Some(41.0), "{held}");
            assert_eq!(settings.limit.adaptive, None, "{held}");
            assert_eq!(settings.classes.len(), rest.matches("[[class]]").count());
            assert_eq!(held.contains("max-wait"), rest.contains("max-wait"));
            assert!(
                held.contains("# clients"),
                "what people wrote stays: {held}"
            );
        }
    }

    #[test]
    fn bounds_are_where_it_has_been_and_never_wider_than_they_were() {
        let held = written(&format!("{FRONT}{TABLE}"), Keep::Bounds);
        let found = adaptive(&held);
        assert_eq!((found.min, found.max), (Some(37.0), Some(45.0)), "{held}");
        assert!(held.contains("min = 37  # never below"), "{held}");
        let narrow = format!("{FRONT}[limit.adaptive]\nmin = 40\nmax = 42\n");
        let found = adaptive(&written(&narrow, Keep::Bounds));
        assert_eq!((found.min, found.max), (Some(40.0), Some(42.0)));
    }

    #[test]
    fn the_number_is_not_below_the_least() {
        let text = format!("{FRONT}[limit.adaptive]\nmin = 41.5\nmax = 42\n");
        let held = written(&text, Keep::Limit);
        assert_eq!(
            Settings::parse(&held).unwrap().limit.concurrency,
            Some(41.5)
        );
    }

    #[test]
    fn what_has_not_come_to_rest_is_where_the_next_one_begins() {
        let underway = LearntStatus {
            settled: false,
            range: None,
            ..learnt()
        };
        for keep in [Keep::Limit, Keep::Bounds] {
            let (held, lasting) =
                with_learnt(&format!("{FRONT}{TABLE}"), &underway, 57.3, keep).unwrap();
            assert_eq!(lasting.to_string(), "start = 57");
            let found = adaptive(&held);
            assert_eq!(found.start, Some(57.0), "{held}");
            assert_eq!((found.min, found.max), (Some(2.0), Some(90.0)));
        }
    }

    #[test]
    fn bounds_have_to_be_said() {
        let prepared = |rest: &str| {
            let mut settings = Settings::parse(&format!("{FRONT}{rest}")).unwrap();
            let problem = prepare(&mut settings, 0..0);
            (settings.limit.adaptive, problem)
        };
        for rest in [
            "",
            "[limit]\nconcurrency = 4\n",
            "[limit]\nconcurrency = \"auto\"\n",
            "[limit.adaptive]\nmin = 2\n",
            "[limit.adaptive]\nalgorithm = \"aimd\"\nmin = 2\nmax = 90\n",
        ] {
            assert!(prepared(rest).1.is_some(), "{rest}");
        }
        let (found, problem) = prepared(TABLE);
        assert_eq!((found.unwrap().step, problem), (Some(STEP), None));
    }
}
