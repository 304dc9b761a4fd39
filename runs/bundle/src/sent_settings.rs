//! Settings of generation as the recorded requests name them: a dialect may leave out what the experiment asks for.

use ktd_record::exchanges::ExchangeRecord;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use std::collections::BTreeSet;

/// What stands for a setting that a request leaves to the provider.
pub const NOT_SENT: &str = "not sent";

/// Settings of all requests of an episode, each value once, as the requests write it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentSettings {
    /// Temperatures.
    pub temperatures: BTreeSet<String>,
    /// Bounds on generated tokens.
    pub max_output_tokens: BTreeSet<String>,
}

/// Where the wires put them; everything else of a request is passed over.
#[derive(Default, Deserialize)]
struct Settings {
    temperature: Option<Number>,
    max_tokens: Option<Number>,
    max_completion_tokens: Option<Number>,
    max_output_tokens: Option<Number>,
    #[serde(rename = "generationConfig")]
    generation: Option<GenerationSettings>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GenerationSettings {
    temperature: Option<Number>,
    max_output_tokens: Option<Number>,
}

impl SentSettings {
    /// Adds those of a request.
    pub fn add_exchange(&mut self, exchange: ExchangeRecord<'_>) {
        if let ExchangeRecord::Intent { intent, .. } = exchange {
            self.add(&intent.request);
        }
    }

    fn add(&mut self, request: &str) {
        let sent: Settings = serde_json::from_str(request).unwrap_or_default();
        let generation = sent.generation.unwrap_or_default();
        let bound = sent
            .max_completion_tokens
            .or(sent.max_tokens)
            .or(sent.max_output_tokens);
        let text =
            |number: Option<Number>| number.map_or_else(|| NOT_SENT.to_owned(), |number| number.to_string());
        self.temperatures
            .insert(text(sent.temperature.or(generation.temperature)));
        self.max_output_tokens
            .insert(text(bound.or(generation.max_output_tokens)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_on_every_wire_and_each_value_stands_once() {
        let mut sent = SentSettings::default();
        for request in [
            r#"{"temperature":0.5,"max_completion_tokens":256,"messages":[{"content":"temperature"}]}"#,
            r#"{"temperature":0.5,"max_tokens":256}"#,
            r#"{"max_output_tokens":512,"input":[]}"#,
            r#"{"generationConfig":{"temperature":1,"maxOutputTokens":256}}"#,
        ] {
            sent.add(request);
        }
        let found = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(", ");
        assert_eq!(found(&sent.temperatures), "0.5, 1, not sent");
        assert_eq!(found(&sent.max_output_tokens), "256, 512");
    }
}
