//! One version of a submission against the one before: what its card changed, where its behaviour moved, and how many
//! lines it took.

use crate::card::StrategyCard;
use crate::drift::{DriftVerdict, PublishedDrift, scenarios_moved_away};
use crate::patch::PatchSize;
use crate::trace::trace_distance;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tokens of a program by scenario; none where it did not run.
pub type StrategyTraces = BTreeMap<String, Vec<String>>;

/// Distance of one program's traces to another's, by scenario, 0 to 1.
pub type TraceDistances = BTreeMap<String, f64>;

/// The distances between two programs, over the scenarios of the first.
#[must_use]
pub fn trace_distances(first: &StrategyTraces, other: &StrategyTraces) -> TraceDistances {
    let of = |(name, tokens): (&String, &Vec<String>)| {
        let own = other.get(name).map_or(&[][..], Vec::as_slice);
        (name.clone(), trace_distance(tokens, own))
    };
    first.iter().map(of).collect()
}

/// One version: its card, its source, and what it did.
#[derive(Debug, Clone, Copy)]
pub struct StrategyVersion<'a> {
    /// The card; `None` where the source alone is compared.
    pub card: Option<&'a StrategyCard>,
    /// The source.
    pub source: &'a str,
    /// Its traces.
    pub traces: &'a StrategyTraces,
}

/// What changed from one version to the next.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct VersionDrift {
    /// Fields of the card that say something else: the first layer.
    pub changed_fields: Vec<String>,
    /// Distances between the two versions, by scenario.
    pub distances: TraceDistances,
    /// Distances of both to the reference, before and after; none where there is no reference.
    pub to_reference: [TraceDistances; 2],
    /// Size of the patch.
    pub patch: PatchSize,
}

impl VersionDrift {
    /// From one version to the next, seen from the reference, whose traces are empty where there is none.
    #[must_use]
    pub fn between(
        before: StrategyVersion<'_>,
        after: StrategyVersion<'_>,
        reference: &StrategyTraces,
    ) -> Self {
        let cards = before.card.zip(after.card);
        Self {
            changed_fields: cards.map_or_else(Vec::new, |(before, after)| before.changed_fields(after)),
            distances: trace_distances(before.traces, after.traces),
            to_reference: [before, after].map(|version| trace_distances(reference, version.traces)),
            patch: PatchSize::between(before.source, after.source),
        }
    }

    /// The greatest distance between the two versions.
    #[must_use]
    pub fn greatest_distance(&self) -> f64 {
        self.distances.values().copied().fold(0.0, f64::max)
    }

    /// Scenarios in which the two versions differ at all.
    #[must_use]
    pub fn diverging(&self) -> usize {
        self.distances
            .values()
            .filter(|distance| **distance > 0.0)
            .count()
    }

    /// The published reading of the distances.
    #[must_use]
    pub fn published(&self) -> PublishedDrift {
        PublishedDrift::of(self.greatest_distance())
    }

    /// Where it moved, seen from the reference: the second layer.
    #[must_use]
    pub fn anchored(&self) -> DriftVerdict {
        let [before, after] = &self.to_reference;
        if before.is_empty() && after.is_empty() {
            return DriftVerdict::NoReference;
        }
        DriftVerdict::between(before, after)
    }

    /// Whether the iteration is void: by its card, or by its behaviour seen from the reference.
    #[must_use]
    pub fn is_drift(&self) -> bool {
        !self.changed_fields.is_empty() || self.anchored().is_drift()
    }

    /// Whether the iteration is void by the published reading.
    #[must_use]
    pub fn is_published_drift(&self) -> bool {
        !self.changed_fields.is_empty() || self.published() == PublishedDrift::Suspicious
    }

    /// Scenarios in which the later version is farther from the reference.
    #[must_use]
    pub fn moved_away(&self) -> Vec<&str> {
        let [before, after] = &self.to_reference;
        scenarios_moved_away(before, after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traces(tokens: &[&str]) -> StrategyTraces {
        let tokens = tokens.iter().map(|token| (*token).to_owned()).collect();
        BTreeMap::from([("one".to_owned(), tokens)])
    }

    #[test]
    fn a_repair_is_suspicious_by_the_published_reading_alone() {
        let (right, wrong) = (traces(&["a", "b", "c", "d"]), traces(&["a", "b", "c", "x"]));
        let version = |traces| StrategyVersion {
            card: None,
            source: "x = 1\n",
            traces,
        };
        let repair = VersionDrift::between(version(&wrong), version(&right), &right);
        assert_eq!(repair.anchored(), DriftVerdict::Towards);
        assert!(!repair.is_drift() && repair.is_published_drift());
        assert_eq!((repair.diverging(), repair.patch.changed()), (1, 0));
        let change = VersionDrift::between(version(&right), version(&wrong), &right);
        assert!(change.is_drift());
        assert_eq!(change.moved_away(), ["one"]);
        let none = StrategyTraces::new();
        let gone = VersionDrift::between(version(&right), version(&none), &right);
        assert!((gone.greatest_distance() - 1.0).abs() < 1e-15);
        let unanchored = VersionDrift::between(version(&right), version(&wrong), &none);
        assert_eq!(unanchored.anchored(), DriftVerdict::NoReference);
        assert!(!unanchored.is_drift() && unanchored.is_published_drift());
    }
}
