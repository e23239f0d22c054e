//! Requests that a stage refused.

use weir_record::{Finding, TrialRecord};

use super::{Evidence, name};
use crate::search::plateau::limit;
use crate::settings::CONNECTIONS;

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
    let stage_limit = limit(worst, evidence.facts, CONNECTIONS)
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
    vec![Finding::new("refused-by-connections", says, &ids)]
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

/// The kernel dropped connections because the backlog was full.
pub(super) fn by_backlog(evidence: &Evidence<'_>) -> Vec<Finding> {
    let dropped = |trial: &TrialRecord| {
        let read = OVERFLOWS.iter().filter_map(|name| trial.signals.get(*name));
        read.copied().fold(0.0, f64::max)
    };
    let hit: Vec<&&TrialRecord> = evidence
        .trials
        .iter()
        .filter(|trial| dropped(trial) > 0.0)
        .collect();
    let Some(worst) = hit.iter().max_by(|a, b| dropped(a).total_cmp(&dropped(b))) else {
        return Vec::new();
    };
    let says = format!(
        "The backlog overflowed: the kernel dropped {:.2} connection attempts a second in {} (trial \
         {}); each is tried again after a second, which its user feels.",
        dropped(worst),
        name(worst),
        worst.id
    );
    let ids: Vec<u32> = hit.iter().map(|trial| trial.id).collect();
    vec![Finding::new("backlog-overflow", says, &ids)]
}
