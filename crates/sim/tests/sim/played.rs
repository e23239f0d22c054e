//! Networks played once, and figures compared.

use weir_sim::{Network, Simulation, Totals};

/// Figures of `seconds` after `warm_up_s` of warm-up.
pub(crate) fn played(network: &Network, seed: u64, warm_up_s: f64, seconds: f64) -> Totals {
    let mut simulation = Simulation::new(network, seed);
    simulation.run_until(warm_up_s);
    simulation.forget();
    simulation.run_until(warm_up_s + seconds);
    simulation.totals()
}

#[track_caller]
pub(crate) fn close(what: &str, found: f64, expected: f64, relative: f64) {
    assert!(
        (found - expected).abs() <= relative * expected.abs(),
        "{what}: {found} against {expected}"
    );
}
