//! Counts over windows: all probes of a window share its days.

use crate::{Measure, ProbeKind};
use ktd_stats::{StatsError, binomial_at_most};
use serde::{Deserialize, Serialize};

/// What windows are asked.
pub(super) const ASKED: Measure = Measure::Date20;

/// Count of one attacker and kind of probe over windows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowCount {
    /// The probes' kind.
    pub kind: ProbeKind,
    /// The attacker.
    pub attacker: String,
    /// Windows that were probed with so many probes that one which is known would be seen.
    pub probed: u64,
    /// Those whose day within 20 trading days it found more often than chance explains, by their place among the stretches.
    pub found: Vec<usize>,
}

/// Running count of one attacker, kind and window.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OfWindow {
    pub(super) asked: u64,
    pub(super) hits: u64,
    /// What the best blind guess found of it.
    pub(super) blind_hits: u64,
}

/// A window counts as found where so many hits are this unlikely by chance, over all windows of a kind: some hundred series of
/// attackers and kinds are looked at.
const FOUND_P: f64 = 1e-5;

impl OfWindow {
    pub(super) const fn with_hits(self, hits: u64) -> Self {
        Self { hits, ..self }
    }

    /// Whether so many hits of one of `windows` are more than chance and the blind guess explain.
    #[expect(clippy::cast_precision_loss, reason = "windows and their probes are few")]
    pub(super) fn is_found(self, chance: f64, windows: usize) -> Result<bool, StatsError> {
        let Some(fewer) = self.hits.checked_sub(1) else {
            return Ok(false);
        };
        let of_blind = self.blind_hits as f64 / self.asked.max(1) as f64;
        let chance = chance.max(of_blind).clamp(0.0, 1.0);
        let at_least = 1.0 - binomial_at_most(fewer, self.asked, chance)?;
        Ok(at_least * (windows as f64) < FOUND_P)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_found_by_more_than_chance_and_the_blind_guess() {
        let found = |asked, hits, blind_hits| {
            let of = OfWindow {
                asked,
                hits,
                blind_hits,
            };
            of.is_found(0.02, 60).unwrap()
        };
        assert!(found(30, 30, 0) && found(30, 9, 0));
        assert!(!found(30, 0, 0) && !found(30, 3, 0));
        assert!(
            !found(30, 30, 28) && !found(3, 3, 0),
            "who answers the same always, and few probes"
        );
    }
}
