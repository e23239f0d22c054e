//! The limiting requirement along the number of servers, for drawing.

use crate::SizeError;
use crate::answer::CurveAt;
use crate::capacity::{Draw, Problem};
use crate::size::at;

/// Fleets that are looked at, in shares of the answer.
const SIZES: [f64; 7] = [0.8, 0.9, 0.95, 1.0, 1.1, 1.25, 1.5];
/// A picture needs no more draws than this.
const DRAWS_MAX: usize = 40;

/// The figure of the requirement with this index, for fleets about the answer.
pub(crate) fn curve(
    problem: &Problem<'_>,
    draws: &[Draw],
    servers: u32,
    binding: usize,
) -> Result<Vec<CurveAt>, SizeError> {
    let draws = &draws[..draws.len().min(DRAWS_MAX)];
    let sizes = SIZES.map(|share| (f64::from(servers) * share).round().max(1.0) as u32);
    let mut sizes = sizes.to_vec();
    sizes.dedup();
    sizes
        .into_iter()
        .map(|servers| {
            let at = at(problem, draws, servers)?;
            Ok(CurveAt {
                servers,
                value: at.goals[binding].value,
            })
        })
        .collect()
}
