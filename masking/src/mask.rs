//! The door between real names, days and prices and what a model sees.

use crate::bands::BandNoise;
use crate::key::MaskKey;
use crate::level::{Level, MaskSettings};
use crate::numeric::Numeric;
use crate::payload::Payload;
use ktd_env::{Board, DayIndex, Fen, KeyedStream, Market, NameId, PastDay, Ticker, TradeDate};

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
    /// Which bands are true; `None` where no bands are shown.
    pub(crate) noise: Option<BandNoise>,
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
            let mut stream = KeyedStream::new(key.bytes());
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
            noise: (settings.numeric == Numeric::Banded)
                .then(|| BandNoise::draw(key, market.names().count())),
        })
    }

    /// The same mask with bands that no chance moves: weaker than any that a file can ask for, for controls whose attackers
    /// must read bands. Where no bands are shown it is the mask itself.
    #[must_use]
    pub fn with_bands_unmoved(self) -> Self {
        Self {
            noise: self.noise.map(BandNoise::stilled),
            ..self
        }
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

    /// A name: its real code or its alias.
    #[must_use]
    pub fn asset(&self, name: NameId) -> Payload {
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
    /// [`UnknownAlias`] for anything that is no name of this episode at this level.
    pub fn resolve(&self, text: &str) -> Result<NameId, UnknownAlias> {
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
        let shown = place.filter(|_| self.settings.numeric != Numeric::Banded);
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
