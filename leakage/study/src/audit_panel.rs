//! A market's bars as traded, in the forms that programs and expressions read.

use super::bars::{columns_of, month_of, names_by_code, sessions};
use crate::StudyError;
use ktd_data::hash_text;
use ktd_env::{Market, TradeDate};
use ktd_formulas::{FieldColumn, FieldName, FieldPanel};
use ktd_formulas::{MARKET_FIELDS, TradedBar};
use ktd_leakage::{ReplayPanel, SessionDay, TradedField};
use std::fmt::Write as _;

/// The panel of an audit with the names and days of its cells.
#[derive(Debug, Clone)]
pub struct AuditPanel {
    /// Bars as traded.
    pub bars: ReplayPanel,
    /// Codes in their order.
    pub codes: Vec<String>,
    /// The sessions.
    pub calendar: Vec<TradeDate>,
    /// What it was read from.
    pub source: String,
}

impl AuditPanel {
    /// All names of a market, up to the last session on which one of them has a bar.
    ///
    /// # Errors
    /// [`StudyError`] for a market without bars.
    pub fn of(market: &Market) -> Result<Self, StudyError> {
        let (names, calendar) = (names_by_code(market), sessions(market).to_vec());
        let columns = columns_of(market, &names, calendar.len(), |bar| {
            let traded = TradedBar::of(bar);
            [
                traded.open,
                traded.high,
                traded.low,
                traded.close,
                traded.volume,
                traded.amount,
                traded.factor,
            ]
        });
        let days = calendar.iter().map(|day| session_day(*day)).collect();
        let bars = ReplayPanel::new(days, names.len(), columns).map_err(|error| {
            StudyError::input(error.to_string(), "use a panel with trading days and names")
        })?;
        Ok(Self {
            bars,
            codes: names.into_iter().map(|(_, code)| code).collect(),
            calendar,
            source: hash_text(market.content_hash()),
        })
    }

    /// The day of a session; empty outside the panel.
    #[must_use]
    pub fn date(&self, session: usize) -> String {
        self.calendar
            .get(session)
            .map(|day| day.reveal())
            .unwrap_or_default()
    }

    /// The rows `date,symbol,open,high,low,close,volume,amount,factor` of a panel with these names, by day and code; a cell
    /// that is missing is empty.
    pub(super) fn csv(&self, bars: &ReplayPanel) -> Vec<u8> {
        let mut text = "date,symbol".to_owned();
        for field in TradedField::ALL {
            text.push(',');
            text.push_str(field.name());
        }
        text.push('\n');
        for session in 0..bars.sessions() {
            let date = self.date(session);
            for (name, code) in self.codes.iter().enumerate() {
                if !bars.has_bar(session, name) {
                    continue;
                }
                // Writing to a string cannot fail.
                write!(text, "{date},{code}").ok();
                for field in TradedField::ALL {
                    let value = bars.value(field, session, name);
                    if value.is_nan() {
                        text.push(',');
                    } else {
                        write!(text, ",{value}").ok();
                    }
                }
                text.push('\n');
            }
        }
        text.into_bytes()
    }

    /// The fields of a panel with these names, as expressions read them: a name's rows go from its first bar to the last of the
    /// whole panel, for whether it is listed on a day without a bar is known then, also where a cut panel has no later bar.
    pub(super) fn fields(&self, bars: &ReplayPanel) -> FieldPanel {
        let sessions = bars.sessions();
        let field_name = |(name, code): (usize, &String)| {
            let first = (0..sessions).find(|session| bars.has_bar(*session, name))?;
            let whole = &self.bars;
            let listed = (0..whole.sessions())
                .rev()
                .find(|session| whole.has_bar(*session, name))?;
            let last = listed.min(sessions.checked_sub(1)?);
            let mut before = None;
            let rows: Vec<[f64; MARKET_FIELDS.len()]> = (first..=last)
                .map(|session| {
                    let bar = bars
                        .has_bar(session, name)
                        .then(|| traded_bar(bars, session, name));
                    TradedBar::row(bar.as_ref(), &mut before)
                })
                .collect();
            let column = |place: usize| {
                FieldColumn::Doubles(rows.iter().filter_map(|row| row.get(place)).copied().collect())
            };
            Some(FieldName {
                code: code.clone(),
                first_session: first,
                columns: (0..MARKET_FIELDS.len()).map(column).collect(),
                shown: std::iter::once(first..last + 1).collect(),
            })
        };
        FieldPanel {
            calendar: self.calendar.iter().copied().take(sessions).collect(),
            fields: MARKET_FIELDS.map(str::to_owned).to_vec(),
            names: self.codes.iter().enumerate().filter_map(field_name).collect(),
            source: self.source.clone(),
            notes: Vec::new(),
        }
    }
}

fn traded_bar(bars: &ReplayPanel, session: usize, name: usize) -> TradedBar {
    let value = |field| bars.value(field, session, name);
    TradedBar {
        open: value(TradedField::Open),
        high: value(TradedField::High),
        low: value(TradedField::Low),
        close: value(TradedField::Close),
        volume: value(TradedField::Volume),
        amount: value(TradedField::Amount),
        factor: value(TradedField::Factor),
    }
}

/// Weeks begin on Mondays: the first day of the epoch was a Thursday.
fn session_day(day: TradeDate) -> SessionDay {
    SessionDay {
        month: month_of(day),
        number: i64::from(day.days_since_epoch()) + 3,
    }
}
