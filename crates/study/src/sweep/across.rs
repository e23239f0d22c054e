//! What is told and drawn of all environments together.

use weir_record::{Level, PictureLine, SweepPicture, TrialRecord};

use super::Case;
use super::comparison::rounded;
use super::table::{cell, of_case};
use crate::figure::Figure;
use crate::file::{Across, PictureSpec, SpreadSpec};

/// How far apart the environments lie, in sentences.
pub(super) fn sentences(across: &Across, cases: &[Case], trials: &[TrialRecord]) -> Vec<String> {
    let spreads = across.spreads.iter();
    spreads
        .filter_map(|spread| sentence(spread, across, cases, trials))
        .collect()
}

/// The smallest and the largest of the environments' figures.
struct Ends {
    low: f64,
    high: f64,
    environments: usize,
}

impl Ends {
    fn apart(&self) -> f64 {
        self.high - self.low
    }
}

fn sentence(
    spread: &SpreadSpec,
    across: &Across,
    cases: &[Case],
    trials: &[TrialRecord],
) -> Option<String> {
    let figure = Figure::named(&spread.signal);
    let unit = figure.unit(trials);
    let ends: Vec<(&String, Ends)> = spread
        .cases
        .iter()
        .filter_map(|name| Some((name, ends(name, &figure, across, cases, trials)?)))
        .collect();
    let (_, first) = ends.first()?;
    let told = ends.iter().map(|(name, ends)| {
        let compared = if std::ptr::eq(first, ends) {
            String::new()
        } else {
            against(first.apart(), ends.apart())
        };
        format!(
            "{name}: {} to {}, {} apart in {} environments{compared}",
            unit.text(ends.low),
            unit.text(ends.high),
            unit.text(ends.apart()),
            ends.environments,
        )
    });
    let told: Vec<String> = told.collect();
    Some(format!(
        "Spread of {} over the environments: {}.",
        spread.signal,
        told.join("; ")
    ))
}

/// What has become of a spread, in words; nothing where there was none or there is none left.
fn against(first: f64, own: f64) -> String {
    let (times, word) = if own <= first {
        (first / own, "smaller")
    } else {
        (own / first, "larger")
    };
    if !times.is_finite() {
        return String::new();
    }
    match rounded(times).as_str() {
        "1.0" => ", the spread as large".to_owned(),
        times => format!(", the spread {times} times {word}"),
    }
}

fn ends(
    name: &str,
    figure: &Figure,
    across: &Across,
    cases: &[Case],
    trials: &[TrialRecord],
) -> Option<Ends> {
    let in_environments = cases.iter().filter(|case| case.short() == name);
    let values: Vec<f64> = in_environments
        .filter_map(|case| {
            let own = of_case(case, trials);
            Some(cell(figure, &own, across.statistic)?.value)
        })
        .collect();
    Some(Ends {
        low: values.iter().copied().reduce(f64::min)?,
        high: values.iter().copied().reduce(f64::max)?,
        environments: values.len(),
    })
}

/// The pictures with what was measured.
pub(super) fn pictures(
    across: &Across,
    cases: &[Case],
    trials: &[TrialRecord],
) -> Vec<SweepPicture> {
    let pictures = across.pictures.iter();
    pictures
        .map(|picture| SweepPicture {
            title: picture.title.clone(),
            x: picture.x.clone(),
            signal: Figure::named(&picture.signal).to_string(),
            unit: Figure::named(&picture.signal)
                .unit(trials)
                .symbol()
                .to_owned(),
            lines: lines(picture, across, cases, trials),
        })
        .collect()
}

fn lines(
    picture: &PictureSpec,
    across: &Across,
    cases: &[Case],
    trials: &[TrialRecord],
) -> Vec<PictureLine> {
    let figure = Figure::named(&picture.signal);
    let mut lines: Vec<PictureLine> = Vec::new();
    for case in cases {
        let level = case.levels.get(&picture.x).and_then(Level::number);
        let Some(x) = level.filter(|_| picture.cases.iter().any(|name| name == case.short()))
        else {
            continue;
        };
        let Some(point) = cell(&figure, &of_case(case, trials), across.statistic) else {
            continue;
        };
        let name = case.environment.clone().unwrap_or_default();
        let at = lines.iter().position(|line| line.name == name);
        let at = at.unwrap_or_else(|| {
            lines.push(PictureLine {
                name,
                points: Vec::new(),
            });
            lines.len() - 1
        });
        lines[at].points.push((x, point));
    }
    for line in &mut lines {
        line.points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_shrinks_grows_or_stays() {
        for (first, own, says) in [
            (196.0, 4.5, ", the spread 44 times smaller"),
            (196.0, 452.0, ", the spread 2.3 times larger"),
            (100.0, 101.0, ", the spread as large"),
            (100.0, 0.0, ""),
            (0.0, 100.0, ""),
            (0.0, 0.0, ""),
        ] {
            assert_eq!(against(first, own), says, "{first} to {own}");
        }
    }
}
