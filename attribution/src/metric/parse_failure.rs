//! How often the model could not say what it wanted.

use ktd_stats::Undefined;

/// Counts of final emissions: what was left after all retries of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ParseFailure {
    /// Emissions that could be read, at the first try or after feedback.
    pub valid: u32,
    /// Emissions whose form could still not be read when the retries were used up.
    pub exhausted: u32,
}

impl ParseFailure {
    /// Emissions unreadable after all retries over emissions. Steps lost to infrastructure are in neither.
    ///
    /// # Errors
    /// [`Undefined::NoEmissions`] when the model emitted nothing.
    pub fn rate(&self) -> Result<f64, Undefined> {
        let emissions = f64::from(self.valid) + f64::from(self.exhausted);
        if 0.0 < emissions {
            return Ok(f64::from(self.exhausted) / emissions);
        }
        Err(Undefined::NoEmissions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mended_answer_is_no_failure() {
        let counts = ParseFailure {
            valid: 3,
            exhausted: 1,
        };
        assert_eq!(counts.rate(), Ok(0.25));
    }

    #[test]
    fn silence_has_no_rate() {
        assert_eq!(ParseFailure::default().rate(), Err(Undefined::NoEmissions));
    }
}
