//! The market of a study: columns of its instruments, members and index.

use crate::FormulaStudyError;
use crate::alpha_study::{AlphaStudy, StudyUniverse};
use crate::qlib_fields::qlib_fields;
use ktd_alphas::{DayTable, MemberTable};
use ktd_data::{is_panel, load_panel};
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{DateSpan, Market};
use ktd_formulas::market_fields;
use ktd_formulas::{FieldColumn, FieldName, FieldPanel};
use ktd_stats::moments::Moments;
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

/// The market that alphas are evaluated on.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyData {
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

impl StudyData {
    /// The market that a study names.
    ///
    /// # Errors
    /// [`FormulaStudyError`] for a file that is no panel, or a directory that is not Qlib's.
    pub fn read(study: &AlphaStudy) -> Result<Self, FormulaStudyError> {
        Self::read_kept(
            study.panel.as_deref(),
            study.bins.as_deref(),
            study.exchange.is_some(),
        )
    }

    /// The market of a panel file, or of a data directory of Qlib; without both, the synthetic one.
    ///
    /// # Errors
    /// Those of [`StudyData::read`].
    pub fn read_source(panel: Option<&Path>, bins: Option<&Path>) -> Result<Self, FormulaStudyError> {
        Self::read_kept(panel, bins, false)
    }

    fn read_kept(
        panel: Option<&Path>,
        bins: Option<&Path>,
        is_traded: bool,
    ) -> Result<Self, FormulaStudyError> {
        let of_market = |market: Market| {
            let data = Self::of_market(&market);
            let market = is_traded.then(|| TradedMarket(Arc::new(market)));
            Self { market, ..data }
        };
        match (panel, bins) {
            (Some(path), _) if !is_panel(path)? => Err(FormulaStudyError::input(
                format_args!("{} is no panel file", path.display()),
                "make one with `ktd data import`, or name a directory of Qlib as bins",
            )),
            (Some(path), _) => Ok(of_market(load_panel(path)?)),
            (None, Some(root)) => Ok(Self::of_bins(qlib_fields(root)?)),
            (None, None) => {
                let market = generate(&SYNTHETIC_STUDY).map_err(FormulaStudyError::invalid)?;
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
    pub(crate) fn until(&self, session: usize) -> Self {
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
    pub(crate) fn market(&self) -> Option<&Arc<Market>> {
        self.market.as_ref().map(|market| &market.0)
    }

    /// The stocks with their membership, in the order of codes: the names of every table.
    pub(crate) fn stocks(&self) -> impl Iterator<Item = (&FieldName, &[DateSpan])> {
        let names = self.panel.names.iter();
        names.filter_map(|name| Some((name, self.members.get(&name.code)?.as_slice())))
    }

    /// Whether an instrument is a stock.
    pub(crate) fn is_stock(&self, code: &str) -> bool {
        self.members.contains_key(code)
    }

    /// A field of all stocks on some sessions; missing where the panel lacks it.
    pub(crate) fn table(&self, field: &str, window: &Range<usize>) -> DayTable {
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
    pub(crate) fn universe(&self, universe: StudyUniverse, window: &Range<usize>) -> MemberTable {
        let closes = self.table("close", window);
        let spans: Vec<&[DateSpan]> = self.stocks().map(|(_, spans)| spans).collect();
        let mut cells = Vec::with_capacity(window.len() * spans.len());
        for (day, session) in window.clone().enumerate() {
            let date = self.panel.calendar.get(session);
            for (close, spans) in closes.day(day).iter().zip(&spans) {
                let is_in = universe == StudyUniverse::All
                    || date.is_some_and(|date| spans.iter().any(|span| span.contains(*date)));
                cells.push(is_in && close.is_finite());
            }
        }
        MemberTable::from_days(spans.len(), cells)
    }

    /// The deviation of the index's daily returns on some sessions.
    pub(crate) fn index_deviation(&self, sessions: &[usize]) -> Option<f64> {
        let closes = self.index_closes.as_ref()?;
        let earned = |session: &usize| {
            let before = closes.get(session.checked_sub(1)?)?;
            Some(closes.get(*session)? / before - 1.0).filter(|earned| earned.is_finite())
        };
        let returns: Vec<f64> = sessions.iter().filter_map(earned).collect();
        Some(Moments::of(&returns)?.deviation())
    }

    /// The deviation of the index's level on some sessions, scaled so that its lowest is 0 and its highest 1.
    pub(crate) fn index_level_deviation(&self, sessions: &[usize]) -> Option<f64> {
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
