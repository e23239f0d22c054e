//! Intervals of changes under each other, against the margin that matters.

use super::frame::{Edges, Frame};
use super::scale::{Scale, Tick, place};

/// Changes with their intervals.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forest {
    /// What it shows.
    pub title: String,
    /// What lies along the axis, with its unit.
    pub x_title: String,
    /// Within so much of zero, to both sides, a change does not matter.
    pub margin: (f64, f64),
    /// The changes.
    pub rows: Vec<ForestRow>,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestRow {
    /// What changed.
    pub name: String,
    /// By how much.
    pub value: f64,
    /// Its interval.
    pub interval: (f64, f64),
    /// What follows, in a word.
    pub outcome: String,
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 210.0;
const RIGHT: f64 = 120.0;
const ROW: f64 = 26.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 46.0;
/// Between the names, the field and the outcomes.
const BESIDE: f64 = 10.0;
/// Room to both sides of the longest interval.
const ROOM: f64 = 1.08;

/// A forest as places and texts.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) title: String,
    pub(super) x_title: String,
    pub(super) frame: Frame,
    pub(super) zero: String,
    pub(super) margin: (String, String),
    pub(super) ticks: Vec<Tick>,
    pub(super) rows: Vec<DrawnRow>,
}

#[derive(Debug)]
pub(super) struct DrawnRow {
    pub(super) name: String,
    pub(super) outcome: String,
    pub(super) y: String,
    pub(super) text_y: String,
    pub(super) low: String,
    pub(super) high: String,
    pub(super) at: String,
}

impl Drawn {
    pub(super) fn of(forest: &Forest) -> Self {
        let ends = forest
            .rows
            .iter()
            .flat_map(|row| [row.interval.0, row.interval.1, row.value])
            .chain([forest.margin.0, forest.margin.1]);
        let reach = ends
            .filter(|end| end.is_finite())
            .fold(f64::MIN_POSITIVE, |reach, end| reach.max(end.abs()))
            * ROOM;
        let scale = Scale {
            low: -reach,
            high: reach,
            from: LEFT,
            to: WIDTH - RIGHT,
        };
        let floor = TOP + ROW * forest.rows.len() as f64;
        let rows = forest.rows.iter().enumerate().map(|(index, row)| {
            let middle = TOP + ROW * (index as f64 + 0.5);
            DrawnRow {
                name: row.name.clone(),
                outcome: row.outcome.clone(),
                y: place(middle),
                text_y: place(middle + 5.0),
                low: scale.text(row.interval.0),
                high: scale.text(row.interval.1),
                at: scale.text(row.value),
            }
        });
        Self {
            title: forest.title.clone(),
            x_title: forest.x_title.clone(),
            frame: Edges {
                width: WIDTH,
                height: floor + BOTTOM,
                left: LEFT - BESIDE,
                right: WIDTH - RIGHT + BESIDE,
                top: TOP,
                floor,
            }
            .frame(),
            zero: scale.text(0.0),
            margin: (
                scale.text(forest.margin.0),
                place(scale.at(forest.margin.1) - scale.at(forest.margin.0)),
            ),
            ticks: scale.ticks(),
            rows: rows.collect(),
        }
    }
}
