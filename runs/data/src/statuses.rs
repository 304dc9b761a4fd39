//! Marks that move price limits, from a side file: ST, S shares, delisting periods.

use super::code_changes::CodeChanges;
use super::columns::read_ticker;
use super::facts::STOCK_HEADS;
use super::side_file::SideFile;
use super::span_columns::SpanColumns;
use crate::DataFileError;
use ktd_env::{DateSpan, DatedStatus, MarketBuilder, Ticker, TradingStatus};
use std::path::Path;

/// A mark as the file names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    SpecialTreatment,
    Other(TradingStatus),
}

impl Mark {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "ST" | "*ST" => Ok(Self::SpecialTreatment),
            "S" => Ok(Self::Other(TradingStatus::Unreformed)),
            "delisting" => Ok(Self::Other(TradingStatus::DelistingPeriod)),
            _ => Err(format!("{text:?} is no status: ST, *ST, S or delisting")),
        }
    }
}

/// Adds the marks of a CSV file `symbol,status,start,end` or `symbol,status,from,until_excl`.
///
/// # Errors
/// [`DataFileError`] naming the row.
pub(super) fn add_statuses(
    builder: &mut MarketBuilder,
    path: &Path,
    codes: &CodeChanges,
) -> Result<(), DataFileError> {
    let file = SideFile::open(path)?;
    let places = (
        file.place(&STOCK_HEADS),
        file.place(&["status"]),
        SpanColumns::of(&file.header),
    );
    let (Some(symbol), Some(status), Some(days)) = places else {
        return Err(file.lacks(
            "a `symbol` column, a `status` column, or the days",
            "use `symbol,status,start,end` (both days included) or `symbol,status,from,until_excl`",
        ));
    };
    let rows = file.rows(|record| {
        let cell = |place| record.get(place).unwrap_or_default();
        let ticker = read_ticker(cell(symbol)).map_err(|error| error.to_string())?;
        Ok::<(Ticker, Mark, DateSpan), String>((ticker, Mark::read(cell(status))?, days.read(record)?))
    })?;
    for (_, (code, mark, span)) in rows {
        let ticker = codes.newest(code);
        match mark {
            Mark::SpecialTreatment => builder.add_st(ticker, span),
            Mark::Other(status) => builder.add_status(ticker, DatedStatus { span, status }),
        }
    }
    Ok(())
}
