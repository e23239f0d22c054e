//! How many backends there are to be: `[scale]`.

use std::time::Duration;

use toml::Spanned;
use weir_metric::parse_share;
use weir_userfile::{Section, number};

use super::cpu_from::cpu_from;
use super::quantity::time;
use crate::settings::ScaleSettings;

const BACKENDS_MAX: u32 = 10_000;
const CPUS_MAX: f64 = 10_000.0;

pub(super) fn read(root: &Section<'_>) -> Option<ScaleSettings> {
    let section = root.section("scale", "[scale]")?;
    if section.value("cpu").is_none() {
        section.missing("cpu", "cpu = \"70 %\"");
    }
    let goal = goal(&section);
    let mut scale = ScaleSettings::new(goal.unwrap_or(1.0));
    for (key, field) in [("min", &mut scale.min), ("max", &mut scale.max)] {
        if let Some(count) = section.whole(key, 1..=BACKENDS_MAX) {
            *field = count.into_inner();
        }
    }
    if let Some(max) = section.value("max").filter(|_| scale.min > scale.max) {
        section.problems().add_with_help(
            max.span(),
            format!(
                "no number lies between `min` {} and `max` {}",
                scale.min, scale.max
            ),
            "write a smaller `min` or a larger `max`",
        );
    }
    let place = section.section("cpu-from", "cpu-from");
    scale.cpu_from = place.and_then(|place| cpu_from(&place));
    scale.cpus = cpus(&section);
    let command = section.texts("command").unwrap_or_default();
    scale.command = command.into_iter().map(Spanned::into_inner).collect();
    let (least, most) = (Duration::ZERO, Duration::from_secs(3600));
    for (key, field) in [
        ("up-after", &mut scale.up_after),
        ("down-after", &mut scale.down_after),
    ] {
        if let Some(length) = time(&section, key, least, most) {
            *field = length;
        }
    }
    section.finish();
    goal.map(|_| scale)
}

fn goal(section: &Section<'_>) -> Option<f64> {
    let goal = section.parsed("cpu", parse_share)?;
    if *goal.get_ref() > 0.0 && *goal.get_ref() < 1.0 {
        return Some(goal.into_inner());
    }
    section.problems().add_with_help(
        goal.span(),
        "`cpu` is a share of the CPUs above 0 % and below 100 %",
        "write `cpu = \"70 %\"`",
    );
    None
}

fn cpus(section: &Section<'_>) -> Option<f64> {
    let value = section.value("cpus")?;
    let cpus = number(value.get_ref()).filter(|cpus| *cpus > 0.0 && *cpus <= CPUS_MAX);
    if cpus.is_none() {
        section.problems().add_with_help(
            value.span(),
            "`cpus` is no number of CPUs",
            "write how many a backend has: `cpus = 2`",
        );
    }
    cpus
}
