//! Stations, limits, gates and groups.

use weir_userfile::{Section, hint};

use super::quantity::{distribution, positive_seconds, rate, seconds, share};
use super::{Spans, named};
use crate::network::{
    Balancer, Breakdowns, Center, CenterKind, Gate, Group, Network, SERVERS_MAX, Scaling,
    ScalingBy, WhenFull,
};

const PERIOD_S: f64 = 60.0;
/// As the gateway has them.
const UP_AFTER_S: f64 = 15.0;
const DOWN_AFTER_S: f64 = 300.0;
/// Most servers of a station and most permits of a limit.
const CAPACITY_MAX: u32 = 1_000_000_000;

pub(super) fn read(root: &Section<'_>, network: &mut Network, spans: &mut Spans) {
    centers(root, None, network, spans);
    for (name, span, section) in named(root, "gate", "gate") {
        if let Some(gate) = gate(&section, name) {
            network.gates.push(gate);
            spans.gates.push(span);
        }
        section.finish();
    }
    for (name, span, section) in named(root, "group", "group") {
        let index = network.groups.len();
        let servers = section.whole("servers", 1..=SERVERS_MAX);
        if section.value("servers").is_none() {
            section.missing("servers", "servers = 3");
        }
        network.groups.push(Group {
            servers: servers.map_or(1, toml::Spanned::into_inner),
            balancer: balancer(&section),
            scaling: None,
            name,
        });
        spans.groups.push(span);
        centers(&section, Some(index), network, spans);
        if let Some(scale_out) = section.section("scale-out", "[group.NAME.scale-out]") {
            network.groups[index].scaling = scaling(&scale_out, network, index);
            scale_out.finish();
        }
        section.finish();
    }
}

/// The stations and limits of a network, or of each server of a group.
fn centers(section: &Section<'_>, group: Option<usize>, network: &mut Network, spans: &mut Spans) {
    for (key, read) in [
        ("station", station as fn(&Section<'_>) -> CenterKind),
        ("limit", limit),
    ] {
        for (name, span, part) in named(section, key, key) {
            let name = match group {
                Some(group) => format!("{}.{name}", network.groups[group].name),
                None => name,
            };
            if network.centers.iter().any(|center| center.name == name) {
                let says = format!("there are two places called `{name}`");
                part.problems().add(span.clone(), says);
            }
            let kind = read(&part);
            let mut center = Center::new(name, kind);
            center.group = group;
            waiting(&part, &mut center);
            part.finish();
            network.centers.push(center);
            spans.centers.push(span);
        }
    }
}

fn station(section: &Section<'_>) -> CenterKind {
    let servers = section.whole("servers", 1..=CAPACITY_MAX);
    let servers = servers.map_or(1, toml::Spanned::into_inner);
    let known = ["first-come", "priority", "processor-sharing", "delay"];
    match choice(section, "discipline", &known) {
        Some("processor-sharing") => CenterKind::Shared { cores: servers },
        Some("delay") => CenterKind::Delay,
        _ => CenterKind::Queue { servers },
    }
}

fn limit(section: &Section<'_>) -> CenterKind {
    let capacity = section.whole("capacity", 1..=CAPACITY_MAX);
    if section.value("capacity").is_none() {
        section.missing("capacity", "capacity = 50");
    }
    CenterKind::Limit {
        capacity: capacity.map_or(1, toml::Spanned::into_inner),
    }
}

/// One of some words.
pub(super) fn choice<'k>(
    section: &Section<'_>,
    key: &'static str,
    known: &[&'k str],
) -> Option<&'k str> {
    let text = section.text(key)?;
    let found = known.iter().find(|word| **word == text.get_ref().as_str());
    if found.is_none() {
        section.problems().add_with_help(
            text.span(),
            format!("`{key}` cannot be `{}`", text.get_ref()),
            hint(text.get_ref(), known),
        );
    }
    found.copied()
}

/// What every place can have: a bounded queue, impatient requests, breakdowns.
fn waiting(section: &Section<'_>, center: &mut Center) {
    let by_priority = match center.kind {
        CenterKind::Limit { .. } => {
            choice(section, "discipline", &["first-come", "priority"]) == Some("priority")
        }
        CenterKind::Queue { .. } => {
            section
                .table()
                .get("discipline")
                .and_then(|value| value.get_ref().as_str())
                == Some("priority")
        }
        _ => false,
    };
    center.by_priority = by_priority;
    let queue = section.whole("queue", 0..=CAPACITY_MAX);
    center.queue = queue.map(toml::Spanned::into_inner);
    let when_full = section.text("when-full");
    if choice(section, "when-full", &["refuse", "block"]) == Some("block") {
        center.when_full = WhenFull::Block;
    }
    center.patience = distribution(section, "patience");
    if let Some(breakdowns) = section.section("breakdowns", "[breakdowns]") {
        let (up, down) = (
            distribution(&breakdowns, "up"),
            distribution(&breakdowns, "down"),
        );
        if up.is_none() || down.is_none() {
            breakdowns.missing(
                "up` and `down",
                "up = { exponential = \"1 h\" }, down = { exponential = \"30 s\" }",
            );
        }
        center.breakdowns = up.zip(down).map(|(up, down)| Breakdowns { up, down });
        breakdowns.finish();
    }
    let queues = matches!(
        center.kind,
        CenterKind::Queue { .. } | CenterKind::Limit { .. }
    );
    let refuse = |key: &str, what: &str| {
        if let Some(value) = section.table().get(key) {
            let says = format!("`{key}` means nothing here: {what}");
            section.problems().add(value.span(), says);
        }
    };
    if !queues {
        refuse("patience", "nobody waits before being served");
    }
    if center.kind == CenterKind::Delay {
        refuse("queue", "nobody waits at a delay");
        refuse("breakdowns", "a delay has no server");
    }
    if center.is_limit() {
        refuse("breakdowns", "a limit does no work");
    }
    if let Some(when_full) = when_full.filter(|_| center.when_full == WhenFull::Block) {
        let blocks = matches!(center.kind, CenterKind::Queue { .. });
        if !blocks || center.queue.is_none() {
            section.problems().add(
                when_full.span(),
                "only a first-come station with a `queue` can block the station before it",
            );
        }
    }
}

fn gate(section: &Section<'_>, name: String) -> Option<Gate> {
    if section.value("rate").is_none() {
        section.missing("rate", "rate = \"50/s\"");
    }
    let rate_per_s = rate(section, "rate");
    let burst = section.whole("burst", 1..=CAPACITY_MAX);
    let max_wait_s = seconds(section, "max-wait").unwrap_or(0.0);
    let rate_per_s = rate_per_s?;
    if rate_per_s == 0.0 {
        let says = format!("the gate `{name}` lets nothing pass");
        section.problems().add(section.span(), says);
        return None;
    }
    Some(Gate {
        name,
        rate_per_s,
        burst: burst.map_or(1, toml::Spanned::into_inner),
        max_wait_s,
    })
}

fn balancer(section: &Section<'_>) -> Balancer {
    let known = ["round-robin", "random", "least-connections", "two-choices"];
    match choice(section, "balancer", &known) {
        Some("random") => Balancer::Random,
        Some("least-connections") => Balancer::LeastConnections,
        Some("two-choices") => Balancer::TwoChoices,
        _ => Balancer::RoundRobin,
    }
}

fn scaling(section: &Section<'_>, network: &Network, group: usize) -> Option<Scaling> {
    for (key, example) in [("station", "station = \"cpu\""), ("max", "max = 10")] {
        if section.table().get(key).is_none() {
            section.missing(key, example);
        }
    }
    let of = &network.groups[group];
    let station = section.text("station").and_then(|text| {
        let name = format!("{}.{}", of.name, text.get_ref());
        let station = network.centers.iter().position(|center| {
            center.name == name && !center.is_limit() && center.servers().is_some()
        });
        if station.is_none() {
            section.problems().add(
                text.span(),
                format!(
                    "the group `{}` has no station `{}` with servers",
                    of.name,
                    text.get_ref()
                ),
            );
        }
        station
    });
    let (min, max) = (whole(section, "min", 1), whole(section, "max", of.servers));
    if max < of.servers {
        section.problems().add(
            section.span(),
            format!(
                "`max` is {max}, and the group begins with {} servers",
                of.servers
            ),
        );
    }
    let start_up_s = seconds(section, "start-up").unwrap_or(0.0);
    let by = if section.table().get("goal").is_some() {
        by_load(section)
    } else {
        by_utilization(section)
    };
    Some(Scaling {
        station: station?,
        min,
        max,
        start_up_s,
        by: by?,
    })
}

fn whole(section: &Section<'_>, key: &'static str, or: u32) -> u32 {
    let value = section.whole(key, 1..=SERVERS_MAX);
    value.map_or(or, toml::Spanned::into_inner)
}

/// With `goal`: as many as the load wants.
fn by_load(section: &Section<'_>) -> Option<ScalingBy> {
    section.has_none_of(
        &["above", "below", "add", "period", "delay", "cool-down"],
        "`goal` asks for as many servers as the load wants, and",
        "write `above` in the place of `goal`",
    );
    let [up_after_s, down_after_s] = [("up-after", UP_AFTER_S), ("down-after", DOWN_AFTER_S)]
        .map(|(key, or)| seconds(section, key).unwrap_or(or));
    Some(ScalingBy::Load {
        goal: share(section, "goal")?,
        up_after_s,
        down_after_s,
    })
}

fn by_utilization(section: &Section<'_>) -> Option<ScalingBy> {
    if section.table().get("above").is_none() {
        section.missing("above", "above = \"70 %\"` or `goal = \"70 %\"");
    }
    let above = share(section, "above");
    let below = share(section, "below");
    if let (Some(above), Some(below)) = (above, below)
        && below >= above
    {
        section.problems().add(
            section.span(),
            "`below` has to be smaller than `above`: servers would come and go for ever",
        );
    }
    let period_s = positive_seconds(section, "period").unwrap_or(PERIOD_S);
    let [delay_s, cool_down_s] =
        ["delay", "cool-down"].map(|key: &'static str| seconds(section, key).unwrap_or(0.0));
    Some(ScalingBy::Utilization {
        above: above?,
        add: whole(section, "add", 1),
        below,
        period_s,
        delay_s,
        cool_down_s,
    })
}
