//! What the sends of an episode cost together, as `summary.json` keeps it.

use crate::RecordError;
use crate::exchanges::{ExchangeRecord, each_exchange};
use crate::tariff::{Charge, Tariff};
use ktd_agents::{Usage, UsageSource};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::price_table::TokenPricing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Tokens and money of an episode's own sends; or of several episodes, added up.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spending {
    /// Tokens in disjoint parts, as far as they are known.
    pub tokens: Tokens,
    /// How many requests were sent, by what is known of their tokens.
    pub sends: Sends,
    /// What they cost; `null` where the prices are not known.
    pub cost: Option<Cost>,
    /// What the provider itself says that it charged, if it says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vendor_cost: Option<VendorCost>,
}

/// What a step of an episode's own took on average.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerStep {
    /// Tokens of requests and replies, as far as they are known.
    pub tokens: u64,
    /// The cost, rounded up; `null` where it is not known.
    pub cost_picodollars: Option<Picodollars>,
}

/// Tokens in disjoint parts, as [`Usage`] has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// Of requests, in no cache.
    pub uncached_input: u64,
    /// Of requests, read from a cache.
    pub cache_read: u64,
    /// Of requests, written to a cache for five minutes.
    pub cache_write_5m: u64,
    /// Of requests, written to a cache for an hour.
    pub cache_write_1h: u64,
    /// Of the provider's own tool prompts.
    pub tool_prompt: u64,
    /// Generated, visible.
    pub visible_output: u64,
    /// Generated in reasoning.
    pub reasoning_output: u64,
}

/// How many requests were sent, by what is known of their tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sends {
    /// The provider reported them.
    pub reported: u64,
    /// They were estimated from the text.
    pub estimated: u64,
    /// There was a reply, but nobody reported its tokens.
    pub incomplete: u64,
    /// Nobody knows whether there was a reply.
    pub unknown: u64,
    /// Nothing was charged: the request never left or was refused.
    pub uncharged: u64,
}

/// What sends cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Replies whose tokens are known.
    pub paid_picodollars: Picodollars,
    /// Replies whose tokens nobody reported, at their most.
    pub incomplete_picodollars: Picodollars,
    /// Sends of unknown outcome, at their most.
    pub unknown_picodollars: Picodollars,
    /// Of the paid ones, those that needed a price which the row leaves out.
    pub estimated_sends: u64,
    /// Incomplete and unknown sends that have no most, because `max_output_tokens` is not set: their cost is in no sum.
    pub unbounded_sends: u64,
}

/// What a provider says that it charged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VendorCost {
    /// The sum.
    pub picodollars: Picodollars,
    /// How many replies reported it.
    pub sends: u64,
    /// How many of them differ from our own cost by more than one per cent of it.
    pub gaps: u64,
}

impl Tokens {
    /// Tokens of requests.
    #[must_use]
    pub const fn input(&self) -> u64 {
        self.uncached_input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write_5m)
            .saturating_add(self.cache_write_1h)
            .saturating_add(self.tool_prompt)
    }

    /// Tokens of requests and those generated.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.input()
            .saturating_add(self.visible_output)
            .saturating_add(self.reasoning_output)
    }

    fn add(&mut self, other: &Self) {
        for (sum, part) in [
            (&mut self.uncached_input, other.uncached_input),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write_5m, other.cache_write_5m),
            (&mut self.cache_write_1h, other.cache_write_1h),
            (&mut self.tool_prompt, other.tool_prompt),
            (&mut self.visible_output, other.visible_output),
            (&mut self.reasoning_output, other.reasoning_output),
        ] {
            *sum = sum.saturating_add(part);
        }
    }

    const fn of(usage: &Usage) -> Self {
        Self {
            uncached_input: usage.uncached_input,
            cache_read: usage.cache_read,
            cache_write_5m: usage.cache_write_5m,
            cache_write_1h: usage.cache_write_1h,
            tool_prompt: usage.tool_prompt,
            visible_output: usage.visible_output,
            reasoning_output: usage.reasoning_output,
        }
    }
}

impl Cost {
    /// Everything: what was paid, and what is not known at its most.
    #[must_use]
    pub const fn total(&self) -> Picodollars {
        self.paid_picodollars
            .plus(self.incomplete_picodollars)
            .plus(self.unknown_picodollars)
    }

    /// Whether a part of it is a bound and no price.
    #[must_use]
    pub const fn is_bound(&self) -> bool {
        0 < self.incomplete_picodollars.0 || 0 < self.unknown_picodollars.0
    }

    fn add(&mut self, other: &Self) {
        self.paid_picodollars = self.paid_picodollars.plus(other.paid_picodollars);
        self.incomplete_picodollars = self.incomplete_picodollars.plus(other.incomplete_picodollars);
        self.unknown_picodollars = self.unknown_picodollars.plus(other.unknown_picodollars);
        self.estimated_sends += other.estimated_sends;
        self.unbounded_sends += other.unbounded_sends;
    }
}

impl VendorCost {
    /// One per cent, in parts of it.
    const GAP_DIVISOR: u64 = 100;

    fn of(said: Picodollars, ours: Option<Picodollars>) -> Self {
        let is_gap = |ours: Picodollars| ours.0 / Self::GAP_DIVISOR < said.0.abs_diff(ours.0);
        Self {
            picodollars: said,
            sends: 1,
            gaps: u64::from(ours.is_some_and(is_gap)),
        }
    }

    fn add(&mut self, other: &Self) {
        self.picodollars = self.picodollars.plus(other.picodollars);
        self.sends += other.sends;
        self.gaps += other.gaps;
    }
}

impl Spending {
    /// Nothing spent yet at a tariff.
    #[must_use]
    pub fn begin(tariff: &Tariff) -> Self {
        Self {
            cost: (*tariff.basis() != TokenPricing::Unknown).then(Cost::default),
            ..Self::default()
        }
    }

    /// What the sends recorded at `path` cost.
    ///
    /// # Errors
    /// As [`each_exchange`].
    pub fn of(path: &Path, tariff: &Tariff) -> Result<Self, RecordError> {
        let mut spending = Self::begin(tariff);
        each_exchange(path, |exchange| {
            spending.add_exchange(exchange, tariff);
            Ok(())
        })?;
        Ok(spending)
    }

    /// Adds what a record says that was charged; what was copied from another record is that one's.
    pub fn add_exchange(&mut self, exchange: ExchangeRecord<'_>, tariff: &Tariff) {
        if let Some((at, request_bytes, outcome)) = exchange.settled()
            && tariff.first_own_step() <= at.step
        {
            self.add_charge(&tariff.charge_at(at, request_bytes, outcome));
        }
    }

    /// What the sends recorded at `path` count for against a budget: what they cost, but each that nobody answered as much as the
    /// answer to the same request cost, where one came, and no more than its most. `None` where nobody knows.
    ///
    /// # Errors
    /// As [`each_exchange`].
    pub fn expected(path: &Path, tariff: &Tariff) -> Result<Option<Picodollars>, RecordError> {
        let mut spending = Self::begin(tariff);
        let mut lost: BTreeMap<(usize, u32), LostSends> = BTreeMap::new();
        let mut above = Picodollars::ZERO;
        each_exchange(path, |exchange| {
            spending.add_exchange(exchange, tariff);
            if let Some((at, request_bytes, outcome)) = exchange.settled() {
                let charge = tariff.charge_at(at, request_bytes, outcome);
                let lost = lost.entry((at.step, at.ordinal)).or_default();
                above = above.plus(lost.add(&charge));
            }
            Ok(())
        })?;
        Ok(spending.total().map(|total| total.minus(above)))
    }

    /// Adds one send.
    pub fn add_charge(&mut self, charge: &Charge) {
        match charge {
            Charge::Nothing => self.sends.uncharged += 1,
            Charge::Used { usage, cost } => {
                match usage.source {
                    UsageSource::Reported => self.sends.reported += 1,
                    UsageSource::Estimated | UsageSource::Unknown => self.sends.estimated += 1,
                }
                self.tokens.add(&Tokens::of(usage));
                if let Some(said) = usage.vendor_cost_picodollars {
                    let vendor = VendorCost::of(Picodollars(said), cost.map(|priced| priced.amount));
                    self.vendor_cost.get_or_insert_default().add(&vendor);
                }
                if let (Some(sum), Some(priced)) = (&mut self.cost, cost) {
                    sum.paid_picodollars = sum.paid_picodollars.plus(priced.amount);
                    sum.estimated_sends += u64::from(priced.is_estimated);
                }
            }
            Charge::Incomplete { most } => {
                self.sends.incomplete += 1;
                self.add_bound(*most, |cost| &mut cost.incomplete_picodollars);
            }
            Charge::Unknown { most } => {
                self.sends.unknown += 1;
                self.add_bound(*most, |cost| &mut cost.unknown_picodollars);
            }
        }
    }

    fn add_bound(&mut self, most: Option<Picodollars>, part: fn(&mut Cost) -> &mut Picodollars) {
        let Some(cost) = &mut self.cost else {
            return;
        };
        match most {
            Some(most) => {
                let part = part(cost);
                *part = part.plus(most);
            }
            None => cost.unbounded_sends += 1,
        }
    }

    /// Adds another episode's. The cost of the sum is known when both are.
    pub fn add(&mut self, other: &Self) {
        self.tokens.add(&other.tokens);
        for (sum, part) in [
            (&mut self.sends.reported, other.sends.reported),
            (&mut self.sends.estimated, other.sends.estimated),
            (&mut self.sends.incomplete, other.sends.incomplete),
            (&mut self.sends.unknown, other.sends.unknown),
            (&mut self.sends.uncharged, other.sends.uncharged),
        ] {
            *sum += part;
        }
        self.cost = match (self.cost, &other.cost) {
            (Some(mut sum), Some(part)) => {
                sum.add(part);
                Some(sum)
            }
            (_, None) | (None, _) => None,
        };
        if let Some(vendor) = &other.vendor_cost {
            self.vendor_cost.get_or_insert_default().add(vendor);
        }
    }

    /// What has been spent for certain or at most; `None` where a part of it is not known.
    #[must_use]
    pub fn total(&self) -> Option<Picodollars> {
        self.cost
            .filter(|cost| cost.unbounded_sends == 0)
            .map(|cost| cost.total())
    }

    /// What was spent, for people: `≤` before a sum of which a part is a bound, `~` before one that needed a price which the
    /// table leaves out, `unknown` where a part of it is.
    #[must_use]
    pub fn text(&self) -> String {
        let Some((cost, total)) = self.cost.and_then(|cost| Some((cost, self.total()?))) else {
            return "unknown".to_owned();
        };
        let mark = if cost.is_bound() {
            "\u{2264} "
        } else if 0 < cost.estimated_sends || 0 < self.sends.estimated {
            "~ "
        } else {
            ""
        };
        format!("{mark}{total}")
    }

    /// What each of so many steps took on average; `None` when there are none.
    #[must_use]
    pub fn per_step(&self, steps: u64) -> Option<PerStep> {
        let tokens = self.tokens.all().checked_div(steps)?;
        let a_step = |total: Picodollars| Picodollars(total.0.div_ceil(steps));
        Some(PerStep {
            tokens,
            cost_picodollars: self.total().map(a_step),
        })
    }

    /// The sum of none.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            cost: Some(Cost::default()),
            ..Self::default()
        }
    }
}

/// Sends of one request of which nobody knows whether they were answered.
#[derive(Debug, Clone, Default)]
pub struct LostSends(Vec<Picodollars>);

impl LostSends {
    /// So many, each at its most; none where no most is known.
    #[must_use]
    pub fn of(sends: usize, most: Option<Picodollars>) -> Self {
        Self(most.map_or_else(Vec::new, |most| vec![most; sends]))
    }

    /// Adds a send of the request, and tells by how much the lost ones before it were counted above what it cost. An answer is
    /// the best guess at what they cost: the tokens sent are the same.
    pub fn add(&mut self, charge: &Charge) -> Picodollars {
        match charge {
            Charge::Unknown { most: Some(most) } => {
                self.0.push(*most);
                Picodollars::ZERO
            }
            Charge::Used { cost: Some(paid), .. } => {
                let lost = std::mem::take(&mut self.0).into_iter();
                lost.fold(Picodollars::ZERO, |sum, most| {
                    sum.plus(most.minus(most.min(paid.amount)))
                })
            }
            Charge::Nothing | Charge::Used { .. } | Charge::Incomplete { .. } | Charge::Unknown { .. } => {
                Picodollars::ZERO
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tariff::tests::{basis, tariff};

    fn used(input: u64, vendor: Option<u64>) -> Charge {
        let usage = Usage {
            uncached_input: input,
            vendor_cost_picodollars: vendor,
            ..Usage::NOTHING
        };
        Charge::Used {
            usage,
            cost: basis().cost(&usage),
        }
    }

    #[test]
    fn what_is_paid_and_what_is_bounded_stay_apart() {
        let mut spending = Spending::begin(&tariff(Some(1), basis()));
        spending.add_charge(&used(7, None));
        spending.add_charge(&Charge::Nothing);
        let most = Some(Picodollars(100));
        spending.add_charge(&Charge::Incomplete { most });
        spending.add_charge(&Charge::Unknown { most });
        spending.add_charge(&Charge::Unknown { most });
        let cost = spending.cost.unwrap();
        assert_eq!(
            (
                cost.paid_picodollars.0,
                cost.incomplete_picodollars.0,
                cost.unknown_picodollars.0
            ),
            (7_000_000, 100, 200)
        );
        assert_eq!(spending.total(), Some(Picodollars(7_000_300)));
        assert_eq!((spending.tokens.all(), spending.sends.unknown), (7, 2));
        spending.add_charge(&Charge::Unknown { most: None });
        assert_eq!(spending.total(), None, "a send without a bound is in no sum");
        let mut sum = Spending::nothing();
        sum.add(&spending);
        assert_eq!(sum, spending);
        sum.add(&Spending::begin(&tariff(None, TokenPricing::Unknown)));
        assert_eq!(sum.cost, None);
    }

    #[test]
    fn a_lost_send_counts_what_the_answer_to_its_request_cost() {
        let mut lost = LostSends::default();
        let unknown = |most| Charge::Unknown {
            most: Some(Picodollars(most)),
        };
        for most in [9_000_000, 10_000_000, 3_000_000] {
            assert_eq!(lost.add(&unknown(most)), Picodollars::ZERO);
        }
        assert_eq!(lost.add(&Charge::Nothing), Picodollars::ZERO);
        // The answer cost 7,000,000: two were held above it, one below.
        assert_eq!(lost.add(&used(7, None)), Picodollars(5_000_000));
        assert_eq!(
            lost.add(&used(7, None)),
            Picodollars::ZERO,
            "each is counted down once"
        );
    }

    #[test]
    fn a_vendors_own_figure_is_compared() {
        let mut spending = Spending::begin(&tariff(Some(1), basis()));
        // Ours is 100 millionths of a dollar; one per cent of it is one millionth.
        for (said, gaps) in [
            (100_000_000, 0),
            (101_000_000, 0),
            (101_000_001, 1),
            (98_999_999, 2),
        ] {
            spending.add_charge(&used(100, Some(said)));
            assert_eq!(spending.vendor_cost.unwrap().gaps, gaps, "{said}");
        }
        spending.add_charge(&used(100, None));
        assert_eq!(spending.vendor_cost.unwrap().sends, 4);
    }
}
