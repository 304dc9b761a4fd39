//! Columns of numbers by instrument: what formulas read.

use ktd_env::TradeDate;
use ktd_expressions::{FieldCells, NamePanel, NameRows};

/// Cells of one field of one instrument, a row a session.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldColumn {
    /// float32 as stored.
    Singles(Vec<f32>),
    /// float64, not rounded yet.
    Doubles(Vec<f64>),
}

impl FieldColumn {
    fn cells(&self) -> FieldCells<'_> {
        match self {
            Self::Singles(cells) => FieldCells::Singles(cells),
            Self::Doubles(cells) => FieldCells::Doubles(cells),
        }
    }

    /// Its cells in float64.
    #[must_use]
    pub fn doubles(&self) -> Vec<f64> {
        self.cells().doubles().collect()
    }
}

/// Columns of one instrument from the session of its first row on; a session without a bar is a row of missing cells.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldName {
    /// Its code, in upper case.
    pub code: String,
    /// Place of its first row in the calendar.
    pub first_session: usize,
    /// A column a field, in the order of [`FieldPanel::fields`].
    pub columns: Vec<FieldColumn>,
    /// The sessions whose rows are written: those of its listing. Windows see every row.
    pub shown: Vec<std::ops::Range<usize>>,
}

impl FieldName {
    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells().len())
    }

    /// Whether the row of a session is written.
    #[must_use]
    pub fn is_shown(&self, session: usize) -> bool {
        self.shown.iter().any(|span| span.contains(&session))
    }
}

/// Instruments with the columns that formulas may read.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldPanel {
    /// The sessions.
    pub calendar: Vec<TradeDate>,
    /// Fields by name, in lower case.
    pub fields: Vec<String>,
    /// Instruments in the order of their codes.
    pub names: Vec<FieldName>,
    /// SHA-256 or panel hash of what it was read from.
    pub source: String,
    /// What a reader must know of the columns.
    pub notes: Vec<String>,
}

/// A panel with the columns of one plan, in the plan's order.
#[derive(Debug, Clone)]
pub struct PlannedPanel<'p> {
    panel: &'p FieldPanel,
    places: Vec<usize>,
}

impl<'p> PlannedPanel<'p> {
    /// `fields` are those of the plan, each one of the panel's.
    #[must_use]
    pub fn new(panel: &'p FieldPanel, fields: &[String]) -> Self {
        let place = |field: &String| panel.fields.iter().position(|known| known == field);
        Self {
            panel,
            places: fields.iter().filter_map(place).collect(),
        }
    }

    /// The rows of one of its instruments, with the plan's columns.
    #[must_use]
    pub fn rows_of(&self, name: &'p FieldName) -> NameRows<'p> {
        let columns = self.places.iter().filter_map(|place| name.columns.get(*place));
        NameRows::new(name.first_session, columns.map(FieldColumn::cells).collect())
    }
}

impl NamePanel for PlannedPanel<'_> {
    fn name_rows(&self, code: &str) -> Option<NameRows<'_>> {
        let name = self.panel.names.iter();
        let name = name
            .into_iter()
            .find(|name| name.code.eq_ignore_ascii_case(code))?;
        Some(self.rows_of(name))
    }
}
