//! A figure of a sweep's cases against the level of a factor, a line for each environment.

use weir_metric::SignalUnit;
use weir_record::{Figure, SweepPicture};

use super::curves::{CurveChart, Point, Series, says, top};
use super::embed::rounded;
use crate::figures::{WithEstimate as _, number};
use crate::words;

/// The charts of these pictures.
pub(super) fn charts(pictures: &[SweepPicture]) -> Vec<CurveChart> {
    let drawn = pictures.iter().enumerate();
    let drawn = drawn.filter(|(_, picture)| !picture.lines.is_empty());
    drawn.map(|(at, picture)| chart(at, picture)).collect()
}

fn chart(at: usize, picture: &SweepPicture) -> CurveChart {
    let kind = SignalUnit::of_symbol(&picture.unit).unwrap_or(SignalUnit::Number);
    let (scale, unit) = kind.axis();
    let series: Vec<Series> = picture
        .lines
        .iter()
        .map(|line| Series {
            name: line.name.clone(),
            points: line
                .points
                .iter()
                .map(|(x, figure)| point(&line.name, *x, figure, kind, scale))
                .collect(),
            curve: Some(
                line.points
                    .iter()
                    .map(|(x, figure)| (*x, rounded(figure.value * scale)))
                    .unzip(),
            ),
        })
        .collect();
    let levels = series.iter().flat_map(|series| &series.points);
    let x_max = levels.map(|point| point.x).fold(0.0, f64::max);
    // `property.HEAVY` of a plan is what people call HEAVY.
    let x_title = picture.x.rsplit('.').next().unwrap_or(&picture.x);
    CurveChart {
        id: format!("picture-{at}"),
        title: picture.title.clone(),
        unit,
        says: says(&picture.title, unit, x_title, &series),
        x_title: x_title.to_owned(),
        x_max: if x_max > 0.0 { x_max * 1.06 } else { 1.0 },
        y_max: top(kind, &series, &[]),
        series,
        goals: Vec::new(),
        answer: None,
        fitted: false,
        does_not_fit: false,
    }
}

fn point(environment: &str, x: f64, figure: &Figure, kind: SignalUnit, scale: f64) -> Point {
    Point {
        x,
        y: rounded(figure.value * scale),
        interval: figure.interval.as_ref().map(|estimate| {
            let (low, high) = kind.possible(estimate.low, estimate.high);
            (rounded(low * scale), rounded(high * scale))
        }),
        shape: "disc",
        says: words::unbroken(&format!(
            "{environment} at {}: {}",
            number(x),
            kind.with_estimate(figure.value, figure.interval.as_ref())
        ))
        .trim_start()
        .to_owned(),
    }
}
