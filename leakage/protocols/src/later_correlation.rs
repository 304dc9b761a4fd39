//! How a signal, and what is new in it, goes with each later session and night.

use crate::panel::{BarGrid, cell};
use crate::profile::ReturnPiece;
use crate::signal::{KnownAt, SignalGrid};
use ktd_stats::moments::{count, mean};
use ktd_stats::{Sample, mid_ranks, newey_west};
use pulp::{Arch, NullaryFnOnce};
use schemars::JsonSchema;
use serde::Serialize;

/// Sessions after the stamp that are looked at.
pub const FORESIGHT_SESSIONS: i64 = 61;

/// What of a signal is held against a later return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SignalPart {
    /// Its ranks.
    Level,
    /// Its ranks less those of the session before with scores. A label of many sessions drops one day and takes up one, so that what
    /// is new in it is that one day's return, however small a share of the whole it is.
    News,
}

/// How a part of a signal goes with one later piece of return.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LaterCorrelation {
    /// The piece.
    pub piece: ReturnPiece,
    /// The part.
    pub part: SignalPart,
    /// Days with enough names of which both vary.
    pub days: usize,
    /// Mean daily correlation of ranks.
    pub ic: f64,
    /// Its t by Newey and West; `None` where it does not vary.
    pub t: Option<f64>,
}

/// Names whose sums run beside each other; rows are filled up to whole lanes.
const LANES: usize = 8;

/// Values of each session by name, centred and NaN where missing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DayRanks(Vec<Vec<f64>>);

impl DayRanks {
    /// The ranks of each row among its own values, from -1/2 to 1/2.
    pub(crate) fn of<'a>(rows: impl Iterator<Item = &'a [f64]>) -> Self {
        let rows = rows.map(|row| {
            let mut ranks = centred_ranks(row);
            ranks.resize(row.len().next_multiple_of(LANES), f64::NAN);
            ranks
        });
        Self(rows.collect())
    }

    fn row(&self, session: usize) -> &[f64] {
        self.0.get(session).map_or(&[], Vec::as_slice)
    }

    /// Less the ranks of the last earlier session that has any.
    fn news(&self) -> Self {
        let mut before: &[f64] = &[];
        let rows = self.0.iter().map(|row| {
            let new = row.iter().enumerate();
            let new = new.map(|(name, rank)| rank - cell(before, name)).collect();
            if row.iter().any(|rank| rank.is_finite()) {
                before = row;
            }
            new
        });
        Self(rows.collect())
    }

    /// Its own ranks, ties and all, in the order of the weighted sum with other ranks; missing where either is. So weights that are
    /// equal stay equal: what is mixed in decides who has them, and nothing among those who have the same.
    pub(crate) fn blended(&self, other: &Self, share: f64) -> Self {
        let rows = self.0.iter().enumerate().map(|(session, row)| {
            let sums = row.iter().zip(other.row(session));
            let sums: Vec<f64> = sums
                .map(|(own, other)| (1.0 - share) * own + share * other)
                .collect();
            let own = row.iter().zip(&sums);
            let own: Vec<f64> = own
                .map(|(own, sum)| if sum.is_finite() { *own } else { f64::NAN })
                .collect();
            dealt(&centred_ranks(&own), &sums)
        });
        Self(rows.collect())
    }
}

/// Values in the order of others, missing in the same places: the least to the least. Those whose places are equal share their mean.
fn dealt(values: &[f64], order: &[f64]) -> Vec<f64> {
    let mut places: Vec<usize> = (0..order.len())
        .filter(|place| cell(order, *place).is_finite())
        .collect();
    places.sort_by(|one, other| cell(order, *one).total_cmp(&cell(order, *other)));
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let mut dealt = vec![f64::NAN; order.len()];
    let mut from = 0;
    for equal in places.chunk_by(|one, other| cell(order, *one) >= cell(order, *other)) {
        let own = sorted.get(from..from + equal.len()).and_then(mean);
        for place in equal {
            if let Some(slot) = dealt.get_mut(*place) {
                *slot = own.unwrap_or(f64::NAN);
            }
        }
        from += equal.len();
    }
    dealt
}

pub(crate) fn centred_ranks(row: &[f64]) -> Vec<f64> {
    let (places, values): (Vec<usize>, Vec<f64>) = row
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_finite())
        .map(|(place, value)| (place, *value))
        .unzip();
    let mut ranks = vec![f64::NAN; row.len()];
    let many = count(values.len()) + 1.0;
    for (place, rank) in places.into_iter().zip(mid_ranks(&values)) {
        if let Some(slot) = ranks.get_mut(place) {
            *slot = rank / many - 0.5;
        }
    }
    ranks
}

/// Ranks of the returns of a panel's sessions and nights, made once for all signals.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReturnRanks {
    sessions: DayRanks,
    nights: DayRanks,
}

impl ReturnRanks {
    /// The ranks of a panel.
    pub(crate) fn of(bars: &BarGrid) -> Self {
        let ranks = |piece: ReturnPiece| {
            let rows = (0..bars.sessions()).map(|session| {
                let values = (0..bars.names()).map(|name| piece.value(bars, session, name));
                values.collect::<Vec<f64>>()
            });
            let rows: Vec<Vec<f64>> = rows.collect();
            DayRanks::of(rows.iter().map(Vec::as_slice))
        };
        Self {
            sessions: ranks(ReturnPiece(0)),
            nights: ranks(ReturnPiece(-1)),
        }
    }

    /// The ranks of a piece of return after the stamp of a session; empty outside the panel.
    fn row(&self, piece: ReturnPiece, session: usize) -> &[f64] {
        let days = if piece.is_night() {
            &self.nights
        } else {
            &self.sessions
        };
        let shift = piece.sessions_after();
        let at = i64::try_from(session)
            .ok()
            .and_then(|session| session.checked_add(shift));
        let at = at.and_then(|at| usize::try_from(at).ok());
        at.map_or(&[], |at| days.row(at))
    }
}

/// A signal's parts, ready to be held against returns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SignalParts {
    level: DayRanks,
    news: DayRanks,
}

impl SignalParts {
    /// The parts of a signal.
    pub(crate) fn of(signal: &SignalGrid) -> Self {
        Self::of_ranks(DayRanks::of(
            (0..signal.sessions()).map(|session| signal.row(session)),
        ))
    }

    /// The parts of ranks.
    pub(crate) fn of_ranks(level: DayRanks) -> Self {
        let news = level.news();
        Self { level, news }
    }

    /// The ranks themselves.
    pub(crate) const fn level(&self) -> &DayRanks {
        &self.level
    }

    /// How a part goes with a piece; `None` without a day that has so many names.
    pub(crate) fn foresight(
        &self,
        returns: &ReturnRanks,
        (part, piece): (SignalPart, ReturnPiece),
        min_names: usize,
    ) -> Option<LaterCorrelation> {
        let ranks = match part {
            SignalPart::Level => &self.level,
            SignalPart::News => &self.news,
        };
        let daily = Arch::new().dispatch(DailyCorrelations {
            own: ranks,
            returns,
            piece,
            min_names,
        });
        let sample = Sample::new("daily correlations", &daily).ok()?;
        Some(LaterCorrelation {
            piece,
            part,
            days: daily.len(),
            ic: mean(&daily)?,
            t: newey_west(&sample, None).ok().map(|found| found.t),
        })
    }
}

/// The pieces of return that a signal cannot know, the first ahead.
pub(crate) fn future_pieces(known_at: KnownAt) -> impl Iterator<Item = ReturnPiece> {
    (known_at.first_future_piece()..=2 * FORESIGHT_SESSIONS).map(ReturnPiece)
}

/// The daily correlations of a part with a piece, widened for the machine: sums keep their order in every width.
struct DailyCorrelations<'a> {
    own: &'a DayRanks,
    returns: &'a ReturnRanks,
    piece: ReturnPiece,
    min_names: usize,
}

impl NullaryFnOnce for DailyCorrelations<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) -> Vec<f64> {
        let rows = self.own.0.iter().enumerate();
        rows.filter_map(|(session, own)| {
            let mut sums = CrossSums::default();
            let returns = self.returns.row(self.piece, session);
            for (own, value) in own.as_chunks().0.iter().zip(returns.as_chunks().0) {
                sums.add(own, value);
            }
            sums.correlation(self.min_names)
        })
        .collect()
    }
}

/// Sums over the names that have both, in lanes.
#[derive(Default)]
struct CrossSums {
    names: [f64; LANES],
    own: [f64; LANES],
    value: [f64; LANES],
    own_square: [f64; LANES],
    value_square: [f64; LANES],
    product: [f64; LANES],
}

impl CrossSums {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn add(&mut self, own: &[f64; LANES], value: &[f64; LANES]) {
        let (mut has, mut x, mut y) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let lanes = has.iter_mut().zip(&mut x).zip(&mut y);
        for (((has, x), y), (own, value)) in lanes.zip(own.iter().zip(value)) {
            let has_both = !(own * value).is_nan();
            *has = if has_both { 1.0 } else { 0.0 };
            *x = if has_both { *own } else { 0.0 };
            *y = if has_both { *value } else { 0.0 };
        }
        add_products(&mut self.names, &has, &has);
        add_products(&mut self.own, &x, &has);
        add_products(&mut self.value, &y, &has);
        add_products(&mut self.own_square, &x, &x);
        add_products(&mut self.value_square, &y, &y);
        add_products(&mut self.product, &x, &y);
    }

    /// Pearson's correlation; `None` of too few names, and where one of the two does not vary.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn correlation(&self, min_names: usize) -> Option<f64> {
        let names: f64 = self.names.iter().sum();
        if names < count(min_names.max(2)) {
            return None;
        }
        let (own, value): (f64, f64) = (self.own.iter().sum(), self.value.iter().sum());
        let centred =
            |sums: &[f64; LANES], left: f64, right: f64| sums.iter().sum::<f64>() - left * right / names;
        let scale = centred(&self.own_square, own, own) * centred(&self.value_square, value, value);
        // Ranks are below 1/2, so that a spread of 1e-12 is rounding.
        (1e-12 < scale).then(|| (centred(&self.product, own, value) / scale.sqrt()).clamp(-1.0, 1.0))
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn add_products(sums: &mut [f64; LANES], left: &[f64; LANES], right: &[f64; LANES]) {
    for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
        *sum += left * right;
    }
}
