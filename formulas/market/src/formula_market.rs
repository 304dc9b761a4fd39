//! A market that formulas are evaluated on: columns of its instruments, members and index.

use crate::FormulasError;
use crate::field_panel::{FieldColumn, FieldName, FieldPanel};
use crate::market_fields::market_fields;
use crate::qlib_fields::qlib_fields;
use ktd_alphas::{DayTable, LabelKind, MemberTable, NoiseMode, label_returns};
use ktd_data::{is_panel, load_panel};
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{DateSpan, Market};
use ktd_stats::moments::Moments;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The synthetic market that stands in for a panel.
pub const SYNTHETIC_STUDY: SynthConfig = SynthConfig {
    seed: 1,
    names: 60,
    days: 520,
};

/// Which names count on a day, of those with a bar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FormulaUniverse {
    /// Members of the index; of a Qlib directory those of `instruments/all.txt`.
    #[default]
    Members,
    /// All.
    All,
}

/// The market that alphas are evaluated on.
#[derive(Debug, Clone, PartialEq)]
pub struct FormulaMarket {
    /// Columns of all instruments.
    pub panel: FieldPanel,
    /// When each stock was a member, by code; an instrument that is not here is an index.
    members: BTreeMap<String, Vec<DateSpan>>,
    /// The closes of the index by session.
    index_closes: Option<Vec<f64>>,
    /// The market whose exchange alphas trade at; kept where a study asks for it.
    market: Option<TradedMarket>,
}

/// A market, equal to another one by its content.
#[derive(Debug, Clone)]
struct TradedMarket(Arc<Market>);

impl PartialEq for TradedMarket {
    fn eq(&self, other: &Self) -> bool {
        self.0.content_hash() == other.0.content_hash()
    }
}

impl FormulaMarket {
    /// The market of a panel file, or of a data directory of Qlib; without both, the synthetic one. It is kept where formulas
    /// are traded at its exchange.
    ///
    /// # Errors
    /// [`FormulasError`] for a file that is no panel, or a directory that is not Qlib's.
    pub fn read(
        (panel, bins): (Option<&Path>, Option<&Path>),
        is_traded: bool,
    ) -> Result<Self, FormulasError> {
        let of_market = |market: Market| {
            let data = Self::of_market(&market);
            let market = is_traded.then(|| TradedMarket(Arc::new(market)));
            Self { market, ..data }
        };
        match (panel, bins) {
            (Some(path), _) if !is_panel(path)? => Err(FormulasError::input(
                format_args!("{} is no panel file", path.display()),
                "make one with `ktd data import`, or name a directory of Qlib as bins",
            )),
            (Some(path), _) => Ok(of_market(load_panel(path)?)),
            (None, Some(root)) => Ok(Self::of_bins(qlib_fields(root)?)),
            (None, None) => {
                let market = generate(&SYNTHETIC_STUDY).map_err(FormulasError::invalid)?;
                let mut data = of_market(market);
                let note = "neither a panel nor bins are given: this is the synthetic market";
                data.panel.notes.push(note.to_owned());
                Ok(data)
            }
        }
    }

    /// The market of a panel.
    #[must_use]
    pub fn of_market(market: &Market) -> Self {
        let members = market
            .names()
            .map(|(_, info)| (info.ticker.reveal().to_owned(), info.member.clone()));
        Self {
            panel: market_fields(market),
            members: members.collect(),
            index_closes: market.indices().first().map(|index| index.close.clone()),
            market: None,
        }
    }

    fn of_bins(panel: FieldPanel) -> Self {
        let members = panel.names.iter();
        let members = members.map(|name| (name.code.clone(), vec![DateSpan::ALWAYS]));
        Self {
            members: members.collect(),
            index_closes: None,
            market: None,
            panel,
        }
    }

    /// The market up to a session, which is not in it any more: nothing that is computed of it can read a later day.
    #[must_use]
    pub fn until(&self, session: usize) -> Self {
        let mut data = Self {
            market: None,
            ..self.clone()
        };
        data.panel.calendar.truncate(session);
        for name in &mut data.panel.names {
            let rows = session.saturating_sub(name.first_session);
            for column in &mut name.columns {
                match column {
                    FieldColumn::Singles(cells) => cells.truncate(rows),
                    FieldColumn::Doubles(cells) => cells.truncate(rows),
                }
            }
            for span in &mut name.shown {
                span.end = span.end.min(session);
            }
            name.shown.retain(|span| !span.is_empty());
        }
        data.panel.names.retain(|name| 0 < name.rows());
        if let Some(closes) = &mut data.index_closes {
            closes.truncate(session);
        }
        data
    }

    /// The market that alphas trade at, where it was kept.
    #[must_use]
    pub fn market(&self) -> Option<&Arc<Market>> {
        self.market.as_ref().map(|market| &market.0)
    }

    /// The stocks with their membership, in the order of codes: the names of every table.
    pub fn stocks(&self) -> impl Iterator<Item = (&FieldName, &[DateSpan])> {
        let names = self.panel.names.iter();
        names.filter_map(|name| Some((name, self.members.get(&name.code)?.as_slice())))
    }

    /// Whether an instrument is a stock.
    #[must_use]
    pub fn is_stock(&self, code: &str) -> bool {
        self.members.contains_key(code)
    }

    /// A field of all stocks on some sessions; missing where the panel lacks it.
    #[must_use]
    pub fn table(&self, field: &str, window: &Range<usize>) -> DayTable {
        let place = self.panel.fields.iter().position(|known| known == field);
        let mut table = DayTable::missing(window.len(), self.stocks().count());
        for (column, (name, _)) in self.stocks().enumerate() {
            let cells = place.and_then(|place| name.columns.get(place));
            let cells = cells.map(FieldColumn::doubles).unwrap_or_default();
            let row = |session: usize| {
                let row = session
                    .checked_sub(name.first_session)
                    .filter(|_| name.is_shown(session));
                row.and_then(|row| cells.get(row)).copied().unwrap_or(f64::NAN)
            };
            table.set_name(column, 0, window.clone().map(row));
        }
        table
    }

    /// Who counts on some sessions: those of the universe with a close.
    #[must_use]
    pub fn universe(&self, universe: FormulaUniverse, window: &Range<usize>) -> MemberTable {
        let closes = self.table("close", window);
        let spans: Vec<&[DateSpan]> = self.stocks().map(|(_, spans)| spans).collect();
        let mut cells = Vec::with_capacity(window.len() * spans.len());
        for (day, session) in window.clone().enumerate() {
            let date = self.panel.calendar.get(session);
            for (close, spans) in closes.day(day).iter().zip(&spans) {
                let is_in = universe == FormulaUniverse::All
                    || date.is_some_and(|date| spans.iter().any(|span| span.contains(*date)));
                cells.push(is_in && close.is_finite());
            }
        }
        MemberTable::from_days(spans.len(), cells)
    }

    /// The returns that are predicted on some sessions.
    #[must_use]
    pub fn labels(&self, label: LabelKind, window: &Range<usize>) -> DayTable {
        let field = match label {
            LabelKind::NextOpen => "open",
            LabelKind::Close => "close",
        };
        label_returns(
            label,
            &self.table(field, window),
            &self.table("volume", window),
            1,
        )
    }

    /// Refuses a panel without the fields that labels and noise need.
    ///
    /// # Errors
    /// [`FormulasError`] naming the field.
    pub fn check_fields(&self) -> Result<(), FormulasError> {
        let needed = ["open", "high", "low", "close", "volume"];
        let is_known = |field: &&str| self.panel.fields.iter().any(|known| known == *field);
        needed
            .into_iter()
            .find(|field| !is_known(field))
            .map_or(Ok(()), |field| {
                Err(FormulasError::input(
                    format_args!("the panel has no field {field:?}, which labels and noise need"),
                    "add its bins",
                ))
            })
    }

    /// The deviation of the noise, by default that of the index on some sessions; none where no draw is made.
    ///
    /// # Errors
    /// [`FormulasError`] where the panel has no index, and no deviation is given.
    pub fn sigma(
        &self,
        (mode, sigma): (NoiseMode, Option<f64>),
        draws: usize,
        sessions: &[usize],
    ) -> Result<Option<f64>, FormulasError> {
        if draws == 0 {
            return Ok(None);
        }
        let of_index = || match mode {
            NoiseMode::Code => self.index_level_deviation(sessions),
            NoiseMode::Input | NoiseMode::Bar | NoiseMode::Output => self.index_deviation(sessions),
        };
        sigma.or_else(of_index).map(Some).ok_or_else(|| {
            FormulasError::input(
                "the panel has no index, from which the deviation of the noise is taken",
                "give noise = { sigma = 0.01 }, or noise = { draws = 0 } to leave robustness out",
            )
        })
    }

    /// The deviation of the index's daily returns on some sessions.
    fn index_deviation(&self, sessions: &[usize]) -> Option<f64> {
        let closes = self.index_closes.as_ref()?;
        let earned = |session: &usize| {
            let before = closes.get(session.checked_sub(1)?)?;
            Some(closes.get(*session)? / before - 1.0).filter(|earned| earned.is_finite())
        };
        let returns: Vec<f64> = sessions.iter().filter_map(earned).collect();
        Some(Moments::of(&returns)?.deviation())
    }

    /// The deviation of the index's level on some sessions, scaled so that its lowest is 0 and its highest 1.
    fn index_level_deviation(&self, sessions: &[usize]) -> Option<f64> {
        let closes = self.index_closes.as_ref()?;
        let levels = sessions
            .iter()
            .filter_map(|session| closes.get(*session).copied());
        let levels: Vec<f64> = levels.filter(|level| level.is_finite()).collect();
        let lowest = levels.iter().copied().fold(f64::INFINITY, f64::min);
        let span = levels.iter().copied().fold(f64::NEG_INFINITY, f64::max) - lowest;
        let scaled: Vec<f64> = levels.iter().map(|level| (level - lowest) / span).collect();
        Some(Moments::of(&scaled)?.deviation()).filter(|deviation| deviation.is_finite())
    }
}
