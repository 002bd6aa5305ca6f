//! Weighted least squares with a weak prior, for values that cannot be negative.
#![allow(clippy::needless_range_loop, reason = "rows and columns of matrices read best by number")]

use super::prices::{Covariance, PerPrice, Price};

const N: usize = Price::COUNT;

/// One measured sum of prices.
#[derive(Debug, Clone)]
pub(super) struct Observation {
    /// How often each price is in it.
    pub(super) counts: PerPrice,
    /// Its value.
    pub(super) us: f64,
    /// Its variance.
    pub(super) variance: f64,
}

impl Observation {
    /// How far it is from what these prices say, squared, by its variance.
    pub(super) fn misfit(&self, values: &PerPrice) -> f64 {
        let said: f64 = self.counts.iter().zip(values).map(|(count, price)| count * price).sum();
        (self.us - said).powi(2) / self.variance
    }
}

/// What is thought before anything is measured.
#[derive(Debug, Clone)]
pub(super) struct Prior {
    pub(super) values: PerPrice,
    pub(super) variances: PerPrice,
}

/// The prices that fit best, and how far they are known together.
pub(super) struct Solution {
    pub(super) values: PerPrice,
    pub(super) covariance: Covariance,
}

/// Solves; prices that would be negative are 0.
pub(super) fn solve(observations: &[Observation], prior: &Prior) -> Solution {
    let mut normal = [[0.0; N]; N];
    let mut right = [0.0; N];
    for price in 0..N {
        normal[price][price] = 1.0 / prior.variances[price];
        right[price] = prior.values[price] / prior.variances[price];
    }
    for seen in observations {
        let weight = 1.0 / seen.variance;
        for row in 0..N {
            right[row] += weight * seen.counts[row] * seen.us;
            for column in 0..N {
                normal[row][column] += weight * seen.counts[row] * seen.counts[column];
            }
        }
    }
    let mut free = [true; N];
    loop {
        let inverse = inverse(&normal, &free);
        let values: PerPrice = std::array::from_fn(|row| {
            if free[row] {
                (0..N).filter(|column| free[*column]).map(|column| inverse[row][column] * right[column]).sum()
            } else {
                0.0
            }
        });
        let lowest =
            (0..N).filter(|price| values[*price] < 0.0).min_by(|left, right| values[*left].total_cmp(&values[*right]));
        match lowest {
            Some(price) => free[price] = false,
            None => {
                let mut covariance = inverse;
                for price in (0..N).filter(|price| !free[*price]) {
                    covariance[price][price] = 1.0 / normal[price][price];
                }
                return Solution { values, covariance };
            }
        }
    }
}

/// Inverse of the rows and columns that are free; the rest is 0. The matrix is positive definite: it has a prior.
fn inverse(matrix: &Covariance, free: &[bool; N]) -> Covariance {
    let mut left = [[0.0; N]; N];
    let mut right = [[0.0; N]; N];
    for row in 0..N {
        right[row][row] = 1.0;
        for column in 0..N {
            let inside = free[row] && free[column];
            left[row][column] = if inside { matrix[row][column] } else { f64::from(u8::from(row == column)) };
        }
    }
    // Gauss and Jordan, the largest pivot first.
    for step in 0..N {
        let pivot =
            (step..N).max_by(|one, two| left[*one][step].abs().total_cmp(&left[*two][step].abs())).unwrap_or(step);
        left.swap(step, pivot);
        right.swap(step, pivot);
        let scale = left[step][step];
        for column in 0..N {
            left[step][column] /= scale;
            right[step][column] /= scale;
        }
        for row in (0..N).filter(|row| *row != step) {
            let factor = left[row][step];
            for column in 0..N {
                left[row][column] -= factor * left[step][column];
                right[row][column] -= factor * right[step][column];
            }
        }
    }
    for row in 0..N {
        for column in 0..N {
            if !(free[row] && free[column]) {
                right[row][column] = 0.0;
            }
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(usize, f64)]) -> PerPrice {
        let mut counts = [0.0; N];
        for (price, count) in pairs {
            counts[*price] = *count;
        }
        counts
    }

    fn prior() -> Prior {
        Prior { values: [1.0; N], variances: [9.0; N] }
    }

    #[test]
    fn exact_sums_give_exact_prices() {
        let see = |pairs: &[(usize, f64)], us| Observation { counts: counts(pairs), us, variance: 1e-8 };
        let seen = [see(&[(0, 2.0), (1, 1.0)], 7.0), see(&[(0, 1.0), (1, 3.0)], 11.0)];
        let found = solve(&seen, &prior());
        assert!((found.values[0] - 2.0).abs() < 1e-3 && (found.values[1] - 3.0).abs() < 1e-3, "{:?}", found.values);
        assert!(found.covariance[0][0].sqrt() < 1e-3);
        assert!((found.values[2] - 1.0).abs() < 1e-9, "nothing says anything about it: it stays");
        assert!((found.covariance[2][2] - 9.0).abs() < 1e-6);
    }

    #[test]
    fn no_price_is_negative() {
        let see = |pairs: &[(usize, f64)], us| Observation { counts: counts(pairs), us, variance: 1e-4 };
        let found = solve(&[see(&[(0, 1.0)], 2.0), see(&[(0, 1.0), (1, 1.0)], 1.5)], &prior());
        assert_eq!(found.values[1], 0.0);
        assert!(found.values[0] > 0.0);
    }

    #[test]
    fn a_sum_alone_leaves_its_parts_open() {
        let seen = [Observation { counts: counts(&[(0, 1.0), (1, 1.0)]), us: 4.0, variance: 1e-6 }];
        let found = solve(&seen, &prior());
        assert!((found.values[0] + found.values[1] - 4.0).abs() < 1e-2);
        assert!(found.covariance[0][0].sqrt() > 1.0);
        let together = found.covariance[0][1] / (found.covariance[0][0] * found.covariance[1][1]).sqrt();
        assert!(together < -0.99, "{together}");
    }
}
