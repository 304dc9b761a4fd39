//! Caps of a budget.

use crate::amount::Picodollars;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;

/// `[budget]` of an experiment, US dollars. Caps are no part of a cell's identity: they may be changed at any time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Caps {
    /// For the whole experiment, such as `"25.00"`.
    #[serde(deserialize_with = "dollars")]
    #[schemars(with = "Option<DollarText>")]
    pub experiment: Option<Picodollars>,
    /// For each cell.
    #[serde(deserialize_with = "dollars")]
    #[schemars(with = "Option<DollarText>")]
    pub cell: Option<Picodollars>,
    /// For all cells of a vendor, by its id.
    #[serde(deserialize_with = "dollars_by_vendor")]
    #[schemars(with = "BTreeMap<String, DollarText>")]
    pub vendor: BTreeMap<String, Picodollars>,
    /// `USD`, which is also meant where it is left out.
    pub currency: Option<Currency>,
}

/// An amount as a file writes it, such as `"25.00"`.
#[derive(JsonSchema)]
#[schemars(transparent, extend("format" = "US dollars"))]
#[expect(dead_code, reason = "read by the schema generator alone")]
pub(crate) struct DollarText(String);

/// The one currency of budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Currency {
    /// US dollars.
    #[serde(rename = "USD")]
    Usd,
}

impl Caps {
    /// Whether anything is capped.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.experiment.is_some() || self.cell.is_some() || !self.vendor.is_empty()
    }

    /// The same with another cap for each cell, where it is the stricter one.
    #[must_use]
    pub fn with_cell(self, cap: Option<Picodollars>) -> Self {
        let stricter = self.cell.into_iter().chain(cap).min();
        Self {
            cell: stricter,
            ..self
        }
    }
}

pub(crate) fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Picodollars>, D::Error> {
    amount(&String::deserialize(deserializer)?).map(Some)
}

fn dollars_by_vendor<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Picodollars>, D::Error> {
    let texts = BTreeMap::<String, String>::deserialize(deserializer)?;
    texts
        .into_iter()
        .map(|(vendor, text)| Ok((vendor, amount(&text)?)))
        .collect()
}

fn amount<E: de::Error>(text: &str) -> Result<Picodollars, E> {
    Picodollars::parse(text).map_err(E::custom)
}
