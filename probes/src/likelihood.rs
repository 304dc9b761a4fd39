//! From costs to likelihoods, many at a time.

use pulp::{Arch, NullaryFnOnce};

/// The likelihood of each cost, which is twice its negative logarithm, in units of that of the cost `unit`. Equal to some seven
/// digits, and to the last bit on every machine: no product is fused with a sum.
pub(crate) fn likelihoods(costs: &[f32], unit: f32, out: &mut [f32]) {
    Arch::new().dispatch(Likelihoods { costs, unit, out });
}

struct Likelihoods<'a> {
    costs: &'a [f32],
    unit: f32,
    out: &'a mut [f32],
}

impl NullaryFnOnce for Likelihoods<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        for (out, cost) in self.out.iter_mut().zip(self.costs) {
            *out = power_of_two((self.unit - cost) * HALVINGS);
        }
    }
}

/// The sum of likelihoods, in an order that is the same on every machine.
pub(crate) fn sum(likelihoods: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    for some in likelihoods.chunks(LANES) {
        for (lane, value) in lanes.iter_mut().zip(some) {
            *lane += value;
        }
    }
    lanes.iter().sum()
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
        let mut found = vec![0.0; costs.len()];
        likelihoods(&costs, 7.0, &mut found);
        for (cost, found) in costs.iter().zip(found) {
            let exact = libm::exp((7.0 - f64::from(*cost)) / 2.0);
            assert!(
                (f64::from(found) / exact - 1.0).abs() < 1e-5,
                "{cost} {found} {exact}"
            );
        }
        let mut extremes = [1.0; 3];
        likelihoods(&[f32::INFINITY, 1e9, 0.0], 0.0, &mut extremes);
        assert_eq!(extremes.map(f32::to_bits), [0.0, 0.0, 1.0].map(f32::to_bits));
    }
}
