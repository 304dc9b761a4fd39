//! Leakage of a rung in bits: how many times better than the best blind guess a class of attackers names the stock.

use super::recovery::Recovery;
use ktd_probes::{AttackerClass, Measure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Min-entropy leakage of a rung to one class of attackers: the binary logarithm of how many times more often the stock is the
/// first guess than of the best guess without looking (Smith 2009, "On the Foundations of Quantitative Information Flow").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassLeakage {
    /// What the attackers know besides the exhibit.
    #[schemars(with = "String")]
    pub class: AttackerClass,
    /// Who recovered most, of the kinds of probes of this class.
    pub attacker: String,
    /// Share of the probes whose stock was its first guess.
    pub share: f64,
    /// Share that the best guess without looking recovers.
    pub chance: f64,
    /// `log2(bound / chance)` of the largest lower bound that holds for all attackers together, and 0 where it is no more than
    /// chance: the largest of many shares of few probes is none of the mask's.
    pub bits_at_least: f64,
    /// The same of the largest upper bound.
    pub bits_at_most: f64,
}

impl ClassLeakage {
    /// The leakage to each class of the database that probes were put to.
    #[must_use]
    pub fn of(found: &[Recovery]) -> Vec<Self> {
        let of_class = |class: &AttackerClass| {
            let own = |recovery: &&Recovery| {
                recovery.measure == Measure::Top1 && AttackerClass::of_database(recovery.kind) == *class
            };
            let strongest = found
                .iter()
                .filter(own)
                .max_by(|left, right| ratio(left.share, left).total_cmp(&ratio(right.share, right)))?;
            let largest = |end: fn(&Recovery) -> f64| {
                let bounds = found
                    .iter()
                    .filter(own)
                    .map(|recovery| ratio(end(recovery), recovery));
                libm::log2(bounds.fold(1.0, f64::max))
            };
            Some(Self {
                class: *class,
                attacker: strongest.attacker.clone(),
                share: strongest.share,
                chance: strongest.chance,
                bits_at_least: largest(|recovery| recovery.simultaneous.lower),
                bits_at_most: largest(|recovery| recovery.simultaneous.upper),
            })
        };
        AttackerClass::ALL.iter().filter_map(of_class).collect()
    }
}

/// How many times chance a share is; 1 where chance is nothing.
fn ratio(share: f64, recovery: &Recovery) -> f64 {
    if recovery.chance <= 0.0 {
        return 1.0;
    }
    share / recovery.chance
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_probes::ProbeKind;
    use ktd_probes::judge::RateInterval;

    fn recovery(kind: ProbeKind, attacker: &str, share: f64) -> Recovery {
        let interval = RateInterval {
            lower: share / 2.0,
            upper: (share * 2.0).min(1.0),
        };
        Recovery {
            attacker: attacker.to_owned(),
            kind,
            measure: Measure::Top1,
            share,
            interval,
            simultaneous: interval,
            chance: 1.0 / 64.0,
        }
    }

    #[test]
    fn bits_are_of_the_strongest_attacker_of_each_class() {
        let found = [
            recovery(ProbeKind::Day, "one", 0.001),
            recovery(ProbeKind::Asked, "two", 0.125),
            recovery(ProbeKind::AskedDated, "three", 1.0),
        ];
        let leaked = ClassLeakage::of(&found);
        let told: Vec<(AttackerClass, &str, f64, f64)> = leaked
            .iter()
            .map(|leakage| {
                (
                    leakage.class,
                    &*leakage.attacker,
                    leakage.bits_at_least,
                    leakage.bits_at_most,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (AttackerClass::Database, "two", 2.0, 4.0),
                (AttackerClass::DatabaseAndDay, "three", 5.0, 6.0)
            ]
        );
    }

    #[test]
    fn less_than_chance_is_no_leakage() {
        let leaked = ClassLeakage::of(&[recovery(ProbeKind::Day, "one", 0.0)]);
        assert_eq!(leaked.first().map(|leakage| leakage.bits_at_least), Some(0.0));
    }
}
