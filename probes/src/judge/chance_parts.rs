//! What is recovered without looking, in whole parts, so that sums are exact.

use super::decimals::nine_decimals;
use crate::{Database, Gold, Measure, ProbeText, blind, expected};
use ktd_masking::MaskSettings;
use std::collections::BTreeMap;

/// Number of parts of a certain recovery: a billion a probe.
pub const CHANCE_PARTS: u64 = 1_000_000_000;

/// Expected recovery of a probe without looking, in parts of [`CHANCE_PARTS`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChanceParts {
    /// By the attacker `random`.
    pub random: BTreeMap<Measure, u64>,
    /// By the best guess that looks at nothing but the board.
    pub blind: BTreeMap<Measure, u64>,
}

impl ChanceParts {
    /// What is recovered of a probe under a mask without looking.
    #[must_use]
    pub fn of(
        database: &Database,
        mask: MaskSettings,
        asked: (&ProbeText, &Gold),
        joint_days: usize,
    ) -> Self {
        let in_parts = |shares: BTreeMap<Measure, f64>| {
            let shares = shares.into_iter();
            shares.map(|(measure, share)| (measure, parts(share))).collect()
        };
        Self {
            random: in_parts(expected(database, mask, asked, joint_days)),
            blind: in_parts(blind(database, mask, asked, joint_days)),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a billion fits both"
)]
fn parts(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * CHANCE_PARTS as f64).round() as u64
}

/// The mean of so many parts over so many probes, as a share with nine decimals.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "nine decimals are all that is kept, and sums of parts stay below 2^53"
)]
pub(super) fn mean_share(parts: u64, probes: u64) -> f64 {
    if probes == 0 {
        return 0.0;
    }
    nine_decimals(parts as f64 / (probes as f64 * CHANCE_PARTS as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_and_figures_short() {
        assert_eq!(parts(1.0 / 3.0), 333_333_333);
        assert_eq!((parts(-1.0), parts(2.0)), (0, CHANCE_PARTS));
        assert_eq!(mean_share(1_000_000_001, 3).to_string(), "0.333333334");
        assert_eq!(mean_share(0, 0).to_string(), "0");
    }
}
