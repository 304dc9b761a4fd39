//! The golden panel as columns.

use super::text;
use ktd_leakage::{BarGrid, LeakageBench, LeakageSettings, SessionMonth};

/// A panel with its dates and codes.
pub(crate) struct GoldenMarket {
    pub(crate) dates: Vec<String>,
    pub(crate) codes: Vec<String>,
    pub(crate) bars: BarGrid,
}

/// The rows of a CSV file, without its header.
pub(crate) fn csv_rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

/// A number, or NaN for an empty cell.
pub(crate) fn number(cell: &str) -> f64 {
    if cell.is_empty() || cell == "nan" {
        f64::NAN
    } else {
        cell.parse().unwrap()
    }
}

impl GoldenMarket {
    /// The panel; `None` where it is absent.
    pub(crate) fn read() -> Option<Self> {
        let text = text("panel.csv.gz")?;
        let rows: Vec<Vec<&str>> = csv_rows(&text).collect();
        let sorted = |place: usize| -> Vec<String> {
            let mut values: Vec<String> = rows.iter().map(|row| row[place].to_owned()).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        let (dates, codes) = (sorted(0), sorted(1));
        let mut columns: [Vec<f64>; 5] = std::array::from_fn(|_| vec![f64::NAN; dates.len() * codes.len()]);
        for row in &rows {
            let session = dates.binary_search(&row[0].to_owned()).unwrap();
            let name = codes.binary_search(&row[1].to_owned()).unwrap();
            for (column, cell) in columns.iter_mut().zip(&row[2..]) {
                column[session * codes.len() + name] = number(cell);
            }
        }
        let month = |date: &String| SessionMonth {
            year: date[..4].parse().unwrap(),
            month: date[5..7].parse().unwrap(),
        };
        let months: Vec<SessionMonth> = dates.iter().map(month).collect();
        let bars = BarGrid::new(months, codes.len(), columns).unwrap();
        Some(Self { dates, codes, bars })
    }

    /// The prepared benchmark.
    pub(crate) fn bench(&self) -> LeakageBench {
        LeakageBench::new(self.bars.clone(), LeakageSettings::BENCHMARK, &[5, 20], None).unwrap()
    }

    /// The session of a date.
    pub(crate) fn session(&self, date: &str) -> usize {
        self.dates.binary_search(&date.to_owned()).unwrap()
    }

    /// The place of a code.
    pub(crate) fn name(&self, code: &str) -> usize {
        self.codes.binary_search(&code.to_owned()).unwrap()
    }
}
