//! Networks that cannot be simulated, or whose queues would grow for ever.

mod stability;

use crate::distribution::Distribution;
use crate::network::{
    CLASSES_MAX, Class, GROUPS_MAX, Happening, LIMITS_MAX, Network, SERVERS_MAX, Source, Step,
    WhenFull,
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
        stability::check(network, &mut faults);
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
    if let Some(largest) = largest_class(network)
        && population > POPULATION_MAX
    {
        faults.add_with_help(
            About::Class(largest),
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

/// The class with the most users; `None` where nobody but arrivals sends requests.
pub(crate) fn largest_class(network: &Network) -> Option<usize> {
    let users = |class: &usize| network.classes[*class].users();
    let classes = (0..network.classes.len()).filter(|class| users(class).is_some());
    classes.max_by_key(users)
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
        Step::Use(..) | Step::Pass(_) | Step::Admit { .. } | Step::Sleep(_) => None,
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
