//! The door between real names, days and prices and what a model sees.

use crate::groups::Groups;
use crate::key::MaskKey;
use crate::level::{Level, MaskSettings};
use crate::numeric::Numeric;
use crate::payload::Payload;
use crate::roster::{PERIOD_DAYS, Roster, RosterRule};
use ktd_env::{AsOf, Board, DayIndex, DaysBack, Fen, Market, NameId, PastDay, Ticker, TradeDate};

/// The mask of one episode. Every level goes through it; `bright` is its identity.
#[derive(Clone)]
pub struct Mask {
    pub(crate) settings: MaskSettings,
    tickers: Vec<Ticker>,
    /// Alias number of each name, 1-based; the position itself where stocks are not hidden.
    alias_of: Vec<u32>,
    /// Position of the name behind each alias.
    name_of: Vec<NameId>,
    sectors: Vec<String>,
    sector_alias: Vec<u32>,
    window: Vec<TradeDate>,
    first_day: DayIndex,
    pub(crate) origin: DayIndex,
    /// Grain of money; `None` where it is exact.
    pub(crate) grain: Option<Fen>,
    /// What rosters are made by; `None` where factors are not told in bands.
    roster: Option<RosterRule>,
}

/// A text that names no stock of this episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such stock in this episode")]
pub struct UnknownAlias;

/// The place of a name in the order that may be shown. Sorting by it tells nothing of the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaskedOrder(u32);

/// What a mask needs to know of its episode.
#[derive(Debug, Clone, Copy)]
pub struct EpisodeFrame<'a> {
    /// The panel.
    pub market: &'a Market,
    /// The window's trading days, the first being D_1.
    pub window: &'a [DayIndex],
    /// Cash before the first day.
    pub initial_cash: Fen,
}

impl Mask {
    /// The mask of an episode under its own key; `None` for an empty window or one without an as-of day.
    #[must_use]
    pub fn new(settings: MaskSettings, key: &MaskKey, frame: &EpisodeFrame<'_>) -> Option<Self> {
        let market = frame.market;
        let first_day = *frame.window.first()?;
        let tickers: Vec<Ticker> = market.names().map(|(_, info)| info.ticker).collect();
        let mut name_of: Vec<NameId> = market.names().map(|(name, _)| name).collect();
        let mut sector_of: Vec<usize> = (0..market.sectors().len()).collect();
        if settings.level.hides_stocks() {
            let mut stream = key.alias_stream();
            stream.shuffle(&mut name_of);
            stream.shuffle(&mut sector_of);
        }
        Some(Self {
            settings,
            alias_of: inverse(&name_of.iter().map(|name| name.index()).collect::<Vec<_>>()),
            tickers,
            name_of,
            sectors: market.sectors().to_vec(),
            sector_alias: inverse(&sector_of),
            window: frame.window.iter().filter_map(|day| market.date(*day)).collect(),
            first_day,
            origin: first_day.before()?,
            grain: settings
                .numeric
                .money_bps()
                .map(|bps| Fen((frame.initial_cash.0 / 10_000 * bps).max(1))),
            roster: Groups::of(settings.numeric).map(|groups| RosterRule {
                key: key.clone(),
                groups,
                per_group: fewest_members(market) / groups.count(),
                keeps_ids: false,
                shows_all: false,
            }),
        })
    }

    /// The same mask with one id a stock for the whole episode: weaker than any that a file can ask for, for controls whose
    /// attackers must follow stocks from one period to the next. Where no bands are shown it is the mask itself.
    #[must_use]
    pub fn with_ids_kept(self) -> Self {
        Self {
            roster: self.roster.map(|rule| RosterRule {
                keeps_ids: true,
                ..rule
            }),
            ..self
        }
    }

    /// The same mask with every member of a period's day in its roster: weaker than any that a file can ask for, for controls
    /// whose attackers must count. Where no bands are shown it is the mask itself.
    #[must_use]
    pub fn with_all_members(self) -> Self {
        Self {
            roster: self.roster.map(|rule| RosterRule {
                shows_all: true,
                ..rule
            }),
            ..self
        }
    }

    /// The stocks that are shown at a step whose as-of day this is, where factors are told in bands: taken on the as-of day
    /// of the period's first step. `None` where they are told in other terms.
    #[must_use]
    pub fn roster(&self, as_of: &AsOf<'_>) -> Option<Roster> {
        let rule = self.roster.as_ref()?;
        let days = as_of.day().index().saturating_sub(self.origin.index());
        // A panel's first days have no earlier view; then no value is known either.
        let view = as_of.past(self.since_period(as_of)).unwrap_or(*as_of);
        Some(rule.roster(days / PERIOD_DAYS, &view, |name, place| {
            if !self.settings.level.hides_stocks() || rule.keeps_ids {
                self.asset_text(name)
            } else {
                format!("asset_{:04}", place + 1)
            }
        }))
    }

    /// How many trading days before the as-of day its period began.
    #[must_use]
    pub fn since_period(&self, as_of: &AsOf<'_>) -> DaysBack {
        let days = as_of.day().index().saturating_sub(self.origin.index());
        DaysBack(u32::try_from(days % PERIOD_DAYS).unwrap_or(0))
    }

    /// What is hidden.
    #[must_use]
    pub const fn settings(&self) -> MaskSettings {
        self.settings
    }

    /// Which identifiers are hidden.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.settings.level
    }

    /// How numbers are shown.
    #[must_use]
    pub const fn numeric(&self) -> Numeric {
        self.settings.numeric
    }

    /// Whether share counts may be shown and ordered.
    #[must_use]
    pub fn shows_shares(&self) -> bool {
        self.settings.numeric == Numeric::Exact
    }

    /// A name: its real code or its alias. `null` where factors are told in bands: there a [`Roster`] alone gives ids.
    #[must_use]
    pub fn asset(&self, name: NameId) -> Payload {
        if self.roster.is_some() {
            return Payload::null();
        }
        Payload::shown(self.asset_text(name))
    }

    fn asset_text(&self, name: NameId) -> String {
        if self.settings.level.hides_stocks() {
            let alias = self.alias_of.get(name.index()).copied().unwrap_or(0);
            return format!("asset_{alias:04}");
        }
        self.tickers
            .get(name.index())
            .map(|ticker| ticker.reveal().to_owned())
            .unwrap_or_default()
    }

    /// The name behind a text, which must be spelt exactly as it was shown.
    ///
    /// # Errors
    /// [`UnknownAlias`] for anything that is no name of this episode at this level, and where a [`Roster`] gives ids.
    pub fn resolve(&self, text: &str) -> Result<NameId, UnknownAlias> {
        if self.roster.is_some() {
            return Err(UnknownAlias);
        }
        let name = if self.settings.level.hides_stocks() {
            let digits = text.strip_prefix("asset_").ok_or(UnknownAlias)?;
            let alias: usize = digits.parse().map_err(|_| UnknownAlias)?;
            *self.name_of.get(alias.wrapping_sub(1)).ok_or(UnknownAlias)?
        } else {
            let ticker = Ticker::parse(text).map_err(|_| UnknownAlias)?;
            let place = self.tickers.binary_search(&ticker).map_err(|_| UnknownAlias)?;
            *self.name_of.get(place).ok_or(UnknownAlias)?
        };
        // One spelling a name: `asset_42` is not `asset_0042`.
        if self.asset_text(name) == text {
            Ok(name)
        } else {
            Err(UnknownAlias)
        }
    }

    /// The place of a name in lists. Anything shown in order of names, and every tie, is sorted by it.
    #[must_use]
    pub fn order(&self, name: NameId) -> MaskedOrder {
        MaskedOrder(self.alias_of.get(name.index()).copied().unwrap_or(u32::MAX))
    }

    /// A name's board; `null` where [`Numeric::shows_boards`] says so.
    #[must_use]
    pub fn board(&self, board: Board) -> Payload {
        if self.shows_boards() {
            Payload::label(board.label())
        } else {
            Payload::null()
        }
    }

    /// Whether boards are shown.
    #[must_use]
    pub fn shows_boards(&self) -> bool {
        self.settings.numeric.shows_boards()
    }

    /// A name's sector: its real name or an alias; `null` where the panel has none, and where factors are shown in bands,
    /// because sector and board together single out too few names.
    #[must_use]
    pub fn sector(&self, place: Option<u16>) -> Payload {
        let shown = place.filter(|_| self.settings.numeric.shows_boards());
        let Some(place) = shown.map(usize::from) else {
            return Payload::null();
        };
        if self.settings.level.hides_stocks() {
            let alias = self.sector_alias.get(place).copied().unwrap_or(0);
            return Payload::shown(format!("sector_{alias:02}"));
        }
        self.sectors
            .get(place)
            .map_or_else(Payload::null, |sector| Payload::shown(sector.clone()))
    }

    /// The place of a sector in lists.
    #[must_use]
    pub fn sector_order(&self, place: u16) -> MaskedOrder {
        MaskedOrder(
            self.sector_alias
                .get(usize::from(place))
                .copied()
                .unwrap_or(u32::MAX),
        )
    }

    /// A day that a view has shown: its real date, or trading days since the window's first (`day_-1` is the as-of
    /// day of step 1). No calendar gap shows.
    #[must_use]
    pub fn day(&self, day: PastDay) -> Payload {
        self.day_text(day.index(), Some(day.date()))
    }

    /// The trading day of a step, 1-based, on whose open its orders execute.
    #[must_use]
    pub fn step_day(&self, step: usize) -> Payload {
        let place = step.saturating_sub(1);
        if self.settings.level.hides_days() {
            return Payload::shown(format!("day_+{place}"));
        }
        self.window
            .get(place)
            .map_or_else(Payload::null, |date| Payload::shown(date.reveal()))
    }

    fn day_text(&self, day: DayIndex, date: Option<TradeDate>) -> Payload {
        if !self.settings.level.hides_days() {
            return date.map_or_else(Payload::null, |date| Payload::shown(date.reveal()));
        }
        let (day, first) = (day.index(), self.first_day.index());
        let label = if day >= first {
            format!("day_+{}", day - first)
        } else {
            format!("day_-{}", first - day)
        };
        Payload::shown(label)
    }
}

/// The fewest members of any day on which an episode could begin. Counts of earlier days tell nothing of an episode.
fn fewest_members(market: &Market) -> usize {
    const HISTORY_DAYS: usize = 120;
    let first = market.day_at(HISTORY_DAYS).or_else(|| market.day_at(0));
    first.map_or(0, |first| market.fewest_members(first))
}

/// Number of each place: `result[order[i]] = i + 1`.
fn inverse(order: &[usize]) -> Vec<u32> {
    let mut numbers = vec![0; order.len()];
    for (position, place) in order.iter().enumerate() {
        if let Some(number) = numbers.get_mut(*place) {
            *number = u32::try_from(position).unwrap_or(u32::MAX - 1) + 1;
        }
    }
    numbers
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mask")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
