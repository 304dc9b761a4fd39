//! Which probes are made.

use crate::sampling_design::SamplingDesign;
use crate::stretch::{HISTORY_DAYS, Stretch};
use ktd_env::Market;
use ktd_masking::{MaskKey, MaskSettings, PERIOD_DAYS};

/// Plan of probes: all that decides which are made, besides the panel.
#[derive(Debug, Clone)]
pub struct ProbePlan {
    /// Decides every draw together with the key.
    pub seed: u64,
    /// The mask under probe.
    pub mask: MaskSettings,
    /// The key that each exhibit's own is derived from, and what the probes are drawn with.
    pub key: MaskKey,
    /// Steps that the kinds `days` and `linked` show.
    pub days: usize,
    /// Steps of an episode.
    pub episode_steps: usize,
    /// What helps attackers: of controls alone, which no file can ask for.
    pub aid: Aid,
    /// Where episodes lie; each is one stratum with each board.
    pub stretches: Vec<Stretch>,
    /// Windows that are published: the first trading day of each, and the day after its last. Half of the episodes of an
    /// asking agent begin where one of these does, and each is as long as one of them.
    pub windows: Vec<Stretch>,
    /// Stocks that are given away of an asking agent's episode, where its kind gives any away: probes take these numbers in
    /// turn.
    pub given_away: Vec<usize>,
}

/// Stocks that are given away of the probe of a number, which takes its turn among these.
#[must_use]
pub fn given_away_of(in_turn: &[usize], number: usize) -> usize {
    let place = number.checked_rem(in_turn.len());
    place.and_then(|place| in_turn.get(place)).copied().unwrap_or(0)
}

/// Help that a control gives to attackers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aid {
    /// Nothing: the probes are those of the mask.
    #[default]
    None,
    /// Every stock keeps its id from one period to the next.
    IdsKept,
    /// A roster shows every member of its day, so that its size tells the day.
    AllMembers,
    /// Stocks are asked about that stood at a price limit, or did not trade, on a day that their bars span.
    LimitDays,
}

/// Error of a plan that gives no probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProbePlanError {
    /// The panel has too few days.
    #[error(
        "the panel has {have_days} trading days after the first {history_days}, which factors need, but {need_days} are needed for {stretches} stretches of episodes of {steps} steps"
    )]
    TooShort {
        /// Days after the history.
        have_days: usize,
        /// Days before the first as-of day.
        history_days: usize,
        /// Days needed.
        need_days: usize,
        /// Stretches asked for.
        stretches: usize,
        /// Steps of an episode.
        steps: usize,
    },
    /// More steps to show than an episode has, or none.
    #[error("a probe of {days} days does not fit an episode of {steps} steps")]
    Days {
        /// Steps to show.
        days: usize,
        /// Steps of an episode.
        steps: usize,
    },
    /// A stretch that no episode fits.
    #[error("a stretch of {days} trading days holds no episode of {steps} steps with its history")]
    Stretch {
        /// Its days.
        days: usize,
        /// Steps of an episode.
        steps: usize,
    },
}

impl ProbePlanError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => {
                "ask for fewer stretches or shorter episodes, or import a panel that starts earlier"
            }
            Self::Days { .. } => "let `days` be at least 1 and at most `episode_steps`",
            Self::Stretch { .. } => {
                "choose longer windows, or ones that begin a year after the panel's first day"
            }
        }
    }
}

impl ProbePlan {
    /// Trading days before the first as-of day, so that every factor has its history.
    pub const HISTORY_DAYS: usize = HISTORY_DAYS;
    /// Steps of the longest episodes of controls: what links periods needs some of them.
    pub const LONGEST_CONTROL_STEPS: usize = 8 * PERIOD_DAYS + 3;
    /// Stretches for probes for each one that attackers learn from.
    const PROBED_PER_TRAINING: usize = 3;

    /// `count` stretches for probes over the whole panel, and one for training after each first of three of them. No day is in
    /// two of them. Without a count, as many as leave an episode and a half to each, and the longest one of a control: so each has
    /// several first days.
    ///
    /// # Errors
    /// [`ProbePlanError::TooShort`] when an episode of so many steps does not fit a stretch.
    pub fn spread(
        market: &Market,
        count: Option<usize>,
        episode_steps: usize,
    ) -> Result<(Vec<Stretch>, Vec<Stretch>), ProbePlanError> {
        let have_days = market.calendar().len().saturating_sub(Self::HISTORY_DAYS);
        let with_training = |count: usize| count.max(1) + count.max(1).div_ceil(Self::PROBED_PER_TRAINING);
        let pieces = count.map_or_else(
            || {
                let long = (episode_steps + episode_steps.div_ceil(2)).max(Self::LONGEST_CONTROL_STEPS);
                (have_days / (long + 1)).max(with_training(1))
            },
            with_training,
        );
        let each = have_days / pieces;
        if each < episode_steps + 1 {
            return Err(ProbePlanError::TooShort {
                have_days,
                history_days: Self::HISTORY_DAYS,
                need_days: (episode_steps + 1) * pieces,
                stretches: count.unwrap_or(1),
                steps: episode_steps,
            });
        }
        let piece = |place: usize| {
            let start = Self::HISTORY_DAYS + place * each;
            start..start + each
        };
        let trains = |place: &usize| place % (Self::PROBED_PER_TRAINING + 1) == 1;
        let (training, probes): (Vec<usize>, Vec<usize>) = (0..pieces).partition(trains);
        let stretches = |places: Vec<usize>| places.into_iter().map(piece).collect();
        Ok((stretches(probes), stretches(training)))
    }

    /// The sampling design on a panel of so many days, as anybody may know it.
    #[must_use]
    pub fn design(&self, days: usize) -> SamplingDesign {
        SamplingDesign {
            windows: self.windows.clone(),
            stretches: self.stretches.clone(),
            steps_shown: self.days,
            episode_steps: self.episode_steps,
            days,
        }
    }

    /// Whether the plan can be carried out.
    ///
    /// # Errors
    /// [`ProbePlanError`] when an episode does not fit a stretch, or a probe an episode.
    pub fn check(&self) -> Result<(), ProbePlanError> {
        if self.days == 0 || self.episode_steps < self.days {
            return Err(ProbePlanError::Days {
                days: self.days,
                steps: self.episode_steps,
            });
        }
        for stretch in &self.stretches {
            if stretch.len() < self.episode_steps || stretch.start < Self::HISTORY_DAYS {
                return Err(ProbePlanError::Stretch {
                    days: stretch.len(),
                    steps: self.episode_steps,
                });
            }
        }
        Ok(())
    }
}
