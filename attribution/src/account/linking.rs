//! From daily contributions to a window's.

/// How daily contributions become a window's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Linking {
    /// Carino's logarithmic weights: the parts add up to the geometric return, whatever the order of the days.
    Carino,
    /// Money over the first NAV: the parts add up to the same return, and a day weighs what was at stake then.
    Pnl,
    /// Plain sums: the parts add up to the sum of daily returns.
    Sum,
}

impl Linking {
    /// All ways; the first is the headline.
    pub const ALL: [Self; 3] = [Self::Carino, Self::Pnl, Self::Sum];

    /// The stable word for files and programs.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Carino => "carino",
            Self::Pnl => "pnl",
            Self::Sum => "sum",
        }
    }

    /// The way of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|linking| linking.label() == text)
    }
}

/// The weight of each day, by which its contributions enter the window's.
#[must_use]
pub fn linking_weights(returns: &[f64], linking: Linking) -> Vec<f64> {
    match linking {
        Linking::Carino => carino_weights(returns),
        Linking::Pnl => {
            let mut growth = 1.0;
            let opening = |daily: &f64| {
                let before = growth;
                growth *= 1.0 + daily;
                before
            };
            returns.iter().map(opening).collect()
        }
        Linking::Sum => vec![1.0; returns.len()],
    }
}

/// Carino's weights `k_t / k`, with `k_t = ln(1 + R_t) / R_t`, and `k` the same of the whole; 1 where a return is 0.
/// Every return must be above -1.
#[must_use]
pub fn carino_weights(returns: &[f64]) -> Vec<f64> {
    let logs = returns.iter().map(|daily| libm::log1p(*daily));
    let whole = carino(libm::expm1(logs.sum()));
    returns.iter().map(|daily| carino(*daily) / whole).collect()
}

/// `ln(1 + R) / R`; 1 at its limit.
pub(super) fn carino(value: f64) -> f64 {
    if value == 0.0 {
        return 1.0;
    }
    libm::log1p(value) / value
}
