//! The answer in sentences.

use weir_record::{LevelVerdict, Status, TrialRecord};

use super::found::By;
use super::joint::{Compared, Standing};
use super::limits;
use super::told::Told;
use super::{End, Point};
use crate::contest::CONFIDENCE;
use crate::file::BestGoal;
use crate::search::bounded::Bounded;
use crate::sweep::percent;
use crate::trials::Stop;

/// Combinations that are out are named one by one up to this many.
const OUT_NAMED: usize = 4;

/// The answer, what it was compared with, what was not searched, and what cut it short.
pub(super) fn summary(told: &Told<'_>) -> String {
    let mut sentences = vec![headline(told)];
    if let Some(compared) = &told.compared {
        sentences.extend(compared_with(told, compared));
    }
    sentences.extend(left(told));
    if !told.found.nothing_meets {
        sentences.extend(out(told));
    }
    match told.end {
        Some(End::Budget) => sentences.push(
            "The budget of load ended before the study did; a larger `budget` takes it further."
                .to_owned(),
        ),
        Some(End::Stop(Stop::Error(error))) => {
            sentences.push(format!("The study was cut short: failed to {error}."));
        }
        Some(End::Stop(Stop::Invalid { because, .. })) => sentences.push(format!("{because}.")),
        None => {}
    }
    sentences.join(" ")
}

fn headline(told: &Told<'_>) -> String {
    let margin = percent(told.spec.margin);
    let confidence = percent(CONFIDENCE);
    if told.found.nothing_meets {
        return not_met(told);
    }
    if told.found.searched.is_empty() {
        return nothing_to_search(told);
    }
    let Some(point) = told.point() else {
        return undecided(told);
    };
    let name = told.found.name(point);
    let Some(standing) = told.standing() else {
        return format!(
            "{name} is the only combination of those that were compared that meets the requirements."
        );
    };
    match (told.status(), told.spec.goal) {
        (Status::Same, _) => format!(
            "No difference that matters ({margin} %, {confidence} % confidence) between {}; {name} costs least.",
            as_good(told)
        ),
        (_, BestGoal::Best) => format!(
            "{name} is ahead of all others that were compared ({confidence} % confidence): {}.",
            figure(told, standing)
        ),
        (_, BestGoal::SmallestNearBest) => format!(
            "{name} is the smallest that is shown not to be worse than the best by {margin} % ({confidence} % \
             confidence): {}, {}.",
            figure(told, standing),
            lost(told, standing)
        ),
    }
}

fn nothing_to_search(told: &Told<'_>) -> String {
    match (told.end, told.status()) {
        (Some(_), _) | (None, Status::Invalid) => {
            "Not decided: there is no valid trial with all limits open.".to_owned()
        }
        (None, Status::Same) => {
            "None of these settings limits at this load: all stay as found.".to_owned()
        }
        _ => {
            "None of these settings limits at this load, and as found the requirements are not met."
                .to_owned()
        }
    }
}

fn undecided(told: &Told<'_>) -> String {
    let Some(compared) = &told.compared else {
        return format!(
            "Not decided: there are no two complete blocks of valid trials. The searches propose {}.",
            told.found.name(&told.found.proposal)
        );
    };
    format!(
        "Not decided: trials of one combination differ by {} %, too much to tell {} of them apart by {} % in {} blocks. The \
         searches propose {}.",
        percent(compared.noise.exp_m1()),
        compared.standings.len(),
        percent(told.spec.margin),
        compared.blocks,
        told.found.name(&told.found.proposal)
    )
}

/// The best, where it is another one, and all that is worse or not to be told.
fn compared_with(told: &Told<'_>, compared: &Compared) -> Vec<String> {
    let mut sentences = Vec::new();
    let leader = compared.leader();
    if told.point() != Some(&leader.contender) {
        sentences.push(format!(
            "The best of those compared is {}{}: {}.",
            told.found.name(&leader.contender),
            if leader.contender == told.found.open {
                " (all limits open)"
            } else {
                ""
            },
            figure(told, leader)
        ));
    }
    for (verdict, word) in [
        (LevelVerdict::Worse, "Worse"),
        (LevelVerdict::Open, "Not to be told"),
    ] {
        let named = compared.of(verdict).map(|standing| {
            format!(
                "{} ({})",
                told.found.name(&standing.contender),
                lost(told, standing)
            )
        });
        let named: Vec<String> = named.collect();
        if !named.is_empty() {
            sentences.push(format!("{word}: {}.", named.join("; ")));
        }
    }
    let at_end = |at: &usize| {
        let limit = &told.found.limits[told.found.searched[*at]];
        let full_range = told.found.chosen[*at].within.1 == limit.within.1;
        full_range && leader.contender[*at] == limit.within.1 && !compared.is_plateau()
    };
    let ends = (0..told.found.searched.len()).filter(at_end);
    sentences.extend(ends.map(|at| {
        let limit = &told.found.limits[told.found.searched[at]];
        format!(
            "The best is the end of the range of {}, {}: a wider `within` may have a better one.",
            limit.stage, limit.within.1
        )
    }));
    sentences
}

/// The settings that stay, by name; why stands beside each.
fn left(told: &Told<'_>) -> Option<String> {
    let left = told
        .found
        .limits
        .iter()
        .filter(|limit| !limit.is_searched());
    let names: Vec<&str> = left.map(|limit| limit.stage.as_str()).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("{one} was not searched and stays as found.")),
        [before @ .., last] => Some(format!(
            "{} and {last} were not searched and stay as found.",
            before.join(", ")
        )),
    }
}

fn out(told: &Told<'_>) -> Option<String> {
    let out = &told.found.out;
    let named = out.iter().take(OUT_NAMED);
    let named: Vec<String> = named
        .map(|out| format!("{} ({})", out.point, out.because))
        .collect();
    let more = match out.len().saturating_sub(OUT_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!named.is_empty()).then(|| format!("Out of the question: {}{more}.", named.join("; ")))
}

/// Which requirement nothing met, and how near the nearest trial came.
fn not_met(told: &Told<'_>) -> String {
    let never = told.found.scale.requirements.iter().find_map(|bounded| {
        let measured = told.trials.iter().filter(|trial| trial.valid);
        let measured = measured.filter_map(|trial| Some((trial, bounded.value(trial)?)));
        let measured: Vec<(&TrialRecord, f64)> = measured.collect();
        let met = measured.iter().any(|(_, value)| bounded.met_by(*value));
        (!met && !measured.is_empty()).then_some((bounded, measured))
    });
    let Some((bounded, measured)) = never else {
        return "No combination that was tried meets all requirements at once, or could be measured."
            .to_owned();
    };
    let nearest = measured.into_iter().min_by(|a, b| {
        let sign = if bounded.requirement.comparison.bounds_from_above() {
            1.0
        } else {
            -1.0
        };
        (sign * a.1).total_cmp(&(sign * b.1))
    });
    let (trial, _) = nearest.expect("it was measured");
    format!(
        "Nothing that was tried meets `{}`: nearest came {} with {} (trial {}).",
        bounded.requirement,
        trial.case.as_deref().unwrap_or("a trial"),
        read(bounded, trial),
        trial.id
    )
}

/// The figure of a requirement in a trial, with its unit.
fn read(bounded: &Bounded, trial: &TrialRecord) -> String {
    let figure = bounded.figure();
    let value = figure.read(trial).map_or(0.0, |measured| measured.value);
    let own = std::slice::from_ref(trial);
    figure.unit(own).text(value)
}

/// Why a setting has its level: how it was searched, and what one step less loses.
pub(super) fn because(told: &Told<'_>, place: usize, point: &Point) -> String {
    let limit = &told.found.limits[told.found.searched[place]];
    let chosen = &told.found.chosen[place];
    let (low, high) = chosen.within;
    if chosen.by == By::Model {
        let and = if low == high {
            "no more are wanted behind these threads"
        } else {
            "the budget did not reach for a search"
        };
        return format!("derived from what the trials show a request to need; {and}");
    }
    let says = match &limit.standing {
        limits::Standing::Searched { says, .. } => says.as_str(),
        limits::Standing::Left { because, .. } => because.as_str(),
    };
    let compared = told.compared.iter();
    let smaller = compared.flat_map(|compared| compared.with_less_of(place, point));
    let smaller: Vec<String> = smaller
        .map(|standing| {
            let verdict = match standing.verdict {
                LevelVerdict::Worse => "worse",
                LevelVerdict::AsGood => "as good",
                LevelVerdict::Open => "not to be told",
            };
            let name = told.found.name(&standing.contender);
            format!("{name} is {verdict}, {}", lost(told, standing))
        })
        .collect();
    let below = chosen
        .below
        .filter(|below| !below.usable && below.level < point[place]);
    let below = below.map(|below| format!("with {} a requirement does not hold", below.level));
    let mut parts = vec![format!("searched from {low} to {high} ({says})")];
    parts.extend(smaller);
    parts.extend(below);
    parts.join("; ")
}

/// `threads 8, pool.db 4; and threads 16, pool.db 8`.
fn as_good(told: &Told<'_>) -> String {
    let compared = told.compared.iter();
    let names: Vec<String> = compared
        .flat_map(|compared| compared.of(LevelVerdict::AsGood))
        .map(|standing| told.found.name(&standing.contender))
        .collect();
    names.join("; and ")
}

fn figure(told: &Told<'_>, standing: &Standing) -> String {
    let scale = &told.found.scale;
    let value = scale.figure_of(standing.mean);
    scale.figure.unit(told.trials).text(value)
}

fn lost(told: &Told<'_>, standing: &Standing) -> String {
    let loss = told.loss(standing);
    format!(
        "{} % off, {} to {}",
        percent(loss.value),
        percent(loss.low),
        percent(loss.high)
    )
}
