//! Strategy cards: what a model says its program does, against the document and against an earlier card.

use crate::canonical::canonical_text;
use crate::document::{DocumentParameter, ParameterFreedom, ParameterType, StrategyDocument, fits};
use crate::hash::sha256_hex;
use crate::parameters::{ParameterValue, Parameters};
use crate::strict_json::StrictJson;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that a card may have at most.
pub const CARD_BYTES_MAX: usize = 64 * 1024;
/// How far floats may lie apart and still be the same value.
const FLOAT_TOLERANCE: f64 = 1e-6;
/// The four texts of the strategy's logic, all needed.
const CORE_LOGIC: [&str; 4] = [
    "strategy_family",
    "entry_rule",
    "exit_rule",
    "position_sizing_rule",
];

/// Strategy card: an object of strict JSON, not yet checked against a document.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyCard(StrictJson);

impl StrategyCard {
    /// A card from its text.
    ///
    /// # Errors
    /// A sentence for a text beyond [`CARD_BYTES_MAX`], and for one that is no strict JSON.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > CARD_BYTES_MAX {
            return Err(format!(
                "the card has {} bytes; it may have {CARD_BYTES_MAX}",
                text.len()
            ));
        }
        StrictJson::parse(text).map(Self)
    }

    /// The canonical text of its core logic; a member that is missing is `null`.
    #[must_use]
    pub fn core_logic_text(&self) -> String {
        let core = CORE_LOGIC.map(|name| {
            (
                name.to_owned(),
                self.core(name).cloned().unwrap_or(StrictJson::Null),
            )
        });
        canonical_text(&StrictJson::Map(BTreeMap::from(core)))
    }

    /// SHA-256 of [`Self::core_logic_text`], in hexadecimal.
    #[must_use]
    pub fn core_logic_hash(&self) -> String {
        sha256_hex(self.core_logic_text().as_bytes())
    }

    /// Name of the class that is run, `Strategy` where the card names none.
    #[must_use]
    pub fn class_name(&self) -> &str {
        let entry = self.0.get("entry_function");
        entry
            .and_then(|entry| entry.get("class_or_function"))
            .and_then(StrictJson::as_text)
            .unwrap_or("Strategy")
    }

    /// Values of its parameters; those that are neither a number nor a text are left out.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        let values = self.map("parameters").into_iter().flatten();
        Parameters::new(values.filter_map(|(name, parameter)| {
            let value = match parameter.get("value")? {
                StrictJson::Number(number) => ParameterValue::Number(*number),
                StrictJson::Text(text) => ParameterValue::Text(text.clone()),
                StrictJson::Null | StrictJson::Bool(_) | StrictJson::List(_) | StrictJson::Map(_) => {
                    return None;
                }
            };
            Some((name.clone(), value))
        }))
    }

    fn map(&self, name: &str) -> Option<&BTreeMap<String, StrictJson>> {
        self.0.get(name)?.as_map()
    }

    fn core(&self, name: &str) -> Option<&StrictJson> {
        self.0.get("core_logic")?.get(name)
    }

    /// The checks of a card against its document, each with whether it holds: identifier, entry function, four texts of the
    /// core logic, every parameter of either, every constraint, the output specification.
    #[must_use]
    pub fn checks(&self, document: &StrategyDocument) -> Vec<CardCheck> {
        let mut checks = vec![
            CardCheck::new(
                "strategy_id",
                self.0.get("strategy_id").and_then(StrictJson::as_text) == Some(document.id.as_str()),
            ),
            CardCheck::new("entry_function", self.names_an_entry()),
        ];
        checks.extend(CORE_LOGIC.map(|name| {
            let text = self.core(name).and_then(StrictJson::as_text);
            CardCheck::new(
                &format!("core_logic.{name}"),
                text.is_some_and(|text| !text.trim().is_empty()),
            )
        }));
        checks.extend(self.parameter_checks(document));
        checks.extend(self.constraint_checks(document));
        checks.push(CardCheck::new(
            "output_specification",
            self.0.get("output_specification").is_some(),
        ));
        checks
    }

    fn names_an_entry(&self) -> bool {
        let entry = self.0.get("entry_function");
        let class = entry
            .and_then(|entry| entry.get("class_or_function"))
            .and_then(StrictJson::as_text);
        class.is_some_and(|class| !class.trim().is_empty())
    }

    fn parameter_checks(&self, document: &StrategyDocument) -> Vec<CardCheck> {
        let own = self.map("parameters");
        let names: BTreeSet<&String> = document
            .parameters
            .keys()
            .chain(own.into_iter().flat_map(BTreeMap::keys))
            .collect();
        let holds = |name: &str| {
            let wanted = document.parameters.get(name)?;
            let value = own?.get(name)?.get("value")?;
            Some(fits(wanted.kind, value) && is_allowed(wanted.kind, wanted.freedom, &wanted.value, value))
        };
        names
            .into_iter()
            .map(|name| CardCheck::new(&format!("parameters.{name}"), holds(name) == Some(true)))
            .collect()
    }

    fn constraint_checks(&self, document: &StrategyDocument) -> Vec<CardCheck> {
        let own = self.map("constraints");
        let names: BTreeSet<&String> = document
            .constraints
            .keys()
            .chain(own.into_iter().flat_map(BTreeMap::keys))
            .collect();
        names
            .into_iter()
            .map(|name| {
                let both = document
                    .constraints
                    .get(name)
                    .zip(own.and_then(|own| own.get(name)));
                let holds = both.is_some_and(|(wanted, value)| same_constraint(wanted, value));
                CardCheck::new(&format!("constraints.{name}"), holds)
            })
            .collect()
    }

    /// Fields of a later card that do not say what this one says, in order: core logic, parameters, constraints.
    #[must_use]
    pub fn changed_fields(&self, later: &Self) -> Vec<String> {
        let core = CORE_LOGIC.into_iter().filter(|name| {
            let text = |card: &Self| canonical_text(card.core(name).unwrap_or(&StrictJson::Null));
            text(self) != text(later)
        });
        let mut changed: Vec<String> = core.map(|name| format!("core_logic.{name}")).collect();
        changed.extend(self.changed_members(later, "parameters", same_parameter));
        changed.extend(self.changed_members(later, "constraints", same_constraint));
        changed
    }

    fn changed_members(
        &self,
        later: &Self,
        part: &str,
        same: fn(&StrictJson, &StrictJson) -> bool,
    ) -> Vec<String> {
        let (own, other) = (self.map(part), later.map(part));
        let names: BTreeSet<&String> = [own, other]
            .into_iter()
            .flatten()
            .flat_map(BTreeMap::keys)
            .collect();
        names
            .into_iter()
            .filter(|name| {
                let member =
                    |of: Option<&BTreeMap<String, StrictJson>>| of.and_then(|of| of.get(*name)).cloned();
                !member(own)
                    .zip(member(other))
                    .is_some_and(|(own, other)| same(&own, &other))
            })
            .map(|name| format!("{part}.{name}"))
            .collect()
    }
}

impl StrategyDocument {
    /// The first parameter that is missing among values, of another type, or neither the frozen value nor within its bounds.
    #[must_use]
    pub fn refused_parameter(&self, values: &Parameters) -> Option<&str> {
        let holds = |name: &str, wanted: &DocumentParameter| {
            let mut own = values.iter().filter(|(known, _)| *known == name);
            own.next().is_some_and(|(_, value)| {
                let value = match value {
                    ParameterValue::Number(number) => StrictJson::Number(*number),
                    ParameterValue::Text(text) => StrictJson::Text(text.clone()),
                };
                fits(wanted.kind, &value) && is_allowed(wanted.kind, wanted.freedom, &wanted.value, &value)
            })
        };
        let mut parameters = self.parameters.iter();
        parameters
            .find(|(name, wanted)| !holds(name, wanted))
            .map(|(name, _)| name.as_str())
    }
}

/// One check of a card against its document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct CardCheck {
    /// The field, such as `parameters.N`.
    pub field: String,
    /// Whether it is as the document wants it.
    pub holds: bool,
}

impl CardCheck {
    fn new(field: &str, holds: bool) -> Self {
        Self {
            field: field.to_owned(),
            holds,
        }
    }
}

/// Whether a value is the frozen one, or within the bounds of a tunable one.
fn is_allowed(
    kind: ParameterType,
    freedom: ParameterFreedom,
    wanted: &StrictJson,
    value: &StrictJson,
) -> bool {
    match (freedom, value.as_number()) {
        (ParameterFreedom::Tunable { least, greatest }, Some(value)) => least <= value && value <= greatest,
        (ParameterFreedom::Tunable { .. }, None) => false,
        (ParameterFreedom::Frozen, _) => same_value(kind, wanted, value),
    }
}

fn same_value(kind: ParameterType, wanted: &StrictJson, value: &StrictJson) -> bool {
    match (wanted.as_number(), value.as_number()) {
        (Some(wanted), Some(value)) if kind == ParameterType::Whole => {
            wanted.partial_cmp(&value) == Some(std::cmp::Ordering::Equal)
        }
        (Some(wanted), Some(value)) => (wanted - value).abs() < FLOAT_TOLERANCE,
        _ => canonical_text(wanted) == canonical_text(value),
    }
}

/// Whether two parameters of cards have the same value; whole ones exactly.
fn same_parameter(first: &StrictJson, second: &StrictJson) -> bool {
    let kind = match first.get("type").and_then(StrictJson::as_text) {
        Some("int") => ParameterType::Whole,
        Some(_) | None => ParameterType::Float,
    };
    let values = first.get("value").zip(second.get("value"));
    values.is_some_and(|(first, second)| same_value(kind, first, second))
}

/// Whether two constraints say the same; lists as sets.
fn same_constraint(first: &StrictJson, second: &StrictJson) -> bool {
    let sorted = |value: &StrictJson| {
        value.as_list().map(|items| {
            let mut texts: Vec<String> = items.iter().map(canonical_text).collect();
            texts.sort_unstable();
            texts
        })
    };
    match (sorted(first), sorted(second)) {
        (Some(first), Some(second)) => first == second,
        _ => canonical_text(first) == canonical_text(second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::DocumentId;

    #[test]
    fn a_value_that_a_document_refuses_is_named() {
        let document = StrategyDocument::built_in(DocumentId::S01).unwrap();
        let with = |name: &str, value: Option<f64>| {
            let values = document.default_parameters();
            let kept = values.iter().filter(|(known, _)| *known != name);
            let kept = kept.map(|(known, value)| (known.to_owned(), value.clone()));
            let own = value.map(|value| (name.to_owned(), ParameterValue::Number(value)));
            Parameters::new(kept.chain(own))
        };
        let refused = |name, value| document.refused_parameter(&with(name, value)).map(str::to_owned);
        assert_eq!(refused("stop_loss_pct", Some(0.2)), None);
        for (name, value) in [
            ("stop_loss_pct", Some(0.3)),
            ("N", Some(21.0)),
            ("N", Some(20.5)),
            ("k", None),
        ] {
            assert_eq!(refused(name, value).as_deref(), Some(name), "{value:?}");
        }
    }
}
