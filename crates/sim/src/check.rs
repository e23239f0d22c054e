//! Networks that cannot be simulated, or whose queues would grow for ever.

use crate::distribution::Distribution;
use crate::network::{
    AbandonedWork, CLASSES_MAX, Center, CenterKind, Class, GROUPS_MAX, Happening, LIMITS_MAX,
    Network, SERVERS_MAX, Source, Step, WhenFull,
};

/// Most users and most requests at once.
pub const POPULATION_MAX: u64 = 100_000_000;
/// Bytes that one user takes at most: itself, its event, its place in a queue, while tables grow.
pub const BYTES_PER_USER: u64 = 200;

/// What a fault is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The network as a whole.
    Network,
    /// The class with this index.
    Class(usize),
    /// A step of a class's route.
    Step(usize, usize),
    /// The center with this index.
    Center(usize),
    /// The gate with this index.
    Gate(usize),
    /// The group with this index.
    Group(usize),
    /// What is planned, with this index.
    Planned(usize),
}

/// One thing that is wrong with a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub about: About,
    /// What is wrong.
    pub says: String,
    /// What to do instead.
    pub help: Option<String>,
}

/// Everything that is wrong with a network; nothing means that it can be simulated for ever.
pub fn check(network: &Network) -> Vec<Fault> {
    let mut faults = Faults(Vec::new());
    sizes(network, &mut faults);
    for (index, class) in network.classes.iter().enumerate() {
        source(class, index, &mut faults);
        route(network, class, index, &mut faults);
    }
    visits(network, &mut faults);
    // Loads are only worth a word in a network that is whole.
    if faults.0.is_empty() {
        for (index, class) in network.classes.iter().enumerate() {
            stands_still(network, class, index, &mut faults);
        }
        stability(network, &mut faults);
    }
    faults.0
}

struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, about: About, says: impl Into<String>) {
        self.0.push(Fault {
            about,
            says: says.into(),
            help: None,
        });
    }

    fn add_with_help(&mut self, about: About, says: impl Into<String>, help: impl Into<String>) {
        self.0.push(Fault {
            about,
            says: says.into(),
            help: Some(help.into()),
        });
    }
}

fn sizes(network: &Network, faults: &mut Faults) {
    if network.classes.is_empty() {
        faults.add(About::Network, "nobody sends requests: there is no class");
    }
    let limits = network.centers.iter().filter(|center| center.is_limit());
    for (count, max, what) in [
        (network.classes.len(), CLASSES_MAX, "classes"),
        (network.groups.len(), GROUPS_MAX, "groups"),
        (limits.count(), LIMITS_MAX, "limits"),
    ] {
        if count > max {
            faults.add(
                About::Network,
                format!("there are {count} {what}, and no more than {max} can be simulated"),
            );
        }
    }
    let population = network.population();
    if population > POPULATION_MAX {
        faults.add_with_help(
            About::Network,
            format!(
                "{population} users would take about {} GB of memory; no more than {POPULATION_MAX} can be simulated",
                population * BYTES_PER_USER / 1_000_000_000
            ),
            "describe a part of the system with its share of the users, or let them arrive at a rate",
        );
    }
    for (index, group) in network.groups.iter().enumerate() {
        if group.servers_max() > SERVERS_MAX {
            faults.add(
                About::Group(index),
                format!(
                    "{} servers are more than the {SERVERS_MAX} that can be simulated",
                    group.servers_max()
                ),
            );
        }
    }
}

fn source(class: &Class, index: usize, faults: &mut Faults) {
    let nobody = match &class.source {
        Source::Users { users, .. } => *users == 0,
        Source::Arrivals { rate, .. } => rate.peak_rate() == 0.0,
    };
    if nobody {
        faults.add_with_help(
            About::Class(index),
            format!("nobody sends requests of class `{}`", class.name),
            "give it users or a rate, or leave it away",
        );
    }
    if class.route.is_empty() {
        faults.add(
            About::Class(index),
            format!(
                "requests of class `{}` go nowhere: the route is empty",
                class.name
            ),
        );
    }
}

/// What a request has on its way.
#[derive(Default)]
struct OnTheWay {
    limits: Vec<usize>,
    groups: Vec<usize>,
}

fn route(network: &Network, class: &Class, index: usize, faults: &mut Faults) {
    let mut has = OnTheWay::default();
    for (at, step) in class.route.iter().enumerate() {
        if let Some((says, help)) = wrong_step(network, step, &mut has) {
            faults.add_with_help(About::Step(index, at), says, help);
        }
    }
    let last = About::Step(index, class.route.len().saturating_sub(1));
    for limit in has.limits {
        let name = &network.centers[limit].name;
        faults.add_with_help(
            last,
            format!("the route ends, and the request still holds `{name}`"),
            format!("write `{{ release = \"{name}\" }}` where it gives it back"),
        );
    }
    for group in has.groups {
        let name = &network.groups[group].name;
        faults.add_with_help(
            last,
            format!("the route ends, and the request is still inside `{name}`"),
            format!("write `{{ leave = \"{name}\" }}` where its server is done with it"),
        );
    }
}

/// Follows one step; says what is wrong with it and how to mend that.
fn wrong_step(network: &Network, step: &Step, has: &mut OnTheWay) -> Option<(String, String)> {
    let name = |center: usize| &network.centers[center].name;
    match *step {
        Step::Use(center, _) | Step::Acquire(center) | Step::Release(center) => {
            let of = network.centers[center].group;
            if let Some(group) = of.filter(|group| !has.groups.contains(group)) {
                let group = &network.groups[group].name;
                return Some((
                    format!(
                        "`{}` stands on a server of `{group}`, and the request is on none",
                        name(center)
                    ),
                    format!("write `{{ enter = \"{group}\" }}` before it"),
                ));
            }
        }
        _ => {}
    }
    match *step {
        Step::Acquire(limit) if has.limits.contains(&limit) => Some((
            format!(
                "the request holds `{}` already: it would wait for itself",
                name(limit)
            ),
            "acquire it once, or release it before".to_owned(),
        )),
        Step::Acquire(limit) => {
            has.limits.push(limit);
            None
        }
        Step::Release(limit) if !has.limits.contains(&limit) => Some((
            format!("the request does not hold `{}`", name(limit)),
            "acquire it before".to_owned(),
        )),
        Step::Release(limit) => {
            has.limits.retain(|held| *held != limit);
            None
        }
        Step::Enter(group) if has.groups.contains(&group) => Some((
            format!(
                "the request is inside `{}` already",
                network.groups[group].name
            ),
            "enter it once, or leave it before".to_owned(),
        )),
        Step::Enter(group) => {
            has.groups.push(group);
            None
        }
        Step::Leave(group) if !has.groups.contains(&group) => Some((
            format!("the request is not inside `{}`", network.groups[group].name),
            "enter it before".to_owned(),
        )),
        Step::Leave(group) => leave(network, group, has),
        Step::Use(..) | Step::Pass(_) | Step::Sleep(_) => None,
    }
}

fn leave(network: &Network, group: usize, has: &mut OnTheWay) -> Option<(String, String)> {
    has.groups.retain(|inside| *inside != group);
    let held = has.limits.iter().copied();
    let held = held.filter(|limit| network.centers[*limit].group == Some(group));
    let held: Vec<usize> = held.collect();
    has.limits.retain(|limit| !held.contains(limit));
    let name = &network.centers[*held.first()?].name;
    Some((
        format!("the request leaves its server and still holds `{name}` there"),
        format!("write `{{ release = \"{name}\" }}` before it"),
    ))
}

/// Every place has to be visited by somebody.
fn visits(network: &Network, faults: &mut Faults) {
    let steps = || network.classes.iter().flat_map(|class| &class.route);
    for (index, center) in network.centers.iter().enumerate() {
        let visited = steps().any(|step| match *step {
            Step::Use(at, _) | Step::Acquire(at) => at == index,
            _ => false,
        });
        if !visited {
            let what = if center.is_limit() {
                "limit"
            } else {
                "station"
            };
            faults.add_with_help(
                About::Center(index),
                format!("no class visits the {what} `{}`", center.name),
                "name it in a route, or leave it away",
            );
        }
    }
    for (index, gate) in network.gates.iter().enumerate() {
        if !steps().any(|step| *step == Step::Pass(index)) {
            faults.add(
                About::Gate(index),
                format!("no class passes the gate `{}`", gate.name),
            );
        }
    }
    for (index, group) in network.groups.iter().enumerate() {
        if !steps().any(|step| *step == Step::Enter(index)) {
            faults.add(
                About::Group(index),
                format!("no class enters the group `{}`", group.name),
            );
        }
    }
}

/// A user that sends again at once what was refused at once would stop the clock.
fn stands_still(network: &Network, class: &Class, index: usize, faults: &mut Faults) {
    let zero = |time: &Distribution| time.is_zero();
    let pauses = match &class.source {
        Source::Users { think, .. } => !zero(think),
        Source::Arrivals { .. } => true,
    };
    let takes_time = class.route.iter().any(|step| match step {
        Step::Use(_, time) | Step::Sleep(time) => !zero(time),
        _ => false,
    });
    if !pauses && !takes_time {
        faults.add(
            About::Class(index),
            format!("a user of class `{}` takes no time at all", class.name),
        );
        return;
    }
    if pauses {
        return;
    }
    let refuses = class.route.iter().find_map(|step| match *step {
        Step::Use(center, _) | Step::Acquire(center) => {
            let center = &network.centers[center];
            let refuses = center.queue.is_some() && center.when_full == WhenFull::Refuse;
            refuses.then_some(&center.name)
        }
        Step::Pass(gate) => Some(&network.gates[gate].name),
        Step::Enter(group) => {
            let planned = network.planned.iter();
            let mut lost = planned.filter(
                |planned| matches!(planned.what, Happening::Lose { group: of, .. } if of == group),
            );
            lost.next().map(|_| &network.groups[group].name)
        }
        _ => None,
    });
    if let Some(name) = refuses {
        faults.add_with_help(
            About::Class(index),
            format!(
                "a user of class `{}` that `{name}` refuses would send again at once, for ever",
                class.name
            ),
            "give the class a think time",
        );
    }
}

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
fn stability(network: &Network, faults: &mut Faults) {
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
                 server(s), a utilization of {:.0} %, and its queue would grow for ever",
                center.name,
                network.classes[class].name,
                if here().any(|visit| visit.class != class) { " and others" } else { "" },
                100.0 * offered / servers
            ),
            "lower the rate, give it more servers, or bound its queue with `queue` or `patience`",
        );
    }
}

/// The places that a class of arrivals visits; users wait for their answers, so their queues are never longer than they are.
fn visits_of(network: &Network, class: usize) -> Vec<Visit> {
    let of = &network.classes[class];
    let Source::Arrivals { rate, .. } = &of.source else {
        return Vec::new();
    };
    let mut rate_per_s = rate.last_rate();
    let stops = |timeout: &crate::network::Timeout| timeout.work == AbandonedWork::Stops;
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
            Step::Enter(_) | Step::Leave(_) => {}
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

/// Whether one of the limits that are held keeps the number of requests inside bounded: it throws out the others.
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
    let planned = network.planned.iter().rev();
    let mut planned = planned.filter_map(|planned| match planned.what {
        Happening::Servers { center, servers } if center == index => Some(servers),
        _ => None,
    });
    let servers = f64::from(planned.next().or(center.servers())?);
    let available = center.breakdowns.map_or(1.0, |breakdowns| {
        let up = breakdowns.up.mean_s();
        up / (up + breakdowns.down.mean_s())
    });
    Some(servers * f64::from(network.copies(index)) * available)
}
