//! Who is judged.

use std::time::Duration;

use weir_limit::{Adaptive, Aimd, ClassRules, Concurrency, Goal, Gradient2, Promise, Rules, Vegas};

/// A way of limiting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contestant {
    /// Everybody is let in.
    Nothing,
    /// So many are, and nobody waits in front.
    Fixed(f64),
    /// Vegas with the defaults of concurrency-limits; nobody waits.
    Vegas,
    /// Gradient2 in the same way.
    Gradient2,
    /// AIMD in the same way.
    Aimd,
    /// What Weir finds, behind its bounded queue.
    Weir,
}

impl Contestant {
    /// What it is called.
    pub fn name(self) -> String {
        match self {
            Self::Nothing => "no limit".to_owned(),
            Self::Fixed(limit) => format!("fixed {limit}"),
            Self::Vegas => "Vegas".to_owned(),
            Self::Gradient2 => "Gradient2".to_owned(),
            Self::Aimd => "AIMD".to_owned(),
            Self::Weir => "Weir".to_owned(),
        }
    }

    /// Its rules for requests of one kind.
    pub(super) fn rules(self) -> Option<Rules> {
        let concurrency = match self {
            Self::Nothing => return None,
            Self::Fixed(limit) => Concurrency::Fixed(limit),
            Self::Vegas => Concurrency::Vegas(Vegas::default()),
            Self::Gradient2 => Concurrency::Gradient2(Gradient2::default()),
            Self::Aimd => Concurrency::Aimd(Aimd::default()),
            Self::Weir => Concurrency::Adaptive(Adaptive::default()),
        };
        let rules = Rules {
            concurrency: Some(concurrency),
            ..Rules::default()
        };
        Some(match self {
            Self::Weir => rules,
            _ => Rules {
                max_wait: Duration::ZERO,
                ..rules
            },
        })
    }

    /// Its rules for a goal; what knows no goals is as it is.
    pub(super) fn rules_for(self, goal: Goal) -> Option<Rules> {
        let adaptive = Adaptive {
            goal,
            ..Adaptive::default()
        };
        let mut rules = self.rules()?;
        if self == Self::Weir {
            rules.concurrency = Some(Concurrency::Adaptive(adaptive));
        }
        Some(rules)
    }

    /// Its rules for light requests (class 0) that have a promise, and heavy ones (class 1); what
    /// knows no promises limits both together.
    pub(super) fn rules_for_promise(self, within: Duration) -> Option<Rules> {
        let mut rules = self.rules()?;
        let class = |name: &str, promise| ClassRules {
            name: name.to_owned(),
            promise,
            ..ClassRules::default()
        };
        let promise = Promise {
            share: 0.99,
            within,
        };
        if self == Self::Weir {
            rules.concurrency = None;
            rules.classes = vec![class("light", Some(promise)), class("heavy", None)];
        } else {
            rules.classes = vec![class("light", None), class("heavy", None)];
        }
        Some(rules)
    }
}
