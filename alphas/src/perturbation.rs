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

    fn draw(self, stream: &mut KeyedStream) -> f64 {
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
        let top = larger(larger(open, high), larger(low, close));
        let bottom = smaller(smaller(open, high), smaller(low, close));
        let new_vwap = smaller(larger(new_vwap, bottom), top);
        out.open.push(open);
        out.high.push(top);
        out.low.push(bottom);
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

fn larger(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() {
        f64::NAN
    } else {
        left.max(right)
    }
}

fn smaller(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() {
        f64::NAN
    } else {
        left.min(right)
    }
}
