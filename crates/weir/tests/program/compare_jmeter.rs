//! Plans made by chance, run here and by JMeter: the same requests, the same rows, or a difference.
//!
//! `cargo xtask compare-jmeter` runs this; in other test runs it says that it was left out. A plan
//! holds many thread groups, each of which is a case of its own: elements, scopes, references,
//! scripts and listeners as [`group`] puts them together. A group that Weir refuses by itself is
//! counted with its reason and left out. Where the two differ, the group is made smaller for as
//! long as it still differs, and written to a folder of which the path is printed.

#![expect(
    clippy::print_stdout,
    reason = "whoever runs this for an hour looks on"
)]

mod group;
mod node;
mod words;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_reach::Reach;
use weir_script::{Origin, resolve};

use crate::recorded::EVERYTHING;
use crate::recorded::files::{ByUser, without_alive, without_boundary, xml};
use crate::recorded::jmeter::in_jmeter;
use crate::recorded::native::Native;
use crate::recorded::server::{CaseServer, Requests};
use node::Node;
use words::Chance;

/// How long plans are made, in seconds.
const SECONDS: &str = "WEIR_COMPARE_JMETER_SECONDS";
/// The number of the first plan.
const FIRST: &str = "WEIR_COMPARE_JMETER_FIRST";
/// How many groups a plan has: what JMeter needs to start is shared by all.
const GROUPS: usize = 40;
/// How many smaller groups are tried at once.
const VARIANTS: usize = 60;
/// How often a group is made smaller.
const ROUNDS: usize = 25;
/// So many different groups are made smaller; the rest is counted.
const SHRUNK_MAX: usize = 12;
/// The variables that rows show.
const SHOWN: (&str, &str) = ("sample_variables", "v1,v2,v3,v4,v5,v6");

/// A file that each group has for itself, since its users share the place in it.
const NAMES: &str = "one,two\n1,2\n3,4\n";
/// The variables that every user has from the beginning; the others are not known.
const GIVEN: [(&str, &str); 4] = [("v1", "a"), ("v2", "1"), ("v3", "b c"), ("v4_1", "one")];

/// What one of the two made of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Seen {
    rows: Vec<String>,
    requests: Vec<String>,
}

impl Seen {
    /// The first thing that the other saw otherwise.
    fn first_difference(&self, jmeter: &Self) -> Option<String> {
        let first = |what: &str, here: &[String], theirs: &[String]| {
            let longer = here.len().max(theirs.len());
            let at = (0..longer).find(|at| here.get(*at) != theirs.get(*at))?;
            let side = |side: &[String]| side.get(at).cloned().unwrap_or("(none)".to_owned());
            let (here, theirs) = (side(here), side(theirs));
            let mut lines = here.lines().zip(theirs.lines());
            let (own, jmeter) = lines.find(|(a, b)| a != b).unwrap_or((&here, &theirs));
            Some(format!(
                "{what} {}:\n  here:   {own}\n  JMeter: {jmeter}",
                at + 1
            ))
        };
        first("request", &self.requests, &jmeter.requests)
            .or_else(|| first("row", &self.rows, &jmeter.rows))
    }
}

/// How a group went here beside JMeter.
enum Outcome {
    Same,
    /// With the values of the moment a script was none that Weir can read, and Weir said so.
    Refused,
    /// The first difference.
    Differs(String),
}

impl Outcome {
    fn of(group: &str, [here, theirs]: &[BTreeMap<String, Seen>; 2]) -> Self {
        let none = Seen::default();
        let own = here.get(group).unwrap_or(&none);
        if says_it_cannot(own) {
            return Self::Refused;
        }
        let jmeter = theirs.get(group).unwrap_or(&none);
        own.first_difference(jmeter)
            .map_or(Self::Same, Self::Differs)
    }
}

/// What was seen in all.
#[derive(Default)]
struct Tally {
    plans: usize,
    groups: usize,
    requests: usize,
    rows: usize,
    refused: BTreeMap<String, usize>,
    differing: usize,
    /// Groups that did nothing in JMeter, mostly because its thread ended with an error.
    crashed: usize,
    problems: Vec<String>,
}

/// Where plans are written and run.
struct Bench {
    folder: PathBuf,
    jmeter: PathBuf,
}

impl Bench {
    /// A plan of these groups, as a file.
    fn write(&self, name: &str, groups: &[Node]) -> PathBuf {
        let mut rendered = String::new();
        for group in groups {
            group.render(&mut rendered);
        }
        let folder = self.folder.to_str().unwrap();
        let variables = GIVEN
            .map(|(name, value)| node::variable(name, value))
            .concat();
        let text = format!("{HEAD}{rendered}{TAIL}")
            .replace("FOLDER", folder)
            .replace("VARIABLES", &variables);
        for part in text.split("/own").skip(1) {
            let own = part.split('/').next().unwrap();
            let own = self.folder.join(format!("own{own}"));
            if std::fs::create_dir(&own).is_ok() {
                std::fs::write(own.join("names.csv"), NAMES).unwrap();
            }
        }
        let path = self.folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Why Weir does not run a plan of this group in full, if it does not.
    fn refusal(&self, group: &Node) -> Option<String> {
        let path = self.write("one.jmx", std::slice::from_ref(group));
        let reach = Reach::of_plan(Some(&path)).allow(&std::env::temp_dir());
        let reading = match weir_jmx::read_within(&path, reach) {
            Ok(reading) => reading,
            Err(error) => return Some(error.to_string()),
        };
        if let Some(found) = reading.unsupported().next() {
            let text = found.to_string();
            let reason = text.split_once(": ").map(|(_, why)| why.to_owned());
            return Some(reason.unwrap_or(text));
        }
        let properties = properties("1").into_iter().collect();
        let origin = Origin {
            seed: 1,
            epoch_ms: 0,
        };
        let refused = resolve(&reading.plan, &properties, origin).err()?;
        Some(refused.problems.first()?.says.clone())
    }

    /// What Weir and JMeter make of these groups, by the names of the groups.
    fn run(&self, groups: &[Node]) -> Result<[BTreeMap<String, Seen>; 2], String> {
        let plan = self.write("plan.jmx", groups);
        // One server, because its port stands in what assertions look at.
        let server = CaseServer::start();
        let port = server.port.to_string();
        let here = in_weir(&plan, &server)
            .ok_or_else(|| "Weir did not run the plan to its end".to_owned())?;
        let ran = in_jmeter(&self.jmeter, &plan, &properties(&port), &server);
        let rows = without_alive(xml(&ran.results, server.port));
        let mut theirs = by_group(rows, &server.take_requests());
        if theirs.is_empty() {
            return Err("JMeter ran nothing of the plan".to_owned());
        }
        // What JMeter itself does not survive is nothing to compare with.
        let mut here = here;
        for user in &ran.crashed {
            let name = user.split(' ').next().unwrap_or_default();
            here.remove(name);
            theirs.remove(name);
        }
        Ok([here, theirs])
    }

    /// The groups that Weir does not run to their end.
    fn unending(&self, groups: &[Node]) -> Vec<Node> {
        let ends = |group: &Node| {
            let plan = self.write("one.jmx", std::slice::from_ref(group));
            in_weir(&plan, &CaseServer::start()).is_some()
        };
        groups
            .iter()
            .filter(|group| !ends(group))
            .cloned()
            .collect()
    }

    /// The groups that differ, by their place.
    fn differing(&self, groups: &[Node]) -> Result<Vec<(usize, String)>, String> {
        let both = self.run(groups)?;
        let differences = groups.iter().enumerate().filter_map(|(at, group)| {
            match Outcome::of(&group_name(group), &both) {
                Outcome::Differs(difference) => Some((at, difference)),
                Outcome::Same | Outcome::Refused => None,
            }
        });
        Ok(differences.collect())
    }

    /// The smallest group found that still differs, with its difference.
    fn shrink(&self, group: &Node, difference: String) -> (Node, String) {
        let mut smallest = (group.clone(), difference);
        for _ in 0..ROUNDS {
            let mut smaller = smallest.0.smaller();
            smaller.sort_by_key(Node::size);
            smaller.truncate(VARIANTS);
            smaller.retain(|variant| variant.has_sampler() && self.refusal(variant).is_none());
            let numbered: Vec<Node> = (0..)
                .zip(&smaller)
                .map(|(at, one)| renamed(one, at))
                .collect();
            if numbered.is_empty() {
                break;
            }
            let Ok(differing) = self.differing(&numbered) else {
                break;
            };
            let Some((at, difference)) = differing.into_iter().next() else {
                break;
            };
            smallest = (smaller.swap_remove(at), difference);
        }
        smallest
    }
}

/// What Weir makes of a plan; nothing if it does not come to its end.
fn in_weir(plan: &Path, server: &CaseServer) -> Option<BTreeMap<String, Seen>> {
    let port = server.port.to_string();
    let run = || {
        let native = Native {
            plan,
            properties: &properties(&port),
            port: None,
            stop_after: None,
        };
        let left = native.run();
        let rows = without_alive(xml(&left.results(), server.port));
        by_group(rows, &server.take_requests())
    };
    catch_unwind(AssertUnwindSafe(run)).ok()
}

/// What is kept of every sample, and where the server is.
fn properties(port: &str) -> Vec<(&str, &str)> {
    let all = EVERYTHING.into_iter();
    all.chain([SHOWN, ("port", port)]).collect()
}

/// What stands around the groups of a plan.
const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
<hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="made"><boolProp name="TestPlan.serialize_threadgroups">true</boolProp><boolProp name="TestPlan.tearDown_on_shutdown">true</boolProp><elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">VARIABLES</collectionProp></elementProp></TestPlan>
<hashTree>
<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="defaults"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp></ConfigTestElement>
<hashTree/>
<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="headers"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header"><stringProp name="Header.name">X-User</stringProp><stringProp name="Header.value">${__threadGroupName} ${__threadNum}</stringProp></elementProp></collectionProp></HeaderManager>
<hashTree/>
"#;
const TAIL: &str = "</hashTree>\n</hashTree>\n</jmeterTestPlan>\n";

/// The name of a thread group, which stands in its element.
fn group_name(group: &Node) -> String {
    let (_, rest) = group.element.split_once("testname=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// A group with another number: its name, and all that is global and so has the number in it.
fn renamed(group: &Node, number: usize) -> Node {
    let old = group_name(group);
    let old = old.trim_start_matches('g');
    let mut rendered = group.clone();
    rename(&mut rendered, old, &format!("{old}00{number}"));
    rendered
}

/// What stands around the number of a group where it is part of a name.
const AROUND_NUMBERS: [(&str, &str); 9] = [
    ("testname=\"g", "\""),
    ("p", ","),
    ("p", ")"),
    ("&quot;p", "&quot;"),
    ("u", "\""),
    ("u", "<"),
    ("{u", "}"),
    ("own", "s"),
    ("/own", "/"),
];

fn rename(node: &mut Node, old: &str, new: &str) {
    for (front, back) in AROUND_NUMBERS {
        let (from, to) = (format!("{front}{old}{back}"), format!("{front}{new}{back}"));
        node.element = node.element.replace(&from, &to);
    }
    for child in &mut node.children {
        rename(child, old, new);
    }
}

/// Rows and requests by the group that made them; the groups are numbered otherwise in other plans.
fn by_group(rows: ByUser, requests: &Requests) -> BTreeMap<String, Seen> {
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    let group_of = |user: &str| user.split(' ').next().unwrap_or_default().to_owned();
    for (user, rows) in rows {
        let rows = rows.iter().map(|row| lasting(row));
        seen.entry(group_of(&user)).or_default().rows.extend(rows);
    }
    for (user, asked) in requests {
        let asked = asked.iter().map(|request| without_boundary(request));
        seen.entry(group_of(user))
            .or_default()
            .requests
            .extend(asked);
    }
    seen
}

/// A row without what is made by chance, and without lines that say nothing.
fn lasting(row: &str) -> String {
    let row = without_numbers_of_scripts(row);
    let lines = row.lines().map(str::trim_end);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let row = lines.join("\n");
    let failed_whole = row.contains(" dt=\"\"") && row.contains(" rc=\"\"");
    if row.contains(" rc=\"Non HTTP") || failed_whole {
        without_sizes(&row)
    } else {
        row
    }
}

/// A row without sizes: JMeter counts the stack trace that it shows instead of a response, also in
/// the sums of transactions.
fn without_sizes(row: &str) -> String {
    let mut parts = row.split(" by=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |whole, part| {
        let (_, rest) = part.split_once('"').unwrap_or_default();
        whole + rest
    })
}

/// Whether Weir said in a row that it cannot run a script: with the values that it has then, its
/// text is another one. That is no silence.
fn says_it_cannot(seen: &Seen) -> bool {
    let signs = [
        "Weir cannot",
        "Weir does not know",
        "needs what is not known",
    ];
    let mut rows = seen.rows.iter();
    rows.any(|row| signs.iter().any(|sign| row.contains(sign)))
}

/// A row without the numbers that Groovy gives the scripts of a process.
fn without_numbers_of_scripts(row: &str) -> String {
    let mut parts = row.split("class: Script");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |whole, part| {
        whole + "class: Script" + part.trim_start_matches(|c: char| c.is_ascii_digit())
    })
}

/// The data that made plans read.
fn write_data(folder: &Path) {
    let files = [
        ("rows.csv", "a,b,c\n1,\"x,y\",3\nd;e;f\n\n \"q\"\"r\" ,2,\n"),
        ("lines.txt", "l1\nl2\n\nl4"),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

/// A number that the task hands over.
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn plans_made_by_chance_run_here_as_in_jmeter() {
    let Some(seconds) = asked(SECONDS) else {
        println!("left out: `cargo xtask compare-jmeter` runs it");
        return;
    };
    let first = asked(FIRST).unwrap_or(0);
    let home = crate::recorded::jmeter::provided();
    let place = tempfile::tempdir().unwrap();
    write_data(place.path());
    let bench = Bench {
        folder: place.path().to_owned(),
        jmeter: home,
    };
    let kept = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("compare-jmeter")
        .join(format!("from-{first}"));
    drop(std::fs::remove_dir_all(&kept));
    std::fs::create_dir_all(&kept).unwrap();
    let mut tally = Tally::default();
    let began = Instant::now();
    while tally.plans == 0 || began.elapsed() < Duration::from_secs(seconds) {
        let number = first + tally.plans as u64;
        one_plan(&bench, number, &kept, &mut tally);
        println!(
            "{:>5} s  plan {number}: {} groups so far, {} requests, {} rows, {} differ",
            began.elapsed().as_secs(),
            tally.groups,
            tally.requests,
            tally.rows,
            tally.differing
        );
    }
    let mut refused: Vec<_> = tally.refused.iter().collect();
    refused.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (why, count) in refused {
        println!("refused {count} times: {why}");
    }
    println!(
        "{} plans, {} groups, of which {} did nothing in JMeter",
        tally.plans, tally.groups, tally.crashed
    );
    assert!(
        tally.problems.is_empty(),
        "{} groups differ; the plans are in {}\n{}",
        tally.differing,
        kept.display(),
        tally.problems.join("\n")
    );
}

/// Makes one plan, runs it in both, and keeps what differs.
fn one_plan(bench: &Bench, number: u64, kept: &Path, tally: &mut Tally) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(number);
    let mut groups = Vec::new();
    while groups.len() < GROUPS {
        let made = group::group(&mut Chance::new(random.clone(), groups.len()));
        random.jump();
        match bench.refusal(&made) {
            None => groups.push(made),
            Some(why) => *tally.refused.entry(why).or_default() += 1,
        }
    }
    tally.plans += 1;
    tally.groups += groups.len();
    let both = match bench.run(&groups) {
        Ok(both) => both,
        Err(why) => {
            let path = kept.join(format!("plan-{number}.jmx"));
            let unending = bench.unending(&groups);
            let shown = if unending.is_empty() {
                &groups
            } else {
                &unending
            };
            std::fs::copy(bench.write("plan.jmx", shown), &path).unwrap();
            tally
                .problems
                .push(format!("plan {number}: {why}: {}", path.display()));
            return;
        }
    };
    for group in &groups {
        let name = group_name(group);
        match both[1].get(&name) {
            Some(jmeter) => {
                tally.requests += jmeter.requests.len();
                tally.rows += jmeter.rows.len();
            }
            None => tally.crashed += 1,
        }
        let difference = match Outcome::of(&name, &both) {
            Outcome::Same => continue,
            Outcome::Refused => {
                let why = "a script that is known only while it runs".to_owned();
                *tally.refused.entry(why).or_default() += 1;
                continue;
            }
            Outcome::Differs(difference) => difference,
        };
        tally.differing += 1;
        if tally.differing > SHRUNK_MAX {
            continue;
        }
        let whole = kept.join(format!("plan-{number}-{name}-whole.jmx"));
        let one = bench.write("one.jmx", std::slice::from_ref(group));
        std::fs::rename(one, whole).unwrap();
        let (smallest, difference) = bench.shrink(group, difference);
        let file = kept.join(format!("plan-{number}-{name}.jmx"));
        std::fs::rename(bench.write("small.jmx", &[smallest]), &file).unwrap();
        let mut told = String::new();
        let _ = writeln!(
            told,
            "plan {number}, group {name}: {}\n{difference}",
            file.display()
        );
        println!("{told}");
        tally.problems.push(told);
    }
}
