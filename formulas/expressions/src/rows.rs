//! What the engine is given: the columns of one name, and the names that a formula may read beside it.

/// The cells of one field of a name.
#[derive(Debug, Clone, Copy)]
pub enum FieldCells<'a> {
    /// float32, as Qlib stores them.
    Singles(&'a [f32]),
    /// float64; rounded to float32 where the precision is Qlib's.
    Doubles(&'a [f64]),
}

impl<'a> FieldCells<'a> {
    /// The number of rows.
    #[must_use]
    pub const fn len(self) -> usize {
        match self {
            Self::Singles(cells) => cells.len(),
            Self::Doubles(cells) => cells.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The first rows.
    #[must_use]
    pub fn first(self, rows: usize) -> Self {
        match self {
            Self::Singles(cells) => Self::Singles(cells.get(..rows).unwrap_or(cells)),
            Self::Doubles(cells) => Self::Doubles(cells.get(..rows).unwrap_or(cells)),
        }
    }

    /// Every cell as float64, from the first row on.
    pub fn doubles(self) -> impl Iterator<Item = f64> + 'a {
        let (singles, doubles): (&[f32], &[f64]) = match self {
            Self::Singles(cells) => (cells, &[]),
            Self::Doubles(cells) => (&[], cells),
        };
        singles
            .iter()
            .map(|cell| f64::from(*cell))
            .chain(doubles.iter().copied())
    }
}

/// The rows of one name: all sessions from its first to its last bar, those without a bar missing.
#[derive(Debug, Clone)]
pub struct NameRows<'a> {
    first_session: usize,
    rows: usize,
    columns: Vec<FieldCells<'a>>,
}

impl<'a> NameRows<'a> {
    /// The rows of a name from a session of the calendar on, with its columns in the order of a plan's fields. All
    /// columns are as long as the shortest.
    #[must_use]
    pub fn new(first_session: usize, columns: Vec<FieldCells<'a>>) -> Self {
        let rows = columns.iter().map(|cells| cells.len()).min().unwrap_or(0);
        let columns = columns.into_iter().map(|cells| cells.first(rows)).collect();
        Self {
            first_session,
            rows,
            columns,
        }
    }

    /// The session of the first row.
    #[must_use]
    pub const fn first_session(&self) -> usize {
        self.first_session
    }

    /// The number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in the order of the plan's fields.
    #[must_use]
    pub fn columns(&self) -> &[FieldCells<'a>] {
        &self.columns
    }

    /// The rows before a session.
    #[must_use]
    pub fn before(&self, session: usize) -> Self {
        let rows = session.saturating_sub(self.first_session).min(self.rows);
        let columns = self.columns.iter().map(|cells| cells.first(rows)).collect();
        Self {
            first_session: self.first_session,
            rows,
            columns,
        }
    }
}

/// The names of a panel by code, for formulas that read another instrument.
pub trait NamePanel {
    /// The rows of a name; codes are compared in lower case.
    fn name_rows(&self, code: &str) -> Option<NameRows<'_>>;
}

/// A panel without other instruments.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOtherNames;

impl NamePanel for NoOtherNames {
    fn name_rows(&self, _: &str) -> Option<NameRows<'_>> {
        None
    }
}
