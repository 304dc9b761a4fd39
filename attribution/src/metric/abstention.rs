//! How often the model did nothing, and whether it chose to.

use ktd_stats::Undefined;

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// The model submitted at least one order, even if every one was rejected.
    Ordered,
    /// The model submitted an empty list.
    VoluntaryHold,
    /// The model failed to submit a valid action in all its retries, and the step fell back to no trade.
    FallbackHold,
    /// An infrastructure fault kept the model from deciding. Never counted as a hold.
    Uncovered,
}

/// Counts of the outcomes of an episode's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Abstention {
    /// Steps with an order.
    pub ordered: u32,
    /// Steps held by choice.
    pub voluntary: u32,
    /// Steps held because the model's answers stayed invalid.
    pub fallback: u32,
    /// Steps without a decision, left out of every rate but [`Abstention::coverage`].
    pub uncovered: u32,
}

impl Abstention {
    /// Counts outcomes.
    #[must_use]
    pub fn of(outcomes: impl IntoIterator<Item = StepKind>) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            let place = match outcome {
                StepKind::Ordered => &mut counts.ordered,
                StepKind::VoluntaryHold => &mut counts.voluntary,
                StepKind::FallbackHold => &mut counts.fallback,
                StepKind::Uncovered => &mut counts.uncovered,
            };
            *place = place.saturating_add(1);
        }
        counts
    }

    /// Steps without an order over steps decided.
    ///
    /// # Errors
    /// [`Undefined::NoSteps`] when none was decided.
    pub fn rate(&self) -> Result<f64, Undefined> {
        share(
            f64::from(self.voluntary) + f64::from(self.fallback),
            self.decided(),
        )
    }

    /// Steps decided over all steps: what infrastructure faults left to judge.
    ///
    /// # Errors
    /// [`Undefined::NoSteps`] without a step.
    pub fn coverage(&self) -> Result<f64, Undefined> {
        share(self.decided(), self.decided() + f64::from(self.uncovered))
    }

    fn decided(&self) -> f64 {
        f64::from(self.ordered) + f64::from(self.voluntary) + f64::from(self.fallback)
    }
}

fn share(part: f64, whole: f64) -> Result<f64, Undefined> {
    if 0.0 < whole {
        return Ok(part / whole);
    }
    Err(Undefined::NoSteps)
}

#[cfg(test)]
mod tests {
    use super::StepKind::{FallbackHold, Ordered, Uncovered, VoluntaryHold};
    use super::*;

    #[test]
    fn a_fault_is_never_a_hold() {
        let counts = Abstention::of([
            Ordered,
            VoluntaryHold,
            FallbackHold,
            Uncovered,
            Uncovered,
            Ordered,
        ]);
        assert_eq!(counts.rate(), Ok(0.5));
        assert!((counts.coverage().unwrap() - 4.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn without_a_decision_there_is_no_rate_but_a_coverage() {
        let counts = Abstention::of([Uncovered]);
        assert_eq!(counts.rate(), Err(Undefined::NoSteps));
        assert_eq!(counts.coverage(), Ok(0.0));
        assert_eq!(Abstention::default().coverage(), Err(Undefined::NoSteps));
    }
}
