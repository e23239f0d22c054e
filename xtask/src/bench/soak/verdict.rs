//! Whether the gateway has held: what was sent, what came back, and what it says of itself have to
//! agree.

use crate::bench::gate::clients::Answer;
use crate::bench::gate::status::Status;
use crate::bench::soak::watch::Watch;
use crate::error::TaskError;

/// Growth of the memory from the second quarter to the last that is none: what allocators and pools
/// do.
const GROWTH_MAX_MB: f64 = 2.0;
/// The bound of open files: connections to servers come and go.
const FILES_MAX: usize = 20;

/// Prints what was found; an error names all that is not as it has to be.
pub(crate) fn check(
    sent: usize,
    answers: &[Answer],
    kills: u32,
    watch: &Watch,
    status: &Status,
) -> Result<(), TaskError> {
    let count = |is: fn(&&Answer) -> bool| answers.iter().filter(is).count();
    let passed = count(|answer| answer.status == 200);
    let refused = count(|answer| answer.status == 503);
    let failed = count(|answer| matches!(answer.status, 502 | 504));
    let cut = count(|answer| answer.is_cut);
    let [early, late] = watch.early_and_late();
    println!(
        "{sent} sent, {passed} × 200, {refused} × 503, {failed} × 502 or 504, {cut} cut short, {kills} servers killed\n\
         memory {:.2} MB in the second quarter, {:.2} MB in the last; {} and {} open files\n{status:?}",
        early.memory_mb, late.memory_mb, early.open_files, late.open_files
    );
    let wrong = wrong(sent, answers, watch, status);
    if wrong.is_empty() {
        println!("nothing leaks, no slot is stuck, every request was answered");
        return Ok(());
    }
    Err(TaskError::Ended {
        command: "the soak".to_owned(),
        status: wrong.join("; "),
    })
}

/// Everything that is not as it has to be.
fn wrong(sent: usize, answers: &[Answer], watch: &Watch, status: &Status) -> Vec<String> {
    let lost = answers
        .iter()
        .filter(|one| one.status == 0 || one.is_second);
    let lost = lost.count();
    let all = &status.all;
    let [early, late] = watch.early_and_late();
    let growth_mb = late.memory_mb - early.memory_mb;
    let mut wrong = Vec::new();
    let mut require = |holds: bool, says: String| {
        if !holds {
            wrong.push(says);
        }
    };
    require(lost == 0, format!("{lost} requests without an answer"));
    require(
        answers.len() == sent,
        format!("{} answers to {sent} requests", answers.len()),
    );
    require(
        all.offered == sent as u64,
        format!("the gateway has seen {} of {sent} requests", all.offered),
    );
    require(
        all.offered == all.admitted + all.refused.total() + all.left,
        "not every request was admitted, refused, or left".to_owned(),
    );
    require(
        all.admitted == all.finished && all.in_flight == 0 && all.queued == 0,
        format!(
            "{} permits out, {} in; {} in flight and {} queued at the end",
            all.admitted, all.finished, all.in_flight, all.queued
        ),
    );
    require(
        growth_mb <= GROWTH_MAX_MB,
        format!("memory has grown by {growth_mb:.1} MB"),
    );
    require(
        late.open_files <= early.open_files + FILES_MAX,
        format!("{} open files, then {}", early.open_files, late.open_files),
    );
    wrong
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::gate::clients::Arrival;
    use crate::bench::soak::watch::Look;

    fn answer(status: u16) -> Answer {
        Answer {
            arrival: Arrival {
                at: Duration::ZERO,
                path: "/",
            },
            status,
            took: Duration::ZERO,
            late: Duration::ZERO,
            is_cut: false,
            is_second: false,
        }
    }

    fn status(admitted: u64, finished: u64, refused: u64) -> Status {
        let text = format!(
            r#"{{"all": {{"in_flight": {}, "queued": 0, "offered": {}, "admitted": {admitted}, "waited": 0, "left": 0, "finished": {finished},
               "refused": {{"rate": 0, "concurrency": {refused}, "queue_full": 0, "wait_too_long": 0, "expired": 0}}}}}}"#,
            admitted - finished,
            admitted + refused
        );
        serde_json::from_str(&text).expect("this is what the gateway writes")
    }

    fn watch(last_mb: f64, last_files: usize) -> Watch {
        let look = |memory_mb, open_files| Look {
            memory_mb,
            open_files,
        };
        Watch(vec![
            look(1.0, 5),
            look(9.0, 50),
            look(9.0, 50),
            look(last_mb, last_files),
        ])
    }

    #[test]
    fn what_does_not_agree_is_named() {
        let answers = [200, 503, 502].map(answer);
        let well = status(2, 2, 1);
        assert_eq!(
            wrong(3, &answers, &watch(9.5, 55), &well),
            Vec::<String>::new()
        );
        for (found, says) in [
            (wrong(4, &answers, &watch(9.0, 50), &well), "3 answers to 4"),
            (
                wrong(3, &[200, 503, 0].map(answer), &watch(9.0, 50), &well),
                "1 requests without",
            ),
            (
                wrong(3, &answers, &watch(9.0, 50), &status(2, 1, 1)),
                "1 in flight",
            ),
            (wrong(3, &answers, &watch(12.0, 50), &well), "3.0 MB"),
            (wrong(3, &answers, &watch(9.0, 99), &well), "then 99"),
        ] {
            assert!(
                found.iter().any(|one| one.contains(says)),
                "{says}: {found:?}"
            );
        }
    }
}
