//! The twelve documents that come with the benchmark: their text for models, and their machine form.

use crate::document::StrategyDocument;
use crate::parameters::{ParameterValue, Parameters};
use crate::reference::DocumentId;

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
