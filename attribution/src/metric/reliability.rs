//! Forecasts sorted into bins of equal width: the reliability diagram.

use super::forecast::Forecasts;
use ktd_stats::moments::count;

/// Bins of stated confidence (ECE-10 of KTD-Fin).
pub const RELIABILITY_BINS: usize = 10;

/// One bin's forecasts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bin {
    forecasts: usize,
    confidence_sum: f64,
    successes: f64,
}

impl Bin {
    /// How many forecasts fell into the bin.
    #[must_use]
    pub const fn forecasts(&self) -> usize {
        self.forecasts
    }

    /// Mean stated confidence; `None` of an empty bin.
    #[must_use]
    pub fn mean_confidence(&self) -> Option<f64> {
        (0 < self.forecasts).then(|| self.confidence_sum / count(self.forecasts))
    }

    /// Share of successes; `None` of an empty bin.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        (0 < self.forecasts).then(|| self.successes / count(self.forecasts))
    }

    /// Absolute gap between confidence and accuracy; `None` of an empty bin.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        Some((self.mean_confidence()? - self.accuracy()?).abs())
    }
}

/// Ten bins, closed on the left; a confidence of 1 falls into the last one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reliability {
    bins: [Bin; RELIABILITY_BINS],
}

impl Reliability {
    /// Sorts forecasts into bins.
    #[must_use]
    pub fn of(forecasts: &Forecasts<'_>) -> Self {
        let mut bins = [Bin::default(); RELIABILITY_BINS];
        for forecast in forecasts.all() {
            if let Some(bin) = bins.get_mut(bin_of(forecast.confidence)) {
                bin.forecasts += 1;
                bin.confidence_sum += forecast.confidence;
                bin.successes += forecast.outcome();
            }
        }
        Self { bins }
    }

    /// The bins, by confidence.
    #[must_use]
    pub const fn bins(&self) -> &[Bin; RELIABILITY_BINS] {
        &self.bins
    }
}

/// `min(floor(10 c), 9)` for a probability `c`: how many of the edges 1 to 9 the product reaches.
///
/// The product is rounded before it is floored, as in the definition: 0.7 is in bin 7, although ten times the float
/// that is nearest to 0.7 is below 7, and so is the last float below 0.9 in bin 9.
pub(super) fn bin_of(confidence: f64) -> usize {
    let scaled = confidence * 10.0;
    (1_u8..10).filter(|edge| f64::from(*edge) <= scaled).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_closed_on_the_left_and_one_is_in_the_last() {
        let cases = [
            (0.0, 0),
            (0.1, 1),
            (0.3, 3),
            (0.1 + 0.2, 3),
            (0.6, 6),
            (0.7, 7),
            (0.899, 8),
            (0.899_999_999_999_999_9, 9),
            (0.9, 9),
            (1.0, 9),
        ];
        for (confidence, bin) in cases {
            assert_eq!(bin_of(confidence), bin, "{confidence}");
        }
    }
}
