//! What a day's fit says of each name, kept name by name: an account reads a few names whole.

/// Numbers of a name beside its exposures: residuals by leg, then returns by leg.
const LEGS: usize = 6;

/// What a day's fit says of one name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NameFit<'f> {
    /// Whether its return is split into common, style and specific.
    pub is_covered: bool,
    /// Z-scored exposures by style, as of the day before.
    pub exposures: &'f [f64],
    /// Specific returns by leg; meaningful where it is covered alone.
    pub specific: [f64; 3],
    /// Returns by leg; 0 where it has no mark on both ends.
    pub returns: [f64; 3],
}

/// Exposures, residuals and returns, name after name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NameCells {
    styles: usize,
    cells: Vec<f64>,
}

impl NameCells {
    /// Turns columns round: `exposures` style by style, `residuals` and `returns` leg by leg.
    pub(super) fn new(
        (names, styles): (usize, usize),
        exposures: &[f64],
        residuals: &[Vec<f64>; 3],
        returns: &[Vec<f64>; 3],
    ) -> Self {
        let width = styles + LEGS;
        let mut cells = vec![0.0; names * width];
        let columns = exposures
            .chunks_exact(names.max(1))
            .chain(residuals.iter().chain(returns).map(Vec::as_slice));
        for (place, column) in columns.enumerate() {
            let rows = cells.chunks_exact_mut(width);
            for (cell, value) in rows.filter_map(|row| row.get_mut(place)).zip(column) {
                *cell = *value;
            }
        }
        Self { styles, cells }
    }

    /// A name's cells: exposures, residuals, returns.
    fn row(&self, name: usize) -> Option<&[f64]> {
        let width = self.styles + LEGS;
        self.cells.get(name * width..(name + 1) * width)
    }

    /// What is said of a name; `None` for one that is not there.
    pub(super) fn name(&self, name: usize, is_covered: bool) -> Option<NameFit<'_>> {
        let (exposures, legs) = self.row(name)?.split_at_checked(self.styles)?;
        let [u_day, u_night, u_rest, r_day, r_night, r_rest] = *legs else {
            return None;
        };
        Some(NameFit {
            is_covered,
            exposures,
            specific: [u_day, u_night, u_rest],
            returns: [r_day, r_night, r_rest],
        })
    }

    /// The exposures of all names to one style.
    pub(super) fn style(&self, style: usize) -> impl Iterator<Item = f64> {
        let rows = self.cells.chunks_exact(self.styles + LEGS);
        rows.map(move |row| row.get(style).copied().unwrap_or(0.0))
    }
}
