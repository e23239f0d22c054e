//! `[limit]`: what is held over all classes.

use std::time::Duration;

use toml::Spanned;
use weir_plan::{Metric, Requirement};
use weir_units::CpuSet;
use weir_userfile::{Section, cannot};

use super::quantity::{concurrency, rate, time};
use crate::settings::{AdaptiveSettings, CpuFrom, LimitSettings};

const QUEUE_MAX: u32 = 1_000_000;

pub(super) fn read(root: &Section<'_>) -> LimitSettings {
    let mut limit = LimitSettings::default();
    let Some(section) = root.section("limit", "[limit]") else {
        return limit;
    };
    limit.rate_per_s = rate(&section, "rate");
    limit.concurrency = concurrency(&section, "concurrency");
    limit.adaptive = adaptive(&section);
    let (least, most) = (Duration::ZERO, Duration::from_secs(600));
    if let Some(wait) = time(&section, "max-wait", least, most) {
        limit.max_wait = wait;
    }
    let queue = section.whole("max-queue", 0..=QUEUE_MAX);
    limit.max_queue = queue.map(|queue| queue.into_inner() as usize);
    let table = section.table();
    if let (Some(_), Some(adaptive)) = (table.get("concurrency"), table.get("adaptive")) {
        section.problems().add_with_help(
            adaptive.span(),
            "[limit.adaptive] finds the concurrency that `concurrency` sets",
            "leave one of them out; `max` in [limit.adaptive] is the most it may find",
        );
    }
    section.finish();
    limit
}

fn adaptive(limit: &Section<'_>) -> Option<AdaptiveSettings> {
    let section = limit.section("adaptive", "[limit.adaptive]")?;
    let goal = goal(&section);
    let min = concurrency(&section, "min");
    let max = concurrency(&section, "max");
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        section.problems().add_with_help(
            section.span(),
            format!("`min` is {min} and `max` is {max}: no limit lies between them"),
            "write the smaller one as `min`",
        );
    }
    let cpu_from = section
        .section("cpu-from", "cpu-from")
        .and_then(|place| cpu_from(&place));
    section.finish();
    Some(AdaptiveSettings {
        goal,
        min,
        max,
        cpu_from,
    })
}

/// A requirement, or `best throughput`.
fn goal(section: &Section<'_>) -> Option<Requirement> {
    const HELP: &str = "write `goal = \"cpu <= 80 %\"`, `goal = \"p99 <= 300 ms\"` or `goal = \"best throughput\"`";
    let text = section.text("goal")?;
    if text.get_ref() == "best throughput" {
        return None;
    }
    let problems = section.problems();
    match text.get_ref().parse::<Requirement>() {
        Ok(goal) if is_goal(&goal) => Some(goal),
        Ok(_) => {
            let says = format!(
                "`{}` is nothing that the gateway can steer to",
                text.get_ref()
            );
            problems.add_with_help(text.span(), says, HELP);
            None
        }
        Err(error) => {
            problems.add_with_help(text.span(), cannot(&error), HELP);
            None
        }
    }
}

fn is_goal(goal: &Requirement) -> bool {
    let metric = matches!(
        goal.metric,
        Metric::Cpu | Metric::Mean | Metric::Percentile(_)
    );
    metric && goal.class.is_none() && goal.comparison.bounds_from_above()
}

const PLACES: [&str; 4] = ["cpus", "pid", "cgroup", "prometheus"];

fn cpu_from(section: &Section<'_>) -> Option<CpuFrom> {
    let table = section.table();
    let named: Vec<&str> = PLACES
        .into_iter()
        .filter(|place| table.contains_key(*place))
        .collect();
    let [_] = named.as_slice() else {
        section.know(&PLACES);
        section.finish();
        section.problems().add_with_help(
            section.span(),
            "`cpu-from` names exactly one place",
            "write `cpu-from = { cpus = \"0-1\" }`, or `pid`, `cgroup` or `prometheus`",
        );
        return None;
    };
    let text = |key| section.text(key).map(Spanned::into_inner);
    let cpus = section.parsed("cpus", |typed| {
        typed.parse::<CpuSet>().map(|_| typed.to_owned())
    });
    let from = cpus
        .map(|cpus| CpuFrom::Cpus(cpus.into_inner()))
        .or_else(|| {
            let pid = section.whole("pid", 1..=u32::MAX);
            pid.map(|pid| CpuFrom::Pid(pid.into_inner()))
        })
        .or_else(|| text("cgroup").map(|path| CpuFrom::Cgroup(path.into())))
        .or_else(|| text("prometheus").map(CpuFrom::Prometheus));
    section.know(&PLACES);
    section.finish();
    from
}
