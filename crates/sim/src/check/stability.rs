//! Whether queues come to an end: what arrives in the end against what each place can do then.

use super::{About, Faults};
use crate::network::{
    AbandonedWork, Center, CenterKind, Happening, Network, Source, Step, Timeout, WhenFull,
};

/// One place where a class spends time, with what it holds there.
struct Visit {
    class: usize,
    center: usize,
    /// Server time for one request of the class.
    demand_s: f64,
    rate_per_s: f64,
    /// Whether something on the way throws out what is too much.
    bounded: bool,
}

/// Compares what arrives in the end, for ever, with what each place can do.
pub(super) fn check(network: &Network, faults: &mut Faults) {
    let visits: Vec<Visit> = (0..network.classes.len())
        .flat_map(|class| visits_of(network, class))
        .collect();
    for (index, center) in network.centers.iter().enumerate() {
        let Some(servers) = servers_in_the_end(network, index) else {
            continue;
        };
        let here = || visits.iter().filter(|visit| visit.center == index);
        if here().all(|visit| visit.bounded) {
            continue;
        }
        let offered: f64 = here().map(|visit| visit.rate_per_s * visit.demand_s).sum();
        if offered < servers {
            continue;
        }
        let class = here().map(|visit| visit.class).next().unwrap_or(0);
        let rate: f64 = here().map(|visit| visit.rate_per_s).sum();
        faults.add_with_help(
            About::Center(index),
            format!(
                "`{}` cannot keep up: {rate:.4} requests a second (class `{}`{}) need {offered:.4} of its {servers} \
                 server(s){}, and its queue would grow for ever",
                center.name,
                network.classes[class].name,
                if here().any(|visit| visit.class != class) { " and others" } else { "" },
                utilization_in_words(offered, servers)
            ),
            "lower the rate, give it more servers, or bound its queue with `queue` or `patience`",
        );
    }
}

/// Nothing, where there is no server left to be utilized.
fn utilization_in_words(offered: f64, servers: f64) -> String {
    if servers > 0.0 {
        format!(", a utilization of {:.0} %", 100.0 * offered / servers)
    } else {
        String::new()
    }
}

/// The places that a class of arrivals visits; users wait for their answers, so their queues are
/// never longer than they are.
fn visits_of(network: &Network, class: usize) -> Vec<Visit> {
    let of = &network.classes[class];
    let Source::Arrivals { rate, .. } = &of.source else {
        return Vec::new();
    };
    let mut rate_per_s = rate.last_rate();
    let stops = |timeout: &Timeout| timeout.work == AbandonedWork::Stops;
    let gives_up = of.timeout.as_ref().is_some_and(stops);
    let mut visits = Vec::new();
    let mut held: Vec<(usize, usize)> = Vec::new();
    for step in &of.route {
        match *step {
            Step::Pass(gate) => rate_per_s = rate_per_s.min(network.gates[gate].rate_per_s),
            Step::Acquire(limit) => {
                let bounded =
                    gives_up || bounds(&network.centers[limit]) || is_bounded(network, &held);
                held.push((limit, visits.len()));
                visits.push(Visit {
                    class,
                    center: limit,
                    demand_s: 0.0,
                    rate_per_s,
                    bounded,
                });
            }
            Step::Release(limit) => held.retain(|(center, _)| *center != limit),
            Step::Use(center, time) => {
                let bounded =
                    gives_up || bounds(&network.centers[center]) || is_bounded(network, &held);
                pass_time(&mut visits, &held, time.mean_s());
                visits.push(Visit {
                    class,
                    center,
                    demand_s: time.mean_s(),
                    rate_per_s,
                    bounded,
                });
            }
            Step::Sleep(time) => pass_time(&mut visits, &held, time.mean_s()),
            Step::Admit { .. } | Step::Enter(_) | Step::Leave(_) => {}
        }
    }
    visits
}

/// Limits are held for at least as long as what is done meanwhile.
fn pass_time(visits: &mut [Visit], held: &[(usize, usize)], seconds: f64) {
    for (_, visit) in held {
        visits[*visit].demand_s += seconds;
    }
}

/// Whether a place throws out what it cannot do.
fn bounds(center: &Center) -> bool {
    center.patience.is_some() || (center.queue.is_some() && center.when_full == WhenFull::Refuse)
}

/// Whether one of the limits that are held keeps the number of requests inside bounded: it throws
/// out the others.
fn is_bounded(network: &Network, held: &[(usize, usize)]) -> bool {
    held.iter()
        .any(|(limit, _)| bounds(&network.centers[*limit]))
}

/// Servers of a place in the end, all copies together; `None` where there is no limit.
fn servers_in_the_end(network: &Network, index: usize) -> Option<f64> {
    let center = &network.centers[index];
    if matches!(center.kind, CenterKind::Delay) {
        return None;
    }
    let servers = latest(network, |what| match *what {
        Happening::Servers { center, servers } if center == index => Some(servers),
        _ => None,
    });
    let speed = latest(network, |what| match *what {
        Happening::Speed {
            center,
            speed,
            for_s,
        } if center == index => Some(if for_s.is_some() { 1.0 } else { speed }),
        _ => None,
    });
    let servers = f64::from(servers.or(center.servers())?) * speed.unwrap_or(1.0);
    let available = center.breakdowns.map_or(1.0, |breakdowns| {
        let up = breakdowns.up.mean_s();
        up / (up + breakdowns.down.mean_s())
    });
    Some(servers * copies_in_the_end(network, index) * available)
}

/// What the last of the planned happenings that says something of it says.
fn latest<T>(network: &Network, of: impl Fn(&Happening) -> Option<T>) -> Option<T> {
    let planned = network.planned.iter();
    let said = planned.filter_map(|planned| Some((planned.at_s, of(&planned.what)?)));
    let last = said.max_by(|one, other| one.0.total_cmp(&other.0));
    last.map(|(_, said)| said)
}

/// Copies of a place less those that die for good; a group that scales gets others for them.
fn copies_in_the_end(network: &Network, index: usize) -> f64 {
    let copies = f64::from(network.copies(index));
    let Some(group) = network.centers[index].group else {
        return copies;
    };
    if network.groups[group].scaling.is_some() {
        return copies;
    }
    let lost = network.planned.iter().map(|planned| match planned.what {
        Happening::Lose {
            group: of,
            servers,
            back_after_s: None,
        } if of == group => f64::from(servers),
        _ => 0.0,
    });
    (copies - lost.sum::<f64>()).max(0.0)
}
