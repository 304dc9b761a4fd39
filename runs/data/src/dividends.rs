//! Cash dividends from a side file.

use super::code_changes::CodeChanges;
use super::columns::{read_date, read_ticker};
use super::facts::STOCK_HEADS;
use super::side_file::SideFile;
use crate::DataFileError;
use crate::error::at_row;
use ktd_env::{CashDividend, Decimal, MarketBuilder, Ticker, TradeDate};
use std::collections::BTreeMap;
use std::path::Path;

/// Adds the dividends of a CSV file `symbol,ex_day,cash`: CNY a share before tax.
///
/// # Errors
/// [`DataFileError`] naming the row, for two dividends of one name and day too.
pub(super) fn add_dividends(
    builder: &mut MarketBuilder,
    path: &Path,
    codes: &CodeChanges,
) -> Result<(), DataFileError> {
    let file = SideFile::open(path)?;
    let places = (
        file.place(&STOCK_HEADS),
        file.place(&["ex_day"]),
        file.place(&["cash"]),
    );
    let (Some(symbol), Some(ex_day), Some(cash)) = places else {
        return Err(file.lacks(
            "one of the columns symbol, ex_day, cash",
            "name them in the first line: the code, the first day without the dividend, CNY a share before tax",
        ));
    };
    let name = file.name.clone();
    let rows = file.rows(|record| {
        let cell = |place| record.get(place).unwrap_or_default();
        let ticker = read_ticker(cell(symbol)).map_err(|error| error.to_string())?;
        let ex_day = read_date(cell(ex_day)).map_err(|error| error.to_string())?;
        let yuan_per_share = Decimal::parse(cell(cash)).map_err(|error| error.to_string())?;
        let dividend = CashDividend {
            ex_day,
            yuan_per_share,
        };
        Ok((codes.newest(ticker), dividend))
    })?;
    let mut seen: BTreeMap<(Ticker, TradeDate), u64> = BTreeMap::new();
    for (row, (ticker, dividend)) in rows {
        if let Some(first) = seen.insert((ticker, dividend.ex_day), row) {
            let what = format!("a second dividend for a stock and ex-day, as in row {first}");
            return Err(at_row(&name, row, what).with_hint("add them up in one row"));
        }
        builder.set_dividend(ticker, dividend);
    }
    Ok(())
}
