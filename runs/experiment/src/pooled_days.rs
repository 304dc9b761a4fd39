//! Which days of several windows a ranking over all of them counts.

use ktd_env::DayIndex;
use std::collections::BTreeSet;

/// The fewest days of its own that a window needs where it shares others: of fewer its mean is noise that weighs as much as any
/// other window's.
pub const LEAST_OWN_DAYS: usize = 10;

/// The rule, in words. It reads days alone.
pub const POOLING_RULE: &str = "pooled windows = by last day, then the later first day, then id; a day counts in the first window that has \
                                it; a window that shares days and has fewer than 10 others is left out; means of windows weigh the same";

/// A window of a pool: its place in the list, and which of its days count in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PooledDays {
    /// Its place in the list.
    pub place: usize,
    /// One a day of the window: whether it counts here, and not in a window before.
    pub counts: Vec<bool>,
}

impl PooledDays {
    /// How many days count.
    #[must_use]
    pub fn own(&self) -> usize {
        self.counts.iter().filter(|counts| **counts).count()
    }
}

/// The windows of a pool by [`POOLING_RULE`], each `(id, days)`, in the order of their last days; and the places of those that are left
/// out. A window without days is neither.
#[must_use]
pub fn pooled_days(windows: &[(&str, &[DayIndex])]) -> (Vec<PooledDays>, Vec<usize>) {
    let mut order: Vec<usize> = (0..windows.len()).collect();
    let key = |place: &usize| {
        let (id, days) = windows.get(*place).copied().unwrap_or_default();
        (days.last(), std::cmp::Reverse(days.first()), id)
    };
    order.sort_by(|one, other| key(one).cmp(&key(other)));
    let mut counted: BTreeSet<DayIndex> = BTreeSet::new();
    let (mut pooled, mut left_out) = (Vec::new(), Vec::new());
    for place in order {
        let days = windows.get(place).map_or(&[][..], |(_, days)| *days);
        let found = PooledDays {
            place,
            counts: days.iter().map(|day| !counted.contains(day)).collect(),
        };
        let own = found.own();
        if days.is_empty() {
            continue;
        }
        if own < days.len() && own < LEAST_OWN_DAYS {
            left_out.push(place);
            continue;
        }
        counted.extend(days);
        pooled.push(found);
    }
    (pooled, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    #[test]
    fn a_day_counts_in_the_first_window_that_has_it() {
        let config = SynthConfig {
            seed: 1,
            names: 3,
            days: 90,
        };
        let market = generate(&config).unwrap();
        let days = |from: usize, to: usize| -> Vec<DayIndex> {
            (from..=to).map(|place| market.day_at(place).unwrap()).collect()
        };
        let (around, one, two, within, none) =
            (days(1, 80), days(1, 20), days(15, 40), days(36, 44), days(41, 41));
        let windows: [(&str, &[DayIndex]); 5] = [
            ("around", &around),
            ("one", &one),
            ("two", &two),
            ("within", &within),
            ("day", &none),
        ];
        let (pooled, left_out) = pooled_days(&windows);
        let found: Vec<(&str, usize)> = pooled
            .iter()
            .map(|found| (windows[found.place].0, found.own()))
            .collect();
        // A window of a day counts where it shares none; three days of nine are too few; the long window keeps what is left.
        assert_eq!(found, [("one", 20), ("two", 20), ("day", 1), ("around", 39)]);
        assert_eq!(left_out, [3]);
        assert!(!pooled[1].counts[5] && pooled[1].counts[6]);
    }
}
