//! Several measurements of one thing.

/// A typical value and how far it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The typical value: the median where there are enough, else the mean.
    pub us: f64,
    /// Standard error of it.
    pub error: f64,
    /// Standard deviation of a single measurement.
    pub spread: f64,
    /// How many there were.
    pub count: usize,
}

/// One measurement tells nothing about its spread: a share of it is assumed.
const SINGLE_SPREAD: f64 = 0.05;
/// From here on, medians: the first runs of a model are often slow.
const ENOUGH: usize = 5;

impl Sample {
    /// Of these measurements; `None` of none.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / count as f64;
        if count == 1 {
            let spread = SINGLE_SPREAD * mean;
            return Some(Self { us: mean, error: spread, spread, count });
        }
        if count < ENOUGH {
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
            // So few measurements that agree by luck are not exact.
            let spread = variance.sqrt().max(0.5 * SINGLE_SPREAD * mean);
            return Some(Self { us: mean, error: spread / (count as f64).sqrt(), spread, count });
        }
        let us = median(&values);
        let mut distances: Vec<f64> = values.iter().map(|value| (value - us).abs()).collect();
        distances.sort_by(f64::total_cmp);
        // Of a normal distribution the median distance is 0.6745 deviations; a median varies 1.2533 times as a mean.
        let spread = median(&distances) / 0.6745;
        Some(Self { us, error: 1.2533 * spread / (count as f64).sqrt(), spread, count })
    }

    /// A value that is known to `error` at best.
    pub(crate) fn assumed(us: f64, error: f64) -> Self {
        Self { us, error, spread: error, count: 0 }
    }
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_first_run_does_not_count() {
        let sample = Sample::of(vec![100.0, 10.0, 10.2, 9.8, 10.1, 9.9]).unwrap();
        assert!((sample.us - 10.05).abs() < 1e-9 && sample.error < 0.2, "{sample:?}");
        assert!(Sample::of(Vec::new()).is_none());
        let one = Sample::of(vec![8.0]).unwrap();
        assert!(one.error > 0.0, "one measurement is not exact");
    }
}
