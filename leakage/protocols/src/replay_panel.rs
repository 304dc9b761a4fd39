//! A panel that is computed again: its end cut off, what lies after a cut replaced, or a session as its open knows it.

use crate::error::LeakageError;
use crate::panel::{BarGrid, SessionMonth, cell};
use ktd_stats::SplitMix64;

/// A day of the calendar, as far as cuts ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionDay {
    /// Its month.
    pub month: SessionMonth,
    /// Days since a fixed one: weeks and pauses are counted by it, and a Monday leaves 0 when divided by seven.
    pub number: i64,
}

/// A column of bars as traded, prices without the factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum TradedField {
    /// First price.
    Open,
    /// Highest price.
    High,
    /// Lowest price.
    Low,
    /// Last price.
    Close,
    /// Shares.
    Volume,
    /// Money.
    Amount,
    /// The factor that makes prices comparable over splits and dividends.
    Factor,
}

impl TradedField {
    /// All columns.
    pub const ALL: [Self; 7] = [
        Self::Open,
        Self::High,
        Self::Low,
        Self::Close,
        Self::Volume,
        Self::Amount,
        Self::Factor,
    ];

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    const fn place(self) -> usize {
        match self {
            Self::Open => 0,
            Self::High => 1,
            Self::Low => 2,
            Self::Close => 3,
            Self::Volume => 4,
            Self::Amount => 5,
            Self::Factor => 6,
        }
    }

    const fn is_price(self) -> bool {
        matches!(self, Self::Open | Self::High | Self::Low | Self::Close)
    }
}

/// Bars as traded on a calendar, each column a cell for each name of the first session, then of the second; NaN is missing.
/// A name without a close has no bar.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayPanel {
    days: Vec<SessionDay>,
    names: usize,
    columns: [Vec<f64>; 7],
}

/// What stands after a cut in place of the panel's own sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SuffixReplacement {
    /// Its own bars along other paths: prices, volumes and factors multiplied.
    Paths,
    /// Another stretch of the same panel, at the level of each name; gaps behind the cut lie elsewhere.
    Stretch,
}

/// The deviation of a day of the price paths, and of the logarithm of volume factors.
const DEVIATIONS: (f64, f64) = (0.03, 0.5);
/// The largest change of a factor after a cut.
const LARGEST_SPLIT: f64 = 2.0;

impl ReplayPanel {
    /// Bars of sessions in ascending order.
    ///
    /// # Errors
    /// [`LeakageError`] without a session or a name, for a column of another size, and for days that go backwards.
    pub fn new(days: Vec<SessionDay>, names: usize, columns: [Vec<f64>; 7]) -> Result<Self, LeakageError> {
        let sessions = days.len();
        if sessions == 0 || names == 0 {
            return Err(LeakageError::Empty);
        }
        for (field, column) in TradedField::ALL.iter().zip(&columns) {
            if sessions.checked_mul(names) != Some(column.len()) {
                return Err(LeakageError::Shape {
                    series: field.name(),
                    cells: column.len(),
                    sessions,
                    names,
                });
            }
        }
        let pairs = days.iter().zip(days.iter().skip(1));
        let order = |(before, day): (&SessionDay, &SessionDay)| {
            day.number <= before.number || day.month < before.month
        };
        if let Some(place) = pairs.into_iter().position(order) {
            return Err(LeakageError::Order { session: place + 1 });
        }
        Ok(Self { days, names, columns })
    }

    /// The days of its sessions.
    #[must_use]
    pub fn days(&self) -> &[SessionDay] {
        &self.days
    }

    /// How many sessions there are.
    #[must_use]
    pub const fn sessions(&self) -> usize {
        self.days.len()
    }

    /// How many names there are.
    #[must_use]
    pub const fn names(&self) -> usize {
        self.names
    }

    /// A cell; NaN where the bar is missing or outside the panel.
    #[must_use]
    pub fn value(&self, field: TradedField, session: usize, name: usize) -> f64 {
        if self.names <= name {
            return f64::NAN;
        }
        let place = session.saturating_mul(self.names).saturating_add(name);
        self.columns
            .get(field.place())
            .map_or(f64::NAN, |column| cell(column, place))
    }

    /// Whether a name has a bar on a session.
    #[must_use]
    pub fn has_bar(&self, session: usize, name: usize) -> bool {
        !self.value(TradedField::Close, session, name).is_nan()
    }

    /// Adjusted bars: prices times factor, shares over factor.
    ///
    /// # Errors
    /// None that a panel which was made can have.
    pub fn adjusted(&self) -> Result<BarGrid, LeakageError> {
        let of = |field: TradedField| -> Vec<f64> {
            let (own, factors) = (self.columns.get(field.place()), self.columns.get(6));
            let cells = own.into_iter().flatten().zip(factors.into_iter().flatten());
            cells
                .map(|(value, factor)| {
                    if field == TradedField::Volume {
                        value / factor
                    } else {
                        value * factor
                    }
                })
                .collect()
        };
        let months: Vec<SessionMonth> = self.days.iter().map(|day| day.month).collect();
        let columns = [
            of(TradedField::Open),
            of(TradedField::High),
            of(TradedField::Low),
            of(TradedField::Close),
            of(TradedField::Volume),
        ];
        BarGrid::new(months, self.names, columns)
    }

    /// The panel as it stood after the close of a session.
    #[must_use]
    pub fn prefix(&self, cut: usize) -> Self {
        let sessions = (cut + 1).min(self.sessions());
        let cells = sessions * self.names;
        let columns = self
            .columns
            .each_ref()
            .map(|column| column.get(..cells).unwrap_or(column).to_vec());
        Self {
            days: self.days.get(..sessions).unwrap_or(&self.days).to_vec(),
            names: self.names,
            columns,
        }
    }

    /// The panel as it stood after the open of a session: its bars have the open alone, and the volume and money of the
    /// session before (0 where there were none).
    #[must_use]
    pub fn open_view(&self, session: usize) -> Self {
        let mut view = self.prefix(session);
        for name in 0..self.names {
            if !self.has_bar(session, name) {
                continue;
            }
            let open = self.value(TradedField::Open, session, name);
            for field in [TradedField::High, TradedField::Low, TradedField::Close] {
                view.set(field, session, name, open);
            }
            for field in [TradedField::Volume, TradedField::Amount] {
                let before = session
                    .checked_sub(1)
                    .map_or(f64::NAN, |before| self.value(field, before, name));
                view.set(field, session, name, if before.is_nan() { 0.0 } else { before });
            }
        }
        view
    }

    /// The panel with other bars after a cut, drawn by a seed.
    #[must_use]
    pub fn replaced(&self, cut: usize, by: SuffixReplacement, seed: u64) -> Self {
        let place = u64::try_from(cut).unwrap_or(u64::MAX);
        let mut stream = SplitMix64::new(seed ^ SplitMix64::new(place).next_u64());
        let mut panel = self.clone();
        match by {
            SuffixReplacement::Paths => panel.follow_paths(cut, &mut stream),
            SuffixReplacement::Stretch => panel.take_stretch(cut, &mut stream),
        }
        panel
    }

    fn set(&mut self, field: TradedField, session: usize, name: usize, value: f64) {
        let place = session.saturating_mul(self.names).saturating_add(name);
        let column = self.columns.get_mut(field.place());
        if let Some(cell) = column.and_then(|column| column.get_mut(place)) {
            *cell = value;
        }
    }

    /// Prices along random paths, other volumes, and for each name another factor from some session on.
    fn follow_paths(&mut self, cut: usize, stream: &mut SplitMix64) {
        let after = self.sessions().saturating_sub(cut + 1);
        for name in 0..self.names {
            let (mut path, mut split) = (0.0, 1.0);
            let split_after = below(stream, after);
            let size = 1.0 + (LARGEST_SPLIT - 1.0) * stream.uniform();
            for session in cut + 1..self.sessions() {
                path += DEVIATIONS.0 * stream.normal();
                let (price, volume) = (libm::exp(path), libm::exp(DEVIATIONS.1 * stream.normal()));
                if session - cut - 1 == split_after {
                    split = size;
                }
                for field in TradedField::ALL {
                    let own = self.value(field, session, name);
                    let value = match field {
                        TradedField::Volume => libm::ceil(own * volume),
                        TradedField::Amount => own * volume * price,
                        TradedField::Factor => own * split,
                        TradedField::Open | TradedField::High | TradedField::Low | TradedField::Close => {
                            own * price
                        }
                    };
                    self.set(field, session, name, value);
                }
            }
        }
    }

    /// Each name's bars up to the cut, from a random one on and round and round, at the level of its last close. Its gaps
    /// behind the cut move as well, but stay as many: how many rows a name has is a length, and lengths end with prefixes.
    fn take_stretch(&mut self, cut: usize, stream: &mut SplitMix64) {
        let after: Vec<usize> = (cut + 1..self.sessions()).collect();
        let shift = below(stream, after.len());
        let start = stream.next_u64();
        for name in 0..self.names {
            let sources: Vec<usize> = (0..=cut).filter(|session| self.has_bar(*session, name)).collect();
            let Some(last) = sources.last().copied() else {
                continue;
            };
            let offset = below(&mut SplitMix64::new(start), sources.len());
            let source = |place: usize| {
                let place = (offset + place).checked_rem(sources.len());
                place
                    .and_then(|place| sources.get(place))
                    .copied()
                    .unwrap_or(last)
            };
            let close = |session| self.value(TradedField::Close, session, name);
            let scale = close(last) / close(source(0));
            let factor = self.value(TradedField::Factor, last, name);
            let is_there: Vec<bool> = after.iter().map(|session| self.has_bar(*session, name)).collect();
            let turned = is_there.iter().cycle().skip(shift);
            let mut taken = 0;
            for (session, is_there) in after.iter().zip(turned) {
                for field in TradedField::ALL {
                    let value = if !is_there {
                        f64::NAN
                    } else if field == TradedField::Factor {
                        factor
                    } else if field.is_price() {
                        self.value(field, source(taken), name) * scale
                    } else {
                        self.value(field, source(taken), name)
                    };
                    self.set(field, *session, name, value);
                }
                taken += usize::from(*is_there);
            }
        }
    }
}

/// A number below another one; 0 of none.
fn below(stream: &mut SplitMix64, count: usize) -> usize {
    let drawn = usize::try_from(stream.next_u64() >> 33).unwrap_or(0);
    drawn.checked_rem(count).unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::panel::BarField;
    use crate::panel::tests::{market, months};

    /// A market with a gap in one name and a name that is listed late.
    pub(crate) fn traded(sessions: usize, names: usize, seed: u64) -> ReplayPanel {
        let bars = market(sessions, names, seed);
        let days = months(sessions)
            .into_iter()
            .enumerate()
            .map(|(place, month)| SessionDay {
                month,
                // Five sessions a week, and a week without one now and then.
                number: i64::try_from(place + 2 * (place / 5) + 7 * (place / 120)).unwrap(),
            });
        let column = |field| bars.column(field).to_vec();
        let volume = column(BarField::Volume);
        let amount = volume
            .iter()
            .zip(bars.column(BarField::Close))
            .map(|(v, c)| v * c)
            .collect();
        let factor = (0..sessions * names)
            .map(|cell| if cell / names < sessions / 3 { 1.0 } else { 1.25 })
            .collect();
        let mut columns = [
            column(BarField::Open),
            column(BarField::High),
            column(BarField::Low),
            column(BarField::Close),
            volume,
            amount,
            factor,
        ];
        for column in &mut columns {
            for session in 0..sessions {
                let is_missing = |name| name == 1 && (70..75).contains(&session) || name == 2 && session < 30;
                for name in (0..names).filter(|name| is_missing(*name)) {
                    column[session * names + name] = f64::NAN;
                }
            }
        }
        ReplayPanel::new(days.collect(), names, columns).unwrap()
    }

    fn same_up_to(one: &ReplayPanel, other: &ReplayPanel, cut: usize) -> bool {
        let cells = (cut + 1) * one.names();
        let bits = |panel: &ReplayPanel, place: usize| -> Vec<u64> {
            panel.columns[place][..cells]
                .iter()
                .map(|cell| cell.to_bits())
                .collect()
        };
        (0..7).all(|place| bits(one, place) == bits(other, place))
    }

    #[test]
    fn what_is_replaced_lies_behind_the_cut_and_all_of_it_is() {
        let panel = traded(200, 5, 3);
        for by in [SuffixReplacement::Paths, SuffixReplacement::Stretch] {
            let made = panel.replaced(120, by, 1);
            assert!(same_up_to(&panel, &made, 120) && made.sessions() == 200);
            for name in 0..5 {
                let is_other = |session: &usize| {
                    let bits =
                        |panel: &ReplayPanel| panel.value(TradedField::Close, *session, name).to_bits();
                    bits(&made) != bits(&panel)
                };
                assert!(77 < (121..200).filter(is_other).count(), "{by:?}");
            }
            assert_ne!(made, panel.replaced(120, by, 2));
            assert_eq!(format!("{made:?}"), format!("{:?}", panel.replaced(120, by, 1)));
        }
        let paths = panel.replaced(120, SuffixReplacement::Paths, 1);
        assert!(paths.value(TradedField::Factor, 199, 0) > panel.value(TradedField::Factor, 199, 0));
        // A stretch begins at the level of the last close.
        let stretch = panel.replaced(120, SuffixReplacement::Stretch, 1);
        let near = stretch.value(TradedField::Close, 121, 0) / panel.value(TradedField::Close, 120, 0);
        assert!((near - 1.0).abs() < 1e-12, "{near}");
        // Gaps behind the cut lie elsewhere, and are as many; a name that begins there stays as it is.
        let early = panel.replaced(20, SuffixReplacement::Stretch, 1);
        let gaps = |panel: &ReplayPanel, name| -> Vec<usize> {
            (21..200)
                .filter(|session| !panel.has_bar(*session, name))
                .collect()
        };
        assert_eq!(gaps(&panel, 1), [70, 71, 72, 73, 74]);
        assert!(gaps(&early, 1).len() == 5 && gaps(&early, 1) != gaps(&panel, 1));
        assert_eq!(gaps(&early, 2), gaps(&panel, 2));
    }

    #[test]
    fn prefixes_and_views_at_the_open_know_nothing_later() {
        let panel = traded(200, 5, 3);
        let prefix = panel.prefix(80);
        assert!(same_up_to(&panel, &prefix, 80) && prefix.sessions() == 81);
        let view = panel.open_view(80);
        assert!(same_up_to(&panel, &view, 79) && view.sessions() == 81);
        let open = panel.value(TradedField::Open, 80, 3);
        for field in [
            TradedField::High,
            TradedField::Low,
            TradedField::Close,
            TradedField::Open,
        ] {
            assert_eq!(view.value(field, 80, 3).to_bits(), open.to_bits());
        }
        let before = panel.value(TradedField::Volume, 79, 3);
        assert_eq!(view.value(TradedField::Volume, 80, 3).to_bits(), before.to_bits());
        // After a gap the session before has no volume, and a bar that is missing stays so.
        assert_eq!(
            panel.open_view(75).value(TradedField::Volume, 75, 1).to_bits(),
            0.0_f64.to_bits()
        );
        assert!(!panel.open_view(72).has_bar(72, 1));
    }

    #[test]
    fn adjusted_bars_are_prices_times_factor_and_shares_over_it() {
        let panel = traded(200, 5, 3);
        let bars = panel.adjusted().unwrap();
        let near = |found: f64, by_hand: f64| assert!((found / by_hand - 1.0).abs() < 1e-12);
        near(
            bars.value(BarField::Close, 150, 0),
            1.25 * panel.value(TradedField::Close, 150, 0),
        );
        near(
            bars.value(BarField::Volume, 150, 0),
            panel.value(TradedField::Volume, 150, 0) / 1.25,
        );
        assert!(bars.value(BarField::Close, 72, 1).is_nan());
    }

    #[test]
    fn what_is_no_panel_is_refused() {
        let day = |number| SessionDay {
            month: SessionMonth { year: 2020, month: 1 },
            number,
        };
        let cells = |count: usize| [const { Vec::new() }; 7].map(|_: Vec<f64>| vec![1.0; count]);
        assert!(ReplayPanel::new(vec![day(1), day(2)], 2, cells(4)).is_ok());
        assert_eq!(ReplayPanel::new(vec![], 2, cells(0)), Err(LeakageError::Empty));
        let short = ReplayPanel::new(vec![day(1)], 2, cells(1));
        assert!(matches!(short, Err(LeakageError::Shape { series: "open", .. })));
        let twice = ReplayPanel::new(vec![day(1), day(1)], 1, cells(2));
        assert_eq!(twice, Err(LeakageError::Order { session: 1 }));
    }
}
