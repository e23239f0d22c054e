//! Writes the vectors anew: what happens is made here from fixed seeds, what is said to it is
//! recorded.
//!
//! `cargo run -p weir-limit --example record-vectors -- crates/limit/vectors`
//!
//! A recording shows that nothing has changed, not that it is right: what is right is in the tests
//! of the crate. Look at the differences before they are committed.

#[path = "../tests/admission/random.rs"]
mod random;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use random::Random;
use weir_limit::replay::{Act, Player, Said, Script, Step, TestPoint, Vector};
use weir_limit::{
    Adaptive, Aimd, ClassRules, Concurrency, Goal, Gradient2, Kind, Moment, PauseRules, Promise,
    Rate, Rules, Vegas,
};

const MS: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder: PathBuf = std::env::args().nth(1).ok_or("which folder?")?.into();
    for (name, vector) in vectors()? {
        std::fs::write(folder.join(format!("{name}.json")), text(&vector)?)?;
    }
    Ok(())
}

/// One step a line, so that differences can be read.
fn text(vector: &Vector) -> Result<String, serde_json::Error> {
    let (kind, rules, steps) = match &vector.script {
        Script::Admission { rules, steps } => {
            let lines: Result<Vec<_>, _> = steps.iter().map(serde_json::to_string).collect();
            ("admission", serde_json::to_string(rules)?, lines?)
        }
        Script::Pause { rules, steps } => {
            let lines: Result<Vec<_>, _> = steps.iter().map(serde_json::to_string).collect();
            ("pause", serde_json::to_string(rules)?, lines?)
        }
    };
    let about = serde_json::to_string(&vector.about)?;
    let mut text = format!(
        "{{\"about\":{about},\n\"script\":{{\"{kind}\":{{\"rules\":{rules},\n\"steps\":[\n"
    );
    for (index, step) in steps.iter().enumerate() {
        let comma = if index + 1 < steps.len() { "," } else { "" };
        let _ = writeln!(text, "{step}{comma}");
    }
    text.push_str("]}}}\n");
    Ok(text)
}

/// What load is played, and how the server behind takes it.
struct Play {
    /// Mean time between arrivals of each class.
    arrivals_ns: Vec<u64>,
    /// Mean response time with one in flight; it grows with how many there are beyond two, as on
    /// two CPUs.
    response_ns: u64,
    until: u64,
    /// How late the timer is.
    late_ns: u64,
    /// Every one in so many leaves while it waits; 0: nobody does.
    abandons: u64,
    /// Whether CPU is read, every 200 ms.
    reads: bool,
    /// From when to when nothing ends.
    stands_still: (u64, u64),
    /// From when to when other work fills the CPUs, and requests take eight times as long.
    other_work: (u64, u64),
    seed: u64,
}

impl Default for Play {
    fn default() -> Self {
        Self {
            arrivals_ns: vec![5 * MS],
            response_ns: 10 * MS,
            until: 1500 * MS,
            late_ns: 0,
            abandons: 0,
            reads: false,
            stands_still: (0, 0),
            other_work: (0, 0),
            seed: 1,
        }
    }
}

/// What is going to happen, in the order of time.
type Agenda = BTreeSet<(u64, u64, Todo)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Todo {
    Arrive(usize),
    Finish(u64, u64),
    Abandon(u64),
    Read,
}

fn play(about: &str, rules: Rules, of: &Play) -> Result<Vector, Failure> {
    rules.check()?;
    let mut random = Random(of.seed);
    let mut agenda = Agenda::new();
    for (class, mean) in of.arrivals_ns.iter().enumerate() {
        agenda.insert((random.exponential_ns(*mean), 0, Todo::Arrive(class)));
    }
    if of.reads {
        agenda.insert((200 * MS, 0, Todo::Read));
    }
    // A vector begins with its first step.
    let begin = agenda.first().map_or(0, |(at, _, _)| *at);
    let mut player = Player::new(&rules, Moment(begin));
    let mut steps: Vec<Step> = Vec::new();
    let (mut requests, mut order, mut busy_ns, mut read_at, mut at) = (0, 0, 0, 0, 0);
    while let Some(first) = agenda.first().copied() {
        let wake = steps
            .last()
            .and_then(|step| step.wake)
            .map(|wake| wake.0 + of.late_ns);
        let before = at;
        let in_flight = player.in_flight().count() as u64;
        let step = if let Some(wake) = wake.filter(|wake| *wake <= first.0) {
            at = wake.max(at);
            player.step(Moment(at), Act::Wake)
        } else {
            agenda.pop_first();
            at = first.0;
            if at > of.until {
                break;
            }
            let act = match first.2 {
                Todo::Arrive(class) => {
                    requests += 1;
                    order += 1;
                    let next = at + random.exponential_ns(of.arrivals_ns[class]);
                    agenda.insert((next, order, Todo::Arrive(class)));
                    Act::Arrive {
                        request: requests,
                        class,
                    }
                }
                Todo::Finish(request, response_ns) => Act::Finish {
                    request,
                    response_ns,
                    kind: Kind::Completed,
                },
                Todo::Abandon(request) => Act::Abandon { request },
                Todo::Read => {
                    order += 1;
                    agenda.insert((at + 200 * MS, order, Todo::Read));
                    let work = busy_ns + (at - before) * in_flight.min(2);
                    let mut busy = work as f64 / (2 * (at - read_at)) as f64;
                    if (of.other_work.0..of.other_work.1).contains(&at) {
                        busy = 1.0;
                    }
                    (busy_ns, read_at) = (0, at);
                    // To four digits, which is what a vector should show.
                    Act::ReadCpu((busy * 1e4).round() / 1e4)
                }
            };
            player.step(Moment(at), act)
        };
        if !matches!(step.act, Act::ReadCpu(_)) {
            busy_ns += (at - before) * in_flight.min(2);
        }
        for told in &step.told {
            order += 1;
            if told.is == Said::Admitted {
                let crowd = (player.in_flight().count() as u64).max(2);
                let mut response = random.exponential_ns(of.response_ns) * crowd / 2 + MS;
                if (of.other_work.0..of.other_work.1).contains(&at) {
                    response *= 8;
                }
                let (from, until) = of.stands_still;
                if at < until && at + response > from {
                    response += until - from.max(at);
                }
                agenda.insert((at + response, order, Todo::Finish(told.request, response)));
            } else if told.is == Said::Queued && of.abandons > 0 && told.request % of.abandons == 0
            {
                agenda.insert((at + 20 * MS, order, Todo::Abandon(told.request)));
            }
        }
        steps.push(step);
    }
    Ok(Vector {
        about: about.to_owned(),
        script: Script::Admission { rules, steps },
    })
}

fn concurrency(concurrency: Concurrency) -> Rules {
    Rules {
        concurrency: Some(concurrency),
        ..Rules::default()
    }
}

type Named = (&'static str, Vector);
type Failure = Box<dyn std::error::Error>;

fn vectors() -> Result<Vec<Named>, Failure> {
    let mut vectors = caps()?;
    vectors.extend(published()?);
    vectors.extend(adaptive()?);
    vectors.push(("pause", pauses()));
    Ok(vectors)
}

/// Caps that stand.
fn caps() -> Result<Vec<Named>, Failure> {
    let fifty = Rules {
        rate: Some(Rate::per_second(50.0)?),
        ..Rules::default()
    };
    let offered = Play {
        arrivals_ns: vec![8 * MS],
        ..Play::default()
    };
    let late = Play {
        arrivals_ns: vec![8 * MS],
        late_ns: 3 * MS,
        abandons: 5,
        seed: 2,
        ..Play::default()
    };
    let fixed = Rules {
        max_queue: Some(20),
        ..concurrency(Concurrency::Fixed(2.0))
    };
    let overloaded = Play {
        arrivals_ns: vec![3 * MS],
        abandons: 9,
        seed: 3,
        ..Play::default()
    };
    let slow = Play {
        arrivals_ns: vec![30 * MS],
        response_ns: 20 * MS,
        seed: 4,
        ..Play::default()
    };
    let about = "two slots under overload: first in first out, then the newest first";
    let half = concurrency(Concurrency::Fixed(0.5));
    let same = "the same with a timer 3 ms late and clients that leave";
    Ok(vec![
        (
            "rate",
            play("50 per second against 125 offered", fifty.clone(), &offered)?,
        ),
        ("rate-late", play(same, fifty, &late)?),
        ("queue", play(about, fixed, &overloaded)?),
        ("fraction", play("half a slot", half, &slow)?),
    ])
}

/// More than the server can take.
fn overload(seed: u64) -> Play {
    Play {
        arrivals_ns: vec![8 * MS],
        response_ns: 30 * MS,
        until: 2500 * MS,
        reads: true,
        seed,
        ..Play::default()
    }
}

/// Published algorithms, with nobody waiting in front.
fn published() -> Result<Vec<Named>, Failure> {
    let rules = |algorithm| Rules {
        max_wait: Duration::ZERO,
        ..concurrency(algorithm)
    };
    let aimd = rules(Concurrency::Aimd(Aimd {
        min: 2.0,
        timeout: Duration::from_millis(60),
        ..Aimd::default()
    }));
    let vegas = rules(Concurrency::Vegas(Vegas::default()));
    let gradient2 = rules(Concurrency::Gradient2(Gradient2::default()));
    Ok(vec![
        (
            "aimd",
            play("AIMD with a time-out of 60 ms", aimd, &overload(5))?,
        ),
        ("vegas", play("Vegas", vegas, &overload(6))?),
        ("gradient2", play("Gradient2", gradient2, &overload(7))?),
    ])
}

/// What Weir finds.
fn adaptive() -> Result<Vec<Named>, Failure> {
    let with = |cpu, p99_ms: Option<u64>| {
        let goal = Goal {
            cpu,
            p99: p99_ms.map(Duration::from_millis),
        };
        concurrency(Concurrency::Adaptive(Adaptive {
            goal,
            ..Adaptive::default()
        }))
    };
    let best = "the best throughput, CPU read";
    let blind = Play {
        reads: false,
        ..overload(10)
    };
    let both = Play {
        arrivals_ns: vec![10 * MS, 20 * MS],
        response_ns: 25 * MS,
        ..overload(8)
    };
    let still = Play {
        arrivals_ns: vec![10 * MS],
        stands_still: (1600 * MS, 2000 * MS),
        ..overload(14)
    };
    let stands = "the best throughput, and a server that stands still for 400 ms";
    let long = Play {
        arrivals_ns: vec![60 * MS],
        response_ns: 200 * MS,
        until: 10_000 * MS,
        ..overload(15)
    };
    let few = "the best throughput, of requests so long that few end in a reading";
    let from_few = concurrency(Concurrency::Adaptive(Adaptive {
        start: Some(1.25),
        min: Some(0.25),
        ..Adaptive::default()
    }));
    // A part of the requests is computing, so that the CPUs are at a quarter.
    let beside = |seed| Play {
        arrivals_ns: vec![25 * MS],
        response_ns: 15 * MS,
        until: 8000 * MS,
        other_work: (2000 * MS, 4000 * MS),
        ..overload(seed)
    };
    let peak = "CPU at 80 %, and other work that fills the CPUs for 2 s";
    let slow = "p99 within 60 ms, and 2 s in which requests take eight times as long";
    let promise = "a class with a promise, and one that gets what is left";
    Ok(vec![
        ("adaptive", play(best, with(None, None), &overload(9))?),
        (
            "adaptive-blind",
            play(
                "the best throughput, CPU not read",
                with(None, None),
                &blind,
            )?,
        ),
        (
            "adaptive-cpu",
            play("CPU at 80 %", with(Some(0.8), None), &overload(11))?,
        ),
        (
            "adaptive-p99",
            play("p99 within 60 ms", with(None, Some(60)), &overload(12))?,
        ),
        ("peak-cpu", play(peak, with(Some(0.8), None), &beside(16))?),
        ("peak-p99", play(slow, with(None, Some(60)), &beside(17))?),
        ("standstill", play(stands, with(None, None), &still)?),
        ("long-requests", play(few, from_few, &long)?),
        ("classes", play(promise, promised(), &both)?),
    ])
}

fn promised() -> Rules {
    let class = |name: &str, promise| ClassRules {
        name: name.to_owned(),
        promise,
        ..ClassRules::default()
    };
    let promise = Promise {
        share: 0.99,
        within: Duration::from_millis(100),
    };
    Rules {
        classes: vec![class("light", Some(promise)), class("heavy", None)],
        ..Rules::default()
    }
}

/// Stretches of about 3 ms; from the 150th to the 250th they take half as long again.
fn pauses() -> Vector {
    let mut random = Random(13);
    let (mut at, mut paused_ns) = (0, 0);
    let rules = PauseRules::default();
    let mut steps = Vec::new();
    for stretch in 0..400 {
        let took = 3 * MS + random.next() % (MS / 2);
        let took = if (150..250).contains(&stretch) {
            took * 3 / 2
        } else {
            took
        };
        at += took + paused_ns;
        steps.push(TestPoint {
            at: Moment(at),
            done: 1.0,
            paused_ns,
            pause_ns: None,
        });
        // The pause that it is told now is made before the next test point.
        let vector = Vector {
            about: String::new(),
            script: Script::Pause {
                rules,
                steps: steps.clone(),
            },
        };
        if let Script::Pause {
            steps: recorded, ..
        } = vector.recorded().script
        {
            steps = recorded;
        }
        paused_ns = steps.last().and_then(|step| step.pause_ns).unwrap_or(0);
    }
    Vector {
        about: "work that is disturbed for a while".to_owned(),
        script: Script::Pause { rules, steps },
    }
}
