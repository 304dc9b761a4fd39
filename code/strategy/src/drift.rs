//! Drift between two versions of a program: did a patch mend the program, or change the strategy?

use std::collections::BTreeMap;

/// Distance up to which the published reading allows a change.
const ALLOWED_BELOW: f64 = 0.05;
/// Distance from which the published reading is suspicious.
const SUSPICIOUS_FROM: f64 = 0.15;

/// The published reading: distance between two versions alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishedDrift {
    /// Below 0.05.
    Allowed,
    /// Below 0.15.
    Warning,
    /// 0.15 or more.
    Suspicious,
}

impl PublishedDrift {
    /// The reading of the greatest distance between two versions.
    #[must_use]
    pub const fn of(greatest_distance: f64) -> Self {
        if greatest_distance < ALLOWED_BELOW {
            Self::Allowed
        } else if greatest_distance < SUSPICIOUS_FROM {
            Self::Warning
        } else {
            Self::Suspicious
        }
    }

    /// The word in tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Warning => "warning",
            Self::Suspicious => "suspicious",
        }
    }
}

/// Where a version moved, seen from the reference strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum DriftVerdict {
    /// The strategy has no reference to be seen from.
    #[strum(serialize = "n/a")]
    NoReference,
    /// No distance to the reference changed.
    Same,
    /// Some scenarios are nearer, none farther: a repair.
    Towards,
    /// Some are farther, none nearer: drift.
    Away,
    /// Some are nearer and some farther; whether that is drift says [`DriftVerdict::is_drift`].
    Sideways {
        /// Whether the greatest increase exceeds the greatest decrease.
        is_mostly_away: bool,
    },
}

impl DriftVerdict {
    /// From the distances to the reference, by scenario, before and after a patch. A scenario that only one of them has
    /// does not count.
    #[must_use]
    pub fn between(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> Self {
        let moves = || {
            before
                .iter()
                .filter_map(|(name, before)| Some(after.get(name)? - before))
        };
        let farthest = moves().fold(0.0, f64::max);
        let nearest = moves().fold(0.0, f64::min);
        match (farthest > 0.0, nearest < 0.0) {
            (false, false) => Self::Same,
            (false, true) => Self::Towards,
            (true, false) => Self::Away,
            (true, true) => Self::Sideways {
                is_mostly_away: farthest > -nearest,
            },
        }
    }

    /// Whether the iteration is void.
    #[must_use]
    pub const fn is_drift(self) -> bool {
        match self {
            Self::NoReference | Self::Same | Self::Towards => false,
            Self::Away => true,
            Self::Sideways { is_mostly_away } => is_mostly_away,
        }
    }

    /// The word in tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// Scenarios in which a version moved away from the reference, in the order of their names.
#[must_use]
pub fn scenarios_moved_away<'a>(
    before: &'a BTreeMap<String, f64>,
    after: &BTreeMap<String, f64>,
) -> Vec<&'a str> {
    before
        .iter()
        .filter(|(name, before)| after.get(*name).is_some_and(|after| after > *before))
        .map(|(name, _)| name.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distances(of: [f64; 3]) -> BTreeMap<String, f64> {
        ["a", "b", "c"].into_iter().map(str::to_owned).zip(of).collect()
    }

    #[test]
    fn the_reference_tells_a_repair_from_a_change() {
        let verdict = |before, after| DriftVerdict::between(&distances(before), &distances(after));
        assert_eq!(verdict([0.1, 0.0, 0.0], [0.1, 0.0, 0.0]), DriftVerdict::Same);
        assert_eq!(verdict([0.1, 0.2, 0.0], [0.0, 0.2, 0.0]), DriftVerdict::Towards);
        assert_eq!(verdict([0.1, 0.0, 0.0], [0.1, 0.2, 0.0]), DriftVerdict::Away);
        let mixed = verdict([0.3, 0.0, 0.0], [0.0, 0.1, 0.0]);
        assert_eq!((mixed.label(), mixed.is_drift()), ("sideways", false));
        assert!(verdict([0.1, 0.0, 0.0], [0.0, 0.3, 0.0]).is_drift());
        let (before, after) = (distances([0.3, 0.0, 0.0]), distances([0.0, 0.1, 0.0]));
        assert_eq!(scenarios_moved_away(&before, &after), ["b"]);
        assert_eq!(PublishedDrift::of(0.15), PublishedDrift::Suspicious);
        assert_eq!(PublishedDrift::of(0.049), PublishedDrift::Allowed);
    }
}
