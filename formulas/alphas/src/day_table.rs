//! Values by day and name: what every metric of an alpha reads.

/// Values by day and name; a missing one is NaN, and so is one that was infinite; -0 is 0.
#[derive(Debug, Clone, PartialEq)]
pub struct DayTable {
    names: usize,
    cells: Vec<f64>,
}

impl DayTable {
    /// A table of missing values.
    #[must_use]
    pub fn missing(days: usize, names: usize) -> Self {
        Self {
            names,
            cells: vec![f64::NAN; days.saturating_mul(names)],
        }
    }

    /// A table from its cells, day after day; infinities become missing, and a last day that is not whole is left out.
    #[must_use]
    pub fn from_days(names: usize, mut cells: Vec<f64>) -> Self {
        cells.truncate(cells.len().checked_div(names).unwrap_or(0) * names);
        for cell in &mut cells {
            *cell = held(*cell);
        }
        Self { names, cells }
    }

    /// The number of days.
    #[must_use]
    pub fn days(&self) -> usize {
        self.cells.len().checked_div(self.names).unwrap_or(0)
    }

    /// The number of names.
    #[must_use]
    pub const fn names(&self) -> usize {
        self.names
    }

    /// The values of a day, in the order of the names; none where the day is not in the table.
    #[must_use]
    pub fn day(&self, day: usize) -> &[f64] {
        let start = day.saturating_mul(self.names);
        self.cells
            .get(start..start.saturating_add(self.names))
            .unwrap_or(&[])
    }

    /// The value of a name on a day; NaN where there is none.
    #[must_use]
    pub fn at(&self, day: usize, name: usize) -> f64 {
        self.day(day).get(name).copied().unwrap_or(f64::NAN)
    }

    /// Sets the values of a name from a day on.
    pub fn set_name(&mut self, name: usize, first_day: usize, values: impl IntoIterator<Item = f64>) {
        if self.names <= name {
            return;
        }
        let rows = self
            .cells
            .iter_mut()
            .skip(name)
            .step_by(self.names)
            .skip(first_day);
        for (cell, value) in rows.zip(values) {
            *cell = held(value);
        }
    }

    /// Every value times that of another table of the same shape.
    #[must_use]
    pub fn product(&self, other: &Self) -> Self {
        let cells = self.cells.iter().zip(&other.cells);
        Self {
            names: self.names,
            cells: cells.map(|(cell, other)| held(cell * other)).collect(),
        }
    }

    /// Every value times a number.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        let cells = self.cells.iter().map(|cell| held(cell * factor)).collect();
        Self {
            names: self.names,
            cells,
        }
    }
}

/// A value as tables hold it: an infinity is missing, and -0 is 0, so that both are one place in every order.
const fn held(value: f64) -> f64 {
    if value.is_finite() { value + 0.0 } else { f64::NAN }
}

/// Which names count on which day: members of the universe with a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberTable {
    names: usize,
    cells: Vec<bool>,
}

impl MemberTable {
    /// A table from its cells, day after day.
    #[must_use]
    pub const fn from_days(names: usize, cells: Vec<bool>) -> Self {
        Self { names, cells }
    }

    /// Which names count on a day; none where the day is not in the table.
    #[must_use]
    pub fn day(&self, day: usize) -> &[bool] {
        let start = day.saturating_mul(self.names);
        self.cells
            .get(start..start.saturating_add(self.names))
            .unwrap_or(&[])
    }

    /// The number of cells that count on some days.
    #[must_use]
    pub fn cells(&self, days: &[usize]) -> usize {
        let on = |day: &usize| self.day(*day).iter().filter(|is_member| **is_member).count();
        days.iter().map(on).sum()
    }
}

/// The values of a day that count: members' that are present in all of some tables, with their places among the names.
pub(crate) fn usable<const TABLES: usize>(
    members: &[bool],
    tables: [&[f64]; TABLES],
) -> (Vec<usize>, [Vec<f64>; TABLES]) {
    let mut places = Vec::new();
    let mut columns = [const { Vec::new() }; TABLES];
    for (name, is_member) in members.iter().enumerate() {
        let mut row = [f64::NAN; TABLES];
        for (cell, table) in row.iter_mut().zip(tables) {
            *cell = table.get(name).copied().unwrap_or(f64::NAN);
        }
        if *is_member && row.iter().all(|cell| cell.is_finite()) {
            places.push(name);
            for (column, cell) in columns.iter_mut().zip(row) {
                column.push(cell);
            }
        }
    }
    (places, columns)
}
