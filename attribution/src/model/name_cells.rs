//! What a day's fit says of each name, kept name by name: an account reads a few names whole.

/// Numbers that fill a cache line.
const LANES: usize = 8;

/// A cache line. A name's record begins on one, so that reading it costs as few fetches as can be.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
struct Line([f64; LANES]);

/// Numbers of a name other than its exposures: whether it is covered, residuals by leg, returns by leg.
const OTHERS: usize = 7;

/// What a day's fit says of one name: a record of 1 where it is covered (else 0), exposures, residuals by leg, returns by
/// leg, and zeros up to the end of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NameFit<'f> {
    styles: usize,
    lines: &'f [Line],
}

impl NameFit<'_> {
    fn at(&self, place: usize) -> f64 {
        let line = self.lines.get(place / LANES);
        line.and_then(|line| line.0.get(place % LANES))
            .copied()
            .unwrap_or(0.0)
    }

    /// Whether its return is split into common, style and specific.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        0.0 < self.at(0)
    }

    /// Z-scored exposure to a style, as of the day before.
    #[must_use]
    pub fn exposure(&self, style: usize) -> f64 {
        if style < self.styles {
            self.at(1 + style)
        } else {
            0.0
        }
    }

    /// Specific returns by leg; meaningful where it is covered alone.
    #[must_use]
    pub fn specific(&self) -> [f64; 3] {
        std::array::from_fn(|leg| self.at(1 + self.styles + leg))
    }

    /// Returns by leg; 0 where it has no mark on both ends.
    #[must_use]
    pub fn returns(&self) -> [f64; 3] {
        std::array::from_fn(|leg| self.at(4 + self.styles + leg))
    }
}

/// Records of all names, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NameCells {
    styles: usize,
    lines: Vec<Line>,
}

impl NameCells {
    /// Turns columns round: `exposures` style by style, `residuals` and `returns` leg by leg.
    pub(super) fn new(
        covered: &[bool],
        exposures: &[f64],
        residuals: &[Vec<f64>; 3],
        returns: &[Vec<f64>; 3],
    ) -> Self {
        let names = covered.len();
        let styles = exposures.len().checked_div(names).unwrap_or(0);
        let width = lines_of(styles);
        let mut lines = vec![Line([0.0; LANES]); names * width];
        let flags: Vec<f64> = covered
            .iter()
            .map(|covered| f64::from(u8::from(*covered)))
            .collect();
        let columns = std::iter::once(flags.as_slice())
            .chain(exposures.chunks_exact(names.max(1)))
            .chain(residuals.iter().chain(returns).map(Vec::as_slice));
        for (place, column) in columns.enumerate() {
            let cells = lines.iter_mut().skip(place / LANES).step_by(width);
            for (line, value) in cells.zip(column) {
                if let Some(cell) = line.0.get_mut(place % LANES) {
                    *cell = *value;
                }
            }
        }
        Self { styles, lines }
    }

    /// The numbers of a name; `None` for one that is not there.
    pub(super) fn name(&self, name: usize) -> Option<NameFit<'_>> {
        let width = lines_of(self.styles);
        Some(NameFit {
            styles: self.styles,
            lines: self.lines.get(name * width..(name + 1) * width)?,
        })
    }

    /// The numbers of all names, in their order.
    pub(super) fn names(&self) -> impl Iterator<Item = NameFit<'_>> {
        let records = self.lines.chunks_exact(lines_of(self.styles));
        records.map(|lines| NameFit {
            styles: self.styles,
            lines,
        })
    }
}

/// Lines of a record.
const fn lines_of(styles: usize) -> usize {
    (styles + OTHERS).div_ceil(LANES)
}

/// Records of names, weighted and summed: covered weight, exposures, specific returns and returns by leg.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordSum {
    styles: usize,
    lines: Vec<Line>,
}

impl RecordSum {
    /// A sum of nothing, over records of so many styles.
    #[must_use]
    pub fn new(styles: usize) -> Self {
        Self {
            styles,
            lines: vec![Line([0.0; LANES]); lines_of(styles)],
        }
    }

    /// Forgets what was added.
    pub fn clear(&mut self) {
        self.lines.fill(Line([0.0; LANES]));
    }

    /// Adds a name's record times its weight.
    pub fn add(&mut self, name: &NameFit<'_>, weight: f64) {
        for (sum, line) in self.lines.iter_mut().zip(name.lines) {
            for (sum, value) in sum.0.iter_mut().zip(&line.0) {
                *sum += weight * value;
            }
        }
    }

    /// Adds another sum.
    pub fn add_sum(&mut self, other: &Self) {
        self.add(&other.record(), 1.0);
    }

    /// The sum as a record: its first number is the covered weight.
    #[must_use]
    pub fn record(&self) -> NameFit<'_> {
        NameFit {
            styles: self.styles,
            lines: &self.lines,
        }
    }

    /// The covered weight, then the weighted exposures, written over `loadings`: what is multiplied with factor returns.
    pub fn loadings(&self, loadings: &mut Vec<f64>) {
        loadings.clear();
        loadings.extend(self.lines.iter().flat_map(|line| line.0).take(1 + self.styles));
    }
}
