//! A table of a file as the data of a job.

use crate::error::BoxError;
use chrono::{NaiveDate, NaiveDateTime};
use ktd_io::text_file::{TextFile, at_row};
use ktd_sandbox::{ColumnValues, JobColumn, JobData};
use std::path::Path;

/// Names of a first column that holds times.
const TIMES: [&str; 3] = ["date", "datetime", "time"];
const ROWS_MAX: usize = 2_000_000;

/// The columns of a CSV file: the first as times where its name says so, others as numbers, or as texts where one of their
/// cells is neither a number nor empty.
///
/// # Errors
/// Where it cannot be read, or a row is not as long as its header.
pub fn read_table(path: &Path) -> Result<JobData, BoxError> {
    let mut file = TextFile::open(path, b',')?;
    let name = file.name();
    let Some((_, header)) = file.next_row()? else {
        return Err(BoxError::input(
            format!("{name}: it is empty"),
            "give it a header and rows",
        ));
    };
    let names: Vec<String> = header.iter().map(str::to_owned).collect();
    let mut cells: Vec<Vec<String>> = names.iter().map(|_| Vec::new()).collect();
    let mut rows = 0;
    while let Some((row, record)) = file.next_row()? {
        rows += 1;
        if record.len() != names.len() || ROWS_MAX < rows {
            let what = if rows <= ROWS_MAX {
                format!("{} cells where the header has {}", record.len(), names.len())
            } else {
                format!("more than {ROWS_MAX} rows")
            };
            return Err(at_row(&name, row, what).into());
        }
        for (column, cell) in cells.iter_mut().zip(record) {
            column.push(cell.to_owned());
        }
    }
    let mut columns = Vec::new();
    for (at, (name, cells)) in names.into_iter().zip(cells).enumerate() {
        let is_time = at == 0 && TIMES.contains(&name.to_lowercase().as_str());
        let values = if is_time {
            times(path, &cells)?
        } else {
            values(cells)
        };
        columns.push(JobColumn { name, values });
    }
    Ok(JobData::Frame(columns))
}

fn values(cells: Vec<String>) -> ColumnValues {
    let number = |cell: &String| {
        if cell.is_empty() {
            Ok(f64::NAN)
        } else {
            cell.parse::<f64>()
        }
    };
    let numbers: Result<Vec<f64>, _> = cells.iter().map(number).collect();
    numbers.map_or(ColumnValues::Text(cells), ColumnValues::F64)
}

fn times(path: &Path, cells: &[String]) -> Result<ColumnValues, BoxError> {
    let mut times = Vec::with_capacity(cells.len());
    for (at, cell) in cells.iter().enumerate() {
        let fault = || {
            let what = format!("{cell:?} is no time: write 2024-03-01 or 2024-03-01 09:45:00");
            BoxError::from(at_row(&path.display().to_string(), at as u64 + 2, what))
        };
        let time = NaiveDateTime::parse_from_str(&cell.replace('T', " "), "%Y-%m-%d %H:%M:%S").ok();
        let day = || {
            NaiveDate::parse_from_str(cell, "%Y-%m-%d")
                .ok()?
                .and_hms_opt(0, 0, 0)
        };
        let time = time
            .or_else(day)
            .and_then(|time| time.and_utc().timestamp_nanos_opt());
        times.push(time.ok_or_else(fault)?);
    }
    Ok(ColumnValues::Time(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<JobData, BoxError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.csv");
        std::fs::write(&path, text).unwrap();
        read_table(&path)
    }

    #[test]
    fn columns_are_times_numbers_or_texts() {
        let data = read("date,close,name\n1970-01-02,1.5,a\n1970-01-02 00:00:01,,b\n").unwrap();
        let JobData::Frame(columns) = data else {
            panic!("no frame");
        };
        let day = 86_400_000_000_000;
        assert_eq!(
            columns[0].values,
            ColumnValues::Time(vec![day, day + 1_000_000_000])
        );
        let ColumnValues::F64(numbers) = &columns[1].values else {
            panic!("no numbers");
        };
        assert!(numbers[1].is_nan());
        assert_eq!(
            columns[2].values,
            ColumnValues::Text(vec!["a".to_owned(), "b".to_owned()])
        );
    }

    #[test]
    fn faults_name_their_row() {
        assert!(read("").unwrap_err().to_string().contains("empty"));
        assert!(
            read("date,a\n2024-01-01\n")
                .unwrap_err()
                .to_string()
                .contains("row 2")
        );
        assert!(
            read("date,a\n2024-01-01,1\nsoon,1\n")
                .unwrap_err()
                .to_string()
                .contains("row 3")
        );
    }
}
