//! Designed experiments: which trials, in which order, and the table they make.

use std::collections::BTreeMap;

use weir_queueing::Pool;
use weir_record::{
    ClassRecord, Errors, Levels, NoObserver, Status, TargetFacts, Treatment, TrialError,
    TrialObserver, TrialRecord, TrialRunner,
};
use weir_study::{
    Across, CaseSpec, ColumnSpec, Design, Factor, Outcome, SweepSpec, auto_window, sweep,
};

use crate::support::{Altered, Analytic};

fn column(title: &str, signal: &str) -> ColumnSpec {
    ColumnSpec::new(title, signal)
}

fn spec(design: Design, replicates: u32) -> SweepSpec {
    SweepSpec {
        question: "What do they differ in?".to_owned(),
        design,
        replicates,
        compare: None,
        across: Across::default(),
        columns: vec![
            column("Throughput", "throughput"),
            column("Waiting", "waiting(pool.db)"),
            column("Wait", "pool.db.wait"),
            column("p99", "p99"),
            column("Nothing", "no.such.signal"),
        ],
        window: auto_window(),
        seed: 11,
    }
}

fn case(name: &str, set: &[(&str, f64)], published: &[(&str, &str)]) -> CaseSpec {
    CaseSpec {
        name: name.to_owned(),
        set: set
            .iter()
            .map(|(name, level)| ((*name).to_owned(), (*level).into()))
            .collect(),
        published: published
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect(),
        window: None,
        replicates: None,
        only_in: None,
    }
}

fn server(sigma: f64) -> Analytic {
    Analytic {
        sigma,
        pool: Some(Pool {
            limit: 10,
            hold_s: 0.1,
        }),
        ..Analytic::new(1, 0.2, 0.005, 0.05)
    }
}

fn pools() -> Design {
    Design::Cases(vec![
        case(
            "pool 5",
            &[("users", 40.0), ("pool.db", 5.0)],
            &[("pool.db.waiting", "20")],
        ),
        case("pool 50", &[("users", 40.0), ("pool.db", 50.0)], &[]),
    ])
}

fn run(design: Design, replicates: u32, sigma: f64) -> Outcome {
    sweep(
        &spec(design, replicates),
        &mut server(sigma),
        &mut NoObserver,
    )
}

#[test]
fn the_table_has_a_row_per_case_with_the_published_figure_beside() {
    let outcome = run(pools(), 3, 0.02);
    assert_eq!(outcome.status, Status::Answered);
    assert!(outcome.answer.is_none());
    let table = outcome.table.unwrap();
    let units: Vec<&str> = table
        .columns
        .iter()
        .map(|column| column.unit.as_str())
        .collect();
    assert_eq!(units, ["/s", "", "s", "ms", ""]);
    let [small, large] = &table.rows[..] else {
        panic!("two rows")
    };
    assert_eq!(small.trials.len(), 3);
    assert_eq!(small.published[1].as_deref(), Some("20"));
    assert_eq!(large.published[1], None);
    let throughput = small.cells[0].as_ref().unwrap();
    // Five connections of 100 ms: fifty requests a second.
    assert!((throughput.value - 50.0).abs() < 3.0, "{throughput:?}");
    assert_eq!(throughput.interval.unwrap().count, 3);
    assert!(large.cells[1].as_ref().unwrap().value < 0.01);
    assert!(small.cells[4].is_none());
    assert!(
        outcome
            .findings
            .iter()
            .any(|finding| finding.id == "pool-waits")
    );
    assert!(
        outcome
            .findings
            .iter()
            .any(|finding| finding.id == "littles-law")
    );
}

#[test]
fn blocks_hold_every_case_once_in_their_own_order() {
    let levels = (1..=6).map(|users| f64::from(users).into()).collect();
    let design = Design::Full(vec![Factor {
        name: "users".to_owned(),
        levels,
    }]);
    let outcome = run(design, 4, 0.0);
    let order: Vec<String> = outcome
        .trials
        .iter()
        .filter_map(|trial| trial.case.clone())
        .collect();
    let blocks: Vec<&[String]> = order.chunks(6).collect();
    assert_eq!(blocks.len(), 4);
    for block in &blocks {
        let mut sorted = block.to_vec();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), 6, "{block:?}");
    }
    assert!(
        blocks.windows(2).any(|pair| pair[0] != pair[1]),
        "{blocks:?}"
    );
    let again = run(
        Design::Full(vec![Factor {
            name: "users".to_owned(),
            levels: (1..=6).map(|users| f64::from(users).into()).collect(),
        }]),
        4,
        0.0,
    );
    assert_eq!(format!("{outcome:?}"), format!("{again:?}"));
}

#[test]
fn designs_have_the_cases_they_say() {
    let factors = || {
        vec![
            Factor {
                name: "users".to_owned(),
                levels: vec![10.0.into(), 20.0.into(), 30.0.into()],
            },
            Factor {
                name: "pool.db".to_owned(),
                levels: vec![5.0.into(), 10.0.into()],
            },
        ]
    };
    let cases = |design| -> Vec<String> {
        let table = run(design, 1, 0.0).table.unwrap();
        table.rows.into_iter().map(|row| row.case).collect()
    };
    assert_eq!(cases(Design::Full(factors())).len(), 6);
    assert_eq!(
        cases(Design::OneAtATime(factors())),
        [
            "users 10, pool.db 5",
            "users 20, pool.db 5",
            "users 30, pool.db 5",
            "users 10, pool.db 10"
        ]
    );
}

/// A server with a connection limit of 40 that closes what comes above, and two classes of requests
/// whose mix a thread limit shifts.
fn refusing(
    server: &mut Analytic,
    treatment: &Treatment,
    observer: &mut dyn TrialObserver,
) -> Result<TrialRecord, TrialError> {
    let mut record = server.run(treatment, observer)?;
    if let Some(limit) = record.level("connections") {
        let share = 1.0 - limit / f64::from(record.population);
        record.errors = Errors {
            count: 700,
            share,
            by_code: BTreeMap::from([(
                "Non HTTP response code: java.net.SocketException".to_owned(),
                700,
            )]),
        };
        record.signals.insert(
            "connections.refused".to_owned(),
            share * record.throughput_per_s,
        );
    }
    let heavy = if record.level("threads").is_some() {
        0.62
    } else {
        0.5
    };
    for (label, share) in [("heavy", heavy), ("light", 1.0 - heavy)] {
        let class = ClassRecord {
            throughput_per_s: share * record.throughput_per_s,
            response_time_ms: record.response_time_ms,
            errors: Errors::default(),
            ..ClassRecord::default()
        };
        record.classes.insert(label.to_owned(), class);
    }
    Ok(record)
}

#[test]
fn findings_say_who_refused_and_what_a_limit_shifts() {
    let design = Design::Cases(vec![
        case("free", &[("users", 60.0), ("pool.db", 50.0)], &[]),
        case(
            "connections 40",
            &[("users", 60.0), ("pool.db", 50.0), ("connections", 40.0)],
            &[],
        ),
        case(
            "threads 8",
            &[("users", 60.0), ("pool.db", 50.0), ("threads", 8.0)],
            &[],
        ),
    ]);
    let outcome = sweep(
        &spec(design, 1),
        &mut Altered {
            server: server(0.0),
            trial: refusing,
        },
        &mut NoObserver,
    );
    let says = |id: &str| {
        let found = outcome.findings.iter().find(|finding| finding.id == id);
        found.map_or_else(
            || panic!("{id}: {:#?}", outcome.findings),
            |finding| finding.says.clone(),
        )
    };
    let refused = says("refused-by-connections");
    assert!(
        refused.contains("33 % of the requests") && refused.contains("SocketException"),
        "{refused}"
    );
    assert!(
        refused.contains("it is the stage that refused them"),
        "{refused}"
    );
    let mix = says("mix-shifted");
    assert!(
        mix.contains("`heavy` is 50 %") && mix.contains("62 %"),
        "{mix}"
    );
}

#[test]
fn figures_that_contradict_each_other_are_told() {
    struct Misread(Analytic);
    impl TrialRunner for Misread {
        fn facts(&self) -> &TargetFacts {
            self.0.facts()
        }
        fn population(&self, levels: &Levels) -> u32 {
            self.0.population(levels)
        }
        fn run(
            &mut self,
            treatment: &Treatment,
            observer: &mut dyn TrialObserver,
        ) -> Result<TrialRecord, TrialError> {
            let mut record = self.0.run(treatment, observer)?;
            // A wait that is told in another unit than it says.
            *record.signals.get_mut("pool.db.wait").unwrap() *= 0.5;
            Ok(record)
        }
    }
    let outcome = sweep(
        &spec(pools(), 1),
        &mut Misread(server(0.0)),
        &mut NoObserver,
    );
    let doubts: Vec<&str> = outcome
        .findings
        .iter()
        .map(|finding| finding.id.as_str())
        .collect();
    assert!(doubts.contains(&"instrument-doubt"), "{doubts:?}");
    assert!(!doubts.contains(&"littles-law"), "{doubts:?}");
}

#[test]
fn a_target_that_becomes_slower_is_told() {
    struct Slowing(Analytic, f64);
    impl TrialRunner for Slowing {
        fn facts(&self) -> &TargetFacts {
            self.0.facts()
        }
        fn population(&self, levels: &Levels) -> u32 {
            self.0.population(levels)
        }
        fn run(
            &mut self,
            treatment: &Treatment,
            observer: &mut dyn TrialObserver,
        ) -> Result<TrialRecord, TrialError> {
            self.0.cpu_s *= 1.0 + self.1;
            self.0.run(treatment, observer)
        }
    }
    for (slower, told) in [(0.02, true), (0.0, false)] {
        let mut runner = Slowing(server(0.005), slower);
        let outcome = sweep(&spec(pools(), 5), &mut runner, &mut NoObserver);
        let drift = outcome.findings.iter().any(|finding| finding.id == "drift");
        assert_eq!(drift, told, "{:?}", outcome.findings);
    }
}
