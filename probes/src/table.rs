//! Tables in column form, as tools tell them.

use serde_json::Value;

/// A table in column form.
pub(crate) struct Table<'v> {
    columns: Vec<&'v str>,
    rows: &'v [Value],
}

/// One row of it.
pub(crate) struct Row<'v> {
    columns: &'v [&'v str],
    cells: &'v [Value],
}

impl<'v> Table<'v> {
    pub(crate) fn read(value: &'v Value) -> Option<Self> {
        let columns = value.get("columns")?.as_array()?;
        Some(Self {
            columns: columns
                .iter()
                .map(|column| column.as_str().unwrap_or_default())
                .collect(),
            rows: value.get("rows")?.as_array()?,
        })
    }

    pub(crate) const fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|row| Row {
            columns: &self.columns,
            cells: row.as_array().map_or(&[], Vec::as_slice),
        })
    }
}

impl Row<'_> {
    pub(crate) fn get(&self, column: &str) -> Option<&Value> {
        let place = self.columns.iter().position(|name| *name == column)?;
        self.cells.get(place)
    }
}
