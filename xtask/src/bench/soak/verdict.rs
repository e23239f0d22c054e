//! Whether the gateway has held: what was sent, what came back, and what it says of itself have to
//! agree.

use crate::bench::gate::clients::Answer;
use crate::bench::gate::status::{All, Status};
use crate::bench::soak::guests::Guests;
use crate::bench::soak::troubles::Troubles;
use crate::bench::soak::watch::Watch;
use crate::error::TaskError;

/// Growth of the memory from the second quarter to the last that is none: what allocators and pools
/// do.
const GROWTH_MAX_MB: f64 = 2.0;
/// The bound of open files: connections to servers come and go.
const FILES_MAX: usize = 20;
/// The class of requests that are not the load's own.
const GUESTS: &str = "guests";

/// What a soak has brought.
#[derive(Debug)]
pub(crate) struct Soaked {
    /// Requests of the load.
    pub(crate) sent: usize,
    pub(crate) answers: Vec<Answer>,
    pub(crate) guests: Guests,
    pub(crate) troubles: Troubles,
    pub(crate) reloads: u32,
    pub(crate) watch: Watch,
    /// What each gateway had counted at its end.
    pub(crate) gates: Vec<Status>,
}

/// Prints what was found; an error names all that is not as it has to be.
pub(crate) fn check(soaked: &Soaked) -> Result<(), TaskError> {
    let count = |is: fn(&&Answer) -> bool| soaked.answers.iter().filter(is).count();
    let passed = count(|answer| answer.status == 200);
    let refused = count(|answer| answer.status == 503);
    let failed = count(|answer| matches!(answer.status, 502 | 504));
    let cut = count(|answer| answer.is_cut);
    let [early, late] = soaked.watch.early_and_late();
    let all = soaked.gates.iter().map(|gate| &gate.all);
    let (admitted, finished) = all.fold((0, 0), |(admitted, finished), all| {
        (admitted + all.admitted, finished + all.finished)
    });
    println!(
        "{} sent, {passed} × 200, {refused} × 503, {failed} × 502 or 504, {cut} cut short\n\
         {} clients left before their answer, {} read slowly; servers were killed {} times and hung {} times\n\
         {} gateways one after the other, {} reloads; {admitted} permits out, {finished} in\n\
         memory {:.2} MB in the second quarter, {:.2} MB in the last; {} and {} open files",
        soaked.sent,
        soaked.guests.left,
        soaked.guests.slow,
        soaked.troubles.killed,
        soaked.troubles.hung,
        soaked.gates.len(),
        soaked.reloads,
        early.memory_mb,
        late.memory_mb,
        early.open_files,
        late.open_files
    );
    let wrong = wrong(soaked);
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
fn wrong(soaked: &Soaked) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut require = |holds: bool, says: String| {
        if !holds {
            wrong.push(says);
        }
    };
    let (sent, answers) = (soaked.sent, &soaked.answers);
    let count = |is: fn(&&Answer) -> bool| answers.iter().filter(is).count();
    let lost = count(|one| one.status == 0);
    require(lost == 0, format!("{lost} requests without an answer"));
    let closed = count(|one| one.is_second);
    require(
        closed == 0,
        format!("{closed} requests met a connection that was being closed"),
    );
    require(
        answers.len() == sent,
        format!("{} answers to {sent} requests", answers.len()),
    );
    let seen: u64 = soaked.gates.iter().map(offered_by_the_load).sum();
    require(
        seen == sent as u64,
        format!("the gateways have seen {seen} of {sent} requests"),
    );
    for (number, gate) in soaked.gates.iter().enumerate() {
        for all in gate.classes.iter().map(|class| &class.standing) {
            require(
                all.offered == all.admitted + all.refused.total() + all.left,
                format!("gateway {number}: not every request was admitted, refused, or left"),
            );
        }
        let all = &gate.all;
        require(
            all.admitted == all.finished && all.in_flight == 0 && all.queued == 0,
            format!(
                "gateway {number}: {} permits out, {} in; {} in flight and {} queued at the end",
                all.admitted, all.finished, all.in_flight, all.queued
            ),
        );
    }
    let [early, late] = soaked.watch.early_and_late();
    let growth_mb = late.memory_mb - early.memory_mb;
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

/// Requests of the load itself that came.
fn offered_by_the_load(gate: &Status) -> u64 {
    let guests = gate.classes.iter().filter(|class| class.name == GUESTS);
    let guests: u64 = guests.map(|class| class.standing.offered).sum();
    let All { offered, .. } = gate.all;
    offered - guests
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

    /// A gateway that had guests too, of which it has let one in.
    fn gate(admitted: u64, finished: u64, refused: u64) -> Status {
        let standing = |admitted: u64, finished: u64, refused: u64| {
            format!(
                r#"{{"in_flight": {}, "queued": 0, "offered": {}, "admitted": {admitted}, "waited": 0, "left": 0, "finished": {finished},
                   "refused": {{"rate": 0, "concurrency": {refused}, "queue_full": 0, "wait_too_long": 0, "expired": 0}}}}"#,
                admitted - finished,
                admitted + refused
            )
        };
        let text = format!(
            r#"{{"all": {}, "classes": [{{"name": "guests", "standing": {}}}, {{"name": "other", "standing": {}}}]}}"#,
            standing(admitted + 1, finished + 1, refused),
            standing(1, 1, 0),
            standing(admitted, finished, refused)
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

    fn soaked(sent: usize, statuses: &[u16], watch: Watch, gates: Vec<Status>) -> Vec<String> {
        wrong(&Soaked {
            sent,
            answers: statuses.iter().copied().map(answer).collect(),
            guests: Guests::default(),
            troubles: Troubles::default(),
            reloads: 0,
            watch,
            gates,
        })
    }

    #[test]
    fn what_does_not_agree_is_named() {
        let well = || vec![gate(1, 1, 0), gate(1, 1, 1)];
        let answers = [200, 503, 502];
        assert_eq!(
            soaked(3, &answers, watch(9.5, 55), well()),
            Vec::<String>::new()
        );
        let stuck = vec![gate(1, 1, 0), gate(1, 0, 1)];
        for (found, says) in [
            (
                soaked(4, &answers, watch(9.0, 50), well()),
                "3 answers to 4",
            ),
            (
                soaked(3, &answers, watch(9.0, 50), vec![gate(1, 1, 1)]),
                "seen 2 of 3",
            ),
            (
                soaked(3, &[200, 503, 0], watch(9.0, 50), well()),
                "1 requests without",
            ),
            (
                soaked(3, &answers, watch(9.0, 50), stuck),
                "gateway 1: 2 permits out, 1 in; 1 in flight",
            ),
            (soaked(3, &answers, watch(12.0, 50), well()), "3.0 MB"),
            (soaked(3, &answers, watch(9.0, 99), well()), "then 99"),
        ] {
            assert!(
                found.iter().any(|one| one.contains(says)),
                "{says}: {found:?}"
            );
        }
    }
}
