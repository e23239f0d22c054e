//! What requests waited from their arrival on the connection until a thread of the server read
//! them, as the kernel's tracepoints tell it.

use weir_record::names;

use crate::evidence::Evidence;
use crate::hypothesis::{Test, Unit};
use crate::threshold::{MATTERS, MATTERS_BECAUSE};
use crate::words::{percent, time};

/// Whether a request's thread waits for a CPU before it has read a byte. It covers the beginning of
/// a request only: what speaks against it there says nothing of the time that the thread works on
/// it.
pub(crate) fn wait_test(evidence: &Evidence) -> Test {
    Test::at_least(
        "wait of a request's thread for a CPU before it reads the request, as a share of the response time",
        wait_share(evidence),
        Unit::Share,
        (MATTERS, MATTERS_BECAUSE),
    )
    .from(&[names::ARRIVAL_CPU_WAIT])
}

/// The figures to be read beside it; none where nothing was traced.
pub(crate) fn figures(evidence: &Evidence) -> Vec<Test> {
    if evidence.signal(names::ARRIVAL_SAMPLED).is_none() {
        return Vec::new();
    }
    let seconds = |what: &str, name: &str| {
        Test::figure(what, evidence.signal(name), Unit::Seconds).from(&[name])
    };
    let mut figures = vec![
        seconds(
            "from a request's arrival on its connection until a thread reads it, on average",
            names::ARRIVAL_TO_READ,
        ),
        seconds(
            "of that, the thread was ready and waited for a CPU",
            names::ARRIVAL_CPU_WAIT,
        ),
    ];
    // A watch has the seconds' own percentiles, whose mean is none.
    if evidence.trial.is_some() {
        figures.push(seconds("its median", names::ARRIVAL_TO_READ_P50));
        figures.push(seconds("its 99th percentile", names::ARRIVAL_TO_READ_P99));
        figures.push(seconds("the longest", names::ARRIVAL_TO_READ_MAX));
        figures.push(
            Test::figure(
                "requests that these figures are of",
                evidence.signal(names::ARRIVAL_SAMPLED),
                Unit::Count,
            )
            .from(&[names::ARRIVAL_SAMPLED]),
        );
    }
    figures.push(
        Test::figure(
            "requests that no thread had read after a second, as a share",
            unread_share(evidence),
            Unit::Share,
        )
        .from(&[names::ARRIVAL_UNREAD, names::ARRIVAL_SAMPLED]),
    );
    figures
}

/// A sentence with them, or with the reason why there are none.
pub(crate) fn says(evidence: &Evidence) -> Option<String> {
    if let Some(why) = evidence.why_not_read(names::ARRIVAL_TO_READ) {
        return Some(format!(
            "The time from a request's arrival to its thread's running was not measured: {why}."
        ));
    }
    let to_read = time(evidence.signal(names::ARRIVAL_TO_READ)?);
    let wait = time(evidence.signal(names::ARRIVAL_CPU_WAIT)?);
    let of_time = wait_share(evidence)
        .map(|share| format!(" ({} of the response time)", percent(share)))
        .unwrap_or_default();
    Some(format!(
        "A request was read {to_read} after its arrival, {wait} of that its thread waited for a CPU{of_time}."
    ))
}

/// The wait as a share of a request's time.
pub(crate) fn wait_share(evidence: &Evidence) -> Option<f64> {
    let wait_s = evidence.signal(names::ARRIVAL_CPU_WAIT)?;
    Some((wait_s / evidence.mean_s?).min(1.0))
}

fn unread_share(evidence: &Evidence) -> Option<f64> {
    let unread = evidence.signal(names::ARRIVAL_UNREAD)?;
    let all = unread + evidence.signal(names::ARRIVAL_SAMPLED)?;
    (all > 0.0).then(|| unread / all)
}
