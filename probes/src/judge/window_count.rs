//! Counts over windows: all probes of a window share its days.

use super::hypergeometric::Draw;
use crate::{Measure, ProbeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What windows are asked.
pub(super) const ASKED: Measure = Measure::Date20;

/// Count of one attacker and kind of probe over windows.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowCount {
    /// The probes' kind.
    pub kind: ProbeKind,
    /// The attacker.
    pub attacker: String,
    /// Windows that were probed with so many probes that one which is known would be seen.
    pub probed: u64,
    /// Those whose days it named more often of their own probes than of others, by their place among the stretches.
    pub found: Vec<usize>,
}

/// Running count of one attacker, kind and window.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OfWindow {
    pub(super) asked: u64,
    /// Probes of the kind, whatever their window, of which a day of this one was named.
    pub(super) named: u64,
    /// Those of them that are probes of this window.
    pub(super) hits: u64,
}

/// A window counts as found where so many hits are this unlikely, over all windows of a kind: some hundred series of
/// attackers and kinds are looked at.
const FOUND_P: f64 = 1e-5;

impl OfWindow {
    /// Whether a window of which every probe is told, and no other, would be seen.
    pub(super) fn could_be_found(self, probes: u64, windows: usize) -> bool {
        let known = Self {
            named: self.asked,
            hits: self.asked,
            ..self
        };
        known.is_found(probes, windows)
    }

    /// Whether the days of one of `windows` are named more often where they are right than where they are not: who names them
    /// always, or whenever it sees one of a few groups, finds nothing. Exact, given how often they are named (Fisher 1935).
    pub(super) fn is_found(self, probes: u64, windows: usize) -> bool {
        let draw = Draw {
            all: probes,
            marked: self.named,
            drawn: self.asked,
        };
        #[expect(clippy::cast_precision_loss, reason = "windows are few")]
        let windows = windows as f64;
        0 < self.hits && draw.at_least(self.hits) * windows < FOUND_P
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_found_by_who_names_its_days_where_they_are_right() {
        let found = |asked, hits, named| OfWindow { asked, named, hits }.is_found(1_200, 40);
        assert!(found(30, 30, 30) && found(30, 9, 12));
        assert!(!found(30, 0, 0) && !found(30, 1, 30));
        assert!(!found(30, 30, 1_200), "who answers the same always");
        assert!(!found(30, 8, 240), "who names it of each fifth stock");
        let could = |asked| {
            OfWindow {
                asked,
                ..OfWindow::default()
            }
            .could_be_found(1_200, 40)
        };
        assert!(could(30) && !could(1), "few probes");
    }
}
