//! Wrong endings of right code, as the set gives them to its golden functions.

/// What happens to a right column before it is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Gold,
    Lagged,
    Scaled,
    Negated,
    Leak,
    WarmFill,
    ZeroFill,
    Noisy,
    Rounded,
}

impl Ending {
    pub(super) const ALL: [(&'static str, Self); 9] = [
        ("gold", Self::Gold),
        ("lagged", Self::Lagged),
        ("scaled", Self::Scaled),
        ("negated", Self::Negated),
        ("leak", Self::Leak),
        ("warm_fill", Self::WarmFill),
        ("zero_fill", Self::ZeroFill),
        ("noisy", Self::Noisy),
        ("rounded", Self::Rounded),
    ];

    pub(super) fn of(self, cells: &[f64]) -> Vec<f64> {
        let each = |of: &dyn Fn(f64) -> f64| cells.iter().map(|cell| of(*cell)).collect();
        match self {
            Self::Gold => cells.to_vec(),
            Self::Lagged => std::iter::once(f64::NAN)
                .chain(cells.iter().copied())
                .take(cells.len())
                .collect(),
            Self::Scaled => each(&|cell| 2.0 * cell + 1.0),
            Self::Negated => each(&|cell| -cell),
            Self::Leak => cells.iter().skip(1).copied().chain([f64::NAN]).collect(),
            Self::WarmFill => {
                let mut next = f64::NAN;
                let mut filled: Vec<f64> = cells
                    .iter()
                    .rev()
                    .map(|cell| {
                        next = if cell.is_nan() { next } else { *cell };
                        next
                    })
                    .collect();
                filled.reverse();
                filled
            }
            Self::ZeroFill => each(&|cell| if cell.is_nan() { 0.0 } else { cell }),
            Self::Noisy => {
                let present: Vec<f64> = cells.iter().copied().filter(|cell| !cell.is_nan()).collect();
                let count = f64::from(u32::try_from(present.len()).unwrap());
                let mean = present.iter().sum::<f64>() / count;
                let squares: f64 = present.iter().map(|cell| (cell - mean) * (cell - mean)).sum();
                let deviation = (squares / (count - 1.0)).sqrt();
                let noise = |row: u32| 0.02 * deviation * libm::sin(f64::from(row) * 1.7);
                cells
                    .iter()
                    .zip(0..)
                    .map(|(cell, row)| cell + noise(row))
                    .collect()
            }
            Self::Rounded => each(&|cell| (cell * 1_000.0).round_ties_even() / 1_000.0),
        }
    }
}
