//! Statistics over windows of sessions.

use crate::panel::{BarField, BarGrid, cell};
use crate::schema::ROLLING;
use ktd_stats::moments::count;
use pulp::{Arch, NullaryFnOnce};
use std::ops::Range;

/// Names that are computed next to each other.
const LANES: usize = 8;
type Lanes = [f64; LANES];

/// The windows' statistics of a name on a session, in the order of the rolling features: four means of the close, three
/// deviations and a mean of the return, means of volume and range, the highest high, the lowest low. NaN where less than
/// two thirds of a window, rounded up, is present.
pub(crate) type WindowStats = [f64; ROLLING];

/// The statistics of every session and name, by session.
pub(crate) fn window_stats(bars: &BarGrid) -> Vec<WindowStats> {
    window_stats_from(bars, 0)
}

/// The statistics of sessions from one on.
pub(crate) fn window_stats_from(bars: &BarGrid, first: usize) -> Vec<WindowStats> {
    let names = bars.names();
    let sessions = bars.sessions();
    let mut stats = vec![[f64::NAN; ROLLING]; sessions.saturating_sub(first) * names];
    let mut of_block: Vec<[Lanes; ROLLING]> = Vec::with_capacity(sessions);
    for block in (0..names).step_by(LANES) {
        let inputs = Inputs::of(bars, block);
        of_block.clear();
        Arch::new().dispatch(BlockStats {
            inputs: &inputs,
            sessions: first..sessions,
            stats: &mut of_block,
        });
        for (session, lanes) in (first..sessions).zip(&of_block) {
            let from = (session - first) * names + block;
            let cells = stats.get_mut(from..(from + LANES).min(from - block + names));
            for (lane, cells) in cells.unwrap_or(&mut []).iter_mut().enumerate() {
                for (stat, lanes) in cells.iter_mut().zip(lanes) {
                    *stat = cell(lanes, lane);
                }
            }
        }
    }
    stats
}

/// Sessions of a block of names; what is missing adds nothing and is never the largest or smallest.
struct Inputs {
    /// 1 where the bar is present.
    present: Vec<Lanes>,
    close: Vec<Lanes>,
    /// 1 where this bar and the one before are present.
    returned: Vec<Lanes>,
    returns: Vec<Lanes>,
    volume: Vec<Lanes>,
    range: Vec<Lanes>,
    high: Vec<Lanes>,
    low: Vec<Lanes>,
}

impl Inputs {
    fn of(bars: &BarGrid, block: usize) -> Self {
        let sessions = bars.sessions();
        let column = || Vec::with_capacity(sessions);
        let mut inputs = Self {
            present: column(),
            close: column(),
            returned: column(),
            returns: column(),
            volume: column(),
            range: column(),
            high: column(),
            low: column(),
        };
        let mut before = [f64::NAN; LANES];
        for session in 0..sessions {
            let lanes = |field| lanes(bars.row(field, session), block);
            let close = lanes(BarField::Close);
            inputs.push(
                close,
                lanes(BarField::High),
                lanes(BarField::Low),
                lanes(BarField::Volume),
                before,
            );
            before = close;
        }
        inputs
    }

    /// Adds a session; a bar is whole or missing.
    fn push(&mut self, close: Lanes, high: Lanes, low: Lanes, volume: Lanes, before: Lanes) {
        let each = |of: &dyn Fn(usize) -> f64| -> Lanes { std::array::from_fn(of) };
        let filled = |lanes: &Lanes, missing: f64| each(&|lane| or(cell(lanes, lane), missing));
        let ones = |lanes: &Lanes| each(&|lane| if cell(lanes, lane).is_nan() { 0.0 } else { 1.0 });
        let returns = each(&|lane| cell(&close, lane) / cell(&before, lane) - 1.0);
        let range = each(&|lane| (cell(&high, lane) - cell(&low, lane)) / cell(&close, lane));
        self.present.push(ones(&close));
        self.returned.push(ones(&returns));
        self.close.push(filled(&close, 0.0));
        self.returns.push(filled(&returns, 0.0));
        self.volume.push(filled(&volume, 0.0));
        self.range.push(filled(&range, 0.0));
        self.high.push(filled(&high, f64::NEG_INFINITY));
        self.low.push(filled(&low, f64::INFINITY));
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn stats(&self, session: usize) -> [Lanes; ROLLING] {
        let of = |values, width| window(values, session, width);
        let present = |width| of(&self.present, width);
        let [ma_5, ma_10, ma_20, ma_60] = means(of(&self.close, 60), present(60), [5, 10, 20, 60]);
        let returned = |width| (of(&self.returns, width), of(&self.returned, width));
        let [return_5, return_20, return_60] = means(returned(60).0, returned(60).1, [5, 20, 60]);
        let [volume_20] = means(of(&self.volume, 20), present(20), [20]);
        let [range_5] = means(of(&self.range, 5), present(5), [5]);
        [
            ma_5,
            ma_10,
            ma_20,
            ma_60,
            deviations(returned(5), &return_5),
            deviations(returned(20), &return_20),
            deviations(returned(60), &return_60),
            return_5,
            volume_20,
            range_5,
            extremes(of(&self.high, 20), present(20), |found, value| found < value),
            extremes(of(&self.low, 20), present(20), |found, value| value < found),
        ]
    }
}

/// The statistics of a block of names. A type and loops, since what is not inlined into it is not widened.
struct BlockStats<'a> {
    inputs: &'a Inputs,
    sessions: Range<usize>,
    stats: &'a mut Vec<[Lanes; ROLLING]>,
}

impl NullaryFnOnce for BlockStats<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        for session in self.sessions {
            self.stats.push(self.inputs.stats(session));
        }
    }
}

/// The cells of a block of names; behind the last name they are missing.
fn lanes(row: &[f64], block: usize) -> Lanes {
    let mut lanes = [f64::NAN; LANES];
    for (lane, value) in lanes.iter_mut().zip(row.iter().skip(block)) {
        *lane = *value;
    }
    lanes
}

/// A value, or what stands for a missing one.
const fn or(value: f64, missing: f64) -> f64 {
    if value.is_nan() { missing } else { value }
}

/// The last sessions up to one: fewer where the panel begins.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn window(values: &[Lanes], session: usize, width: usize) -> &[Lanes] {
    let from = (session + 1).saturating_sub(width);
    values.get(from..=session).unwrap_or(&[])
}

/// Where enough of a window is present: two thirds, rounded up, of the sessions.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn where_present(values: Lanes, counts: &Lanes, width: usize) -> Lanes {
    let need = count((2 * width).div_ceil(3));
    let mut kept = values;
    for (value, count) in kept.iter_mut().zip(counts) {
        *value = if need <= *count { *value } else { f64::NAN };
    }
    kept
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn add(sums: &mut Lanes, values: &Lanes) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

/// Means over the last sessions of a window, for widths that ascend: each sum continues the one before.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn means<const WIDTHS: usize>(
    values: &[Lanes],
    present: &[Lanes],
    widths: [usize; WIDTHS],
) -> [Lanes; WIDTHS] {
    let (mut sums, mut counts, mut taken) = ([0.0; LANES], [0.0; LANES], 0);
    let mut newest_first = values.iter().rev().zip(present.iter().rev());
    let mut found = [[0.0; LANES]; WIDTHS];
    for (means, width) in found.iter_mut().zip(widths) {
        for (values, present) in newest_first.by_ref().take(width - taken) {
            add(&mut sums, values);
            add(&mut counts, present);
        }
        taken = width;
        *means = sums;
        for (mean, count) in means.iter_mut().zip(&counts) {
            *mean /= *count;
        }
        *means = where_present(*means, &counts, width);
    }
    found
}

/// Sample deviations over a window around its means; NaN where those are.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn deviations((values, present): (&[Lanes], &[Lanes]), means: &Lanes) -> Lanes {
    let (mut squares, mut counts) = ([0.0; LANES], [0.0; LANES]);
    for (values, present) in values.iter().zip(present) {
        let lanes = values.iter().zip(present).zip(means);
        for (square, ((value, present), mean)) in squares.iter_mut().zip(lanes) {
            *square += present * ((value - mean) * (value - mean));
        }
        add(&mut counts, present);
    }
    for (square, count) in squares.iter_mut().zip(&counts) {
        *square = (*square / (*count - 1.0)).sqrt();
    }
    squares
}

/// The values over 20 sessions than which no other is further out.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn extremes(values: &[Lanes], present: &[Lanes], is_further: impl Fn(f64, f64) -> bool) -> Lanes {
    let (mut found, mut counts) = (values.first().copied().unwrap_or([f64::NAN; LANES]), [0.0; LANES]);
    for (values, present) in values.iter().zip(present) {
        for (found, value) in found.iter_mut().zip(values) {
            *found = if is_further(*found, *value) {
                *value
            } else {
                *found
            };
        }
        add(&mut counts, present);
    }
    where_present(found, &counts, 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::market;

    #[test]
    fn windows_by_hand_with_gaps() {
        let bars = market(90, 11, 5);
        let holed = bars.map(0..90, &mut |_, session, name, value| {
            if name == 9 && (70..77).contains(&session) {
                f64::NAN
            } else {
                value
            }
        });
        let stats = window_stats(&holed);
        let close = |t: usize| holed.value(BarField::Close, t, 9);
        let mean = |from: usize, to: usize| {
            let present: Vec<f64> = (from..=to).map(close).filter(|close| !close.is_nan()).collect();
            present.iter().sum::<f64>() / f64::from(u32::try_from(present.len()).unwrap())
        };
        let at = |t: usize| stats[t * 11 + 9];
        assert!(at(76)[2].is_nan(), "13 of 20 are present, 14 are needed");
        assert!((at(75)[2] - mean(56, 75)).abs() < 1e-12);
        assert!((at(85)[3] - mean(26, 85)).abs() < 1e-12);
        assert!((at(39)[3] - mean(0, 39)).abs() < 1e-12 && at(38)[3].is_nan());
        let highs = (56..=75).map(|t| holed.value(BarField::High, t, 9));
        assert!((at(75)[10] - highs.fold(0.0, f64::max)).abs() < 1e-12);
        let five: Vec<f64> = (85..=89).map(|t| close(t) / close(t - 1) - 1.0).collect();
        let average = five.iter().sum::<f64>() / 5.0;
        let squares: f64 = five
            .iter()
            .map(|value| (value - average) * (value - average))
            .sum();
        assert!((at(89)[4] - (squares / 4.0).sqrt()).abs() < 1e-12);
        assert!((at(89)[7] - average).abs() < 1e-12);
    }

    #[test]
    fn a_window_of_later_sessions_has_the_same_bits() {
        let bars = market(130, 9, 6);
        let (all, last) = (window_stats(&bars), window_stats_from(&bars, 129));
        assert_eq!(all[129 * 9..], last[..]);
        let short = bars.map(60..130, &mut |_, _, _, value| value);
        assert_eq!(window_stats_from(&short, 69), last);
    }
}
