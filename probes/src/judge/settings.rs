//! By what a certificate was judged, as far as its signer may choose.

use super::thresholds::Thresholds;
use crate::{DEFAULT_JOINT_DAYS, Measure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// Confidence of intervals where a file does not say otherwise.
pub const DEFAULT_CONFIDENCE: f64 = 0.95;

/// Settings of a judgement that a signer may choose.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgementSettings {
    /// How far above chance an upper bound may lie.
    pub thresholds: Thresholds,
    /// Confidence of each interval, by itself and over all attackers.
    pub confidence: f64,
    /// Trading days within which the day of a joint recovery lies.
    pub joint_days: usize,
}

impl JudgementSettings {
    /// Whether a certificate says less under them than under the defaults, or something else: a threshold is looser, or
    /// confidence or `joint_days` are others.
    #[must_use]
    pub fn are_own(&self) -> bool {
        let default = Thresholds::default();
        let is_looser = |measure: Measure| default.of(measure) < self.thresholds.of(measure);
        Measure::ALL.into_iter().any(is_looser)
            || self.confidence.total_cmp(&DEFAULT_CONFIDENCE) != Ordering::Equal
            || self.joint_days != DEFAULT_JOINT_DAYS
    }
}

impl fmt::Display for JudgementSettings {
    /// `top1 0.03, ... sector 0.05 above chance at confidence 0.95, joint within 20 days`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounds = Measure::ALL.into_iter().filter_map(|measure| {
            let most = self.thresholds.of(measure)?;
            Some(format!("{} {most}", measure.label()))
        });
        let bounds: Vec<String> = bounds.collect();
        write!(
            f,
            "{} above chance at confidence {}, joint within {} days",
            bounds.join(", "),
            self.confidence,
            self.joint_days
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: fn() -> JudgementSettings = || JudgementSettings {
        thresholds: Thresholds::default(),
        confidence: DEFAULT_CONFIDENCE,
        joint_days: DEFAULT_JOINT_DAYS,
    };

    #[test]
    fn looser_terms_are_its_own() {
        assert!(!DEFAULT().are_own());
        let mut tighter = DEFAULT();
        tighter.thresholds.top1 = 0.01;
        assert!(!tighter.are_own());
        let mut looser = DEFAULT();
        looser.thresholds.sector = 0.06;
        assert!(looser.are_own());
        for (confidence, joint_days) in [(0.9, 20), (0.99, 20), (0.95, 19)] {
            let other = JudgementSettings {
                confidence,
                joint_days,
                ..DEFAULT()
            };
            assert!(other.are_own());
        }
        assert_eq!(
            DEFAULT().to_string(),
            "top1 0.03, top5 0.05, date20 0.05, joint 0.015, sector 0.05, same 0.05 above chance at confidence 0.95, joint within 20 days"
        );
    }
}
