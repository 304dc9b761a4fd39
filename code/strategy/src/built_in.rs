//! The twelve documents that come with the benchmark: their text for models, and their machine form.

use crate::document::{ParameterType, StrategyDocument};
use crate::parameters::{ParameterValue, Parameters};
use crate::reference::DocumentId;
use serde_json::{Value, json};

macro_rules! documents {
    ($($id:ident => $file:literal),* $(,)?) => {
        /// The text of a document, as a model gets it: Markdown.
        #[must_use]
        pub const fn document_text(id: DocumentId) -> &'static str {
            match id {
                $(DocumentId::$id => include_str!(concat!("../documents/", $file, ".md")),)*
            }
        }

        /// The machine form of a document: `spec.json`.
        #[must_use]
        pub const fn document_json(id: DocumentId) -> &'static str {
            match id {
                $(DocumentId::$id => include_str!(concat!("../documents/", $file, ".json")),)*
            }
        }
    };
}

documents! {
    S01 => "S01", S02 => "S02", S03 => "S03", S04 => "S04", S05 => "S05", S06 => "S06",
    S07 => "S07", S08 => "S08", S09 => "S09", S10 => "S10", S11 => "S11", S12 => "S12",
}

impl StrategyDocument {
    /// A document that comes with the benchmark.
    ///
    /// # Errors
    /// A sentence where its machine form cannot be read, which a test rules out.
    pub fn built_in(id: DocumentId) -> Result<Self, String> {
        Self::parse(document_json(id))
    }

    /// What a program of it is made with: every parameter under its name, and under `parameters` with its value. Whole
    /// numbers are whole.
    #[must_use]
    pub fn configuration(&self, parameters: &Parameters) -> Value {
        let mut members = serde_json::Map::new();
        let mut nested = serde_json::Map::new();
        for (name, value) in parameters.iter() {
            let is_whole = self.parameters.get(name).map(|known| known.kind) == Some(ParameterType::Whole);
            let value = match value {
                ParameterValue::Text(text) => Value::from(text.as_str()),
                ParameterValue::Number(number) if is_whole => whole(*number),
                ParameterValue::Number(number) => Value::from(*number),
            };
            nested.insert(name.to_owned(), json!({"value": value}));
            members.insert(name.to_owned(), value);
        }
        members.insert("parameters".to_owned(), Value::Object(nested));
        Value::Object(members)
    }

    /// The values that the document gives its parameters, defaults of tunable ones included.
    #[must_use]
    pub fn default_parameters(&self) -> Parameters {
        Parameters::new(self.parameters.iter().filter_map(|(name, parameter)| {
            let number = parameter.value.as_number().map(ParameterValue::Number);
            let text = || {
                parameter
                    .value
                    .as_text()
                    .map(|text| ParameterValue::Text(text.to_owned()))
            };
            Some((name.clone(), number.or_else(text)?))
        }))
    }
}

/// A whole number without a point, where it is one that 64 bits hold.
#[expect(
    clippy::cast_possible_truncation,
    reason = "whole, and within the numbers that f64 holds exactly"
)]
fn whole(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_finds_whole_numbers_whole() {
        let document = StrategyDocument::built_in(DocumentId::S01).unwrap();
        let made = document.configuration(&document.default_parameters());
        assert_eq!(
            made.to_string(),
            r#"{"N":20,"k":2.0,"parameters":{"N":{"value":20},"k":{"value":2.0},"stop_loss_pct":{"value":0.1}},"stop_loss_pct":0.1}"#
        );
    }
}
