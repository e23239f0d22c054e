//! Nonlinear least squares with a handful of parameters.
//!
//! Levenberg and Marquardt's method (Marquardt 1963; Press et al., "Numerical Recipes", section
//! 15.5): a step of Gauss and Newton, shortened towards the steepest descent for as long as it does
//! not improve. Written here, because the one curve that needs it has three parameters, and no
//! dependency is that small.

use crate::StatsError;

/// Steps at most; the law of this crate takes about ten.
const STEPS_MAX: usize = 500;
/// A step that changes no parameter by more than this share of its size ends the search.
const STEP_MIN: f64 = 1e-14;
/// Beyond this damping no step is worth trying.
const DAMPING_MAX: f64 = 1e20;

/// How far a value lies from the curve, and how the curve's value changes with each parameter.
pub(crate) struct Residual<const P: usize> {
    pub(crate) value: f64,
    pub(crate) gradient: [f64; P],
}

/// The closest parameters.
pub(crate) struct Closest<const P: usize> {
    pub(crate) parameters: [f64; P],
    /// Sum of the squared residuals.
    pub(crate) squares: f64,
    /// Inverse of the normal equations; times the variance of equal noise it is the covariance of
    /// the parameters.
    pub(crate) inverse: [[f64; P]; P],
}

/// Fits the first `free` parameters and leaves the others at 0.
pub(crate) fn least_squares<const P: usize>(
    start: [f64; P],
    free: usize,
    residuals: impl Fn(&[f64; P]) -> Vec<Residual<P>>,
) -> Result<Closest<P>, StatsError> {
    let mut at: [f64; P] = std::array::from_fn(|i| if i < free { start[i] } else { 0.0 });
    let mut around = residuals(&at);
    let mut squares = sum(&around);
    let mut damping = 1e-3;
    for _ in 0..STEPS_MAX {
        let (matrix, right) = normal_equations(&around, free);
        let mut damped = matrix;
        for (i, row) in damped.iter_mut().enumerate() {
            row[i] *= 1.0 + damping;
        }
        let inverse = inverted(damped).ok_or(StatsError::Singular)?;
        let step: [f64; P] =
            std::array::from_fn(|i| (0..P).map(|j| inverse[i][j] * right[j]).sum());
        let next: [f64; P] = std::array::from_fn(|i| at[i] + step[i]);
        let there = residuals(&next);
        let squares_there = sum(&there);
        let small = (0..P).all(|i| step[i].abs() <= STEP_MIN * (at[i].abs() + STEP_MIN));
        // Equal counts as better: at the minimum itself rounding decides.
        if squares_there <= squares {
            (at, around, squares) = (next, there, squares_there);
            damping = (damping * 0.1).max(1e-12);
        } else {
            damping *= 10.0;
        }
        if small || damping > DAMPING_MAX {
            break;
        }
    }
    let (matrix, _) = normal_equations(&around, free);
    let mut inverse = inverted(matrix).ok_or(StatsError::Singular)?;
    for (i, row) in inverse.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate() {
            if i >= free || j >= free {
                *cell = 0.0;
            }
        }
    }
    Ok(Closest {
        parameters: at,
        squares,
        inverse,
    })
}

fn sum<const P: usize>(residuals: &[Residual<P>]) -> f64 {
    let squares: f64 = residuals
        .iter()
        .map(|residual| residual.value.powi(2))
        .sum();
    if squares.is_finite() {
        squares
    } else {
        f64::INFINITY
    }
}

/// Rows of parameters that are not free are those of the identity.
fn normal_equations<const P: usize>(
    residuals: &[Residual<P>],
    free: usize,
) -> ([[f64; P]; P], [f64; P]) {
    let mut matrix = [[0.0; P]; P];
    let mut right = [0.0; P];
    for residual in residuals {
        for i in 0..free {
            right[i] += residual.gradient[i] * residual.value;
            for (cell, by) in matrix[i].iter_mut().zip(residual.gradient).take(free) {
                *cell += residual.gradient[i] * by;
            }
        }
    }
    for (i, row) in matrix.iter_mut().enumerate().skip(free) {
        row[i] = 1.0;
    }
    (matrix, right)
}

/// The inverse by Gauss and Jordan with row pivots; `None` where there is none.
fn inverted<const P: usize>(mut matrix: [[f64; P]; P]) -> Option<[[f64; P]; P]> {
    let mut inverse: [[f64; P]; P] =
        std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for column in 0..P {
        let pivot = (column..P)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        let largest = matrix[pivot][column];
        if largest == 0.0 || !largest.is_finite() {
            return None;
        }
        matrix.swap(column, pivot);
        inverse.swap(column, pivot);
        for j in 0..P {
            matrix[column][j] /= largest;
            inverse[column][j] /= largest;
        }
        let (own, own_inverse) = (matrix[column], inverse[column]);
        for row in (0..P).filter(|row| *row != column) {
            let factor = matrix[row][column];
            for j in 0..P {
                matrix[row][j] -= factor * own[j];
                inverse[row][j] -= factor * own_inverse[j];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_by_hand() {
        let inverse = inverted([[0.0, 2.0], [4.0, 2.0]]).unwrap();
        assert_eq!(inverse, [[-0.25, 0.25], [0.5, 0.0]]);
        assert!(inverted([[1.0, 2.0], [2.0, 4.0]]).is_none());
    }

    /// Misra1a of the NIST Statistical Reference Datasets, nonlinear regression of the lower level
    /// of difficulty: certified b1 = 238.94212918, b2 = 5.5015643181e-4, residual sum of
    /// squares 0.12455138894, from the start 500, 0.0001.
    #[test]
    fn a_certified_fit_comes_back() {
        let data = [
            (77.6, 10.07),
            (114.9, 14.73),
            (141.1, 17.94),
            (190.8, 23.93),
            (239.9, 29.61),
            (289.0, 35.18),
            (332.8, 40.02),
            (378.4, 44.82),
            (434.8, 50.76),
            (477.3, 55.05),
            (536.8, 61.01),
            (593.1, 66.40),
            (689.1, 75.47),
            (760.0, 81.78),
        ];
        let found = least_squares([500.0, 0.0001], 2, |b: &[f64; 2]| {
            let residual = |&(x, y): &(f64, f64)| {
                let rest = (-b[1] * x).exp();
                Residual {
                    value: y - b[0] * (1.0 - rest),
                    gradient: [1.0 - rest, b[0] * x * rest],
                }
            };
            data.iter().map(residual).collect()
        })
        .unwrap();
        assert!((found.parameters[0] / 238.942_129_18 - 1.0).abs() < 1e-7);
        assert!((found.parameters[1] / 5.501_564_318_1e-4 - 1.0).abs() < 1e-7);
        assert!((found.squares / 0.124_551_388_94 - 1.0).abs() < 1e-8);
        // Certified standard deviation of b1: 2.7070075241, residual standard deviation
        // 0.10187876330.
        let deviation = (found.squares / 12.0 * found.inverse[0][0]).sqrt();
        assert!((deviation / 2.707_007_524_1 - 1.0).abs() < 1e-6);
    }
}
