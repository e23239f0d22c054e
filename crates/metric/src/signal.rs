//! A signal: a named number a second, and all that is known of it.

use crate::signal_unit::SignalUnit;

/// A signal and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    /// Its name, with `PORT`, `STAGE`, `GROUP` or `OWN` where names differ.
    pub name: &'static str,
    /// The unit that its values are kept in.
    pub unit: SignalUnit,
    /// How its seconds become one figure of a window.
    pub weight: Weight,
    /// Which way it gets better.
    pub better: Better,
    /// What it is, in a sentence.
    pub definition: &'static str,
}

impl Signal {
    /// The signal by which the seconds of the one with this full name are weighted.
    pub fn weighted_by(&self, name: &str) -> Option<String> {
        match self.weight {
            Weight::Time => None,
            Weight::By(weight) => Some(weight.to_owned()),
            Weight::OfStage(quantity) => {
                let (stage, _) = name.rsplit_once('.')?;
                Some(format!("{stage}.{quantity}"))
            }
        }
    }
}

/// What a second counts in the mean over a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Every second that was read counts alike: the mean is a time average.
    Time,
    /// A second counts as much as this signal was in it: the mean is one over events.
    By(&'static str),
    /// As [`By`](Weight::By), a quantity of the same stage: `entries` for `STAGE.wait`.
    OfStage(&'static str),
}

/// Which way a figure gets better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Larger values are better.
    More,
    /// Smaller values are better.
    Less,
    /// Neither: a level, a size, what was set.
    Neither,
}

impl Better {
    /// The word in JSON and in the reference.
    pub fn word(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
            Self::Neither => "neither",
        }
    }

    /// 1 where more is better, −1 elsewhere: where nothing else tells two levels apart, the one
    /// that needs less is preferred.
    pub fn sign(self) -> f64 {
        match self {
            Self::More => 1.0,
            Self::Less | Self::Neither => -1.0,
        }
    }
}
