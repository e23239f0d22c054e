//! Arrivals that do not wait for answers.

use serde_json::json;
use weir_queueing::open::{OpenQueue, OpenSolution, erlang_b};
use weir_queueing::{
    BlockingTandem, BreakdownQueue, GeneralQueue, ImpatientQueue, TransientQueue, relaxation_time_s,
};

use super::{Solved, values};
use crate::{Case, OracleError, Values};

fn queue(case: &Case, servers: u32) -> Result<OpenQueue, OracleError> {
    Ok(OpenQueue {
        arrivals_per_s: case.number("lam")?,
        services_per_s: case.number_or("mu", 1.0)?,
        servers,
    })
}

pub(super) fn mm1(case: &Case) -> Solved {
    let queue = queue(case, 1)?;
    let found = queue.solve_checked()?;
    let mut solved = open(case, &found);
    let relaxation = relaxation_time_s(queue.arrivals_per_s, queue.services_per_s)?;
    solved.extend(values([
        ("p0", json!(1.0 - found.utilization)),
        ("relaxation_time", json!(relaxation)),
    ]));
    Ok(solved)
}

pub(super) fn mmc(case: &Case) -> Solved {
    let found = queue(case, case.count("c")?)?.solve_checked()?;
    Ok(open(case, &found))
}

fn open(case: &Case, found: &OpenSolution) -> Values {
    let mut solved = values([
        ("rho", json!(found.utilization)),
        ("p_wait", json!(found.wait_probability)),
        ("Wq", json!(found.wait_s)),
        ("W", json!(found.response_time_s)),
        ("Lq", json!(found.waiting)),
        ("L", json!(found.present)),
    ]);
    for name in case.expected.keys() {
        let value = if let Some(q) = quantile_of(name, "Wq_p") {
            found.wait_quantile_s(q)
        } else if let Some(q) = quantile_of(name, "W_p") {
            found.response_time_quantile_s(q)
        } else {
            continue;
        };
        solved.insert(name.clone(), json!(value));
    }
    solved
}

/// 0.99 of `Wq_p99`, 0.999 of `Wq_p999`.
pub(crate) fn quantile_of(name: &str, prefix: &str) -> Option<f64> {
    let digits = name.strip_prefix(prefix)?;
    let number: f64 = digits.parse().ok()?;
    let q = number / 10_f64.powi(i32::try_from(digits.len()).ok()?);
    (q > 0.0 && q < 1.0).then_some(q)
}

pub(super) fn mmcc(case: &Case) -> Solved {
    let offered = if case.has("a") {
        case.number("a")?
    } else {
        case.number("lam")? / case.number_or("mu", 1.0)?
    };
    if offered.is_nan() || offered < 0.0 {
        return Err(OracleError::Other(format!(
            "an offered load of {offered} erlangs"
        )));
    }
    let blocked = erlang_b(offered, case.count("c")?);
    Ok(values([
        ("p_block", json!(blocked)),
        ("carried", json!(offered * (1.0 - blocked))),
    ]))
}

pub(super) fn mmck(case: &Case) -> Solved {
    let queue = queue(case, case.count("c")?)?;
    let Some(room) = case.limit("K")? else {
        let found = queue.solve_checked()?;
        let mut solved = open(case, &found);
        solved.extend(values([
            ("p_block", json!(0.0)),
            ("X", json!(queue.arrivals_per_s)),
            ("util", json!(found.utilization)),
        ]));
        return Ok(solved);
    };
    let found = queue.solve_bounded_checked(room)?;
    Ok(values([
        ("p_block", json!(found.refused_share)),
        ("X", json!(found.throughput_per_s)),
        ("L", json!(found.present)),
        ("Lq", json!(found.waiting)),
        ("W", json!(found.response_time_s)),
        ("Wq", json!(found.wait_s)),
        ("util", json!(found.utilization)),
        ("p0", json!(found.empty_probability)),
    ]))
}

fn general(case: &Case) -> Result<GeneralQueue, OracleError> {
    Ok(GeneralQueue {
        arrivals_per_s: case.number("lam")?,
        service_s: case.number("s")?,
    })
}

pub(super) fn mg1(case: &Case) -> Solved {
    let found = general(case)?.in_order(case.number("scv")?)?;
    Ok(values([
        ("rho", json!(found.utilization)),
        ("Wq", json!(found.wait_s)),
        ("W", json!(found.response_time_s)),
        ("Lq", json!(found.waiting)),
        ("L", json!(found.present)),
    ]))
}

pub(super) fn mg1ps(case: &Case) -> Solved {
    let found = general(case)?.shared()?;
    Ok(values([
        ("rho", json!(found.utilization)),
        ("W", json!(found.response_time_s)),
        ("slowdown", json!(found.slowdown)),
        ("L", json!(found.present)),
    ]))
}

pub(super) fn mm1_transient(case: &Case) -> Solved {
    let queue = TransientQueue {
        arrivals_per_s: case.number("lam")?,
        services_per_s: case.number_or("mu", 1.0)?,
        present_at_start: case.limit("n0")?.unwrap_or(0),
    };
    let found = queue.at(case.number("t")?)?;
    Ok(values([
        ("mean_number", json!(found.present)),
        ("p0", json!(found.empty_probability)),
    ]))
}

pub(super) fn mm1_breakdown(case: &Case) -> Solved {
    let queue = BreakdownQueue {
        arrivals_per_s: case.number("lam")?,
        services_per_s: case.number("mu")?,
        up_s: case.number("mean_up")?,
        down_s: case.number("mean_down")?,
    };
    let found = queue.solve()?;
    Ok(values([
        ("L", json!(found.present)),
        ("W", json!(found.response_time_s)),
        ("availability", json!(found.availability)),
        ("rho_eff", json!(found.utilization)),
    ]))
}

pub(super) fn erlang_a(case: &Case) -> Solved {
    let queue = ImpatientQueue {
        queue: queue(case, case.count("c")?)?,
        give_up_per_s: case.number("theta")?,
    };
    let found = queue.solve()?;
    Ok(values([
        ("p_abandon", json!(found.given_up_share)),
        ("Lq", json!(found.waiting)),
        ("L", json!(found.present)),
        ("X", json!(found.throughput_per_s)),
        ("util", json!(found.utilization)),
        ("p_wait", json!(found.wait_probability)),
        ("Wq", json!(found.wait_s)),
    ]))
}

pub(super) fn tandem_bas(case: &Case) -> Solved {
    if let Some(first) = case.text("first").filter(|first| *first != "saturated") {
        return Err(OracleError::Other(format!(
            "a first stage that is `{first}`: only one that always has work is solved"
        )));
    }
    let tandem = BlockingTandem {
        first_per_s: case.number("mu1")?,
        second_per_s: case.number("mu2")?,
        room: case.count("buffer")?,
    };
    let found = tandem.solve()?;
    Ok(values([
        ("X", json!(found.throughput_per_s)),
        ("p_blocked", json!(found.blocked_share)),
        ("mean_at_2", json!(found.at_second)),
    ]))
}
