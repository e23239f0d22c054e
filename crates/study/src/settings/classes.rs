//! A cap for each class of requests, in a gateway in front of the server.
//!
//! One limit over all classes changes which of them get through. A class whose requests last long
//! and whose users hardly think comes back at once, and so takes more than its share of a full
//! limit. With a cap for each the mix stays as it was, and with it what a request costs.

use weir_record::{SettingDetail, TrialRecord};

use super::{Demand, OF_THE_GATE, Settings, ThreadSearch};

/// The class of those that fit no other; it cannot be capped by itself.
const OTHER: &str = "other";
/// Most that may belong to no class, as a share of the requests in the server.
const OTHER_MOST: f64 = 0.05;
/// From so many places on a cap is a whole number; below, a tenth of one matters.
const WHOLE_FROM: f64 = 10.0;

/// The classes of a gateway that holds none of them yet, and how many requests of each are in the
/// server at the answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Classes(Vec<Class>);

#[derive(Debug, Clone, PartialEq)]
struct Class {
    name: String,
    in_server: f64,
}

/// What a gateway's classes are good for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OfGate {
    /// There is no gateway with classes, or it holds some of them already.
    None,
    /// A cap can be found for each.
    Free(Classes),
    /// Too many requests belong to none.
    Others,
}

impl OfGate {
    /// By the trials near the answer.
    pub(crate) fn of(trials: &[&TrialRecord], answer: f64) -> Self {
        let Some(near) = super::demand::Near::of(trials, answer) else {
            return Self::None;
        };
        let mut classes: Vec<Class> = Vec::new();
        let mut others = 0.0;
        for name in near.parts(OF_THE_GATE) {
            let part = format!("{OF_THE_GATE}{name}");
            if near.any_has(&format!("{part}.limit")) {
                return Self::None;
            }
            let in_server = near.mean(|trial| trial.occupancy(&part).unwrap_or(0.0));
            if name == OTHER {
                others = in_server;
            } else if in_server > 0.0 {
                classes.push(Class { name, in_server });
            }
        }
        let all: f64 = classes.iter().map(|class| class.in_server).sum();
        if classes.len() < 2 {
            Self::None
        } else if others > OTHER_MOST * (all + others) {
            Self::Others
        } else {
            Self::Free(Classes(classes))
        }
    }
}

impl Classes {
    /// The caps that let in so many requests in all.
    pub(crate) fn caps(&self, places: u32, search: &ThreadSearch, demand: &Demand) -> Settings {
        let mut settings = Settings::default();
        let fitted = format!(
            "with {places} requests of all classes in the server the CPU is {:.1} %, with {} it is {:.1} % (fitted)",
            search.cpu(places) * 100.0,
            places + 1,
            search.cpu(places + 1) * 100.0
        );
        let all = self.in_server();
        for (class, cap) in self.0.iter().zip(self.divided(places)) {
            let name = format!("{OF_THE_GATE}{}.concurrency", class.name);
            settings.limits.insert(name, cap);
            settings.details.push(SettingDetail {
                stage: format!("{OF_THE_GATE}{}", class.name),
                native: Some("concurrency".to_owned()),
                from: None,
                to: cap,
                because: format!(
                    "{fitted}; of this class are {:.1} of {all:.1} at the answer, and as large a part of these",
                    class.in_server
                ),
                trials: demand.trials.clone(),
            });
        }
        settings
    }

    /// So many requests as a user reads them: `33 requests at a time (19 db-heavy, 14 cpu-heavy)`.
    pub(crate) fn says(&self, places: u32) -> String {
        let caps = self.0.iter().zip(self.divided(places));
        let caps: Vec<String> = caps
            .map(|(class, cap)| format!("{cap} {}", class.name))
            .collect();
        format!("{places} requests at a time ({})", caps.join(", "))
    }

    fn in_server(&self) -> f64 {
        self.0.iter().map(|class| class.in_server).sum()
    }

    /// Places divided as the classes are at the answer: whole ones by largest remainders, so that
    /// their sum is kept, and tenths for small classes.
    fn divided(&self, places: u32) -> Vec<f64> {
        let all = self.in_server();
        let exact = self.0.iter();
        let exact: Vec<f64> = exact
            .map(|class| f64::from(places) * class.in_server / all)
            .collect();
        let is_whole = |cap: f64| cap >= WHOLE_FROM;
        let mut caps: Vec<f64> = exact
            .iter()
            .map(|cap| {
                if is_whole(*cap) {
                    cap.floor()
                } else {
                    ((cap * 10.0).round() / 10.0).max(0.1)
                }
            })
            .collect();
        let whole = exact.iter().filter(|cap| is_whole(**cap));
        let left = whole.map(|cap| cap.fract()).sum::<f64>().round() as usize;
        let mut by_rest: Vec<usize> = (0..caps.len()).filter(|at| is_whole(exact[*at])).collect();
        by_rest.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()));
        for at in by_rest.into_iter().take(left) {
            caps[at] += 1.0;
        }
        caps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made::trial;

    fn classes(in_server: &[f64]) -> Classes {
        let classes = in_server.iter().enumerate();
        let classes = classes.map(|(at, in_server)| Class {
            name: format!("c{at}"),
            in_server: *in_server,
        });
        Classes(classes.collect())
    }

    #[test]
    fn places_are_divided_as_the_classes_are() {
        // E1 on Liberty: 40 users.
        assert_eq!(classes(&[18.6, 14.0]).divided(33), [19.0, 14.0]);
        assert_eq!(classes(&[18.6, 14.0]).divided(32), [18.0, 14.0]);
        assert_eq!(classes(&[18.5, 18.5, 18.0]).divided(55), [19.0, 18.0, 18.0]);
        // Of a class that is rare, a place too many would double it.
        assert_eq!(classes(&[29.6, 0.44]).divided(30), [30.0, 0.4]);
        assert_eq!(classes(&[29.6, 0.01]).divided(30), [30.0, 0.1]);
    }

    #[test]
    fn a_gateway_with_classes_that_it_does_not_hold_yet_is_good_for_caps() {
        let of = |signals: &[(&str, f64)]| {
            let mut trial = trial(1, 13.0, &[("threads.occupancy", 33.0)]);
            trial.levels = [("users".to_owned(), 40.0.into())].into();
            let signals = signals.iter();
            let signals = signals.map(|(name, value)| ((*name).to_owned(), *value));
            trial.signals.extend(signals);
            OfGate::of(&[&trial], 40.0)
        };
        let two = [("gate.a.occupancy", 18.6), ("gate.b.occupancy", 14.0)];
        let free = of(&two);
        let OfGate::Free(found) = &free else {
            panic!("{free:?}");
        };
        assert_eq!(found.says(33), "33 requests at a time (19 a, 14 b)");
        let few = [two.as_slice(), &[("gate.other.occupancy", 1.0)]].concat();
        assert_eq!(of(&few), free, "hardly any belongs to none");
        let many = [two.as_slice(), &[("gate.other.occupancy", 3.0)]].concat();
        assert_eq!(of(&many), OfGate::Others);
        let held = [two.as_slice(), &[("gate.b.limit", 20.0)]].concat();
        assert_eq!(of(&held), OfGate::None, "one is held already");
        assert_eq!(of(&two[..1]), OfGate::None, "one class is all");
        assert_eq!(of(&[("gate.occupancy", 33.0)]), OfGate::None);
    }
}
