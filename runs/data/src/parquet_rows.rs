//! Long files as Parquet.

use super::columns::{Column, Layout, RowSink, code_of_file};
use super::parquet_file::ParquetFile;
use super::table_rows::TableFile;
use super::units::Entry;
use crate::DataFileError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A Parquet long file, its schema read.
#[derive(Debug)]
pub(super) struct ParquetRows {
    pub(super) path: PathBuf,
    pub(super) layout: Layout,
    pub(super) rows: u64,
}

impl ParquetRows {
    pub(super) fn open(path: &Path, map: &[Entry<'_>]) -> Result<Self, DataFileError> {
        let file = ParquetFile::open(path)?;
        let heads: Vec<&str> = file.columns.iter().map(String::as_str).collect();
        Ok(Self {
            path: path.to_owned(),
            layout: Layout::of_source(&file.name, &heads, code_of_file(path), map)?,
            rows: file.rows,
        })
    }

    pub(super) fn read(self, sink: &mut RowSink<'_>) -> Result<(), DataFileError> {
        let mut layout = self.layout;
        // That it is there is all that is said of it, so that it need not hold numbers.
        layout.places.remove(&Column::Bonus);
        let mut tickers = BTreeMap::new();
        let file = TableFile::Parquet(ParquetFile::open(&self.path)?);
        file.read(&layout, |row| sink(&row.source_row(&mut tickers)?))
    }
}
