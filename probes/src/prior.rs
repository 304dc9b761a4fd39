//! How likely each stock and day is before an exhibit is looked at, by the design of the probes.

use crate::kind::ProbeKind;
use crate::sampling_design::SamplingDesign;
use ktd_env::Board;
use std::collections::BTreeMap;

/// Prior of an exhibit: the probability of each stock to be asked about on each as-of day of the last step. All stocks of a
/// board that can be asked about share that of their board.
#[derive(Debug, Clone)]
pub(crate) struct Prior {
    /// By the board's place in the list of boards, by day.
    of_board: Vec<Vec<f64>>,
    /// The sum over the days before each.
    before: Vec<Vec<f64>>,
    costs: PriorCosts,
}

/// The priors of what a design shows.
pub(crate) type Priors = BTreeMap<(ProbeKind, usize), Prior>;

/// A design, how many members of each board can be asked about on each day, and the days of the panel.
type Known<'d> = (&'d SamplingDesign, &'d [Vec<u32>], usize);

/// The priors of all exhibits of a design.
pub(crate) fn priors(design: &SamplingDesign, askable: &[Vec<u32>], days: usize) -> Priors {
    let shown = ProbeKind::ALL.into_iter().flat_map(|kind| {
        let steps = design.steps_of(kind).into_iter();
        steps.map(move |steps| (kind, steps))
    });
    shown
        .map(|of| (of, Prior::of((design, askable, days), of.0, of.1)))
        .collect()
}

impl Prior {
    /// The prior of an exhibit of this kind that shows so many steps. Where no design is known, all days and stocks are as likely.
    pub(crate) fn of((design, askable, days): Known<'_>, kind: ProbeKind, steps: usize) -> Self {
        let strata = design.of_last_day(kind, steps);
        let mut of_board = vec![vec![0.0; days]; Board::ALL.len()];
        if *design == SamplingDesign::default() {
            for shares in &mut of_board {
                shares.fill(1.0);
            }
        } else if kind.is_asked() {
            // Its target is any of the members of its last day.
            let members = |day: usize| askable.iter().filter_map(|of| of.get(day)).sum::<u32>();
            for shares in &mut of_board {
                for (day, share) in shares.iter_mut().enumerate() {
                    let of_day = strata.first().and_then(|of| of.get(day)).copied().unwrap_or(0.0);
                    *share = each(of_day, members(day));
                }
            }
        } else {
            add_strata(askable, &strata, steps, &mut of_board);
        }
        let costs = costs(&of_board);
        let before = of_board.iter().map(|shares| sums_before(shares)).collect();
        Self {
            of_board,
            before,
            costs,
        }
    }

    /// The probability of each stock of a board on each day.
    pub(crate) fn of_board(&self, board: Board) -> &[f64] {
        of(&self.of_board, board)
    }

    /// The probability of each stock of a board on all days before each.
    pub(crate) fn before(&self, board: Board) -> &[f64] {
        of(&self.before, board)
    }

    /// What each day costs before an exhibit is read.
    pub(crate) const fn costs(&self) -> &PriorCosts {
        &self.costs
    }
}

fn sums_before(shares: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = shares.iter().map(|share| {
        sum += share;
        sum
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// Twice the negative logarithm of each probability against the largest.
fn costs(of_board: &[Vec<f64>]) -> PriorCosts {
    let most = of_board.iter().flatten().copied().fold(0.0, f64::max);
    let cost = |share: &f64| {
        if *share <= 0.0 {
            return IMPOSSIBLE;
        }
        narrow(-2.0 * libm::log(share / most)).min(IMPOSSIBLE)
    };
    let of_board = of_board.iter();
    PriorCosts(of_board.map(|shares| shares.iter().map(cost).collect()).collect())
}

/// The list of a board, of lists in the order of boards.
fn of<T>(lists: &[Vec<T>], board: Board) -> &[T] {
    let place = Board::ALL.iter().position(|of| *of == board);
    place
        .and_then(|place| lists.get(place))
        .map_or(&[], Vec::as_slice)
}

/// Every stratum of a stretch and a board takes a turn; one without a stock to ask about gives its own to the next that has one.
fn add_strata(askable: &[Vec<u32>], strata: &[Vec<f64>], steps: usize, of_board: &mut [Vec<f64>]) {
    // A stock can be asked about that can be on the first as-of day shown.
    let askable = |board: usize, day: usize| {
        let first_shown = (day + 1).checked_sub(steps);
        let counts = askable.get(board).zip(first_shown);
        let stocks = counts.and_then(|(counts, day)| counts.get(day));
        stocks.copied().unwrap_or(0)
    };
    let boards = of_board.len();
    let has_stocks =
        |board: usize, (day, share): (usize, &f64)| if 0 < askable(board, day) { *share } else { 0.0 };
    // In the order in which turns go round.
    let held: Vec<f64> = strata
        .iter()
        .flat_map(|stretch| {
            let of_board = move |board| stretch.iter().enumerate().map(|day| has_stocks(board, day)).sum();
            (0..boards).map(of_board)
        })
        .collect();
    for own in 0..held.len() {
        let ahead = (0..held.len()).map(|ahead| (own + ahead) % held.len());
        let Some((place, held_there)) = ahead
            .filter_map(|place| Some((place, *held.get(place)?)))
            .find(|(_, held)| 0.0 < *held)
        else {
            return;
        };
        let (Some(stretch), Some(shares)) = (strata.get(place / boards), of_board.get_mut(place % boards))
        else {
            return;
        };
        let weight = 1.0 / count(held.len()) / held_there;
        for (day, (share, of_day)) in shares.iter_mut().zip(stretch).enumerate() {
            *share += each(weight * of_day, askable(place % boards, day));
        }
    }
}

fn each(share: f64, stocks: u32) -> f64 {
    if stocks == 0 {
        0.0
    } else {
        share / f64::from(stocks)
    }
}

/// Cost of a day on which no probe of the design can end.
const IMPOSSIBLE: f32 = 60.0;

/// What each day costs a stock of a board before an exhibit is read.
#[derive(Debug, Clone)]
pub(crate) struct PriorCosts(Vec<Vec<f32>>);

impl PriorCosts {
    /// What each day costs a stock of this board.
    pub(crate) fn of_board(&self, board: Board) -> &[f32] {
        of(&self.0, board)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "costs are of order ten")]
const fn narrow(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_precision_loss, reason = "strata are few")]
const fn count(strata: usize) -> f64 {
    strata as f64
}
