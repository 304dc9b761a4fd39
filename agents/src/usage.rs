//! What a reply cost in tokens, in parts that do not overlap.

use std::ops::AddAssign;

/// Tokens of one or more exchanges. The parts are disjoint, whatever a vendor counts inside what: their sum is the
/// whole, and each has its own price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    /// Tokens generated that can be seen.
    pub visible_output: u64,
    /// Tokens generated in reasoning.
    pub reasoning_output: u64,
    /// Where the counts are from.
    pub source: UsageSource,
    /// What the provider itself says that it charged, in millionths of a millionth of a US dollar.
    pub vendor_cost_picodollars: Option<u64>,
}

/// Where token counts are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
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
