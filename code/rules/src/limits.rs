//! What one run may use up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits of the jobs of one box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BoxLimits {
    /// Seconds of processor time of a job.
    pub cpu_s: u32,
    /// Seconds of the clock for a job.
    pub wall_s: u32,
    /// Memory of a box.
    pub memory_mb: u32,
    /// The longest result.
    pub out_max_mb: u32,
    /// The longest source.
    pub source_kb: u32,
    /// Seconds of processor time of all jobs of a submission: who has used them up gets no further one.
    pub budget_cpu_s: u32,
    /// Seconds of the clock for all jobs of a submission.
    pub budget_wall_s: u32,
}

impl Default for BoxLimits {
    fn default() -> Self {
        Self::FACTORS
    }
}

/// A limit that is zero, below the least or above the most.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} is {value}: it must be from {least} to {most}")]
pub struct LimitError {
    /// Its key.
    pub key: &'static str,
    /// What was given.
    pub value: u32,
    /// The least that works.
    pub least: u32,
    /// The most that is taken.
    pub most: u32,
}

impl BoxLimits {
    /// Limits of a factor function.
    pub const FACTORS: Self = Self {
        cpu_s: 20,
        wall_s: 60,
        memory_mb: 3_072,
        out_max_mb: 16,
        source_kb: 256,
        budget_cpu_s: 900,
        budget_wall_s: 1_800,
    };
    /// Limits of a trading strategy.
    pub const STRATEGIES: Self = Self {
        cpu_s: 120,
        wall_s: 600,
        memory_mb: 8_192,
        out_max_mb: 64,
        source_kb: 256,
        budget_cpu_s: 7_200,
        budget_wall_s: 14_400,
    };
    /// The least address space in which the packages can be imported: they reserve more than they use.
    pub const ADDRESS_SPACE_MB_MIN: u32 = 3_072;

    /// The same limits, once each is known to be possible. Without a group of processes whose memory the kernel counts,
    /// memory is address space, and the packages need the least of it.
    ///
    /// # Errors
    /// [`LimitError`] for the first limit that is out of range.
    pub fn checked(self, has_memory_group: bool) -> Result<Self, LimitError> {
        let memory_least = if has_memory_group {
            256
        } else {
            Self::ADDRESS_SPACE_MB_MIN
        };
        let ranges = [
            ("cpu_s", self.cpu_s, 1, 86_400),
            ("wall_s", self.wall_s, 1, 86_400),
            ("memory_mb", self.memory_mb, memory_least, 1_048_576),
            ("out_max_mb", self.out_max_mb, 1, 1_024),
            ("source_kb", self.source_kb, 1, 256),
            ("budget_cpu_s", self.budget_cpu_s, 1, 864_000),
            ("budget_wall_s", self.budget_wall_s, 1, 864_000),
        ];
        match ranges
            .into_iter()
            .find(|(_, value, least, most)| !(least..=most).contains(&value))
        {
            Some((key, value, least, most)) => Err(LimitError {
                key,
                value,
                least,
                most,
            }),
            None => Ok(self),
        }
    }

    /// The longest result in bytes.
    #[must_use]
    pub const fn out_max_bytes(&self) -> u64 {
        (self.out_max_mb as u64) << 20
    }

    /// Address space of a process in the box, in bytes.
    #[must_use]
    pub const fn address_space_bytes(&self) -> u64 {
        let least = Self::ADDRESS_SPACE_MB_MIN;
        let megabytes = if self.memory_mb < least {
            least
        } else {
            self.memory_mb
        };
        (megabytes as u64) << 20
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_zero_and_below_the_least_are_refused() {
        let keys = ["cpu_s", "wall_s", "memory_mb", "out_max_mb", "source_kb"];
        for key in keys.into_iter().chain(["budget_cpu_s", "budget_wall_s"]) {
            let mut limits = serde_json::to_value(BoxLimits::FACTORS).unwrap();
            limits[key] = 0.into();
            let limits: BoxLimits = serde_json::from_value(limits).unwrap();
            let error = limits.checked(true).unwrap_err();
            assert_eq!(error.key, key);
            assert!(error.to_string().contains("is 0: it must be from "), "{error}");
        }
        let small = BoxLimits {
            memory_mb: 3_071,
            ..BoxLimits::FACTORS
        };
        assert_eq!(small.checked(false).unwrap_err().least, 3_072);
        assert!(small.checked(true).is_ok());
        assert!(BoxLimits::STRATEGIES.checked(false).is_ok());
    }

    #[test]
    fn address_space_is_never_less_than_the_packages_reserve() {
        let small = BoxLimits {
            memory_mb: 512,
            ..BoxLimits::FACTORS
        };
        assert_eq!(small.address_space_bytes(), 3_072 << 20);
        assert_eq!(BoxLimits::STRATEGIES.address_space_bytes(), 8_192 << 20);
    }
}
