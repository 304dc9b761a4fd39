//! Peers of a name: those whose returns move with its own.

use crate::panel::{BarField, BarGrid, SessionMonth, cell};
use ktd_stats::moments::count;
use pulp::{Arch, NullaryFnOnce};
use std::ops::Range;

/// Sessions whose returns decide a month's peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphWindow {
    before: usize,
    after: usize,
}

impl GraphWindow {
    /// The fewest sessions, when the panel's ends cut the window.
    pub const LEAST_SESSIONS: usize = 60;

    /// So many sessions before the month.
    #[must_use]
    pub const fn trailing(sessions: usize) -> Self {
        let (before, after) = (sessions, 0);
        Self { before, after }
    }

    /// Half of so many sessions before the month's first, that session, and half of them after: it looks ahead.
    #[must_use]
    pub const fn symmetric(sessions: usize) -> Self {
        let (before, after) = (sessions / 2, sessions / 2 + 1);
        Self { before, after }
    }

    /// All of a panel of so many sessions: it looks ahead.
    #[must_use]
    pub const fn whole(sessions: usize) -> Self {
        let (before, after) = (sessions, sessions);
        Self { before, after }
    }

    /// The window around a month's first session, within the panel; the first session of all has no return.
    const fn around(self, first: usize, sessions: usize) -> Range<usize> {
        let from = first.saturating_sub(self.before);
        let to = first + self.after;
        (if from == 0 { 1 } else { from })..(if to < sessions { to } else { sessions })
    }
}

/// The peers of each name in one month.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerGraph {
    sessions: Range<usize>,
    window: Range<usize>,
    peers: Vec<Vec<(usize, f64)>>,
}

impl PeerGraph {
    /// The month's sessions.
    #[must_use]
    pub const fn sessions(&self) -> &Range<usize> {
        &self.sessions
    }

    /// The sessions whose returns were compared.
    #[must_use]
    pub const fn window(&self) -> &Range<usize> {
        &self.window
    }

    /// For each name its peers, the nearest first, with weights that sum to 1; empty for a name without one.
    #[must_use]
    pub fn peers(&self) -> &[Vec<(usize, f64)>] {
        &self.peers
    }

    /// The graph that holds on a session; `None` before the first.
    pub(crate) fn on(graphs: &[Self], session: usize) -> Option<&Self> {
        let after = graphs.partition_point(|graph| graph.sessions.start <= session);
        let graph = graphs.get(after.checked_sub(1)?)?;
        graph.sessions.contains(&session).then_some(graph)
    }

    /// The weighted mean over the peers that have a value, weights shared anew among them; NaN without one.
    pub(crate) fn mean_over(peers: &[(usize, f64)], value_of: impl Fn(usize) -> f64) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (peer, weight) in peers {
            let value = value_of(*peer);
            if value.is_finite() {
                sum += weight * value;
                weights += weight;
            }
        }
        if 0.0 < weights { sum / weights } else { f64::NAN }
    }
}

/// The weighted mean of a column over the peers of each name, a cell for each name of the first session, then of the second.
#[must_use]
pub fn peer_means(graphs: &[PeerGraph], values: &[f64], names: usize) -> Vec<f64> {
    let of_session = |(session, row): (usize, &[f64])| -> Vec<f64> {
        let graph = PeerGraph::on(graphs, session);
        let of_name = |name: usize| {
            let peers = graph.and_then(|graph| graph.peers.get(name));
            peers.map_or(f64::NAN, |peers| {
                PeerGraph::mean_over(peers, |peer| cell(row, peer))
            })
        };
        (0..row.len()).map(of_name).collect()
    };
    values
        .chunks(names.max(1))
        .enumerate()
        .flat_map(of_session)
        .collect()
}

/// The graph of each calendar month whose window has at least 60 sessions (docs/spec/leakage.md#features): the absolute
/// correlation of daily log returns over sessions that both names have, at least two thirds of the window.
#[must_use]
pub fn peer_graphs(bars: &BarGrid, window: GraphWindow, peers: usize) -> Vec<PeerGraph> {
    let months = month_sessions(bars.months());
    let returns: Vec<Vec<f64>> = (0..bars.names()).map(|name| log_returns(bars, name)).collect();
    let of_month = |sessions: &Range<usize>| {
        let window = window.around(sessions.start, bars.sessions());
        (GraphWindow::LEAST_SESSIONS <= window.len()).then(|| PeerGraph {
            sessions: sessions.clone(),
            peers: nearest(&returns, &window, peers),
            window,
        })
    };
    months.iter().filter_map(of_month).collect()
}

fn month_sessions(months: &[SessionMonth]) -> Vec<Range<usize>> {
    let mut from = 0;
    let of_month = |month: &[SessionMonth]| {
        let sessions = from..from + month.len();
        from = sessions.end;
        sessions
    };
    months
        .chunk_by(|left, right| left == right)
        .map(of_month)
        .collect()
}

/// The log returns of a name, NaN where one of two sessions behind each other is missing.
fn log_returns(bars: &BarGrid, name: usize) -> Vec<f64> {
    let mut before = f64::NAN;
    let of = |session: usize| {
        let close = bars.value(BarField::Close, session, name);
        let growth = close / before;
        before = close;
        libm::log(growth)
    };
    (0..bars.sessions()).map(of).collect()
}

/// The returns of a name within a window.
struct WindowReturns {
    /// Less their mean; 0 where missing.
    centred: Vec<f64>,
    missing: Vec<usize>,
    /// A bit for each session, set where the return is present.
    present_bits: Vec<u64>,
    present: usize,
    sum: f64,
    squares: f64,
}

impl WindowReturns {
    fn of(returns: &[f64], window: &Range<usize>) -> Self {
        let mut centred = returns.get(window.clone()).unwrap_or(&[]).to_vec();
        let missing: Vec<usize> = (0..centred.len())
            .filter(|place| !cell(&centred, *place).is_finite())
            .collect();
        let present = centred.len() - missing.len();
        let bits = |values: &[f64]| {
            values
                .iter()
                .rev()
                .fold(0, |bits, value| bits << 1 | u64::from(value.is_finite()))
        };
        let present_bits = centred.chunks(64).map(bits).collect();
        let known = centred.iter().filter(|value| value.is_finite());
        let mean = known.sum::<f64>() / count(present.max(1));
        for value in &mut centred {
            *value = if value.is_finite() { *value - mean } else { 0.0 };
        }
        Self {
            sum: centred.iter().sum(),
            squares: centred.iter().map(|value| value * value).sum(),
            centred,
            missing,
            present_bits,
            present,
        }
    }

    /// Sum and squares over the sessions that another name has too.
    fn with(&self, other: &Self) -> (f64, f64) {
        let (mut sum, mut squares) = (self.sum, self.squares);
        for place in &other.missing {
            let value = cell(&self.centred, *place);
            sum -= value;
            squares -= value * value;
        }
        (sum, squares)
    }

    /// Sessions that both have.
    fn common(&self, other: &Self) -> usize {
        if self.missing.is_empty() || other.missing.is_empty() {
            return self.present.min(other.present);
        }
        let words = self.present_bits.iter().zip(&other.present_bits);
        words
            .map(|(own, other)| usize::try_from((own & other).count_ones()).unwrap_or(0))
            .sum()
    }

    /// The absolute correlation; 0 where a name does not vary or too little is common.
    fn correlation(&self, other: &Self, products: f64, need: usize) -> f64 {
        let common = self.common(other);
        if common < need {
            return 0.0;
        }
        let (sum, squares) = self.with(other);
        let (other_sum, other_squares) = other.with(self);
        let total = count(common);
        let (varied, other_varied) = (
            squares - sum * sum / total,
            other_squares - other_sum * other_sum / total,
        );
        if varied <= LEFT * self.squares || other_varied <= LEFT * other.squares {
            return self.exact_correlation(other, total);
        }
        ratio(products - sum * other_sum / total, varied, other_varied)
    }

    /// In two passes over the common sessions.
    fn exact_correlation(&self, other: &Self, total: f64) -> f64 {
        let is_missing = |row: &Self, place: &usize| row.missing.binary_search(place).is_ok();
        let common: Vec<(f64, f64)> = (0..self.centred.len())
            .filter(|place| !is_missing(self, place) && !is_missing(other, place))
            .map(|place| (cell(&self.centred, place), cell(&other.centred, place)))
            .collect();
        let mean = common.iter().map(|(left, _)| left).sum::<f64>() / total;
        let other_mean = common.iter().map(|(_, right)| right).sum::<f64>() / total;
        let (mut products, mut squares, mut other_squares) = (0.0, 0.0, 0.0);
        for (left, right) in common {
            let (left, right) = (left - mean, right - other_mean);
            products += left * right;
            squares += left * left;
            other_squares += right * right;
        }
        if squares <= ROUNDING || other_squares <= ROUNDING {
            return 0.0;
        }
        ratio(products, squares, other_squares)
    }
}

/// Differences of sums keep no digits where less than this share is left of them.
const LEFT: f64 = 1e-6;

/// Squares of the rounding of a constant return: no variation.
const ROUNDING: f64 = 1e-28;

fn ratio(products: f64, squares: f64, other_squares: f64) -> f64 {
    let scale = (squares * other_squares).sqrt();
    if 0.0 < scale {
        (products / scale).abs().min(1.0)
    } else {
        0.0
    }
}

const LANES: usize = 8;

/// The sum of products, over lanes that are joined in order.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    for (left, right) in left.iter().zip(right) {
        for ((lane, left), right) in lanes.iter_mut().zip(left).zip(right) {
            *lane += left * right;
        }
    }
    let rest: f64 = left_rest
        .iter()
        .zip(right_rest)
        .map(|(left, right)| left * right)
        .sum();
    lanes.iter().sum::<f64>() + rest
}

/// The sums of products with all other names. A type and a loop, since what is not inlined into it is not widened.
struct Products<'a> {
    own: &'a WindowReturns,
    others: &'a [WindowReturns],
    sums: &'a mut Vec<f64>,
}

impl NullaryFnOnce for Products<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        for other in self.others {
            self.sums.push(dot(&self.own.centred, &other.centred));
        }
    }
}

/// The nearest names of each, with weights.
fn nearest(returns: &[Vec<f64>], window: &Range<usize>, peers: usize) -> Vec<Vec<(usize, f64)>> {
    let names = returns.len();
    let need = (2 * window.len()).div_ceil(3);
    let returns: Vec<WindowReturns> = returns.iter().map(|of| WindowReturns::of(of, window)).collect();
    let mut found = vec![Vec::with_capacity(peers + 1); names];
    let mut products = Vec::with_capacity(names);
    for (name, own) in returns.iter().enumerate() {
        if own.present < need {
            continue;
        }
        let others = returns.get(name + 1..).unwrap_or(&[]);
        products.clear();
        let sums = &mut products;
        Arch::new().dispatch(Products { own, others, sums });
        for (offset, (other, products)) in others.iter().zip(&products).enumerate() {
            let other_name = name + 1 + offset;
            let correlation = own.correlation(other, *products, need);
            for (place, peer) in [(name, other_name), (other_name, name)] {
                if let Some(nearest) = found.get_mut(place) {
                    insert(nearest, peers, peer, correlation);
                }
            }
        }
    }
    found.iter().map(|nearest| weights(nearest)).collect()
}

/// Keeps the largest correlations, the largest first; peers come in the order of their codes, which ties keep.
fn insert(nearest: &mut Vec<(usize, f64)>, most: usize, peer: usize, correlation: f64) {
    let least = if nearest.len() < most {
        0.0
    } else {
        nearest.last().map_or(f64::INFINITY, |kept| kept.1)
    };
    if least < correlation {
        let place = nearest.partition_point(|(_, kept)| correlation <= *kept);
        nearest.insert(place, (peer, correlation));
        nearest.truncate(most);
    }
}

fn weights(nearest: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let sum: f64 = nearest.iter().map(|(_, correlation)| correlation).sum();
    nearest
        .iter()
        .map(|(peer, correlation)| (*peer, correlation / sum))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::market;

    #[test]
    fn windows_lie_within_the_panel() {
        assert_eq!(GraphWindow::trailing(252).around(40, 500), 1..40);
        assert_eq!(GraphWindow::trailing(252).around(300, 500), 48..300);
        assert_eq!(GraphWindow::symmetric(252).around(300, 500), 174..427);
        assert_eq!(GraphWindow::symmetric(252).around(450, 500), 324..500);
    }

    /// The absolute correlation in two passes, by the definition.
    fn by_definition(bars: &BarGrid, window: &Range<usize>, left: usize, right: usize) -> f64 {
        let of = |name: usize, session: usize| {
            let close = |session| bars.value(BarField::Close, session, name);
            libm::log(close(session) / close(session - 1))
        };
        let common = window
            .clone()
            .map(|session| (of(left, session), of(right, session)));
        let common: Vec<(f64, f64)> = common.filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
        if common.len() < (2 * window.len()).div_ceil(3) {
            return 0.0;
        }
        let total = count(common.len());
        let (a, b) = common
            .iter()
            .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        let sum = |f: &dyn Fn(f64, f64) -> f64| {
            common
                .iter()
                .map(|pair| f(pair.0 - a / total, pair.1 - b / total))
                .sum::<f64>()
        };
        (sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt()).abs()
    }

    #[test]
    fn peers_follow_the_definition_with_gaps_of_every_kind() {
        let bars = market(200, 12, 3);
        let holed = bars.map(0..200, &mut |_, session, name, value| match name {
            3 if session.is_multiple_of(7) => f64::NAN,
            5 if session < 120 => f64::NAN,
            8 if (60..90).contains(&session) => f64::NAN,
            _ => value,
        });
        let graphs = peer_graphs(&holed, GraphWindow::trailing(126), 4);
        assert!(!graphs.is_empty());
        for graph in &graphs {
            for (name, peers) in graph.peers().iter().enumerate() {
                let mut all: Vec<(usize, f64)> = (0..12)
                    .filter(|other| *other != name)
                    .map(|other| (other, by_definition(&holed, graph.window(), name, other)))
                    .filter(|(_, correlation)| 0.0 < *correlation)
                    .collect();
                all.sort_by(|left, right| right.1.total_cmp(&left.1));
                all.truncate(4);
                let sum: f64 = all.iter().map(|(_, correlation)| correlation).sum();
                assert_eq!(peers.len(), all.len(), "{name}");
                for (found, expected) in peers.iter().zip(&all) {
                    assert_eq!(found.0, expected.0);
                    assert!((found.1 - expected.1 / sum).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_constant_price_has_no_peer_and_later_bars_change_no_trailing_graph() {
        let bars = market(150, 5, 4);
        let flat = bars.map(0..150, &mut |_, _, name, value| {
            if name == 2 { 10.0 } else { value }
        });
        let graphs = peer_graphs(&flat, GraphWindow::trailing(252), 5);
        assert!(graphs.iter().all(|graph| graph.peers()[2].is_empty()));
        let cut = graphs.last().unwrap().sessions().start;
        let other = flat.map(0..150, &mut |_, session, _, value| {
            if cut < session { 2.0 * value } else { value }
        });
        assert_eq!(peer_graphs(&other, GraphWindow::trailing(252), 5), graphs);
        assert_ne!(
            peer_graphs(&other, GraphWindow::symmetric(252), 5),
            peer_graphs(&flat, GraphWindow::symmetric(252), 5)
        );
    }
}
