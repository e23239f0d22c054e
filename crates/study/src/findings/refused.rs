//! Requests that a stage refused.

use weir_record::{Finding, TrialRecord};

use super::{Evidence, name, not_the_cpu};
use crate::figure::of_port;
use crate::settings::{BACKLOG, CONNECTIONS};

/// Failures that count: below a tenth of a percent anything may have happened.
const FAILED_MIN: f64 = 0.001;
/// The stage explains the failures when it refused at least this share of them.
const EXPLAINS: f64 = 0.8;
const OVERFLOWS: [&str; 2] = ["tcp.listen-overflows", "tcp.listen-drops"];

/// The connection limit closes what comes above it.
pub(super) fn by_connections(evidence: &Evidence<'_>) -> Vec<Finding> {
    let refused = |trial: &TrialRecord| {
        trial
            .signals
            .get("connections.refused")
            .copied()
            .unwrap_or(0.0)
    };
    let failing: Vec<&&TrialRecord> = evidence
        .trials
        .iter()
        .filter(|trial| trial.errors.share > FAILED_MIN && refused(trial) > 0.0)
        .collect();
    let share = |trial: &&&&TrialRecord| trial.errors.share;
    let Some(worst) = failing.iter().max_by(|a, b| share(a).total_cmp(&share(b))) else {
        return Vec::new();
    };
    let failed_per_s = worst.errors.share * worst.throughput_per_s;
    let stage_explains = refused(worst) >= EXPLAINS * failed_per_s;
    let stage_limit = worst
        .limit(CONNECTIONS, evidence.facts)
        .map_or_else(String::new, |limit| format!(" (limit {limit})"));
    let mut says = format!(
        "{:.0} % of the requests failed in {} (trial {}): {}. The stage connections{stage_limit} \
         refused {:.1} connections a second, and {failed_per_s:.1} requests a second failed",
        worst.errors.share * 100.0,
        name(worst),
        worst.id,
        codes(worst),
        refused(worst),
    );
    says.push_str(if stage_explains {
        ": it is the stage that refused them."
    } else {
        ", so that it explains only part of them."
    });
    let ids: Vec<u32> = failing.iter().map(|trial| trial.id).collect();
    let found = Finding::new("refused-by-connections", says, &ids)
        .of_stage(CONNECTIONS)
        .with("connections.refused", refused(worst));
    let found = if stage_explains {
        found.change("a higher connection limit, or one above which connections wait instead of being closed")
    } else {
        found.change("first what else failed: see the codes")
    };
    vec![not_the_cpu(found, worst)]
}

/// The three most frequent codes of failures with their shares.
fn codes(trial: &TrialRecord) -> String {
    let mut codes: Vec<(&String, &u64)> = trial.errors.by_code.iter().collect();
    codes.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let all = trial.errors.count.max(1) as f64;
    let shown = codes
        .iter()
        .take(3)
        .map(|(code, count)| format!("{code} ({:.0} %)", **count as f64 / all * 100.0));
    shown.collect::<Vec<_>>().join(", ")
}

/// Whether the target's own queue can have overflowed: it was seen full (only then clients without
/// an answer are counted), or it is not known how long it may be.
fn may_be_own(trial: &TrialRecord) -> bool {
    of_port(trial, "syn-sent").is_some() || of_port(trial, "accept-queue.limit").is_none()
}

/// Where those are who found the queue full. Older kernels (4.3, `tcp_conn_request`) still took in
/// some of them, so that half-open connections piled up on the server (`SYN_RECV`); later ones do
/// not answer, and the clients stay in `SYN_SENT`.
fn unanswered(trial: &TrialRecord) -> Option<String> {
    let sent = of_port(trial, "syn-sent")?;
    let half_open = of_port(trial, "syn-recv").map_or_else(String::new, |received| {
        format!(
            " and {received:.1} connections were half open on the server (SYN_RECV): this kernel drops what finds no \
             place, where older ones kept it half open"
        )
    });
    Some(format!(
        "While the queue was full, {sent:.0} clients on average had no answer to their first packet \
         (SYN_SENT){half_open}. A longer queue only makes them wait longer; what takes connections out of it is too \
         slow."
    ))
}

/// The kernel dropped connections because the backlog was full. The counters are those of the whole
/// machine: with an accept queue that was never seen full, they are somebody else's.
pub(super) fn by_backlog(evidence: &Evidence<'_>) -> Vec<Finding> {
    let dropped = |trial: &TrialRecord| {
        let read = OVERFLOWS.iter().filter_map(|name| trial.signals.get(*name));
        read.copied().fold(0.0, f64::max)
    };
    let hit: Vec<&&TrialRecord> = evidence
        .trials
        .iter()
        .filter(|trial| dropped(trial) > 0.0 && may_be_own(trial))
        .collect();
    let Some(worst) = hit.iter().max_by(|a, b| dropped(a).total_cmp(&dropped(b))) else {
        return Vec::new();
    };
    let mut says = format!(
        "The backlog overflowed: the kernel dropped {:.2} connection attempts a second in {} (trial \
         {}). Each is tried again after a second, which its user feels.",
        dropped(worst),
        name(worst),
        worst.id
    );
    if let Some(sentence) = unanswered(worst) {
        says.push(' ');
        says.push_str(&sentence);
    }
    let ids: Vec<u32> = hit.iter().map(|trial| trial.id).collect();
    let found = Finding::new("backlog-overflow", says, &ids)
        .of_stage(BACKLOG)
        .with("tcp.listen-overflows", dropped(worst))
        .change("what takes connections out of the queue: the stages behind it");
    vec![not_the_cpu(found, worst)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made::{findings, trial};

    fn overflow(signals: &[(&str, f64)]) -> Vec<Finding> {
        findings(by_backlog, &[], &[trial(1, 50.0, signals)])
    }

    #[test]
    fn failures_that_the_connection_limit_made_are_told_from_others() {
        let failing = |refused: f64| {
            let mut made = trial(1, 10.0, &[("connections.refused", refused)]);
            made.errors.share = 0.7;
            findings(by_connections, &[("connections", 40.0)], &[made])
        };
        let found = failing(7.0);
        assert_eq!(found[0].stage.as_deref(), Some("connections"));
        assert!(found[0].says.contains("it is the stage"), "{found:?}");
        assert!(failing(1.0)[0].says.contains("only part of them"));
        assert_eq!(failing(0.0), []);
    }

    #[test]
    fn an_overflow_says_where_the_clients_are() {
        let found = overflow(&[
            ("tcp.listen-overflows", 53.7),
            ("tcp.8080.syn-sent", 153.0),
            ("tcp.8080.syn-recv", 1.5),
        ]);
        let says = &found[0].says;
        assert_eq!(found[0].id, "backlog-overflow");
        for part in [
            "dropped 53.70",
            "153 clients",
            "1.5 connections were half open",
        ] {
            assert!(says.contains(part), "{part}: {says}");
        }
    }

    #[test]
    fn without_an_overflow_there_is_nothing_to_say() {
        assert_eq!(
            overflow(&[("tcp.listen-overflows", 0.0), ("tcp.8080.syn-recv", 40.0)]),
            []
        );
        assert_eq!(overflow(&[]), []);
        let elsewhere = [
            ("tcp.listen-overflows", 9.0),
            ("tcp.8080.accept-queue.limit", 511.0),
        ];
        assert_eq!(
            overflow(&elsewhere),
            [],
            "the counter is the machine's, and this queue was never full"
        );
    }
}
