//! Responses that were redirects, or came by way of one.
//!
//! A page for everybody answers fast. When a session has run out, or a path has moved, a load may
//! measure the login page, and its throughput says nothing about the application.

use weir_record::{Finding, TrialRecord};

use super::{Evidence, name};

/// Fewer than this share may be part of the plan, such as a form that leads on to a page.
const SHARE_MIN: f64 = 0.01;

/// Redirects that are more than an exception.
pub(super) fn responses(evidence: &Evidence<'_>) -> Vec<Finding> {
    let led: Vec<(&TrialRecord, f64, f64)> = evidence
        .trials
        .iter()
        .filter_map(|trial| {
            let (share, count) = trial.redirected()?;
            (share >= SHARE_MIN).then_some((*trial, share, count))
        })
        .collect();
    let Some((most, share, count)) = led.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let says = format!(
        "{:.0} % of the responses (about {count:.0}) in {} (trial {}) were redirects or came by way of one. They count \
         as successes, and where they lead may be quick and not what was meant, such as a login page.",
        share * 100.0,
        name(most),
        most.id
    );
    let ids: Vec<u32> = led.iter().map(|(trial, ..)| trial.id).collect();
    vec![
        Finding::new("redirected", says, &ids)
            .change("look at the paths of the plan, and whether its users are logged in"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made::{facts, trial};

    fn found(trials: &[TrialRecord]) -> Vec<Finding> {
        responses(&Evidence {
            trials: trials.iter().collect(),
            facts: &facts(&[]),
            fit: None,
        })
    }

    #[test]
    fn a_login_page_that_answers_everything_is_named() {
        let usual = trial(1, 120.0, &[("redirects", 0.0)]);
        let fast = trial(2, 4_000.0, &[("redirects", 4_000.0)]);
        let found = found(&[usual, fast]);
        assert_eq!(found[0].id, "redirected");
        let says = &found[0].says;
        assert!(
            says.starts_with("100 % of the responses (about 240000) in case 2 (trial 2)"),
            "{says}"
        );
        assert!(says.contains("login page"), "{says}");
    }

    #[test]
    fn none_or_a_few_or_uncounted_ones_are_nothing_to_speak_of() {
        assert_eq!(found(&[trial(1, 120.0, &[("redirects", 0.0)])]), []);
        assert_eq!(found(&[trial(1, 120.0, &[("redirects", 0.5)])]), []);
        assert_eq!(found(&[trial(1, 120.0, &[])]), []);
    }
}
