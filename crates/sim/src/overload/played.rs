//! The server of the scenarios, and what is read off it.

use weir_limit::Rules;

use crate::distribution::Distribution;
use crate::engine::Simulation;
use crate::network::{
    Center, CenterKind, Class, CpuReader, Crowding, Gateway, Network, Source, Spacing, Step,
};
use crate::profile::Profile;
use crate::totals::Totals;

/// The station of the CPUs.
pub(super) const CPU: usize = 0;

/// Two CPUs, behind a gateway if there are rules for one.
pub(super) fn server(rules: Option<Rules>) -> Network {
    server_of(rules, 2)
}

/// So many CPUs.
pub(super) fn server_of(rules: Option<Rules>, cores: u32) -> Network {
    let mut cpu = Center::new("cpu", CenterKind::Shared { cores });
    cpu.crowding = Some(Crowding {
        above: 16 * cores,
        cost: 0.002,
    });
    let reader = CpuReader {
        center: CPU,
        every_s: 0.2,
        delay_s: 0.02,
        tick_s: 0.01,
        noise: 0.01,
    };
    let gateways = rules.map(|rules| Gateway {
        name: "gate".to_owned(),
        rules,
        cpu: Some(reader),
    });
    Network {
        centers: vec![cpu],
        gateways: gateways.into_iter().collect(),
        ..Network::default()
    }
}

/// Adds Poisson arrivals at these rates over time, of a class of the gateway's rules.
pub(super) fn add_arrivals(
    network: &mut Network,
    class: usize,
    points: Vec<(f64, f64)>,
    way: Vec<Step>,
) -> &mut Class {
    let rate = Profile::new(points).expect("points in the order of time");
    let source = Source::Arrivals {
        rate,
        spacing: Spacing::Poisson,
    };
    let mut route = way;
    if !network.gateways.is_empty() {
        route.insert(0, Step::Admit { gateway: 0, class });
    }
    let name = format!("requests {}", network.classes.len());
    network.classes.push(Class::new(name, source, route));
    network.classes.last_mut().expect("one was added")
}

/// Work of this mean on the CPUs.
pub(super) fn work(mean_s: f64) -> Vec<Step> {
    vec![Step::Use(CPU, Distribution::exponential(mean_s))]
}

/// One rate from one time to another, in steps: `(from, rate)`.
pub(super) fn steps(rates: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for (from, rate) in rates {
        if let Some((_, before)) = points.last().copied() {
            points.push((*from, before));
        }
        points.push((*from, *rate));
    }
    points
}

/// What happened from one time to another.
pub(super) fn window(simulation: &mut Simulation<'_>, from_s: f64, to_s: f64) -> Totals {
    simulation.run_until(from_s);
    simulation.forget();
    simulation.run_until(to_s);
    simulation.totals()
}

impl Totals {
    /// Answers within a second, per second.
    pub(super) fn good_per_s(&self) -> f64 {
        let good = |histogram: &hdrhistogram::Histogram<u64>| histogram.count_between(0, 1_000_000);
        let count: u64 = self
            .classes
            .iter()
            .map(|class| good(&class.responses_us))
            .sum();
        count as f64 / self.seconds
    }

    /// The 99th percentile of the response times of all classes, in milliseconds.
    pub(super) fn p99_ms(&self) -> f64 {
        let mut classes = self.classes.iter();
        let mut all = classes.next().expect("a class").responses_us.clone();
        for class in classes {
            all.add(&class.responses_us)
                .expect("one shape of histogram");
        }
        all.value_at_quantile(0.99) as f64 / 1000.0
    }

    /// Share of the requests that were rejected, of all that came.
    pub(super) fn refused_share(&self) -> f64 {
        let turned_away = self
            .classes
            .iter()
            .map(|class| class.refused + class.abandoned);
        let fresh: u64 = self.classes.iter().map(|class| class.fresh).sum();
        turned_away.sum::<u64>() as f64 / fresh.max(1) as f64
    }

    /// Busy share of the CPUs.
    pub(super) fn busy(&self) -> f64 {
        let cpu = &self.centers[CPU];
        cpu.busy_s / cpu.capacity_s.expect("CPUs are counted")
    }
}
