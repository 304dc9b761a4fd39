//! What was spent.

use ktd_experiment::amount::Picodollars;
use ktd_record::send_log::SendLine;
use schemars::JsonSchema;
use serde::Serialize;

/// Money of a study, in millionths of a millionth of a US dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SpentMoney {
    /// For replies whose tokens are known.
    pub paid_picodollars: u64,
    /// With all that may be charged for requests of which it is not known.
    pub at_most_picodollars: u64,
}

impl SpentMoney {
    /// What may be charged at most, with `≤` before it where less may be.
    #[must_use]
    pub fn text(self) -> String {
        let is_bound = self.paid_picodollars < self.at_most_picodollars;
        let mark = if is_bound { "\u{2264} " } else { "" };
        format!("{mark}{}", Picodollars(self.at_most_picodollars))
    }

    /// Adds what a send was charged; what nobody knows is left out.
    pub(crate) fn add(&mut self, send: &SendLine) {
        let cost = send.cost_picodollars.unwrap_or(0);
        self.at_most_picodollars = self.at_most_picodollars.saturating_add(cost);
        if !send.is_most {
            self.paid_picodollars = self.paid_picodollars.saturating_add(cost);
        }
    }

    /// Adds what was spent elsewhere.
    pub(crate) const fn add_spent(&mut self, other: Self) {
        self.paid_picodollars = self.paid_picodollars.saturating_add(other.paid_picodollars);
        self.at_most_picodollars = self.at_most_picodollars.saturating_add(other.at_most_picodollars);
    }
}
