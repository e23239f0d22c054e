//! The network file: places, ways and who sends requests, read with all problems at once.
//!
//! Names are turned into indices here, and what [`check`] finds is said at the place of the file
//! that it is about.

mod class;
mod places;
mod planned;
mod quantity;
mod route;

use std::ops::Range;

use weir_userfile::{At, Problem, Problems, Section, check_schema, read_file};

use crate::check::{About, Fault, check, largest_class};
use crate::network::Network;
use crate::replicate::Plan;

/// The version of the format that this reader understands.
pub const NETWORK_SCHEMA: &str = "weir/network/1";
const SECONDS: f64 = 300.0;
const WARM_UP_S: f64 = 60.0;
const REPLICATIONS: u32 = 10;
/// A single replication has no interval.
const REPLICATIONS_MIN: u32 = 2;
const REPLICATIONS_MAX: u32 = 10_000;
/// Longest time that can be simulated: a year.
const SECONDS_MAX: f64 = 366.0 * 86_400.0;
const SEED: u32 = 1;

/// A network as its file says, and how long it is to be simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkFile {
    /// What the file asks, in the user's words.
    pub question: Option<String>,
    /// The network.
    pub network: Network,
    /// How long and how often.
    pub plan: Plan,
    /// Bytes of the file in which the class with the most users stands; empty where there are no
    /// users.
    pub most_users_at: Range<usize>,
}

impl NetworkFile {
    /// Reads a network from the text of its file; the problems stand in the file's order.
    ///
    /// ```
    /// use weir_sim::NetworkFile;
    ///
    /// let file = NetworkFile::parse(
    ///     r#"
    ///     schema = "weir/network/1"
    ///     [station.cpu]
    ///     servers = 2
    ///     [class.page]
    ///     users = 40
    ///     think = { exponential = "1 s" }
    ///     route = [{ use = "cpu", time = { exponential = "20 ms" } }]
    ///     "#,
    /// )
    /// .expect("nothing is wrong with it");
    /// assert_eq!(file.network.population(), 40);
    ///
    /// let problems = NetworkFile::parse(
    ///     r#"
    ///     schema = "weir/network/1"
    ///     [station.cpu]
    ///     [class.page]
    ///     rate = "60/s"
    ///     route = [{ use = "cpu", time = { exponential = "20 ms" } }]
    ///     "#,
    /// )
    /// .unwrap_err();
    /// assert!(problems[0].says.contains("a utilization of 120 %"), "{}", problems[0].says);
    /// ```
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        read_file("a network", text, |root| Some(read(root)))
    }
}

/// Where the parts of the network stand in the file.
#[derive(Default)]
struct Spans {
    classes: Vec<Range<usize>>,
    steps: Vec<Vec<Range<usize>>>,
    centers: Vec<Range<usize>>,
    gates: Vec<Range<usize>>,
    groups: Vec<Range<usize>>,
    planned: Vec<Range<usize>>,
}

impl Spans {
    fn of(&self, about: About) -> Range<usize> {
        let span = match about {
            About::Network => None,
            About::Class(class) => self.classes.get(class),
            About::Step(class, step) => {
                let steps = self.steps.get(class);
                let step = steps.and_then(|steps| steps.get(step));
                step.or(self.classes.get(class))
            }
            About::Center(center) => self.centers.get(center),
            About::Gate(gate) => self.gates.get(gate),
            About::Group(group) => self.groups.get(group),
            About::Planned(planned) => self.planned.get(planned),
        };
        span.cloned().unwrap_or(0..0)
    }
}

fn read(root: &Section<'_>) -> NetworkFile {
    check_schema(root, NETWORK_SCHEMA);
    let question = root.text("question").map(toml::Spanned::into_inner);
    let plan = read_plan(root);
    let mut network = Network::default();
    let mut spans = Spans::default();
    places::read(root, &mut network, &mut spans);
    class::read(root, &mut network, &mut spans);
    planned::read(root, &mut network, &mut spans);
    root.finish();
    // What could be read of a file with mistakes would only have faults that follow from them.
    if root.problems().is_empty() {
        for fault in check(&network) {
            report(root.problems(), &spans, fault);
        }
    }
    let largest = largest_class(&network).map(About::Class);
    NetworkFile {
        question,
        most_users_at: largest.map_or(0..0, |class| spans.of(class)),
        network,
        plan,
    }
}

fn report(problems: &Problems, spans: &Spans, fault: Fault) {
    let span = spans.of(fault.about);
    match fault.help {
        Some(help) => problems.add_with_help(span, fault.says, help),
        None => problems.add(span, fault.says),
    }
}

fn read_plan(root: &Section<'_>) -> Plan {
    let mut plan = Plan {
        seconds: SECONDS,
        warm_up_s: WARM_UP_S,
        replications: REPLICATIONS,
        seed: u64::from(SEED),
        timelines: 0,
    };
    let Some(run) = root.section("run", "[run]") else {
        return plan;
    };
    let seconds = quantity::positive_seconds(&run, "seconds");
    if let Some(seconds) = seconds {
        if seconds > SECONDS_MAX {
            run.problems().add(
                run.span(),
                format!(
                    "{seconds} s are longer than a year, the longest time that can be simulated"
                ),
            );
        }
        plan.seconds = seconds;
    }
    if let Some(warm_up) = quantity::seconds(&run, "warm-up") {
        plan.warm_up_s = warm_up;
    }
    let replications = run.whole("replications", REPLICATIONS_MIN..=REPLICATIONS_MAX);
    if let Some(replications) = replications {
        plan.replications = replications.into_inner();
    }
    if let Some(seed) = run.whole("seed", 0..=u32::MAX) {
        plan.seed = u64::from(seed.into_inner());
    }
    run.finish();
    plan
}

/// The tables inside a table, each with its name: `[station.cpu]` and its like.
fn named<'a>(
    root: &Section<'a>,
    key: &'static str,
    what: &str,
) -> Vec<(String, Range<usize>, Section<'a>)> {
    let Some(all) = root.section(key, &format!("[{what}]")) else {
        return Vec::new();
    };
    let parts = all
        .entries()
        .filter_map(|(name, span, value): (_, _, At<'a>)| {
            let section = all.section_of(&format!("[{what}.{name}]"), value)?;
            if name.is_empty() || name.contains('.') {
                all.problems().add(
                    span.clone(),
                    format!("`{name}` is no name: a dot stands between a group and what it has"),
                );
            }
            Some((name.to_owned(), span, section))
        });
    parts.collect()
}
