//! The bars of a market as the benchmark reads them.

use super::config::LeakUniverse;
use crate::StudyError;
use ktd_data::bar_table::BarTable;
use ktd_env::{Bar, Market, NameId, TradeDate};
use ktd_leakage::{BarGrid, LeakageError, SessionMonth};

/// Bars with the names and days of their rows and columns.
#[derive(Debug, Clone)]
pub struct MarketBars {
    /// Adjusted bars.
    pub bars: BarGrid,
    /// Codes in their order, which decides ties.
    pub codes: Vec<String>,
    /// The sessions.
    pub calendar: Vec<TradeDate>,
    /// Whether a name takes part on a session, session after session; none where all always do.
    pub eligible: Option<Vec<bool>>,
}

/// The bars of the names of a universe.
///
/// # Errors
/// [`StudyError`] when no name is left.
pub fn market_bars(market: &Market, universe: LeakUniverse) -> Result<MarketBars, StudyError> {
    let calendar = sessions(market);
    let mut names = names_by_code(market);
    names.retain(|(name, _)| takes_part(market, *name, universe));
    let columns = columns_of(market, &names, calendar.len(), |bar| {
        let factor = bar.factor_value;
        #[expect(clippy::cast_precision_loss, reason = "shares of a day are far below 2^53")]
        let volume = bar.volume as f64 / factor;
        let open = bar.open.map_or(f64::NAN, |open| bar.adjusted(open));
        [
            open,
            bar.adjusted(bar.high),
            bar.adjusted(bar.low),
            bar.adjusted_close(),
            volume,
        ]
    });
    let bars = bar_grid(calendar, names.len(), columns)?;
    let eligible = matches!(universe, LeakUniverse::Members).then(|| {
        let days = calendar.iter();
        days.flat_map(|day| names.iter().map(|(name, _)| market.is_member(*name, *day)))
            .collect()
    });
    Ok(MarketBars {
        bars,
        codes: names.into_iter().map(|(_, code)| code).collect(),
        calendar: calendar.to_vec(),
        eligible,
    })
}

/// The bars of a table of any market: of the names of a universe that does not ask for members.
///
/// # Errors
/// [`StudyError`] when no name is left.
pub(super) fn table_bars(table: &BarTable, universe: LeakUniverse) -> Result<MarketBars, StudyError> {
    let names = table.codes.len();
    let traded = |name: usize| {
        let volumes = table.volume.iter().skip(name).step_by(names);
        volumes.filter(|volume| 0.0 < **volume).count()
    };
    let kept: Vec<usize> = (0..names)
        .filter(|name| match universe {
            LeakUniverse::All | LeakUniverse::Members => true,
            LeakUniverse::Share(share) => is_share(traded(*name), table.days.len(), share),
        })
        .collect();
    let of = |cells: &[f64]| -> Vec<f64> {
        let sessions = cells.chunks(names.max(1));
        let kept = sessions.flat_map(|session| kept.iter().filter_map(|name| session.get(*name).copied()));
        kept.collect()
    };
    let columns = [&table.open, &table.high, &table.low, &table.close, &table.volume].map(|cells| of(cells));
    Ok(MarketBars {
        bars: bar_grid(&table.days, kept.len(), columns)?,
        codes: kept
            .iter()
            .filter_map(|name| table.codes.get(*name).cloned())
            .collect(),
        calendar: table.days.clone(),
        eligible: None,
    })
}

/// A grid of open, high, low, close and volume.
fn bar_grid(calendar: &[TradeDate], names: usize, columns: [Vec<f64>; 5]) -> Result<BarGrid, StudyError> {
    if names == 0 {
        return Err(StudyError::input(
            "no name of the panel is in the universe",
            "choose universe = \"all\", or a smaller share",
        ));
    }
    let months: Vec<SessionMonth> = calendar.iter().map(|day| month_of(*day)).collect();
    BarGrid::new(months, names, columns).map_err(unfit)
}

/// A panel on which something cannot be computed.
pub(super) fn unfit(error: LeakageError) -> StudyError {
    StudyError::input(error, "use a longer panel, or change the setting that it names")
}

/// Whether a name traded on a share of all sessions.
fn is_share(traded: usize, sessions: usize, share: f64) -> bool {
    let count = |count: usize| u32::try_from(count).map_or(f64::INFINITY, f64::from);
    share * count(sessions) <= count(traded)
}

/// All names of a market by their codes, whose order decides ties.
pub(super) fn names_by_code(market: &Market) -> Vec<(NameId, String)> {
    let mut names: Vec<(NameId, String)> = market
        .names()
        .map(|(name, info)| (name, info.ticker.reveal().to_owned()))
        .collect();
    names.sort_by(|a, b| a.1.cmp(&b.1));
    names
}

/// Columns with a cell for each name of the first session, then of the second; NaN without a bar.
pub(super) fn columns_of<const N: usize>(
    market: &Market,
    names: &[(NameId, String)],
    sessions: usize,
    cells: impl Fn(&Bar) -> [f64; N],
) -> [Vec<f64>; N] {
    let mut columns = [const { Vec::new() }; N];
    for session in 0..sessions {
        let day = market.day_at(session);
        for (name, _) in names {
            let bar = day.and_then(|day| market.bar(*name, day));
            let row = bar.map_or([f64::NAN; N], |bar| cells(&bar));
            for (column, cell) in columns.iter_mut().zip(row) {
                column.push(cell);
            }
        }
    }
    columns
}

/// The days up to the last bar of any name: a panel that was cut keeps its calendar.
pub(super) fn sessions(market: &Market) -> &[TradeDate] {
    let last = market.names().filter_map(|(name, _)| market.bars_of(name).last());
    let sessions = last.map(|(day, _)| day.index() + 1).max().unwrap_or(0);
    market.calendar().get(..sessions).unwrap_or(market.calendar())
}

fn takes_part(market: &Market, name: NameId, universe: LeakUniverse) -> bool {
    match universe {
        LeakUniverse::All => true,
        LeakUniverse::Members => market.calendar().iter().any(|day| market.is_member(name, *day)),
        LeakUniverse::Share(share) => {
            let traded = market.bars_of(name).filter(|(_, bar)| 0 < bar.volume).count();
            is_share(traded, sessions(market).len(), share)
        }
    }
}

/// The month of a day, from its text: year-month-day.
pub(super) fn month_of(day: TradeDate) -> SessionMonth {
    let text = day.reveal();
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    SessionMonth {
        year: part(0, 4).parse().unwrap_or(0),
        month: part(5, 7).parse().unwrap_or(1),
    }
}
