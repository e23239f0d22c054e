//! What came of it in words and in the result: never that a setting does not matter, where it was
//! never reached.

use weir_record::{Difference, FigureDifference, TargetFacts};
use weir_stats::{LOOKS, Verdict};

use super::binding::words;
use super::{End, Learned, level_in_result, level_name};
use crate::figure::Figure;
use crate::file::{ColumnSpec, MattersSpec, default_columns};
use crate::settings::BACKLOG;
use crate::sweep::percent;
use crate::trials::Stop;

/// How full a stage was.
const IN_A_STAGE: [(&str, &str); 3] = [
    ("In it", "STAGE.occupancy"),
    ("Waiting", "STAGE.waiting"),
    ("Wait", "STAGE.wait"),
];

/// As `IN_A_STAGE`, of the backlog: the kernel does not tell who waits to get in, but whom it
/// dropped.
const IN_THE_BACKLOG: [(&str, &str); 2] = [
    ("In it", "STAGE.occupancy"),
    ("Overflows", "tcp.listen-overflows"),
];

/// The columns of the table of the two levels: what was compared, and how full the stage was.
pub(super) fn columns(spec: &MattersSpec, facts: &TargetFacts) -> Vec<ColumnSpec> {
    let mut columns = default_columns();
    let asked = Figure::named(&spec.of);
    if !columns
        .iter()
        .any(|column| Figure::named(&column.signal) == asked)
    {
        columns.insert(0, ColumnSpec::new(&spec.of, &spec.of));
    }
    if facts.stage(&spec.vary).is_some() {
        let own: &[(&str, &str)] = if spec.vary == BACKLOG {
            &IN_THE_BACKLOG
        } else {
            &IN_A_STAGE
        };
        columns.extend(
            own.iter().map(|(title, signal)| {
                ColumnSpec::new(*title, signal.replace("STAGE", &spec.vary))
            }),
        );
    }
    columns
}

/// The comparison as it stands in the result; `None` before there is one.
pub(super) fn difference(spec: &MattersSpec, learned: &Learned) -> Option<Difference> {
    let compared = learned.compared.as_ref()?;
    let mechanism = &learned.mechanism;
    Some(Difference {
        factor: spec.vary.clone(),
        levels: [0, 1].map(|slot| level_in_result(spec.levels[slot].as_ref())),
        pairs: learned.pairs.count() as u32,
        noise: compared.noise,
        verdict: compared.verdict,
        figures: compared.figures.clone(),
        binds: mechanism
            .in_pairs
            .clone()
            .or_else(|| mechanism.elsewhere.clone()),
    })
}

/// The answer in sentences.
pub(super) fn summary(spec: &MattersSpec, learned: &Learned, end: Option<&End>) -> String {
    let mut sentences = Vec::new();
    match &learned.compared {
        None => sentences.push(
            "Not decided: it takes two complete pairs of valid trials to compare.".to_owned(),
        ),
        Some(compared) => {
            sentences.extend(match compared.verdict {
                Verdict::Same => same(spec, learned),
                Verdict::Different => different(spec, &compared.figures),
                Verdict::Undecided => undecided(spec, learned, compared.noise),
            });
            let (asked, others) = compared
                .figures
                .split_first()
                .expect("there is the one asked for");
            let others: Vec<String> = others.iter().map(changed).collect();
            sentences.push(format!(
                "{} {} against {}: {}; {}.",
                spec.vary,
                level_name(spec, 1),
                level_name(spec, 0),
                changed(asked),
                others.join("; ")
            ));
        }
    }
    if !learned.pairs.dropped.is_empty() {
        sentences.push(format!(
            "{} pair(s) were dropped: {}.",
            learned.pairs.dropped.len(),
            learned.pairs.dropped.join("; ")
        ));
    }
    sentences.extend(ended(end));
    sentences.join(" ")
}

fn ended(end: Option<&End>) -> Option<String> {
    match end? {
        End::Budget => Some(
            "The budget of load ended before the study did; a larger `budget` takes it further."
                .to_owned(),
        ),
        End::Dropped => {
            Some("Too many trials could not be used for the study to go on.".to_owned())
        }
        End::Stop(Stop::Error(error)) => {
            Some(format!("The study was cut short: failed to {error}."))
        }
        End::Stop(Stop::Invalid { .. }) => None,
    }
}

/// The headline, and what is known of the setting as a limit.
fn same(spec: &MattersSpec, learned: &Learned) -> Vec<String> {
    let (vary, mechanism) = (&spec.vary, &learned.mechanism);
    if let Some(binding) = &mechanism.in_pairs {
        return vec![
            format!(
                "{vary} does not matter: from {} to {} nothing changes by as much as matters, although it acts as a limit.",
                level_name(spec, 0),
                level_name(spec, 1)
            ),
            format!("In trial {} {}.", binding.trial, binding.says),
        ];
    }
    if let Some(binding) = &mechanism.elsewhere {
        return vec![
            format!("{vary} does not matter at this load."),
            format!(
                "It is not without effect: with {} {} (trial {}).",
                words(&binding.levels, vary),
                binding.says,
                binding.trial
            ),
        ];
    }
    let did_not = mechanism.did_not.as_ref();
    let did_not = did_not.map_or_else(String::new, |why| format!(", {why}"));
    vec![
        format!("{vary} did not matter at this load."),
        format!(
            "Whether it matters at another one is not known, since it was not reached: {}{did_not}.",
            mechanism.not_reached(vary)
        ),
        "Levels that should fill it can be named in `binds-at`.".to_owned(),
    ]
}

fn different(spec: &MattersSpec, figures: &[FigureDifference]) -> Vec<String> {
    let differ: Vec<String> = figures
        .iter()
        .filter(|figure| figure.verdict == Verdict::Different)
        .map(|figure| figure.figure.clone())
        .collect();
    let verb = if differ.len() == 1 {
        "differs"
    } else {
        "differ"
    };
    vec![format!(
        "{} matters: {} {verb}.",
        spec.vary,
        differ.join(" and ")
    )]
}

fn undecided(spec: &MattersSpec, learned: &Learned, noise: f64) -> Vec<String> {
    let mut sentences = vec![format!(
        "Not decided: trials of one level differ by {} %, too much to tell within {} pairs whether {} makes {} % of a \
         difference.",
        percent(noise),
        learned.pairs.count(),
        spec.vary,
        percent(spec.margin)
    )];
    let mechanism = &learned.mechanism;
    if let Some(binding) = &mechanism.in_pairs {
        sentences.push(format!(
            "It acted as a limit: in trial {} {}.",
            binding.trial, binding.says
        ));
    } else if learned.pairs.count() >= LOOKS[0] {
        sentences.push(format!(
            "It was not reached: {}.",
            mechanism.not_reached(&spec.vary)
        ));
    }
    sentences
}

/// `throughput_per_s +0.2 % (-0.9 to 1.3 %)`.
fn changed(figure: &FigureDifference) -> String {
    let change = &figure.change;
    format!(
        "{} {:+.2} % ({:.2} to {:.2} %)",
        figure.figure,
        100.0 * change.value,
        100.0 * change.low,
        100.0 * change.high
    )
}
