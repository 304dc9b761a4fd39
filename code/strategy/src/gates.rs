//! The six gates of a submission, and why one is not passed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One gate, in the order in which they are passed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr, strum::VariantNames,
)]
#[strum(serialize_all = "snake_case")]
pub enum Gate {
    /// The card is strict JSON.
    Parse,
    /// The card is as the document wants it.
    Schema,
    /// The program runs on the long bars and returns two logs.
    Exec,
    /// Three fresh processes with three seeds give the same.
    Determ,
    /// Nothing that is logged depends on later bars.
    AntiLeak,
    /// The logs are complete, and trades can be traced.
    Audit,
}

impl Gate {
    /// All gates, in order.
    pub const ALL: [Self; 6] = [
        Self::Parse,
        Self::Schema,
        Self::Exec,
        Self::Determ,
        Self::AntiLeak,
        Self::Audit,
    ];

    /// The name used in records.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// Why a later gate is failed when an earlier one made it impossible.
pub const NOT_REACHED: &str = "not reached";

/// What each gate came to: `None` where it is passed, else the reason.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct GateResults([Option<String>; 6]);

impl GateResults {
    /// Results in the order of [`Gate::ALL`]; `None` where a gate is passed. Parse, Schema and Exec each make all later ones
    /// impossible, which then fail as [`NOT_REACHED`].
    #[must_use]
    pub fn new(reasons: [Option<String>; 6]) -> Self {
        let mut is_reached = true;
        let mut gates = Gate::ALL.into_iter();
        Self(reasons.map(|reason| {
            let gate = gates.next();
            if !is_reached {
                return Some(NOT_REACHED.to_owned());
            }
            let stops = matches!(gate, Some(Gate::Parse | Gate::Schema | Gate::Exec));
            is_reached = reason.is_none() || !stops;
            reason
        }))
    }

    /// Results of a submission that got as far as this gate and failed it.
    #[must_use]
    pub fn failed_at(gate: Gate, reason: &str) -> Self {
        Self::new(Gate::ALL.map(|own| (own == gate).then(|| reason.to_owned())))
    }

    /// Whether a gate is passed.
    #[must_use]
    pub fn is_passed(&self, gate: Gate) -> bool {
        self.reason(gate).is_none()
    }

    /// Why a gate is not passed.
    #[must_use]
    pub fn reason(&self, gate: Gate) -> Option<&str> {
        let place = Gate::ALL.iter().position(|own| *own == gate)?;
        self.0.get(place)?.as_deref()
    }

    /// Whether all are passed.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The first that is not passed.
    #[must_use]
    pub fn first_failed(&self) -> Option<Gate> {
        Gate::ALL.into_iter().find(|gate| !self.is_passed(*gate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_gates_are_not_reached() {
        let results = GateResults::failed_at(Gate::Exec, "KeyError");
        let passed: Vec<bool> = Gate::ALL.iter().map(|gate| results.is_passed(*gate)).collect();
        assert_eq!(passed, [true, true, false, false, false, false]);
        assert_eq!(results.reason(Gate::Audit), Some(NOT_REACHED));
        assert_eq!(results.first_failed(), Some(Gate::Exec));
    }

    #[test]
    fn gates_on_a_finished_run_are_judged_each() {
        let results = GateResults::failed_at(Gate::Determ, "other trades");
        let passed: Vec<bool> = Gate::ALL.iter().map(|gate| results.is_passed(*gate)).collect();
        assert_eq!(passed, [true, true, true, false, true, true]);
        assert!(!results.is_valid() && GateResults::new([const { None }; 6]).is_valid());
    }
}
