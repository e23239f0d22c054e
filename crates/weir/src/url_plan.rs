//! The plan of a study over one URL: users that ask for it again and again, without thinking, or
//! requests at a rate.
//!
//! It is written as a JMeter plan, so that a run keeps it beside its figures, `--resume` finds it,
//! and a JMeter can run it too.

use weir_plan::{ArrivalProcess, ArrivalSchedule, LoadPlan, Starts, WhenFull};

use crate::error::ExpectedError;

/// The property that the number of users sets.
pub(crate) const USERS: &str = "USERS";
/// The property that the rate sets.
pub(crate) const RATE: &str = "RATE";

const OF_USERS: &str = include_str!("url_plan.jmx");
const OF_ARRIVALS: &str = include_str!("url_rate_plan.jmx");

/// What the plan's element cannot say: arrivals lie so in their rate, and those that find no user
/// free wait for one instead of being dropped, so that the wait is part of their response times.
pub(crate) fn let_arrive(plan: &mut LoadPlan, as_drawn: ArrivalProcess) {
    for group in &mut plan.groups {
        if let Starts::Arrivals(arrivals) = &mut group.starts {
            arrivals.when_full = WhenFull::Wait;
            if let ArrivalSchedule::Ramp { process, .. } = &mut arrivals.schedule {
                *process = as_drawn;
            }
        }
    }
}

/// The plan for a URL of which only the path counts: host and port are the target's.
pub(crate) fn text(url: &str, at_a_rate: bool) -> Result<String, ExpectedError> {
    let path = if url.starts_with('/') {
        url.to_owned()
    } else {
        let parsed = url::Url::parse(url).ok().filter(url::Url::has_host);
        let Some(parsed) = parsed else {
            return Err(ExpectedError::Input(format!(
                "[load] url: `{url}` is neither a path such as `/` nor a URL such as `http://host:8080/`"
            )));
        };
        parsed[url::Position::BeforePath..url::Position::AfterQuery].to_owned()
    };
    // A plan reads `${` as the beginning of a variable.
    let path = path.replace('\\', "\\\\").replace("${", "\\${");
    let plan = if at_a_rate { OF_ARRIVALS } else { OF_USERS };
    Ok(plan.replace("THE_PATH", &escaped(&path)))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn path_and_query_come_from_the_url() {
        for (url, path) in [
            ("/", "/"),
            ("/a?b=1&c=<2>", "/a?b=1&amp;c=&lt;2&gt;"),
            ("http://127.0.0.1:8080/x?y=1#z", "/x?y=1"),
            ("http://host", "/"),
        ] {
            for at_a_rate in [false, true] {
                let text = text(url, at_a_rate).unwrap();
                assert!(
                    text.contains(&format!("HTTPSampler.path\">{path}</stringProp>")),
                    "{url}: {text}"
                );
                let mut plan =
                    crate::plans::read_text(&text, std::path::Path::new("url.jmx")).unwrap();
                let_arrive(&mut plan, ArrivalProcess::Poisson);
                let [group] = &plan.groups[..] else {
                    panic!("one group");
                };
                let waits = matches!(&group.starts, Starts::Arrivals(arrivals)
                    if arrivals.when_full == WhenFull::Wait
                        && matches!(arrivals.schedule, ArrivalSchedule::Ramp { process: ArrivalProcess::Poisson, .. }));
                assert_eq!(waits, at_a_rate);
            }
        }
        let error = text("here", false).unwrap_err();
        assert!(matches!(error, ExpectedError::Input(says) if says.contains("`here`")));
    }
}
