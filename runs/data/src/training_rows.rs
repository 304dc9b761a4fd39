//! Rows to train a predictor on: factors of the index's members by day, and the return that followed.

use crate::DataFileError;
use ktd_env::factors::{Factor, FactorConfig};
use ktd_env::{Bar, DateSpan, DayIndex, FactorTable, Market, NameId};

/// Days whose factors are in memory at a time.
const BLOCK_DAYS: usize = 250;

/// A member of the index at the close of a day.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingRow {
    /// The day at whose close the factors are known.
    pub day: DayIndex,
    /// The stock.
    pub name: NameId,
    /// Factors in the order of [`Factor::ALL`].
    pub factors: [Option<f64>; 9],
    /// Their z-scores over the members of the day, as the screen has them.
    pub z_scores: [Option<f64>; 9],
    /// The future: the return from the open of the next trading day, at which a decision of this close trades, to the open of
    /// the day after it, when what was bought can first be sold. Dividends are reinvested. None where either open is missing.
    pub future_return: Option<f64>,
}

/// The rows of all days of a span on which factors are known, by day and stock.
///
/// # Errors
/// [`DataFileError::Input`] when the panel has too few days before the last of the span.
pub fn training_rows(market: &Market, span: &DateSpan) -> Result<Vec<TrainingRow>, DataFileError> {
    let days: Vec<DayIndex> = (FactorTable::MIN_HISTORY_DAYS - 1..market.calendar().len())
        .filter_map(|place| market.day_at(place))
        .filter(|day| {
            let date = market.date(*day);
            date.is_some_and(|date| span.start <= date && date <= span.end)
        })
        .collect();
    if days.is_empty() {
        return Err(DataFileError::input(
            format_args!(
                "no day of the span has the {} trading days before it that factors need",
                FactorTable::MIN_HISTORY_DAYS
            ),
            "let the span end later, or import a panel that starts earlier",
        ));
    }
    let mut rows = Vec::new();
    for block in days.chunks(BLOCK_DAYS) {
        let (Some(first), Some(last)) = (block.first(), block.last()) else {
            continue;
        };
        let table = FactorTable::new(market, &FactorConfig::KTD, *first, *last)
            .map_err(|error| DataFileError::input(&error, error.hint()))?;
        for day in block {
            add_rows(market, (&table, *day), &mut rows);
        }
    }
    Ok(rows)
}

fn add_rows(market: &Market, (table, day): (&FactorTable, DayIndex), rows: &mut Vec<TrainingRow>) {
    let view = market.as_of(day).with_factors(table);
    rows.extend(view.members().map(|name| TrainingRow {
        day,
        name,
        factors: Factor::ALL.map(|factor| view.factor(name, factor)),
        z_scores: Factor::ALL.map(|factor| view.factor_z(name, factor)),
        future_return: future_return(market, name, day),
    }));
}

fn future_return(market: &Market, name: NameId, day: DayIndex) -> Option<f64> {
    let open = |ahead: usize| {
        let bar = market.bar(name, market.day_at(day.index() + ahead)?);
        let bar = bar.filter(Bar::trades_at_open)?;
        Some(bar.adjusted(bar.open?))
    };
    Some(open(2)? / open(1)? - 1.0)
}
