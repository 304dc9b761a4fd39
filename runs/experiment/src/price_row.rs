//! What a model's tokens cost: a row of a price table.

use crate::amount::{Picodollars, TokenPrice, UnitsPerDollar};
use ktd_agents::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The currency of rows that name none, and of all sums.
pub const US_DOLLAR: &str = "USD";

/// What a model's tokens cost. Prices are per million tokens.
///
/// What a row leaves out: tokens read from a cache cost as much as others; writing them to a cache costs 1.25 times
/// the input price for five minutes and 2 times for an hour, which is the most that any vendor is known to take, and
/// marks the cost as estimated.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceRow {
    /// The model's name as it is asked for.
    pub model: String,
    /// The vendor's id in the table of dialects; without it the row is for any vendor.
    #[serde(alias = "provider", skip_serializing_if = "Option::is_none", default)]
    pub vendor: Option<String>,
    /// `USD`, or a currency with a rate in the table's `per_usd`.
    #[serde(default = "us_dollar")]
    pub currency: String,
    /// When the prices held.
    pub asof: String,
    /// Where they were read.
    pub source: String,
    /// Tokens of the request that no cache held.
    pub input: TokenPrice,
    /// Tokens of the request read from a cache.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cached_input: Option<TokenPrice>,
    /// Tokens of the request written to a cache for five minutes, or as long as the provider likes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_write_5m: Option<TokenPrice>,
    /// Tokens of the request written to a cache for an hour.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_write_1h: Option<TokenPrice>,
    /// Tokens generated, reasoning included.
    pub output: TokenPrice,
    /// Other prices for long prompts, the shortest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tiers: Vec<PriceTier>,
    /// Allowed and ignored: episodes are never sent as a batch.
    #[serde(skip_serializing, default)]
    batch_multiplier: Ignored,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

/// The prices of a call whose prompt has more than so many tokens. The whole call is priced at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTier {
    /// The prompt's tokens, those from and to a cache included, above which they hold.
    pub prompt_tokens_over: u64,
    /// Tokens of the request that no cache held.
    pub input: TokenPrice,
    /// Tokens of the request read from a cache.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cached_input: Option<TokenPrice>,
    /// Tokens of the request written to a cache for five minutes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_write_5m: Option<TokenPrice>,
    /// Tokens of the request written to a cache for an hour.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_write_1h: Option<TokenPrice>,
    /// Tokens generated, reasoning included.
    pub output: TokenPrice,
}

/// A value that is read and forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema)]
struct Ignored;

impl<'de> Deserialize<'de> for Ignored {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|_| Self)
    }
}

/// How many units of a currency are one US dollar.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeRate {
    /// Units of the currency a dollar.
    pub rate: UnitsPerDollar,
    /// When the rate held.
    pub asof: String,
}

/// What something costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priced {
    /// The amount.
    pub amount: Picodollars,
    /// Whether a price that the row leaves out was needed for it.
    pub is_estimated: bool,
}

/// The prices that hold for one call, each part with its own.
#[derive(Debug, Clone, Copy)]
struct Prices {
    input: TokenPrice,
    cached_input: TokenPrice,
    cache_write_5m: TokenPrice,
    cache_write_1h: TokenPrice,
    output: TokenPrice,
    /// Whether a write to a cache is priced by the row itself.
    has_write_5m: bool,
    has_write_1h: bool,
}

fn us_dollar() -> String {
    US_DOLLAR.to_owned()
}

impl PriceTier {
    fn prices(&self) -> Prices {
        Prices {
            input: self.input,
            cached_input: self.cached_input.unwrap_or(self.input),
            cache_write_5m: self.cache_write_5m.unwrap_or_else(|| self.input.quarters(5)),
            cache_write_1h: self.cache_write_1h.unwrap_or_else(|| self.input.quarters(8)),
            output: self.output,
            has_write_5m: self.cache_write_5m.is_some(),
            has_write_1h: self.cache_write_1h.is_some(),
        }
    }
}

impl Prices {
    /// The dearest that a token of a request can be.
    fn dearest_input(&self) -> TokenPrice {
        self.input
            .max(self.cached_input)
            .max(self.cache_write_5m)
            .max(self.cache_write_1h)
    }
}

impl PriceRow {
    /// The row's own prices, as a tier that holds from the first token.
    const fn base(&self) -> PriceTier {
        PriceTier {
            prompt_tokens_over: 0,
            input: self.input,
            cached_input: self.cached_input,
            cache_write_5m: self.cache_write_5m,
            cache_write_1h: self.cache_write_1h,
            output: self.output,
        }
    }

    /// The prices that a prompt of up to so many tokens may be charged at, the last one being its own.
    fn prices_up_to(&self, prompt_tokens: u64) -> impl Iterator<Item = Prices> {
        let reached = self
            .tiers
            .iter()
            .filter(move |tier| tier.prompt_tokens_over < prompt_tokens);
        std::iter::once(self.base())
            .chain(reached.copied())
            .map(|tier| tier.prices())
    }

    /// What a call of this usage costs, exact to the last place; `rate` turns another currency into dollars.
    #[must_use]
    pub fn cost(&self, usage: &Usage, rate: Option<UnitsPerDollar>) -> Priced {
        let prices = self.prices_up_to(usage.input()).last();
        let prices = prices.unwrap_or_else(|| self.base().prices());
        let parts = [
            (prices.input, usage.uncached_input),
            (prices.input, usage.tool_prompt),
            (prices.cached_input, usage.cache_read),
            (prices.cache_write_5m, usage.cache_write_5m),
            (prices.cache_write_1h, usage.cache_write_1h),
            (prices.output, usage.output()),
        ];
        let amount = parts.iter().map(|(price, tokens)| price.of(*tokens)).sum();
        let is_estimated = (0 < usage.cache_write_5m && !prices.has_write_5m)
            || (0 < usage.cache_write_1h && !prices.has_write_1h);
        Priced {
            amount: dollars(amount, rate),
            is_estimated,
        }
    }

    /// The most that a call can cost whose prompt and output have at most so many tokens.
    #[must_use]
    pub fn most(&self, prompt_tokens: u64, output_tokens: u64, rate: Option<UnitsPerDollar>) -> Picodollars {
        let dearest = self
            .prices_up_to(prompt_tokens)
            .map(|prices| {
                prices
                    .dearest_input()
                    .of(prompt_tokens)
                    .saturating_add(prices.output.of(output_tokens))
            })
            .max();
        dollars(dearest.unwrap_or_default(), rate)
    }
}

fn dollars(amount: u128, rate: Option<UnitsPerDollar>) -> Picodollars {
    let amount = rate.map_or(amount, |rate| rate.dollars(amount));
    Picodollars(u64::try_from(amount).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> PriceRow {
        serde_json::from_str(&format!(
            "{{\"model\":\"m\",\"asof\":\"2026-11\",\"source\":\"s\",{text}}}"
        ))
        .unwrap()
    }

    fn usage(uncached_input: u64, cache_read: u64, output: u64) -> Usage {
        Usage {
            uncached_input,
            cache_read,
            visible_output: output,
            ..Usage::NOTHING
        }
    }

    #[test]
    fn every_part_has_its_own_price() {
        let row = row(
            "\"input\":5.0,\"cached_input\":0.5,\"cache_write_5m\":6.25,\"cache_write_1h\":10,\"output\":25",
        );
        let all = Usage {
            uncached_input: 1,
            cache_read: 10,
            cache_write_5m: 100,
            cache_write_1h: 1_000,
            tool_prompt: 10_000,
            visible_output: 100_000,
            reasoning_output: 1_000_000,
            ..Usage::NOTHING
        };
        let priced = row.cost(&all, None);
        let expected = 5_000_000 * 10_001
            + 500_000 * 10
            + 6_250_000 * 100
            + 10_000_000 * 1_000
            + 25_000_000 * 1_100_000_u64;
        assert_eq!((priced.amount.0, priced.is_estimated), (expected, false));
    }

    #[test]
    fn a_long_prompt_prices_the_whole_call() {
        let row = row("\"input\":2,\"cached_input\":0.2,\"output\":12,\
             \"tiers\":[{\"prompt_tokens_over\":1000,\"input\":4,\"output\":18},\
             {\"prompt_tokens_over\":5000,\"input\":8,\"output\":36}]");
        let cost = |input, cached, output| row.cost(&usage(input, cached, output), None).amount.0;
        assert_eq!(cost(900, 100, 1), 2_000_000 * 900 + 200_000 * 100 + 12_000_000);
        // One token more, and a cached one costs as others do, for the tier has no price of its own for it.
        assert_eq!(cost(901, 100, 1), 4_000_000 * 1_001 + 18_000_000);
        assert_eq!(cost(5_001, 0, 2), 8_000_000 * 5_001 + 36_000_000 * 2);
    }

    #[test]
    fn what_a_row_leaves_out_is_told_as_estimated() {
        let row = row("\"input\":4,\"output\":8");
        let written = Usage {
            cache_write_5m: 1,
            cache_write_1h: 1,
            ..Usage::NOTHING
        };
        let priced = row.cost(&written, None);
        assert_eq!(
            (priced.amount.0, priced.is_estimated),
            (5_000_000 + 8_000_000, true)
        );
        assert!(!row.cost(&usage(1, 1, 1), None).is_estimated);
        assert_eq!(row.cost(&usage(0, 1, 0), None), row.cost(&usage(1, 0, 0), None));
    }

    #[test]
    fn no_call_costs_more_than_its_most() {
        // The tier is cheaper: a prompt that may or may not reach it must be held at the dearer price.
        let row =
            row("\"input\":4,\"output\":8,\"tiers\":[{\"prompt_tokens_over\":100,\"input\":1,\"output\":2}]");
        for input in [0, 1, 100, 101, 150] {
            for (cached, written) in [(0, 0), (input, 0), (0, input)] {
                let call = Usage {
                    uncached_input: input - cached - written,
                    cache_read: cached,
                    cache_write_1h: written,
                    visible_output: 7,
                    ..Usage::NOTHING
                };
                assert!(row.cost(&call, None).amount <= row.most(150, 7, None), "{call:?}");
            }
        }
    }
}
