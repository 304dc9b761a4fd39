//! The column of a table: its head, its side, and what it holds.

/// Which side of its column a cell stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub head: String,
    /// Which side its cells stand on.
    pub align: Align,
    /// What a narrow table leaves out first: the columns with the highest number, the rightmost of equal ones, and
    /// those with 0 only when nothing else is left. The first column always stays.
    pub priority: u8,
    /// What programs read in it, in every table of the same definition.
    pub cells: RowCells,
}

/// What the cells of a column are for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowCells {
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
    /// Texts.
    Text,
    /// Yes or no.
    Flag,
}

impl Column {
    /// A column; priority 1. On the left stand texts, on the right numbers.
    pub fn new(head: impl Into<String>, align: Align) -> Self {
        Self {
            head: head.into(),
            align,
            priority: 1,
            cells: match align {
                Align::Left => RowCells::Text,
                Align::Right => RowCells::Number,
            },
        }
    }

    /// The column with cells of another kind than its side says.
    #[must_use]
    pub fn of(self, cells: RowCells) -> Self {
        Self { cells, ..self }
    }

    /// The column with another priority.
    #[must_use]
    pub fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }
}

impl From<(&str, Align)> for Column {
    fn from((head, align): (&str, Align)) -> Self {
        Self::new(head, align)
    }
}

impl From<(&str, Align, u8)> for Column {
    fn from((head, align, priority): (&str, Align, u8)) -> Self {
        Self::new(head, align).with_priority(priority)
    }
}
