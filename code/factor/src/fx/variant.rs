//! Definitions that differ from one in a single point: the wrong factors that are written most often.

use super::definition::FxDefinition;
use super::script::{Located, Part};
use super::spread_divisor::SpreadDivisor;
use crate::bars::FactorBars;
use crate::casts::whole;
use crate::fx_error::FxError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was changed in a definition.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionChange {
    /// The whole number at a byte of the text is another.
    Constant {
        /// The byte where it begins.
        at: usize,
        /// The number of the definition.
        from: f64,
        /// The number instead.
        to: f64,
    },
    /// Spreads divide by n instead of n - 1.
    Divisor,
    /// Every `ema` is a `wilder`, and every `wilder` an `ema`.
    Smoothing,
}

/// A changed definition.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionVariant {
    /// What was changed.
    pub change: DefinitionChange,
    definition: FxDefinition,
    divisor: SpreadDivisor,
}

impl DefinitionVariant {
    /// The values of the changed definition.
    ///
    /// # Errors
    /// As [`FxDefinition::evaluate`].
    pub fn evaluate(&self, bars: &FactorBars) -> Result<Vec<f64>, FxError> {
        self.definition.evaluate_with(bars, self.divisor)
    }
}

impl FxDefinition {
    /// Every definition that differs in one whole number by 1, in the order of the text, the smaller first; then the
    /// one with the other divisor; then, where there is a recursion, the one with the other smoothing.
    #[must_use]
    pub fn variants(&self) -> Vec<DefinitionVariant> {
        let mut variants = Vec::new();
        let mut numbers = Vec::new();
        self.script.clone().for_each_mut(&mut |located| {
            if let Some(number) = whole_number(located) {
                numbers.push((located.at, number));
            }
        });
        for (at, from) in numbers {
            for to in [from - 1.0, from + 1.0] {
                let mut script = self.script.clone();
                script.for_each_mut(&mut |located| {
                    if located.at == at && whole_number(located).is_some() {
                        located.part = Part::Number(to);
                    }
                });
                let change = DefinitionChange::Constant { at, from, to };
                variants.extend(Self::checked(script).ok().map(|definition| DefinitionVariant {
                    change,
                    definition,
                    divisor: SpreadDivisor::Sample,
                }));
            }
        }
        variants.push(DefinitionVariant {
            change: DefinitionChange::Divisor,
            definition: self.clone(),
            divisor: SpreadDivisor::Population,
        });
        variants.extend(self.with_other_smoothing());
        variants
    }

    fn with_other_smoothing(&self) -> Option<DefinitionVariant> {
        let mut script = self.script.clone();
        let mut changed = false;
        script.for_each_mut(&mut |located| {
            if let Part::Call(name, _) = &mut located.part {
                let other = match name.as_str() {
                    "ema" => "wilder",
                    "wilder" => "ema",
                    _ => return,
                };
                changed = true;
                other.clone_into(name);
            }
        });
        let definition = if changed { Self::checked(script).ok() } else { None };
        definition.map(|definition| DefinitionVariant {
            change: DefinitionChange::Smoothing,
            definition,
            divisor: SpreadDivisor::Sample,
        })
    }
}

/// The whole number that a part is, if it is one.
fn whole_number(located: &Located) -> Option<f64> {
    if let Part::Number(value) = located.part
        && whole(value.abs()).is_some()
    {
        return Some(value);
    }
    None
}
