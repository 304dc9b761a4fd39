//! From costs to likelihoods, many at a time.

use pulp::{Arch, NullaryFnOnce};

/// Rows of one stock on days in a row, on their way into what each day's best row costs and what its likelihoods add up to.
pub(crate) struct DayLikelihoods<'a> {
    /// Twice the negative logarithm of each row's likelihood.
    pub(crate) costs: &'a [f32],
    /// The cost whose likelihood is the unit.
    pub(crate) unit: f32,
    /// Receives the likelihood of each row: equal to some seven digits, and to the last bit on every machine, for no product is
    /// fused with a sum.
    pub(crate) weights: &'a mut [f32],
    /// The least cost of each day.
    pub(crate) least: &'a mut [f32],
    /// The sum of likelihoods of each day.
    pub(crate) masses: &'a mut [f32],
}

impl DayLikelihoods<'_> {
    /// Adds them to their days; their sum, in an order that is the same on every machine.
    pub(crate) fn add(self) -> f32 {
        Arch::new().dispatch(self)
    }
}

impl NullaryFnOnce for DayLikelihoods<'_> {
    type Output = f32;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) -> f32 {
        for (weight, cost) in self.weights.iter_mut().zip(self.costs) {
            *weight = power_of_two((self.unit - cost) * HALVINGS);
        }
        for (kept, cost) in self.least.iter_mut().zip(self.costs) {
            *kept = if *cost < *kept { *cost } else { *kept };
        }
        for (mass, weight) in self.masses.iter_mut().zip(&*self.weights) {
            *mass += weight;
        }
        let (some, rest) = self.weights.as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for weights in some {
            for (lane, weight) in lanes.iter_mut().zip(weights) {
                *lane += weight;
            }
        }
        lanes.iter().chain(rest).sum()
    }
}

/// Sums side by side.
const LANES: usize = 16;

/// Adds each cost as often as `weight` says.
pub(crate) fn add_weighted(sums: &mut [f32], weight: f32, costs: &[f32]) {
    Arch::new().dispatch(AddWeighted { sums, weight, costs });
}

struct AddWeighted<'a> {
    sums: &'a mut [f32],
    weight: f32,
    costs: &'a [f32],
}

impl NullaryFnOnce for AddWeighted<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        for (sum, cost) in self.sums.iter_mut().zip(self.costs) {
            *sum += self.weight * cost;
        }
    }
}

/// Halvings of the likelihood for each unit of cost.
const HALVINGS: f32 = 0.5 * std::f32::consts::LOG2_E;
/// Below this a likelihood is none.
const LEAST: f32 = -126.0;
/// Adding it rounds to a whole number, which then stands in the lowest bits.
const ROUND: f32 = 12_582_912.0;

/// `2^exponent`; nothing below 2^-126, and at most 2^126.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn power_of_two(exponent: f32) -> f32 {
    let clamped = exponent.clamp(LEAST, -LEAST);
    let rounded = clamped + ROUND;
    let whole = rounded.to_bits().wrapping_sub(ROUND.to_bits());
    let part = (clamped - (rounded - ROUND)) * std::f32::consts::LN_2;
    // Taylor's series of the exponential function, where the next term is below the last bit.
    let mut power = 1.0 / 720.0;
    for factor in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        power = power * part + factor;
    }
    let scaled = f32::from_bits(power.to_bits().wrapping_add(whole << 23));
    if exponent <= LEAST { 0.0 } else { scaled }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelihoods_are_those_of_the_exponential_function() {
        let costs: Vec<f32> = (0_u16..3_800).map(|step| f32::from(step) * 0.05 - 20.0).collect();
        let of = |costs: &[f32], unit: f32| {
            let mut found = [0.0, f32::INFINITY, 0.0].map(|value| vec![value; costs.len()]);
            let [weights, least, masses] = &mut found;
            let sum = DayLikelihoods {
                costs,
                unit,
                weights,
                least,
                masses,
            }
            .add();
            (sum, found)
        };
        let (sum, [found, least, masses]) = of(&costs, 7.0);
        assert!((sum / found.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert_eq!((&least, &masses), (&costs, &found));
        for (cost, found) in costs.iter().zip(found) {
            let exact = libm::exp((7.0 - f64::from(*cost)) / 2.0);
            assert!(
                (f64::from(found) / exact - 1.0).abs() < 1e-5,
                "{cost} {found} {exact}"
            );
        }
        let (_, [extremes, ..]) = of(&[f32::INFINITY, 1e9, 0.0], 0.0);
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
        assert_eq!(bits(&extremes), bits(&[0.0, 0.0, 1.0]));
    }
}
