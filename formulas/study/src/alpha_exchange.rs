//! Alphas at the simulation's exchange: the same scores, with lots, limits, T+1 and fees.

use crate::alpha_study::StudyExchange;
use crate::open_study::OpenStudy;
use crate::split_tables::SplitTables;
use ktd_alphas::{DayTable, FigureRow};
use ktd_env::{Fen, Market, NameId, Ticker};
use ktd_formulas::{CloseScores, ExchangeHolding, ExchangePath};
use ktd_stats::moments::{Moments, count};
use ktd_stats::{TRADING_DAYS_PER_YEAR, Undefined};
use std::sync::Arc;

/// Fen of a yuan.
const FEN: i64 = 100;

/// The account that trades alphas, with the market that it trades at.
#[derive(Debug)]
pub(crate) struct AlphaExchange {
    settings: StudyExchange,
    holding: ExchangeHolding,
    market: Arc<Market>,
    /// The names of the tables' columns; none for one that the market lacks.
    names: Vec<Option<NameId>>,
}

impl AlphaExchange {
    /// The account of a study; none where the study has none.
    pub(crate) fn of(open: &OpenStudy) -> Option<Self> {
        let settings = open.study.exchange.clone()?;
        let market = Arc::clone(open.data.market()?);
        let name = |code: &str| market.find(Ticker::parse(code).ok()?);
        Some(Self {
            holding: ExchangeHolding::new(settings.top, Fen(i64::from(settings.cash) * FEN))?,
            names: open.data.stocks().map(|(stock, _)| name(&stock.code)).collect(),
            market,
            settings,
        })
    }

    /// Adds the figures of scores on a split, where the account trades on it: scores of members at each close but the last one
    /// are traded at the next open, and the account is valued at that day's close.
    pub(crate) fn add_figures(&self, row: &mut FigureRow, scores: &DayTable, split: &SplitTables<'_>) {
        if !self.settings.splits.iter().any(|named| named == split.name) {
            return;
        }
        let (members, days) = (split.split.members, &split.split.days);
        let but_last = days.split_last().map_or(&[][..], |(_, days)| days);
        let closes = but_last.iter().filter_map(|day| {
            let cells = self.names.iter().zip(scores.day(*day)).zip(members.day(*day));
            let counted = cells.filter(|((_, score), is_member)| **is_member && score.is_finite());
            Some(CloseScores {
                as_of: self.market.day_at(split.window.start + day)?,
                scores: counted
                    .filter_map(|((name, score), _)| Some(((*name)?, *score)))
                    .collect(),
            })
        });
        let path = self.holding.path(&self.market, &closes.collect::<Vec<_>>());
        let path = path.map_err(|_too_large| Undefined::OutOfRange);
        row.put_all(
            &path,
            &[
                ("sr_exchange", |path| {
                    moments(path)?.annual_ratio(Undefined::ZeroVariance)
                }),
                ("ar_exchange", |path| {
                    Ok(TRADING_DAYS_PER_YEAR * moments(path)?.mean())
                }),
                ("rejected_exchange", |path| Ok(count(path.rejected))),
            ],
        );
    }
}

/// The moments of an account's daily returns; none of one that never traded.
fn moments(path: &ExchangePath) -> Result<Moments, Undefined> {
    let few = Undefined::TooFewDays {
        days: path.returns.len(),
        need_days: 2,
    };
    Moments::of(&path.returns).filter(|_| 0 < path.fills).ok_or(few)
}
