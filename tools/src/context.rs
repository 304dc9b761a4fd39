//! What a tool may look at.

use crate::last_step::LastStep;
use ktd_env::exchange::{Account, Rules};
use ktd_env::{AsOf, Fen, NameId};
use ktd_masking::{Mask, Payload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much one call may ask for (docs/spec/episode.md#tools). An experiment sets the first five, under these names; the others
/// bound what a model can make this program read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolLimits {
    /// Most names `screen_candidates` returns.
    pub max_candidates: u32,
    /// Most days of bars `get_stock_snapshot` returns.
    pub max_lookback: u32,
    /// Most names `compare_candidates` takes.
    pub max_compare: u32,
    /// Names that each factor contributes to the table of the mode `fixed-candidate`.
    pub fixed_candidates_per_factor: u32,
    /// Whether `screen_by_expression` is among the tools (default false).
    #[serde(skip_serializing_if = "is_off")]
    pub expressions: bool,
    /// Most orders of one submission, and most targets of one `risk_check`.
    #[serde(skip)]
    pub max_orders: u32,
    /// Longest arguments text, bytes.
    #[serde(skip)]
    pub max_argument_bytes: usize,
    /// Deepest nesting of an arguments text.
    #[serde(skip)]
    pub max_argument_depth: usize,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            max_candidates: 30,
            max_lookback: 60,
            max_compare: 10,
            fixed_candidates_per_factor: 10,
            expressions: false,
            max_orders: 200,
            max_argument_bytes: 256 * 1024,
            max_argument_depth: 16,
        }
    }
}

/// A tool that is off leaves no trace in a record.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands references over")]
const fn is_off(is_on: &bool) -> bool {
    !*is_on
}

/// One step's surroundings, shared by all calls of that step.
#[derive(Debug, Clone, Copy)]
pub struct ToolContext<'a> {
    /// Everything that may be known, with factor values.
    pub as_of: &'a AsOf<'a>,
    /// The account at the close of the as-of day.
    pub account: &'a Account,
    /// The door.
    pub mask: &'a Mask,
    /// The exchange's numbers.
    pub rules: &'a Rules,
    /// How much a call may ask for.
    pub limits: &'a ToolLimits,
    /// What became of the orders of the step before; `None` at the first step.
    pub last_step: Option<&'a LastStep>,
    /// This step, 1-based.
    pub step: usize,
}

impl ToolContext<'_> {
    /// The names a model may buy, in masked order.
    pub(crate) fn members_in_order(&self) -> Vec<NameId> {
        let mut members: Vec<NameId> = self.as_of.members().collect();
        members.sort_unstable_by_key(|name| self.mask.order(*name));
        members
    }

    pub(crate) fn is_held(&self, name: NameId) -> bool {
        0 < self.account.shares(name).0
    }

    /// The name behind a text, if it may be known as of the day.
    pub(crate) fn resolve(&self, text: &str) -> Option<NameId> {
        self.mask
            .resolve(text)
            .ok()
            .filter(|name| self.as_of.is_known(*name))
    }

    pub(crate) fn board(&self, name: NameId) -> Payload {
        self.mask.board(self.as_of.board(name))
    }

    /// Value of the holding at the last close over NAV; 0 for what is not held. The account was marked at that close, so that
    /// its value is counted; one that was not is no number.
    pub(crate) fn weight_of(&self, name: NameId) -> f64 {
        let value = self.as_of.last_bar(name).map_or(Ok(Fen::ZERO), |(_, bar)| {
            bar.close.times(self.account.shares(name))
        });
        value.map_or(f64::NAN, Fen::to_yuan) / self.account.nav.to_yuan()
    }
}
