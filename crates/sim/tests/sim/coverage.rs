//! Whether 95 % intervals are that: how often they contain the exact value.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use weir_sim::{
    Center, CenterKind, Class, Distribution, Network, Plan, Replication, Report, Source, Step,
    Unwatched, replicate,
};

const STUDIES: u32 = 400;

/// Ten users, two servers, exact by the birth-death equations of a finite source: 0.896136 answers
/// a second of 1.159018 s.
#[test]
fn intervals_contain_the_truth_as_often_as_they_say() {
    let network = Network {
        centers: vec![Center::new("server", CenterKind::Queue { servers: 2 })],
        classes: vec![Class::new(
            "request",
            Source::Users {
                users: 10,
                think: Distribution::exponential(10.0),
                ramp_s: 0.0,
            },
            vec![Step::Use(0, Distribution::exponential(1.0))],
        )],
        ..Network::default()
    };
    let (mut throughput, mut response) = (0, 0);
    for study in 0..STUDIES {
        let plan = Plan {
            seconds: 400.0,
            warm_up_s: 40.0,
            replications: 10,
            seed: u64::from(study) + 1000,
            timelines: 0,
        };
        let totals = |replication: Replication| replication.totals;
        let totals = replicate(&network, &plan, 1, &totals, &Unwatched).unwrap();
        let report = Report::of("finite source", "", &network, &plan, &totals);
        let class = &report.classes[0];
        throughput += u32::from(class.throughput_per_s.unwrap().contains(0.896_136_2));
        let mean = class.response_time_ms.as_ref().unwrap().mean.unwrap();
        response += u32::from(mean.contains(1_159.017_9));
    }
    // 95 % of 400 have a standard deviation of 1.1 points; three of them to each side.
    for (what, covered) in [("throughput", throughput), ("response time", response)] {
        let share = f64::from(covered) / f64::from(STUDIES);
        assert!((0.917..=0.983).contains(&share), "{what}: {share}");
    }
}
