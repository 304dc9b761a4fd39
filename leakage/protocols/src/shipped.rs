//! What each switch is worth in the run that is shipped.

use crate::key::ModelFamily;
use crate::switch::Switch;
use schemars::JsonSchema;
use serde::Serialize;

/// What a switch is worth to a family of predictors on the market of the demonstration, which has no alpha.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShippedGain {
    /// The family.
    #[serde(rename = "model")]
    pub family: ModelFamily,
    /// The median of its leakage gains over horizons.
    pub gain: f64,
}

const SWITCHES: [Switch; 6] = [
    Switch::TempCenter,
    Switch::ExecOpen,
    Switch::NormGlobal,
    Switch::StructGraph,
    Switch::ExecClose,
    Switch::LabelOverlap,
];

/// `runs/configs/leak_demo.toml` with these models and one seed, in the order of the switches.
const GAINS: [(ModelFamily, [f64; 6]); 6] = [
    (ModelFamily::Momentum, [0.0, 5.85, 0.0, 0.0, 0.2, 0.0]),
    (ModelFamily::Ridge, [18.98, 23.72, 0.0, 0.11, 0.31, -0.08]),
    (ModelFamily::Trees, [19.64, 22.47, 0.0, -0.17, 0.24, 0.1]),
    (ModelFamily::GraphMlp, [11.9, 16.21, 0.0, 0.17, 0.19, 0.09]),
    (ModelFamily::Lstm, [8.1, 8.94, -0.01, 0.15, -0.1, 0.18]),
    (ModelFamily::Transformer, [11.23, 15.91, -0.04, -0.08, 0.18, 0.16]),
];

/// The gains of a switch by family; none of the reference.
#[must_use]
pub fn shipped_gains(switch: Switch) -> Vec<ShippedGain> {
    let Some(place) = SWITCHES.iter().position(|known| *known == switch) else {
        return Vec::new();
    };
    let of = |(family, gains): &(ModelFamily, [f64; 6])| {
        gains.get(place).map(|gain| ShippedGain {
            family: *family,
            gain: *gain,
        })
    };
    GAINS.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_has_a_gain_of_every_family_and_the_reference_none() {
        for switch in Switch::ALL {
            let expected = if switch == Switch::Clean {
                0
            } else {
                ModelFamily::ALL.len()
            };
            assert_eq!(shipped_gains(switch).len(), expected, "{switch:?}");
        }
        let families: Vec<ModelFamily> = GAINS.iter().map(|(family, _)| *family).collect();
        assert_eq!(families, ModelFamily::ALL);
        let ridge = |switch| shipped_gains(switch)[1].gain;
        assert!(10.0 * ridge(Switch::NormGlobal).abs() < ridge(Switch::TempCenter));
    }
}
