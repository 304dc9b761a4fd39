//! The exchange's rules as a record holds them.

use crate::ExperimentError;
use crate::rules_config::RulesConfig;
use ktd_env::exchange::Rules;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules that a record was made by, as they are written in it. A key that it lacks is of a program that had no choice
/// there, and means what that program did, not today's default.
#[derive(Debug, Clone, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RecordedRules(RulesConfig);

impl RecordedRules {
    /// The record of these rules: every key.
    #[must_use]
    pub fn of(rules: &Rules) -> Self {
        Self(RulesConfig::of(rules))
    }

    /// The rules that were followed.
    ///
    /// # Errors
    /// [`ExperimentError`] naming the key whose value cannot be.
    pub fn rules(&self) -> Result<Rules, ExperimentError> {
        self.0.clone().or_old().rules()
    }

    /// Whether a record states the same keys with the same values.
    #[must_use]
    pub fn is_written_as(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    /// Every key of the rules that were followed; of a damaged record those that it has.
    #[must_use]
    pub fn keys(&self) -> RulesConfig {
        self.rules()
            .map_or_else(|_| self.0.clone(), |rules| RulesConfig::of(&rules))
    }
}

impl PartialEq for RecordedRules {
    /// Whether the two mean the same rules, however many keys each states.
    fn eq(&self, other: &Self) -> bool {
        self.keys() == other.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::exchange::{DividendTaxRule, ExDayOrders, FeeRule, LimitOpenRule, LimitRounding};

    #[test]
    fn a_key_that_a_record_lacks_means_what_was_done_then() {
        let old: RecordedRules = serde_json::from_str(r#"{"max_positions": 7}"#).unwrap();
        let rules = old.rules().unwrap();
        assert_eq!(
            rules,
            Rules {
                max_positions: 7,
                bse_limits: LimitRounding::HalfUp,
                limit_open: LimitOpenRule::Blocked,
                no_limit_beyond: false,
                control_volume_share: None,
                fees: FeeRule::Paper,
                dividend_tax: DividendTaxRule::None,
                ex_day_orders: ExDayOrders::AsDecided,
                ..Rules::default()
            }
        );
        let told_whole = RecordedRules::of(&rules);
        assert_eq!(old, told_whole);
        assert_ne!(old, RecordedRules::of(&Rules::default()));
        assert_eq!(
            RecordedRules::of(&Rules::default()).rules().unwrap(),
            Rules::default()
        );
    }
}
