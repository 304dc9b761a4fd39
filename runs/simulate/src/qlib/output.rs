//! Writes the three files of a run, whole or not at all.

use csv::Writer;
use ktd_io::FileError;
use ktd_io::whole_folder::write_report;
use ktd_qlib::{QlibRun, QlibSide};
use std::io;
use std::path::Path;

const FILLS: [&str; 12] = [
    "date",
    "symbol",
    "side",
    "req_amount_adj",
    "deal_amount_adj",
    "factor",
    "price_adj",
    "value",
    "cost",
    "cash_before",
    "cash_after",
    "pos_amount_adj_after",
];
const DAILY: [&str; 11] = [
    "date",
    "account",
    "return",
    "total_turnover",
    "turnover",
    "total_cost",
    "cost",
    "value",
    "cash",
    "bench",
    "n_pos",
];
const FINAL_POSITIONS: [&str; 5] = ["symbol", "amount_adj", "price_adj", "weight", "count_day"];

/// Writes `fills.csv`, `daily.csv` and `final_positions.csv`.
///
/// They appear together when all are complete.
pub(super) fn write(out: &Path, run: &QlibRun) -> Result<(), FileError> {
    let tables = [
        ("fills.csv", fills(run)),
        ("daily.csv", daily(run)),
        ("final_positions.csv", positions(run)),
    ];
    let files = tables.map(|(name, table)| {
        let table = table.map_err(FileError::io("write", &out.join(name)))?;
        Ok((name.to_owned(), table))
    });
    let files: Result<Vec<_>, FileError> = files.into_iter().collect();
    write_report(out, files?, &[])
}

fn fills(run: &QlibRun) -> io::Result<Vec<u8>> {
    let rows = run.fills.iter().map(|fill| {
        let side = match fill.side {
            QlibSide::Buy => "BUY",
            QlibSide::Sell => "SELL",
        };
        // A missing price is left blank as it is where the order was refused.
        let price = fill.price.filter(|price| !price.is_nan());
        [
            fill.date.to_string(),
            fill.symbol.to_string(),
            side.to_owned(),
            number(fill.requested),
            number(fill.dealt),
            fill.factor.map(number).unwrap_or_default(),
            price.map(number).unwrap_or_default(),
            number(fill.value),
            number(fill.cost),
            number(fill.cash_before),
            number(fill.cash_after),
            number(fill.held_after),
        ]
    });
    table(FILLS, rows)
}

fn daily(run: &QlibRun) -> io::Result<Vec<u8>> {
    let rows = run.daily.iter().map(|day| {
        let metrics = &day.metrics;
        [
            day.date.to_string(),
            number(metrics.account),
            number(metrics.gross_return),
            number(metrics.total_turnover),
            number(metrics.turnover),
            number(metrics.total_cost),
            number(metrics.cost),
            number(metrics.value),
            number(metrics.cash),
            number(day.bench),
            day.n_positions.to_string(),
        ]
    });
    table(DAILY, rows)
}

fn positions(run: &QlibRun) -> io::Result<Vec<u8>> {
    let rows = run.final_positions.iter().map(|position| {
        [
            position.symbol.to_string(),
            number(position.amount),
            number(position.price),
            number(position.weight),
            position.days.to_string(),
        ]
    });
    table(FINAL_POSITIONS, rows)
}

fn table<const N: usize>(header: [&str; N], rows: impl Iterator<Item = [String; N]>) -> io::Result<Vec<u8>> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record(header)?;
    for row in rows {
        writer.write_record(row)?;
    }
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// The shortest decimal that reads back as the same number, laid out as Python's `repr` lays it out.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string().to_lowercase();
    }
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(-4..16) => format!("{value:?}"),
        Ok(exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        Err(_) => scientific,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        let cases = [
            (93_929.997_634_887_7, "93929.9976348877"),
            (1_000_000.0, "1000000.0"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (-2.5e-7, "-2.5e-07"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (9_007_199_254_740_992.0, "9007199254740992.0"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
            let back: f64 = text.parse().unwrap();
            assert!(back.to_bits() == value.to_bits() || value.is_nan());
        }
    }
}
