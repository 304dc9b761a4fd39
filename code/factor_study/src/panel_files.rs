//! Panels and golden columns as CSV files.

use crate::error::CodeError;
use ktd_factor_code::{
    BAR_COLUMNS, FactorBar, FactorBars, FactorPanels, FactorTasks, GoldenColumns, PanelDay, PanelKind,
};
use ktd_io::text_file::{TextFile, at_row};
use ktd_io::whole_folder::write_report;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The panels of a folder: `panel_G.csv`, `panel_R.csv`, `panel_Q.csv` and `panel_E.csv`, each with `date` and the columns
/// of bars. The seed is that of perturbations.
///
/// # Errors
/// [`CodeError`] where a file is missing or holds no bars.
pub fn read_panels(folder: &Path, seed: u64) -> Result<FactorPanels, CodeError> {
    let read = |kind: PanelKind| read_bars(&folder.join(format!("panel_{}.csv", kind.letter())));
    Ok(FactorPanels::given(
        seed,
        [
            read(PanelKind::G)?,
            read(PanelKind::R)?,
            read(PanelKind::Q)?,
            read(PanelKind::E)?,
        ],
    ))
}

/// The bars of a CSV file with the columns `date` and [`BAR_COLUMNS`], in this order.
///
/// # Errors
/// [`CodeError`] where it cannot be read, has other columns, or a row is no bar.
pub fn read_bars(path: &Path) -> Result<FactorBars, CodeError> {
    let mut file = TextFile::open(path, b',')?;
    let name = file.name();
    let header: Vec<String> = match file.next_row()? {
        Some((_, header)) => header.iter().map(str::to_owned).collect(),
        None => Vec::new(),
    };
    let wanted: Vec<&str> = ["date"].into_iter().chain(BAR_COLUMNS).collect();
    if header != wanted {
        return Err(CodeError::input(
            format!("{name}: its columns are {}", header.join(",")),
            format!("the columns must be {}", wanted.join(",")),
        ));
    }
    let mut rows = Vec::new();
    while let Some((row, record)) = file.next_row()? {
        let cells: Vec<&str> = record.iter().collect();
        let Some(bar) = bar_of(&cells) else {
            return Err(at_row(
                &name,
                row,
                "is no bar: a date such as 2015-01-05 and five numbers",
            )
            .into());
        };
        rows.push(bar);
    }
    Ok(FactorBars::new(rows)?)
}

fn bar_of(cells: &[&str]) -> Option<(PanelDay, FactorBar)> {
    let [date, open, high, low, close, volume] = cells else {
        return None;
    };
    let number = |cell: &str| cell.parse::<f64>().ok();
    let bar = FactorBar {
        open: number(open)?,
        high: number(high)?,
        low: number(low)?,
        close: number(close)?,
        volume: number(volume)?,
    };
    Some((PanelDay::parse(date)?, bar))
}

/// Writes each panel and the golden columns of tasks on it: `panel_G.csv`, `gold_G.csv` and so on. All are written, or none.
///
/// # Errors
/// [`CodeError`] where a definition cannot be computed or a file cannot be written.
pub fn write_golden(
    folder: &Path,
    tasks: &FactorTasks,
    panels: &FactorPanels,
) -> Result<Vec<PathBuf>, CodeError> {
    let mut columns = Vec::new();
    for task in tasks.as_slice() {
        columns.push((task.id.as_str(), GoldenColumns::of(task, panels)?));
    }
    let mut files = Vec::new();
    for kind in PanelKind::ALL {
        let bars = panels.bars(kind);
        let named = |name: &str| format!("{name}_{}.csv", kind.letter());
        let series: Vec<(&str, &[f64])> = columns
            .iter()
            .map(|(id, golden)| (*id, golden.on(kind)))
            .collect();
        files.push((named("panel"), bars_csv(bars)));
        let ids: Vec<String> = series.iter().map(|(id, _)| (*id).to_owned()).collect();
        let values: Vec<&[f64]> = series.iter().map(|(_, values)| *values).collect();
        files.push((named("gold"), table(bars, &ids, &values)));
    }
    let paths = files.iter().map(|(name, _)| folder.join(name)).collect();
    write_report(folder, files, &[])?;
    Ok(paths)
}

/// Bars as a file holds them.
pub(crate) fn bars_csv(bars: &FactorBars) -> Vec<u8> {
    table(bars, &BAR_COLUMNS.map(str::to_owned), &bars.columns())
}

/// Columns with their days; a missing cell is empty.
fn table(bars: &FactorBars, names: &[String], columns: &[&[f64]]) -> Vec<u8> {
    let mut text = format!("date,{}\n", names.join(","));
    let mut cells: Vec<_> = columns.iter().map(|column| column.iter()).collect();
    for day in bars.days() {
        // Writing to a string cannot fail.
        write!(text, "{day}").ok();
        for column in &mut cells {
            text.push(',');
            if let Some(cell) = column.next().filter(|cell| !cell.is_nan()) {
                write!(text, "{cell}").ok();
            }
        }
        text.push('\n');
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::write_whole;

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let panels = FactorPanels::new(5, None).unwrap();
        let tasks = FactorTasks::compiled_in().unwrap().chosen(&["MOM-1-01"]).unwrap();
        let files = write_golden(folder.path(), &tasks, &panels).unwrap();
        assert_eq!(files.len(), 8);
        let read = read_panels(folder.path(), 5).unwrap();
        for kind in PanelKind::ALL {
            assert_eq!(read.bars(kind), panels.bars(kind));
        }
    }

    #[test]
    fn other_columns_and_rows_that_are_no_bars_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bars.csv");
        let refused = |text: &str| {
            write_whole(&path, text.as_bytes()).unwrap();
            read_bars(&path).unwrap_err().to_string()
        };
        let header = format!("date,{}\n", BAR_COLUMNS.join(","));
        assert!(refused("date,open\n").contains("its columns are date,open"));
        assert!(refused(&format!("{header}2015-01-05,1,1,1,1,x\n")).contains("is no bar"));
        assert!(refused(&format!("{header}2015-01-05,1,1,1,1,1\n2015-01-05,1,1,1,1,1\n")).contains("row 1"));
    }
}
