//! `/light`: a Fibonacci number by its definition, a small computation without memory or waiting.

use std::hint::black_box;

use crate::http::{Number, Parameters, Response};

/// 45 takes seconds; each step more takes 1.6 times as long.
const N: Number = Number {
    name: "n",
    unit: "index of the number",
    range: 0..=45,
    default: 20,
};

pub(super) fn answer(parameters: &Parameters) -> Result<Response, Response> {
    parameters.expect_only(&[N.name])?;
    let n = parameters.number(&N)?;
    Ok(Response::text(format!(
        "fibonacci({n}) = {}\n",
        fibonacci(n)
    )))
}

/// Recursive on purpose: the number of calls grows as the result does.
fn fibonacci(n: u64) -> u64 {
    // Opaque, so that the compiler does not turn the recursion into something faster.
    match black_box(n) {
        0 => 0,
        1 => 1,
        n => fibonacci(n - 1) + fibonacci(n - 2),
    }
}

#[cfg(test)]
mod tests {
    use super::fibonacci;

    #[test]
    fn known_numbers() {
        // OEIS A000045.
        let numbers: Vec<u64> = [0, 1, 2, 10, 20, 25].into_iter().map(fibonacci).collect();
        assert_eq!(numbers, [0, 1, 1, 55, 6_765, 75_025]);
    }
}
