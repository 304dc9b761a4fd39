//! A source of rows, by its content: a Qlib directory, a Parquet file or a CSV file.

use super::columns::{Column, Layout, RowSink};
use super::csv_rows::CsvRows;
use super::file_kind::is_parquet;
use super::import_progress::ImportProgress;
use super::panel_file::is_panel;
use super::parquet_rows::ParquetRows;
use super::qlib_bins::QlibBins;
use super::source_forms::SourceForm;
use super::units::Entry;
use crate::DataFileError;
use std::path::{Path, PathBuf};

/// A source, opened and not yet read.
#[derive(Debug)]
pub(super) enum Source {
    Qlib(QlibBins),
    Parquet(ParquetRows),
    Csv(CsvRows),
}

impl Source {
    pub(super) fn open(path: &Path, map: &[Entry<'_>]) -> Result<Self, DataFileError> {
        if path.is_dir() {
            return QlibBins::open(path).map(Self::Qlib);
        }
        if is_panel(path)? {
            return Err(
                DataFileError::invalid(format_args!("{} is a panel already", path.display()))
                    .with_hint("look at it with `ktd data check`"),
            );
        }
        if is_parquet(path)? {
            ParquetRows::open(path, map).map(Self::Parquet)
        } else {
            CsvRows::open(path, map).map(Self::Csv)
        }
    }

    fn layout(&self) -> Option<&Layout> {
        match self {
            Self::Qlib(_) => None,
            Self::Parquet(rows) => Some(&rows.layout),
            Self::Csv(rows) => rows.layouts.first(),
        }
    }

    pub(super) fn has(&self, column: Column) -> bool {
        match (self, column) {
            (Self::Qlib(bins), Column::Factor) => bins.has_factors,
            (Self::Qlib(bins), Column::Amount) => bins.has_amounts,
            _ => self.layout().is_some_and(|layout| layout.has(column)),
        }
    }

    pub(super) fn has_factors(&self) -> bool {
        self.has(Column::Factor) || self.layout().is_some_and(Layout::has_factors)
    }

    /// Whether it has factors and no prices.
    pub(super) fn is_factors(&self) -> bool {
        self.layout().is_some_and(Layout::is_of_factors)
    }

    pub(super) fn unknown_columns(&self) -> Vec<String> {
        match self {
            Self::Qlib(bins) => bins.unknown_fields.clone(),
            Self::Parquet(rows) => rows.layout.unknown.clone(),
            Self::Csv(rows) => rows
                .layouts
                .iter()
                .flat_map(|layout| layout.unknown.clone())
                .collect(),
        }
    }

    /// Its file as messages name it; none of a Qlib directory.
    pub(super) fn file(&self) -> Option<String> {
        let path = match self {
            Self::Qlib(_) => return None,
            Self::Parquet(rows) => &rows.path,
            Self::Csv(rows) => &rows.path,
        };
        Some(path.display().to_string())
    }

    pub(super) fn skipped_indices(&self) -> Vec<String> {
        match self {
            Self::Qlib(bins) => bins.skipped_indices.clone(),
            Self::Parquet(_) | Self::Csv(_) => Vec::new(),
        }
    }

    pub(super) fn read(
        self,
        progress: &mut dyn ImportProgress,
        sink: &mut RowSink<'_>,
    ) -> Result<(), DataFileError> {
        match self {
            Self::Qlib(bins) => {
                progress.begin("reading bins", bins.instrument_count(), "instruments");
                bins.read(sink, |units| progress.advance(units))
            }
            Self::Parquet(rows) => {
                progress.begin("reading Parquet", rows.rows, "rows");
                rows.read(&mut |row| {
                    progress.advance(1);
                    sink(row)
                })
            }
            Self::Csv(rows) => rows.read(sink),
        }
    }
}

/// The forms of the tables, and which of them each source has; a Qlib directory has none.
pub(super) fn forms_of(files: &[PathBuf], sources: &[Source]) -> (Vec<SourceForm>, Vec<Option<usize>>) {
    let mut forms: Vec<SourceForm> = Vec::new();
    let of_source = files.iter().zip(sources).map(|(path, source)| {
        let form = SourceForm::of(source.layout()?, &path.display().to_string());
        let known = forms.iter().position(|known| known.is_like(&form));
        if let Some(known) = known.and_then(|place| forms.get_mut(place)) {
            known.files += 1;
        } else {
            forms.push(form);
        }
        known.or(forms.len().checked_sub(1))
    });
    let of_source = of_source.collect();
    (forms, of_source)
}
