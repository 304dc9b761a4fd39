//! What is known of an episode's days before it is looked at: which windows are published, and which stretches are played.

use crate::plan::{ProbePlan, Stretch};
use ktd_env::KeyedStream;

/// Prior over the episodes of asking agents. Anybody may own it: it is made of presets and experiment files.
///
/// An exhibit of `n` steps begins where a published window of at least `n` days does, each as likely as any other, or, as
/// often, on any day of the played stretches. So its length tells no more than an agent knows in the middle of an episode:
/// that it has lasted so long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpisodePrior {
    windows: Vec<Stretch>,
    stretches: Vec<Stretch>,
    days: usize,
}

impl EpisodePrior {
    /// The prior of windows and stretches on a panel of so many days.
    #[must_use]
    pub const fn new(windows: Vec<Stretch>, stretches: Vec<Stretch>, days: usize) -> Self {
        Self {
            windows,
            stretches,
            days,
        }
    }

    /// Draws an episode: its first trading day, and how many steps of it are shown. Without windows it has `steps`.
    pub(crate) fn draw(&self, steps: usize, stream: &mut KeyedStream) -> Option<(usize, usize)> {
        let drawn = draw(stream, self.windows.len()).and_then(|place| self.windows.get(place));
        let steps = drawn.map_or(steps, ExactSizeIterator::len);
        let starts = if drawn.is_some() && stream.below(2) == 0 {
            self.published(steps)
        } else {
            self.anywhere(steps)
        };
        let first = *starts.get(draw(stream, starts.len())?)?;
        Some((first, steps))
    }

    /// The probability of each day to be the as-of day of the last of so many steps; none of a day that cannot be.
    #[must_use]
    pub fn of_last_day(&self, steps: usize) -> Vec<f64> {
        let mut shares = vec![0.0; self.days];
        let (published, anywhere) = (self.published(steps), self.anywhere(steps));
        let weight = if published.is_empty() || anywhere.is_empty() {
            1.0
        } else {
            0.5
        };
        for starts in [published, anywhere] {
            let each = weight / count(starts.len());
            for start in starts {
                let day = (start + steps).checked_sub(2);
                if let Some(share) = day.and_then(|day| shares.get_mut(day)) {
                    *share += each;
                }
            }
        }
        shares
    }

    /// First days of the published windows that are at least so long.
    fn published(&self, steps: usize) -> Vec<usize> {
        let long = self.windows.iter().filter(|window| steps <= window.len());
        long.map(|window| window.start).collect()
    }

    /// First days within the stretches from which on so many fit; where none does, within all days that have a history.
    fn anywhere(&self, steps: usize) -> Vec<usize> {
        let starts = |days: &Stretch| days.start..(days.end + 1).saturating_sub(steps).max(days.start);
        let within: Vec<usize> = self.stretches.iter().flat_map(starts).collect();
        if within.is_empty() {
            return starts(&(ProbePlan::HISTORY_DAYS..self.days)).collect();
        }
        within
    }
}

fn draw(stream: &mut KeyedStream, bound: usize) -> Option<usize> {
    if bound == 0 {
        return None;
    }
    usize::try_from(stream.below(u64::try_from(bound).ok()?)).ok()
}

#[expect(clippy::cast_precision_loss, reason = "days of a panel")]
fn count(days: usize) -> f64 {
    days.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prior() -> EpisodePrior {
        EpisodePrior::new(vec![400..420, 410..440, 400..500], vec![270..330, 330..360], 600)
    }

    #[test]
    fn shares_sum_to_one_and_a_long_episode_leaves_few_windows() {
        for steps in [1, 20, 30, 60, 100, 300] {
            let sum: f64 = prior().of_last_day(steps).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{steps} {sum}");
        }
        let shares = prior().of_last_day(100);
        // One window of a hundred days; no stretch holds one, so that any day of the panel may open it.
        assert!(shares[498] > 0.5 && shares[499] < 0.01);
        let of_twenty = prior().of_last_day(20);
        assert!((of_twenty[418] - 1.0 / 3.0).abs() < 0.01 && (of_twenty[428] - 1.0 / 6.0).abs() < 0.01);
    }

    #[test]
    fn draws_follow_the_prior() {
        let mut stream = KeyedStream::for_purpose(3, "prior");
        let mut days = vec![0.0; 600];
        let mut drawn = 0.0;
        for _ in 0..30_000 {
            let (first, steps) = prior().draw(20, &mut stream).unwrap();
            if steps == 20 {
                days[first + steps - 2] += 1.0;
                drawn += 1.0;
            }
        }
        for (day, share) in prior().of_last_day(20).into_iter().enumerate() {
            let found: f64 = days[day] / drawn;
            assert!((found - share).abs() < 0.02, "{day} {found} {share}");
        }
    }

    #[test]
    fn without_windows_an_episode_lies_in_a_stretch() {
        let prior = EpisodePrior::new(Vec::new(), std::iter::once(270..300).collect(), 400);
        let mut stream = KeyedStream::for_purpose(1, "prior");
        for _ in 0..200 {
            let (first, steps) = prior.draw(12, &mut stream).unwrap();
            assert!(steps == 12 && (270..=288).contains(&first), "{first}");
        }
        assert!((prior.of_last_day(12).iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
