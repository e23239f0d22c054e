//! The edges of a picture's field, and where the texts around it stand.

use super::scale::place;

/// From the top of a text to the line that it belongs to: ticks below the field, and the axis'
/// title below them.
const TO_TICKS: f64 = 16.0;
const TO_TITLE: f64 = 38.0;
/// Between a text and the field beside it.
const BESIDE: f64 = 6.0;

/// Where the field lies in a picture of this size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edges {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) floor: f64,
}

/// A frame as it is written into the picture.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) width: String,
    pub(super) height: String,
    pub(super) left: String,
    pub(super) right: String,
    pub(super) top: String,
    pub(super) floor: String,
    /// Height of the field alone.
    pub(super) field: String,
    pub(super) middle: String,
    pub(super) x_ticks: String,
    pub(super) x_title: String,
    pub(super) y_ticks: String,
}

impl Edges {
    pub(super) fn frame(self) -> Frame {
        Frame {
            width: place(self.width),
            height: place(self.height),
            left: place(self.left),
            right: place(self.right),
            top: place(self.top),
            floor: place(self.floor),
            field: place(self.floor - self.top),
            middle: place(f64::midpoint(self.left, self.right)),
            x_ticks: place(self.floor + TO_TICKS),
            x_title: place(self.floor + TO_TITLE),
            y_ticks: place(self.left - BESIDE),
        }
    }
}
