//! Perturbed bars: the same draws for all alphas, so that their robustness is compared on the same noise.

use ktd_env::KeyedStream;

/// The law of the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseLaw {
    /// Standard normal.
    Normal,
    /// Student's t with three degrees of freedom, scaled to a variance of 1.
    StudentT3,
}

impl NoiseLaw {
    /// The word in a stream's purpose and in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::StudentT3 => "t3",
        }
    }

    /// The next draw of a stream.
    #[must_use]
    pub fn draw(self, stream: &mut KeyedStream) -> f64 {
        let normal = stream.normal();
        if self == Self::Normal {
            return normal;
        }
        let squares: f64 = (0..3).map(|_| stream.normal()).map(|other| other * other).sum();
        normal / (squares / 3.0).sqrt() / 3.0_f64.sqrt()
    }
}

/// The least factor that a value is multiplied by.
const LEAST_FACTOR: f64 = 0.01;

/// The adjusted bars of one name, from its first row on; a row without a bar is missing in all columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdjustedBars {
    /// Opens.
    pub open: Vec<f64>,
    /// Highs.
    pub high: Vec<f64>,
    /// Lows.
    pub low: Vec<f64>,
    /// Closes.
    pub close: Vec<f64>,
    /// Shares over the factor.
    pub volume: Vec<f64>,
    /// Mean prices of the day.
    pub vwap: Vec<f64>,
    /// CNY.
    pub amount: Vec<f64>,
}

/// Perturbed bars, and how often the least factor held.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbedBars {
    /// The bars.
    pub bars: AdjustedBars,
    /// Factors that were raised to the least one.
    pub raised: usize,
}

/// The stream of one name's noise: one a name, so that more names or days change no draw.
#[must_use]
pub fn noise_stream(seed: u64, law: NoiseLaw, draw: usize, code: &str) -> KeyedStream {
    KeyedStream::for_purpose(seed, &format!("alpha noise {} {draw} {code}", law.word()))
}

/// Perturbs the bars of a name: six draws a row, for open, high, low, close, volume and mean price in this order, also on
/// rows without a bar. High and low are then the extremes of the four prices, the mean price lies between them, and the
/// amount follows volume and mean price.
#[must_use]
pub fn perturbed_bars(
    bars: &AdjustedBars,
    law: NoiseLaw,
    sigma: f64,
    stream: &mut KeyedStream,
) -> PerturbedBars {
    let mut raised = 0;
    let mut out = AdjustedBars::default();
    let prices = bars
        .open
        .iter()
        .zip(&bars.high)
        .zip(bars.low.iter().zip(&bars.close));
    let trades = bars.volume.iter().zip(&bars.vwap).zip(&bars.amount);
    for (((open, high), (low, close)), ((volume, vwap), amount)) in prices.zip(trades) {
        let moved = [*open, *high, *low, *close, *volume, *vwap].map(|value| {
            let factor = 1.0 + sigma * law.draw(stream);
            raised += usize::from(factor < LEAST_FACTOR && !value.is_nan());
            value * factor.max(LEAST_FACTOR)
        });
        let [open, high, low, close, new_volume, new_vwap] = moved;
        // The extremes of the prices there are: a bar without an open keeps its high and low.
        let top = open.max(high).max(low).max(close);
        let bottom = open.min(high).min(low).min(close);
        let new_vwap = where_present(new_vwap, new_vwap.max(bottom).min(top));
        out.open.push(open);
        out.high.push(where_present(high, top));
        out.low.push(where_present(low, bottom));
        out.close.push(close);
        out.volume.push(new_volume);
        out.vwap.push(new_vwap);
        let traded = 0.0 < *volume;
        out.amount.push(if traded {
            amount * (new_volume / volume) * (new_vwap / vwap)
        } else {
            *amount
        });
    }
    PerturbedBars { bars: out, raised }
}

/// Perturbs the level of a name's bars: one draw a row for all prices, also on rows without a bar. The amount follows the
/// prices, and the volume stays.
#[must_use]
pub fn perturbed_levels(
    bars: &AdjustedBars,
    law: NoiseLaw,
    sigma: f64,
    stream: &mut KeyedStream,
) -> PerturbedBars {
    let mut raised = 0;
    let mut factors = Vec::with_capacity(bars.close.len());
    for close in &bars.close {
        let factor = 1.0 + sigma * law.draw(stream);
        raised += usize::from(factor < LEAST_FACTOR && !close.is_nan());
        factors.push(factor.max(LEAST_FACTOR));
    }
    let moved = |column: &[f64]| -> Vec<f64> {
        column
            .iter()
            .zip(&factors)
            .map(|(value, factor)| value * factor)
            .collect()
    };
    let bars = AdjustedBars {
        open: moved(&bars.open),
        high: moved(&bars.high),
        low: moved(&bars.low),
        close: moved(&bars.close),
        volume: bars.volume.clone(),
        vwap: moved(&bars.vwap),
        amount: moved(&bars.amount),
    };
    PerturbedBars { bars, raised }
}

impl AdjustedBars {
    /// Closes over the last present close, less 1: missing on the first row.
    #[must_use]
    pub fn changes(&self) -> Vec<f64> {
        let mut last = f64::NAN;
        let change = |close: &f64| {
            let change = close / last - 1.0;
            last = if close.is_nan() { last } else { *close };
            change
        };
        self.close.iter().map(change).collect()
    }
}

/// `value`, missing where `own` is.
const fn where_present(own: f64, value: f64) -> f64 {
    if own.is_nan() { f64::NAN } else { value }
}

#[cfg(test)]
mod tests {
    use super::{AdjustedBars, NoiseLaw, noise_stream, perturbed_bars, perturbed_levels};

    #[test]
    fn a_bar_without_an_open_keeps_its_other_prices() {
        let row = |first: f64, second: f64| vec![first, second];
        let bars = AdjustedBars {
            open: row(f64::NAN, f64::NAN),
            high: row(12.0, f64::NAN),
            low: row(9.0, f64::NAN),
            close: row(10.0, f64::NAN),
            volume: row(100.0, f64::NAN),
            vwap: row(10.5, f64::NAN),
            amount: row(1050.0, f64::NAN),
        };
        let mut stream = noise_stream(1, NoiseLaw::Normal, 0, "SH600000");
        let moved = perturbed_bars(&bars, NoiseLaw::Normal, 0.1, &mut stream).bars;
        let (high, low) = (moved.high[0], moved.low[0]);
        assert!(
            moved.open[0].is_nan() && low <= moved.close[0] && moved.close[0] <= high,
            "{moved:?}"
        );
        assert!(
            low <= moved.vwap[0] && moved.vwap[0] <= high && 0.0 < moved.amount[0],
            "{moved:?}"
        );
        let columns = [
            &moved.open,
            &moved.high,
            &moved.low,
            &moved.close,
            &moved.vwap,
            &moved.amount,
        ];
        assert!(columns.iter().all(|column| column[1].is_nan()), "{moved:?}");
    }

    #[test]
    fn noise_of_a_level_keeps_the_shape_of_a_bar_and_its_volume() {
        let bars = AdjustedBars {
            open: vec![10.0, 20.0],
            high: vec![12.0, 24.0],
            low: vec![9.0, 18.0],
            close: vec![11.0, 22.0],
            volume: vec![100.0, 200.0],
            vwap: vec![10.5, 21.0],
            amount: vec![1050.0, 4200.0],
        };
        let mut stream = noise_stream(1, NoiseLaw::Normal, 0, "SH600000");
        let moved = perturbed_levels(&bars, NoiseLaw::Normal, 0.1, &mut stream).bars;
        assert_eq!(moved.volume, bars.volume);
        for row in 0..2 {
            let factor = moved.close[row] / bars.close[row];
            assert!(
                (factor - 1.0).abs() > 1e-6 && (factor - 1.0).abs() < 0.5,
                "{factor}"
            );
            for (own, other) in [
                (&moved.high, &bars.high),
                (&moved.low, &bars.low),
                (&moved.amount, &bars.amount),
            ] {
                assert!((own[row] / other[row] - factor).abs() < 1e-12);
            }
        }
        let mut stream = noise_stream(1, NoiseLaw::Normal, 0, "SH600000");
        assert_eq!(
            perturbed_levels(&bars, NoiseLaw::Normal, 0.0, &mut stream).bars,
            bars
        );
        // A factor that would be below the least one is raised, and counted.
        let mut stream = noise_stream(1, NoiseLaw::Normal, 0, "SH600000");
        assert!(
            0 < perturbed_levels(&bars, NoiseLaw::Normal, 1e6, &mut stream).raised
                + perturbed_levels(&bars, NoiseLaw::Normal, 1e6, &mut stream).raised
        );
    }
}
