//! Sampling design of probes: which days they are drawn from, and how often each. It is published with every set.

use crate::kind::ProbeKind;
use crate::stretch::{HISTORY_DAYS, Stretch};
use ktd_env::KeyedStream;

/// Sampling design of a set of probes, as far as it decides which days are shown. Anybody may own it: it is in `set.json`.
///
/// Episodes of asking agents begin where a published window of at least `n` days does, each as likely as any other, or, as
/// often, on any day of the played stretches; without windows anywhere in those. So the length `n` of an exhibit tells no more
/// than an agent knows in the middle of an episode: that it has lasted so long. All other kinds take stretches in turn, and
/// in each a first day and steps of the episode that begins there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SamplingDesign {
    /// Windows that are published.
    pub windows: Vec<Stretch>,
    /// Where episodes lie.
    pub stretches: Vec<Stretch>,
    /// Steps that the kinds `days` and `linked` show.
    pub steps_shown: usize,
    /// Steps of an episode.
    pub episode_steps: usize,
    /// Days of the panel.
    pub days: usize,
}

impl SamplingDesign {
    /// Draws an asking agent's episode: its first trading day, and how many steps of it are shown.
    pub(crate) fn draw(&self, stream: &mut KeyedStream) -> Option<(usize, usize)> {
        let drawn = draw(stream, self.windows.len()).and_then(|place| self.windows.get(place));
        let steps = drawn.map_or(self.episode_steps, ExactSizeIterator::len);
        let starts = if drawn.is_some() && stream.below(2) == 0 {
            self.published(steps)
        } else {
            self.anywhere(steps)
        };
        let first = *starts.get(draw(stream, starts.len())?)?;
        Some((first, steps))
    }

    /// How many steps the probes of a kind show.
    pub(crate) fn steps_of(&self, kind: ProbeKind) -> Vec<usize> {
        match kind {
            ProbeKind::Day | ProbeKind::Anchored => vec![1],
            ProbeKind::Days | ProbeKind::Linked => vec![self.steps_shown],
            ProbeKind::Episode => vec![self.episode_steps],
            ProbeKind::Asked | ProbeKind::AskedKnown | ProbeKind::AskedDated => {
                let windows = self.windows.iter().map(ExactSizeIterator::len);
                windows.chain([self.episode_steps]).collect()
            }
        }
    }

    /// The probability of each day to be the as-of day of the last of so many steps shown, by stretch; asking agents have one
    /// list, for their episodes lie in no stratum. None of a day that cannot be.
    #[must_use]
    pub fn of_last_day(&self, kind: ProbeKind, steps: usize) -> Vec<Vec<f64>> {
        if kind.is_asked() {
            return vec![self.asked(steps)];
        }
        let of_stretch = |stretch: &Stretch| self.within(stretch, steps);
        self.stretches.iter().map(of_stretch).collect()
    }

    /// Of so many steps of an episode within a stretch: every first day and every first step is as likely.
    fn within(&self, stretch: &Stretch, steps: usize) -> Vec<f64> {
        let mut shares = vec![0.0; self.days];
        let starts = (stretch.len() + 1).saturating_sub(self.episode_steps);
        let offsets = (self.episode_steps + 1).saturating_sub(steps);
        let each = 1.0 / count(starts * offsets);
        for first in stretch.start..stretch.start + starts {
            for offset in 0..offsets {
                let day = (first + offset + steps).checked_sub(2);
                if let Some(share) = day.and_then(|day| shares.get_mut(day)) {
                    *share += each;
                }
            }
        }
        shares
    }

    fn asked(&self, steps: usize) -> Vec<f64> {
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
            return starts(&(HISTORY_DAYS..self.days)).collect();
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

    const ASKED: ProbeKind = ProbeKind::Asked;

    fn design(windows: Vec<Stretch>, stretches: Vec<Stretch>, episode_steps: usize) -> SamplingDesign {
        SamplingDesign {
            windows,
            stretches,
            steps_shown: 1,
            episode_steps,
            days: 600,
        }
    }

    fn with_windows() -> SamplingDesign {
        design(vec![400..420, 410..440, 400..500], vec![270..330, 330..360], 20)
    }

    #[test]
    fn shares_sum_to_one_and_a_long_episode_leaves_few_windows() {
        for steps in [1, 20, 30, 60, 100, 300] {
            let sum: f64 = with_windows().of_last_day(ASKED, steps)[0].iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{steps} {sum}");
        }
        let shares = &with_windows().of_last_day(ASKED, 100)[0];
        // One window of a hundred days; no stretch holds one, so that any day of the panel may open it.
        assert!(shares[498] > 0.5 && shares[499] < 0.01);
        let of_twenty = &with_windows().of_last_day(ASKED, 20)[0];
        assert!((of_twenty[418] - 1.0 / 3.0).abs() < 0.01 && (of_twenty[428] - 1.0 / 6.0).abs() < 0.01);
    }

    #[test]
    fn draws_follow_the_design() {
        let mut stream = KeyedStream::for_purpose(3, "design");
        let mut days = vec![0.0; 600];
        let mut drawn = 0.0;
        for _ in 0..30_000 {
            let (first, steps) = with_windows().draw(&mut stream).unwrap();
            if steps == 20 {
                days[first + steps - 2] += 1.0;
                drawn += 1.0;
            }
        }
        for (day, share) in with_windows().of_last_day(ASKED, 20)[0].iter().enumerate() {
            let found: f64 = days[day] / drawn;
            assert!((found - share).abs() < 0.02, "{day} {found} {share}");
        }
    }

    #[test]
    fn without_windows_an_episode_lies_in_a_stretch() {
        let design = design(Vec::new(), std::iter::once(270..300).collect(), 12);
        let mut stream = KeyedStream::for_purpose(1, "design");
        for _ in 0..200 {
            let (first, steps) = design.draw(&mut stream).unwrap();
            assert!(steps == 12 && (270..=288).contains(&first), "{first}");
        }
        assert!((design.of_last_day(ASKED, 12)[0].iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_middle_of_a_stretch_is_shown_more_often_than_its_ends() {
        let design = design(Vec::new(), vec![300..310, 400..430], 10);
        let of_step = design.of_last_day(ProbeKind::Day, 1);
        // One episode fits the first stretch: each of its ten as-of days is as likely, from the day before it on.
        assert_eq!(of_step[0].iter().filter(|share| 0.0 < **share).count(), 10);
        assert!((of_step[0][299] - 0.1).abs() < 1e-12 && (of_step[0][308] - 0.1).abs() < 1e-12);
        // Twenty-one first days and ten steps: the first day in one of them, a day in the middle in ten.
        assert!(
            (of_step[1][399] - 1.0 / 210.0).abs() < 1e-12 && (of_step[1][415] - 10.0 / 210.0).abs() < 1e-12
        );
        let of_episode = design.of_last_day(ProbeKind::Episode, 10);
        assert!((of_episode[0][308] - 1.0).abs() < 1e-12);
    }
}
