//! The solver of each family.

mod closed;
mod expression;
mod open;
mod planning;
mod reality;
mod statistics;

use serde_json::Value;

pub(crate) use self::closed::pooled_server;
pub(crate) use self::open::quantile_of;

use crate::{Case, OracleError, Values};

type Solved = Result<Values, OracleError>;

/// The values of a case; `None` for a family that is not known or has no closed form.
pub(crate) fn solve(case: &Case) -> Result<Option<Values>, OracleError> {
    let solver: fn(&Case) -> Solved = match case.family.as_str() {
        "mm1" => open::mm1,
        "mmc" => open::mmc,
        "mmcc" => open::mmcc,
        "mmck" => open::mmck,
        "mg1" => open::mg1,
        "mg1ps" => open::mg1ps,
        "mm1_transient" => open::mm1_transient,
        "mm1_breakdown" => open::mm1_breakdown,
        "erlang_a" => open::erlang_a,
        "tandem_bas" => open::tandem_bas,
        "mva" => closed::mva,
        "mva_multiserver" => closed::mva_multiserver,
        "mva_multiclass" => closed::mva_multiclass,
        "largest_N_cpu" => closed::largest_users,
        "finite_source" => closed::finite_source,
        "tpc" => closed::threads_pool_cpu,
        "bounds" => closed::bounds,
        "fluid_scaleout" => planning::fluid_scaleout,
        "coordinated_omission" => planning::coordinated_omission,
        "little" => planning::little,
        "series_stats" => statistics::series,
        "quantile_ci" => statistics::quantile_ranks,
        "tost" => statistics::tost,
        "duet" => statistics::duet,
        "usl" => statistics::usl,
        "reality" => return reality::solve(case),
        _ => return Ok(None),
    };
    solver(case).map(Some)
}

/// Values by name.
fn values<const N: usize>(pairs: [(&str, Value); N]) -> Values {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
