//! What a reply cost in tokens, in parts that do not overlap.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Tokens of one or more exchanges. The parts are disjoint, whatever a vendor counts inside what: their sum is the
/// whole, and each has its own price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the request that no cache held.
    pub uncached_input: u64,
    /// Tokens of the request read from the provider's cache.
    pub cache_read: u64,
    /// Tokens of the request written to a cache that lives five minutes, or as long as the provider likes.
    pub cache_write_5m: u64,
    /// Tokens of the request written to a cache that lives an hour.
    pub cache_write_1h: u64,
    /// Tokens of the provider's own tool prompts, where it counts them apart from the request.
    pub tool_prompt: u64,
    /// Tokens generated, reasoning excluded.
    pub visible_output: u64,
    /// Tokens generated in reasoning.
    pub reasoning_output: u64,
    /// Where the counts are from.
    pub source: UsageSource,
    /// What the provider itself says that it charged, in millionths of a millionth of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vendor_cost_picodollars: Option<u64>,
}

/// Where token counts are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The provider reported them.
    Reported,
    /// They were estimated from the text.
    Estimated,
    /// Nobody knows; the counts are 0 and mean nothing.
    #[default]
    Unknown,
}

impl UsageSource {
    /// The stable name used in records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Estimated => "estimated",
            Self::Unknown => "unknown",
        }
    }
}

impl Usage {
    /// Tokens of the request, those from and to the cache included.
    #[must_use]
    pub const fn input(&self) -> u64 {
        self.uncached_input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write_5m)
            .saturating_add(self.cache_write_1h)
            .saturating_add(self.tool_prompt)
    }

    /// Tokens generated, reasoning included.
    #[must_use]
    pub const fn output(&self) -> u64 {
        self.visible_output.saturating_add(self.reasoning_output)
    }

    /// Whether the counts mean something.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        !matches!(self.source, UsageSource::Unknown)
    }
}

/// Tokens that a provider may put around a request: its own tool prompt and the marks of its template.
pub const PROMPT_TOKENS_OVERHEAD: u64 = 1_024;

/// The same where a count is doubted: some services put a longer prompt of their own before a request.
const PROMPT_TOKENS_OVERHEAD_MAX: u64 = 4_096;

/// Tokens by which providers overshoot the bound on the output that they were given: end marks, and a last step of
/// several tokens at once.
const OUTPUT_TOKENS_OVERHEAD: u64 = 64;

/// More tokens than any model generates in one reply: the bound where the request names none, and where counts are cut.
const OUTPUT_TOKENS_MAX: u64 = 1_000_000;

/// The most tokens that one exchange can have used.
///
/// Tokenizers that work on bytes never need more tokens than there are bytes. What a reply says beyond it is the
/// server's error, or an attempt to eat a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageBound {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens generated, reasoning included.
    pub output: u64,
}

impl UsageBound {
    /// The bound of a request of so many bytes that allowed so many tokens of output.
    #[must_use]
    pub fn of(request_bytes: usize, max_output_tokens: Option<u32>) -> Self {
        let bytes = u64::try_from(request_bytes).unwrap_or(u64::MAX);
        Self {
            input: bytes.saturating_add(PROMPT_TOKENS_OVERHEAD_MAX),
            output: max_output_tokens.map_or(OUTPUT_TOKENS_MAX, |most| {
                u64::from(most).saturating_add(OUTPUT_TOKENS_OVERHEAD)
            }),
        }
    }
}

impl Usage {
    /// These counts, when they are beyond `bound`. A request has no more tokens than it has bytes, and is cut to that; output above
    /// what was allowed is charged, as providers do that do not hold the limit, up to what no model generates. Where anything is
    /// cut, what the provider says that it charged is left out.
    #[must_use]
    pub fn beyond(&self, bound: UsageBound) -> Option<Self> {
        if self.input() <= bound.input && self.output() <= bound.output {
            return None;
        }
        let mut left = bound.input;
        let mut take = |part: u64| {
            let taken = part.min(left);
            left -= taken;
            taken
        };
        let most = bound.output.max(OUTPUT_TOKENS_MAX);
        let is_cut = bound.input < self.input() || most < self.output();
        let reasoning_output = self.reasoning_output.min(most);
        Some(Self {
            uncached_input: take(self.uncached_input),
            cache_read: take(self.cache_read),
            cache_write_5m: take(self.cache_write_5m),
            cache_write_1h: take(self.cache_write_1h),
            tool_prompt: take(self.tool_prompt),
            visible_output: self.visible_output.min(most - reasoning_output),
            reasoning_output,
            source: self.source,
            vendor_cost_picodollars: self.vendor_cost_picodollars.filter(|_| !is_cut),
        })
    }
}

impl AddAssign for Usage {
    /// Adds the parts; the source of the sum is the worse of the two. The sum of none is [`Usage::NOTHING`].
    fn add_assign(&mut self, other: Self) {
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
        self.source = self.source.max(other.source);
        self.vendor_cost_picodollars = match (self.vendor_cost_picodollars, other.vendor_cost_picodollars) {
            (None, None) => None,
            (left, right) => Some(left.unwrap_or(0).saturating_add(right.unwrap_or(0))),
        };
    }
}

impl Usage {
    /// What nothing costs: where sums begin.
    pub const NOTHING: Self = Self {
        uncached_input: 0,
        cache_read: 0,
        cache_write_5m: 0,
        cache_write_1h: 0,
        tool_prompt: 0,
        visible_output: 0,
        reasoning_output: 0,
        source: UsageSource::Reported,
        vendor_cost_picodollars: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_beyond_what_was_sent_are_cut_and_output_above_what_was_allowed_is_charged() {
        let bound = UsageBound::of(100, Some(10));
        let most = |output| UsageBound { input: 4_196, output };
        assert_eq!(bound, most(74));
        assert_eq!(UsageBound::of(100, None), most(1_000_000));
        let usage = |uncached_input, cache_read, visible_output, reasoning_output| Usage {
            uncached_input,
            cache_read,
            visible_output,
            reasoning_output,
            ..Usage::NOTHING
        };
        assert_eq!(usage(4_000, 196, 34, 40).beyond(bound), None);
        assert_eq!(
            usage(4_000, 197, 34, 40).beyond(bound),
            Some(usage(4_000, 196, 34, 40))
        );
        assert_eq!(
            usage(7, 0, 36, 40).beyond(bound),
            Some(usage(7, 0, 36, 40)),
            "charged"
        );
        let huge = u64::MAX / 2;
        assert_eq!(
            usage(huge, huge, huge, huge).beyond(bound),
            Some(usage(4_196, 0, 0, 1_000_000))
        );
    }

    #[test]
    fn a_sum_is_as_sure_as_its_least_sure_part() {
        let mut sum = Usage::NOTHING;
        sum += Usage {
            uncached_input: 7,
            reasoning_output: 2,
            source: UsageSource::Reported,
            ..Usage::default()
        };
        assert_eq!(
            (sum.input(), sum.output(), sum.source),
            (7, 2, UsageSource::Reported)
        );
        sum += Usage::default();
        assert!(!sum.is_known());
    }
}
