//! Result files that are not one whole test with all its columns: several tests in one, rows twice,
//! cut off, out of order, without users, without the pauses of transactions, from several engines.

use jiff::tz::TimeZone;
use proptest::prelude::*;
use weir_intake::{Part, ResultFile, Samples, take_in};

use crate::common::{Row, jtl, load_at};
use crate::{ask, failed, has, read, samples};

const HOUR_MS: u64 = 3_600_000;
const FROM_MS: u64 = 1_715_691_600_000;

fn several() -> Vec<Row> {
    let mut rows = load_at(FROM_MS, 4, 60, 8.0);
    rows.extend(load_at(FROM_MS + HOUR_MS, 4, 90, 20.0));
    rows
}

fn each(text: &str) -> Vec<Samples> {
    let file = ResultFile::read(text.as_bytes(), "a.jtl", &TimeZone::UTC).unwrap();
    file.parts(Part::Each).unwrap()
}

#[test]
fn tests_that_were_written_into_one_file_are_taken_each_by_itself() {
    let text = jtl(&several());
    let taken = take_in(&samples(&text).unwrap(), &[], &ask()).unwrap();
    assert!((taken.record.throughput_per_s - 20.0).abs() < 1.0);
    let notes = &taken.record.notes;
    assert!(has(notes, "it looks like 2 tests in one file"), "{notes:?}");
    assert!(has(notes, "Part 2 is taken"), "{notes:?}");
    assert!(has(notes, "samples are left out"), "{notes:?}");
    let parts = each(&text);
    let throughput: Vec<f64> = parts
        .iter()
        .map(|part| take_in(part, &[], &ask()).unwrap().record.throughput_per_s)
        .collect();
    assert!(
        (throughput[0] - 8.0).abs() < 0.5 && throughput.len() == 2,
        "{throughput:?}"
    );
    let file = ResultFile::read(text.as_bytes(), "a.jtl", &TimeZone::UTC).unwrap();
    let error = failed(&file.parts(Part::Number(3)).unwrap_err());
    assert!(
        error.contains("part 3 of a.jtl: it holds 2 test(s)"),
        "{error}"
    );
}

#[test]
fn one_test_says_nothing_of_parts() {
    let rows = load_at(FROM_MS, 1, 120, 5.0);
    let taken = take_in(&samples(&jtl(&rows)).unwrap(), &[], &ask()).unwrap();
    assert!(!has(&taken.record.notes, "tests in one file"));
    assert!(!has(&taken.record.notes, "stand in it twice"));
}

/// Without the column, the threads of each test are its users; without their names nobody knows.
#[test]
fn users_are_told_from_threads() {
    let head = "timeStamp,elapsed,label,responseCode,threadName,success\n";
    let file = |users: u64| {
        let rows = (0..400).map(|at| {
            let (start, thread) = (FROM_MS + at * 100, at % users + 1);
            format!("{start},90,home,200,g 1-{thread},true\n")
        });
        head.to_owned() + &rows.collect::<String>()
    };
    for users in [1, 4, 30] {
        let taken = take_in(&samples(&file(users)).unwrap(), &[], &ask()).unwrap();
        assert_eq!(u64::from(taken.record.population), users);
        assert!(has(&taken.record.notes, "does not count its users"));
    }
    let unnamed = file(4).replace("threadName,", "").replace("g 1-1,", "");
    let unnamed = unnamed
        .replace("g 1-2,", "")
        .replace("g 1-3,", "")
        .replace("g 1-4,", "");
    let taken = take_in(&samples(&unnamed).unwrap(), &[], &ask()).unwrap();
    assert_eq!(taken.record.levels.get("users"), None);
    assert!(has(&taken.record.notes, "does not say how many users"));
}

/// Each engine writes how many users it has itself.
#[test]
fn engines_count_their_own_users() {
    let head = "timeStamp,elapsed,label,responseCode,threadName,success,grpThreads,allThreads\n";
    let rows = (0..600).map(|at| {
        let (engine, thread) = (at % 2 + 7, at / 2 % 5 + 1);
        let start = FROM_MS + at * 50;
        format!("{start},90,home,200,10.0.0.{engine}-Users 1-{thread},true,5,5\n")
    });
    let text = head.to_owned() + &rows.collect::<String>();
    let taken = take_in(&samples(&text).unwrap(), &[], &ask()).unwrap();
    assert_eq!(taken.record.population, 10);
    assert!(has(&taken.record.notes, "several engines"));
}

/// Pauses within a transaction are in no column of many files.
#[test]
fn transactions_are_sums_also_where_their_pauses_are_not_written() {
    let head =
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n";
    let turns = (0..60).map(|at| {
        let start = FROM_MS + at * 1_000;
        let says = "\"Number of samples in transaction : 2, number of failing samples : 0\"";
        format!(
            "{start},100,a,200,OK,g 1-1,true,1\n{},110,b,200,OK,g 1-1,true,1\n{start},210,buy,200,{says},g 1-1,true,1\n",
            start + 600
        )
    });
    let text = head.to_owned() + &turns.collect::<String>();
    let taken = take_in(&samples(&text).unwrap(), &[], &ask()).unwrap();
    assert_eq!(taken.record.classes.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert!(has(
        &taken.record.notes,
        "60 row(s) of transaction controllers are left out"
    ));
}

#[test]
fn times_are_read_as_tools_write_them_and_else_refused_with_the_property() {
    let file = |time: &str| {
        format!(
            "timeStamp,elapsed,label,responseCode,threadName,success\n{time},100,a,200,g 1-1,true\n"
        )
    };
    for time in [
        "2024-05-14T13:00:00.000",
        "2024-05-14T13:00:00.000Z",
        "2024-05-14T15:00:00.000+02:00",
        "2024-05-14T15:00:00.000+0200",
        "2024-05-14T13:00:00",
        "2024-05-14T13:00:00Z",
        "2024/05/14 13:00:00.000",
    ] {
        let samples = samples(&file(time)).unwrap_or_else(|error| panic!("{time}: {error:?}"));
        assert_eq!(samples.span_ms().0, FROM_MS, "{time}");
    }
    for time in [
        "14.05.2024 13:00:00",
        "14/05/2024 13:00:00",
        "Tue May 14 13:00:00",
    ] {
        let error = failed(&samples(&file(time)).unwrap_err());
        assert!(
            error.contains("jmeter.save.saveservice.timestamp_format=ms"),
            "{error}"
        );
    }
}

proptest! {
    /// However rows are doubled, turned round or joined, no figure counts one twice or a gap; and a
    /// file that is cut off anywhere gives what is whole.
    #[test]
    fn a_file_that_was_handled_badly_gives_the_same_figures(
        doubled in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = jtl(&several());
        let (head, rows) = text.split_once('\n').unwrap();
        let rows: Vec<&str> = rows.lines().collect();
        let straight = each(&text);
        let mut handled = rows.clone();
        let again = doubled.iter().map(|at| rows[at.index(rows.len())]);
        let again: Vec<&str> = again.collect();
        handled.extend(&again);
        for (one, other) in &swaps {
            let (one, other) = (one.index(handled.len()), other.index(handled.len()));
            handled.swap(one, other);
        }
        let handled = each(&format!("{head}\n{}\n", handled.join("\n")));
        prop_assert_eq!(handled.len(), 2);
        for (handled, straight) in handled.iter().zip(&straight) {
            prop_assert_eq!(handled.count(), straight.count());
            let handled = take_in(handled, &[], &ask()).unwrap().record;
            let straight = take_in(straight, &[], &ask()).unwrap().record;
            let difference = handled.throughput_per_s - straight.throughput_per_s;
            prop_assert!(difference.abs() < 1e-9);
            prop_assert_eq!(&handled.response_time_ms, &straight.response_time_ms);
            prop_assert_eq!(has(&handled.notes, "stand in it twice"), !again.is_empty());
        }
        let end = head.len() + 1 + cut.index(text.len() - head.len() - 1);
        if let Ok(rest) = read(&text.as_bytes()[..end], "cut.jtl") {
            prop_assert!(rest.count() <= rows.len() as u64);
        }
    }
}
