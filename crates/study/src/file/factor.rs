//! The names of the factors that a study can vary or set.

use toml::de::DeTable;
use weir_record::Level;
use weir_userfile::{At, Problems, hint};

use super::level::level;

/// Stages whose limit a study can set; each pool has a name of its own.
const STAGES: [&str; 4] = ["threads", "pool.db", "connections", "backlog"];
/// Factors that set a property of the plan.
const OF_THE_LOAD: [&str; 2] = ["users", "rate"];
/// Limits of a gateway in front of the server.
pub(super) const OF_THE_GATE: [&str; 2] = ["gate.concurrency", "gate.rate"];
/// The most that a gateway's limit can be.
pub(super) const GATE_LIMIT_MAX: f64 = 1e6;
/// The largest limit that can be typed; far above what any server takes, far below overflow.
const LIMIT_MAX: f64 = 10_000_000.0;

/// What a factor of this name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A whole number from 1: `users`, `rate`, or the limit of a stage.
    Count,
    /// A setting by the server's own word, a whole number from 0: `native.WORD`.
    Native,
    /// A limit of a gateway in front of the server, any number above 0.
    Gate,
    /// A value of the load: `param.NAME` of requests, `property.NAME` of the plan.
    OfTheLoad,
    /// How the server is started, `start.NAME`, or a setting of the regulator in it,
    /// `regulator.NAME`: what the target takes.
    InWords,
}

fn kind(name: &str) -> Option<Kind> {
    let named = |prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest: &str| !rest.is_empty())
    };
    if named("param.") || named("property.") {
        Some(Kind::OfTheLoad)
    } else if named("start.") || named("regulator.") {
        Some(Kind::InWords)
    } else if named("native.") {
        Some(Kind::Native)
    } else if OF_THE_GATE.contains(&name) || class_of_gate(name).is_some() {
        Some(Kind::Gate)
    } else if OF_THE_LOAD.contains(&name) || STAGES.contains(&name) || named("pool.") {
        Some(Kind::Count)
    } else {
        None
    }
}

/// The class of the gateway that a factor sets a limit of: `gate.CLASS.concurrency`.
pub(super) fn class_of_gate(factor: &str) -> Option<&str> {
    let (class, limit) = factor.strip_prefix("gate.")?.rsplit_once('.')?;
    let is_limit = OF_THE_GATE
        .iter()
        .any(|of_all| of_all.strip_prefix("gate.") == Some(limit));
    Some(class).filter(|class| is_limit && !class.is_empty())
}

/// Which factors may stand where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// Only what the server takes: `[target.*.settings]`.
    Limits,
    /// Everything: levels of a sweep.
    All,
}

/// Notes a name that is no factor here.
pub(crate) fn check_name(
    name: &str,
    span: std::ops::Range<usize>,
    allowed: Allowed,
    problems: &Problems,
) -> bool {
    let fits = kind(name).is_some_and(|kind| {
        let of_server = !matches!(kind, Kind::OfTheLoad | Kind::Gate | Kind::InWords);
        allowed == Allowed::All || (of_server && !OF_THE_LOAD.contains(&name))
    });
    if !fits {
        let mut known = STAGES.to_vec();
        known.push("native.WORD");
        if allowed == Allowed::All {
            known.extend(OF_THE_LOAD);
            known.extend(OF_THE_GATE);
            known.push("gate.CLASS.concurrency");
            known.extend([
                "param.NAME",
                "property.NAME",
                "start.NAME",
                "regulator.NAME",
            ]);
        }
        let what = if allowed == Allowed::All {
            "factor"
        } else {
            "setting"
        };
        problems.add_with_help(span, format!("`{name}` is no {what}"), hint(name, &known));
    }
    fits
}

/// Reads the level of a factor whose name is known to fit.
pub(crate) fn read_level(name: &str, value: At<'_>, problems: &Problems) -> Option<Level> {
    let read = level(value.get_ref());
    let fits = match (kind(name), &read) {
        (Some(Kind::OfTheLoad | Kind::InWords), Some(_)) => true,
        (Some(Kind::Gate), Some(Level::Number(number))) => {
            *number > 0.0 && *number <= GATE_LIMIT_MAX
        }
        (kind, Some(Level::Number(number))) => {
            let least = if kind == Some(Kind::Native) { 0.0 } else { 1.0 };
            number.fract() == 0.0 && (least..=LIMIT_MAX).contains(number)
        }
        _ => false,
    };
    if fits {
        return read;
    }
    let wanted = match kind(name) {
        Some(Kind::OfTheLoad | Kind::InWords) => "a number or a text in quotes",
        Some(Kind::Native) => "a whole number from 0",
        Some(Kind::Gate) => "a number above 0, up to 1,000,000",
        _ => "a whole number from 1",
    };
    problems.add(value.span(), format!("`{name}` has to be {wanted}"));
    None
}

/// A factor with the bytes of its name, and its value.
pub(crate) type Entry<'a> = (String, std::ops::Range<usize>, At<'a>);

/// The factors of a table with their values; `pool.db = 10` without quotes means the same as
/// `"pool.db" = 10`, although TOML reads it as a table.
pub(crate) fn flat<'a>(table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let mut all = Vec::new();
    for (key, value) in table {
        let (name, span) = (key.get_ref().as_ref(), key.span());
        match value.get_ref().as_table() {
            Some(inner) => {
                let inner = flat(inner).into_iter();
                all.extend(
                    inner.map(|(rest, span, value)| (format!("{name}.{rest}"), span, value)),
                );
            }
            None => all.push((name.to_owned(), span, value)),
        }
    }
    all
}
