//! Panels without a signal between names, and the gains that they show all the same.

use crate::panel::{BarField, BarGrid, cell as at};
use ktd_stats::SplitMix64;
use ktd_stats::moments::mean;

/// Gains in twenty on panels without a signal that the band holds.
const HELD: usize = 19;

/// The fewest panels without a signal that have a band: of fewer, another is above all of them more often than once in twenty.
pub const FEWEST_NOISE_PANELS: usize = HELD;

/// A panel whose names go on with each other's paths: in every block of sessions each name takes the bars of another, at a
/// level that continues its own. The returns of every session are the same ones, dealt to other names at each block.
#[must_use]
pub fn permuted_paths(bars: &BarGrid, block_sessions: usize, seed: u64) -> BarGrid {
    let names = bars.names();
    let volumes: Vec<f64> = (0..names).map(|name| mean_volume(bars, name)).collect();
    // The last close of each name, in the panel and in the one that is made.
    let (mut last, mut made) = (vec![f64::NAN; names], vec![f64::NAN; names]);
    let mut dealt = vec![Donor::default(); bars.sessions() * names];
    for (block, from) in (0..bars.sessions()).step_by(block_sessions.max(1)).enumerate() {
        let to = (from + block_sessions.max(1)).min(bars.sessions());
        let dealt_block = deal(&permutation(names, seed, block), &made, &last, &volumes);
        for session in from..to {
            let closes = bars.row(BarField::Close, session);
            for (name, donor) in dealt_block.iter().enumerate() {
                let close = at(closes, donor.name);
                if let (Some(made), false) = (made.get_mut(name), close.is_nan()) {
                    *made = donor.price * close;
                }
                if let Some(cell) = dealt.get_mut(session * names + name) {
                    *cell = *donor;
                }
            }
            for (last, close) in last.iter_mut().zip(closes) {
                *last = if close.is_nan() { *last } else { *close };
            }
        }
    }
    bars.map(0..bars.sessions(), &mut |field, session, name, _| {
        let donor = dealt.get(session * names + name).copied().unwrap_or_default();
        let scale = if field == BarField::Volume {
            donor.volume
        } else {
            donor.price
        };
        scale * bars.value(field, session, donor.name)
    })
}

/// Whose bars a name has on a session, and at which level.
#[derive(Debug, Clone, Copy, Default)]
struct Donor {
    name: usize,
    price: f64,
    volume: f64,
}

/// The donor of each name, at a level that continues the name's last close.
fn deal(donors: &[usize], made: &[f64], last: &[f64], volumes: &[f64]) -> Vec<Donor> {
    let of_name = |(name, donor): (usize, &usize)| {
        let level = at(made, name) / at(last, *donor);
        Donor {
            name: *donor,
            price: if level.is_finite() { level } else { 1.0 },
            volume: at(volumes, name) / at(volumes, *donor),
        }
    };
    donors.iter().enumerate().map(of_name).collect()
}

/// The mean volume of a name; 1 of one without a bar.
fn mean_volume(bars: &BarGrid, name: usize) -> f64 {
    let volumes = (0..bars.sessions()).map(|session| bars.value(BarField::Volume, session, name));
    mean(&volumes.filter(|volume| !volume.is_nan()).collect::<Vec<f64>>()).unwrap_or(1.0)
}

/// The order of names in a block, by sorting draws.
fn permutation(names: usize, seed: u64, block: usize) -> Vec<usize> {
    let block = u64::try_from(block).unwrap_or(u64::MAX);
    let mut stream = SplitMix64::new(seed ^ SplitMix64::new(block).next_u64());
    let mut drawn: Vec<(u64, usize)> = (0..names).map(|name| (stream.next_u64(), name)).collect();
    drawn.sort_unstable();
    drawn.into_iter().map(|(_, name)| name).collect()
}

/// The absolute gain that the gain of one more panel without a signal exceeds at most once in twenty times; `None` of fewer than
/// [`FEWEST_NOISE_PANELS`], and where one is no number.
///
/// Of `n` gains it is the one at place `ceil(0.95 (n + 1))` by size: one more is equally likely at each of the `n + 1` places
/// among them. The quantile of the `n` alone would be exceeded more often, at 20 panels 2 times in 21.
#[must_use]
pub fn noise_band(gains: &[f64]) -> Option<f64> {
    if !gains.iter().all(|gain| gain.is_finite()) {
        return None;
    }
    let place = (HELD * (gains.len() + 1)).div_ceil(HELD + 1);
    let mut sizes: Vec<f64> = gains.iter().map(|gain| gain.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(place.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::market;

    #[test]
    fn every_session_has_the_same_returns_under_other_names() {
        let bars = market(130, 8, 5);
        let holed = bars.map(0..130, &mut |_, session, name, value| {
            if name == 3 && (40..43).contains(&session) {
                f64::NAN
            } else {
                value
            }
        });
        let made = permuted_paths(&holed, 21, 9);
        let returns = |bars: &BarGrid, session: usize| -> Vec<f64> {
            let close = |session, name| bars.value(BarField::Close, session, name);
            let mut returns: Vec<f64> = (0..8)
                .map(|name| close(session, name) / close(session - 1, name) - 1.0)
                .collect();
            returns.sort_by(f64::total_cmp);
            returns
        };
        let mut moved = 0;
        for session in 1..130 {
            // Where the donor lacks the session before, the level is continued over the gap.
            let is_whole = !(40..44).contains(&session);
            for (found, expected) in returns(&made, session).iter().zip(returns(&holed, session)) {
                assert!(
                    !is_whole || (found - expected).abs() < 1e-12,
                    "{session}: {found} {expected}"
                );
            }
            let shape = |bars: &BarGrid| {
                bars.value(BarField::High, session, 0) / bars.value(BarField::Low, session, 0)
            };
            moved += usize::from((shape(&made) - shape(&holed)).abs() > 1e-12);
        }
        assert!(60 < moved);
        assert_ne!(permuted_paths(&bars, 21, 9), permuted_paths(&bars, 21, 10));
        assert_eq!(permuted_paths(&bars, 21, 9), permuted_paths(&bars, 21, 9));
    }

    /// Gains 1 to `n` of either sign.
    fn gains(count: i32) -> Vec<f64> {
        let sign = |gain| if gain % 2 == 0 { 1.0 } else { -1.0 };
        (1..=count).map(|gain| sign(gain) * f64::from(gain)).collect()
    }

    #[test]
    fn the_band_is_a_gain_above_which_one_place_in_twenty_lies() {
        for (count, band) in [
            (19, 19),
            (20, 20),
            (38, 38),
            (39, 38),
            (59, 57),
            (99, 95),
            (100, 96),
        ] {
            assert_eq!(noise_band(&gains(count)), Some(f64::from(band)), "{count}");
            // Of the places among the gains that one more may take, those above the band.
            let beyond = f64::from(count + 1 - band) / f64::from(count + 1);
            assert!(beyond <= 0.05, "{count}: {beyond}");
        }
        for count in [0, 1, 2, 18] {
            assert_eq!(noise_band(&gains(count)), None, "{count}");
        }
        assert_eq!(noise_band(&[f64::NAN; 20]), None);
    }

    /// A panel without a signal leaves the band of twenty others once in 21 times, whatever the law of its gains.
    #[test]
    fn noise_leaves_its_band_at_most_once_in_twenty_times() {
        let mut stream = SplitMix64::new(7);
        let rounds = 4_000;
        let beyond = (0..rounds).filter(|_| {
            let mut gain = || stream.uniform() - stream.uniform();
            let gains: Vec<f64> = (0..20).map(|_| gain()).collect();
            noise_band(&gains).unwrap() < gain().abs()
        });
        let share = f64::from(i32::try_from(beyond.count()).unwrap()) / f64::from(rounds);
        assert!((0.035..0.06).contains(&share), "{share}");
    }
}
