//! Draws without replacement.

/// Of so many things so many are marked, and so many are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    pub(super) all: u64,
    pub(super) marked: u64,
    pub(super) drawn: u64,
}

impl Draw {
    /// Probability that exactly so many marked ones are drawn.
    fn exactly(self, hit: u64) -> f64 {
        let Self { all, marked, drawn } = self;
        let rest = all.checked_sub(marked);
        let Some((missed, rest)) = drawn
            .checked_sub(hit)
            .zip(rest)
            .filter(|(missed, rest)| missed <= rest)
        else {
            return 0.0;
        };
        if marked < hit || all < drawn {
            return 0.0;
        }
        libm::exp(ln_ways(marked, hit) + ln_ways(rest, missed) - ln_ways(all, drawn))
    }

    /// Probability that at most so many are.
    pub(super) fn at_most(self, hits: u64) -> f64 {
        (0..=hits).map(|hit| self.exactly(hit)).sum()
    }

    /// Probability that at least so many are.
    pub(super) fn at_least(self, hits: u64) -> f64 {
        (hits..=self.marked.min(self.drawn))
            .map(|hit| self.exactly(hit))
            .sum()
    }
}

/// Logarithm of the ways to draw so many of so many.
fn ln_ways(of: u64, drawn: u64) -> f64 {
    ln_factorial(of) - ln_factorial(drawn) - ln_factorial(of - drawn)
}

fn ln_factorial(number: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "probes are fewer than 2^53")]
    let number = number as f64;
    libm::lgamma(number + 1.0)
}

#[cfg(test)]
mod tests {
    use super::Draw;

    #[test]
    fn probabilities_are_those_of_counting_all_draws() {
        // Three of six are marked: both of two drawn ones in 3 of 15 draws, none in as many.
        let draw = Draw {
            all: 6,
            marked: 3,
            drawn: 2,
        };
        for (found, expected) in [
            (draw.at_least(2), 0.2),
            (draw.at_most(0), 0.2),
            (draw.at_least(0), 1.0),
            (draw.at_least(3), 0.0),
        ] {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
