//! A curve with its interval, and what was measured beside it.

use super::frame::{Edges, Frame};
use super::scale::{Scale, Tick, figure};

/// A curve over an axis, and points.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Drawing {
    /// What it shows.
    pub title: String,
    /// What lies along the axis, with its unit.
    pub x_title: String,
    /// What is drawn, with its unit.
    pub y_title: String,
    /// The curve, from left to right.
    pub curve: Vec<CurvePoint>,
    /// What was measured.
    pub points: Vec<PointWithInterval>,
    /// Bounds: values, and what each is.
    pub goals: Vec<(f64, String)>,
    /// Places along the axis, and what each is.
    pub marks: Vec<(f64, String)>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Along the axis.
    pub x: f64,
    /// The value.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A point that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct PointWithInterval {
    /// Along the axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// Its interval, if it has one.
    pub interval: Option<(f64, f64)>,
    /// What it is.
    pub says: String,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;
/// Room above the highest value.
const ROOM: f64 = 1.06;
/// Rows of a curve's table.
const ROWS: usize = 13;

/// A drawing as places and texts.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) frame: Frame,
    pub(super) title: String,
    pub(super) x_title: String,
    pub(super) y_title: String,
    pub(super) x_ticks: Vec<Tick>,
    pub(super) y_ticks: Vec<Tick>,
    pub(super) band: String,
    pub(super) line: String,
    pub(super) points: Vec<DrawnPoint>,
    pub(super) goals: Vec<(String, String)>,
    pub(super) marks: Vec<(String, String)>,
    pub(super) rows: Vec<[String; 3]>,
    pub(super) measured: Vec<[String; 3]>,
    pub(super) says: String,
}

#[derive(Debug)]
pub(super) struct DrawnPoint {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) interval: Option<(String, String)>,
    pub(super) says: String,
}

impl Drawn {
    pub(super) fn of(drawing: &Drawing) -> Self {
        let (x, y) = scales(drawing);
        let line = drawing.curve.iter().map(|at| (at.x, at.value));
        let upper = drawing.curve.iter().map(|at| (at.x, at.high));
        let lower = drawing.curve.iter().rev().map(|at| (at.x, at.low));
        let points = drawing.points.iter().map(|point| DrawnPoint {
            x: x.text(point.x),
            y: y.text(point.y),
            interval: point
                .interval
                .map(|(low, high)| (y.text(low), y.text(high))),
            says: point.says.clone(),
        });
        Self {
            frame: EDGES.frame(),
            title: drawing.title.clone(),
            x_title: drawing.x_title.clone(),
            y_title: drawing.y_title.clone(),
            x_ticks: x.ticks(),
            y_ticks: y.ticks(),
            band: path(x, y, upper.chain(lower)),
            line: path(x, y, line),
            points: points.collect(),
            goals: places(y, &drawing.goals),
            marks: places(x, &drawing.marks),
            rows: curve_rows(&drawing.curve),
            measured: drawing.points.iter().map(point_row).collect(),
            says: format!(
                "{}: {} points, a curve through {} places",
                drawing.title,
                drawing.points.len(),
                drawing.curve.len()
            ),
        }
    }
}

const EDGES: Edges = Edges {
    width: WIDTH,
    height: HEIGHT,
    left: LEFT,
    right: WIDTH - RIGHT,
    top: TOP,
    floor: HEIGHT - BOTTOM,
};

/// Axes from zero, so that a small change looks small.
fn scales(drawing: &Drawing) -> (Scale, Scale) {
    let curve = || drawing.curve.iter();
    let points = || drawing.points.iter();
    let xs = curve().map(|at| at.x).chain(points().map(|at| at.x));
    let xs = xs.chain(drawing.marks.iter().map(|mark| mark.0));
    let ys = curve().map(|at| at.high);
    let ys = ys.chain(points().map(|at| at.interval.map_or(at.y, |(_, high)| high.max(at.y))));
    let ys = ys.chain(drawing.goals.iter().map(|goal| goal.0));
    let x = Scale {
        low: 0.0,
        high: largest(xs),
        from: LEFT,
        to: WIDTH - RIGHT,
    };
    let y = Scale {
        low: 0.0,
        high: largest(ys) * ROOM,
        from: HEIGHT - BOTTOM,
        to: TOP,
    };
    (x, y)
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    let largest = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}

fn path(x: Scale, y: Scale, points: impl Iterator<Item = (f64, f64)>) -> String {
    let places = points
        .filter(|(_, value)| value.is_finite())
        .map(|(at, value)| format!("{},{}", x.text(at), y.text(value)));
    places.collect::<Vec<_>>().join(" ")
}

fn places(scale: Scale, all: &[(f64, String)]) -> Vec<(String, String)> {
    all.iter()
        .map(|(value, says)| (scale.text(*value), says.clone()))
        .collect()
}

/// Some points of the curve, evenly.
fn curve_rows(curve: &[CurvePoint]) -> Vec<[String; 3]> {
    let step = curve.len().div_ceil(ROWS).max(1);
    let rows = curve.iter().step_by(step).map(|at| {
        let interval = format!("{} to {}", figure(at.low), figure(at.high));
        [figure(at.x), figure(at.value), interval]
    });
    rows.collect()
}

fn point_row(point: &PointWithInterval) -> [String; 3] {
    [
        point.says.clone(),
        figure(point.x),
        point.interval.map_or_else(
            || figure(point.y),
            |(low, high)| format!("{} ({} to {})", figure(point.y), figure(low), figure(high)),
        ),
    ]
}
