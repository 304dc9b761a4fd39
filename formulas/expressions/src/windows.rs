//! From the state of a window to the code that computes it.

use crate::cells::Cells;
use crate::extreme::{ExtremeOf, largest, smallest};
use crate::line::{LineSums, lines};
use crate::moments::{MomentScratch, mean_deviations, moments, shapes};
use crate::node::{NodeId, Statistic, WindowState};
use crate::pair::{PairScratch, pairs};
use crate::place_set::PlaceSet;
use crate::sorted::ordered;
use crate::weighted::{LinearSums, exponential, exponential_all, linear, present};

/// What windows keep between names: memory alone, no value.
#[derive(Debug, Default)]
pub(crate) struct WindowScratch {
    moments: MomentScratch,
    lines: Vec<LineSums>,
    pairs: PairScratch,
    linear: Vec<LinearSums>,
    largest: Vec<ExtremeOf<false>>,
    smallest: Vec<ExtremeOf<true>>,
    places: PlaceSet,
}

impl WindowScratch {
    /// Fills the answers of all statistics that are asked of a state.
    pub(crate) fn answer(
        &mut self,
        state: WindowState,
        slots: &[Cells],
        asked: &mut [(Statistic, Vec<f64>)],
    ) {
        let cells = |id: NodeId| slots.get(id).unwrap_or(&Cells::Empty);
        let doubles = |id: NodeId| cells(id).doubles();
        let scratch = self;
        match state {
            WindowState::Moments(x, rows) => moments(doubles(x), rows, asked, &mut scratch.moments),
            WindowState::Shape(x, rows) => shapes(doubles(x), rows, asked, &mut scratch.moments),
            WindowState::Line(raw, x, rows) => {
                lines(doubles(raw), doubles(x), rows, asked, &mut scratch.lines);
            }
            WindowState::Pair(x, rows) => {
                pairs(
                    cells(x).pairs(),
                    rows,
                    asked,
                    &mut scratch.pairs,
                    &mut scratch.moments,
                );
            }
            WindowState::Largest(x, rows) => largest(doubles(x), rows, asked, &mut scratch.largest),
            WindowState::Smallest(x, rows) => {
                smallest(doubles(x), rows, asked, &mut scratch.smallest);
            }
            WindowState::Ordered(x, rows) => {
                if let Cells::Sorted(sorted) = cells(x) {
                    ordered(sorted, rows, asked, &mut scratch.places);
                }
            }
            WindowState::Deviations(..)
            | WindowState::Present(..)
            | WindowState::Linear(..)
            | WindowState::Exponential(..)
            | WindowState::ExponentialAll(_) => {
                for (_, answer) in asked {
                    one_value(state, &doubles, scratch, answer);
                }
            }
        }
    }
}

/// Fills the answer of a state that has a single statistic.
fn one_value<'a>(
    state: WindowState,
    doubles: &impl Fn(NodeId) -> &'a [f64],
    scratch: &mut WindowScratch,
    answer: &mut Vec<f64>,
) {
    match state {
        WindowState::Deviations(x, rows) => {
            mean_deviations(doubles(x), rows, answer, &mut scratch.moments);
        }
        WindowState::Linear(x, rows) => linear(doubles(x), rows, &mut scratch.linear, answer),
        WindowState::Exponential(x, share) => {
            exponential(doubles(x), f64::from_bits(share), answer);
        }
        WindowState::ExponentialAll(x) => exponential_all(doubles(x), answer),
        WindowState::Present(x, rows) => present(doubles(x), rows, answer),
        WindowState::Moments(..)
        | WindowState::Shape(..)
        | WindowState::Line(..)
        | WindowState::Pair(..)
        | WindowState::Largest(..)
        | WindowState::Smallest(..)
        | WindowState::Ordered(..) => {}
    }
}
