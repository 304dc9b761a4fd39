//! All rows: those that are compiled in, and those that an experiment brings.

use crate::dialect::Dialect;
use serde::Deserialize;

/// The rows compiled in.
const BUILTIN: &str = include_str!("../../dialects.toml");

/// Vendors by id. A row that an experiment brings goes before one of the same id that is compiled in.
#[derive(Debug, Clone, PartialEq)]
pub struct DialectTable(Vec<Dialect>);

/// Rows that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The text is not a table of dialects.
    #[error("the table of dialects cannot be read: {detail}")]
    Unreadable {
        /// The reader's message, with line and key.
        detail: String,
    },
    /// A row has no wire.
    #[error("dialect {id:?} has no endpoint")]
    NoEndpoint {
        /// The row.
        id: String,
    },
    /// Two rows of one source have one id.
    #[error("two dialects are called {id:?}")]
    Twice {
        /// The id.
        id: String,
    },
    /// A header that is for keys. Rows stand in records, so that no key may stand in a row.
    #[error("dialect {id:?}: the header {header:?} is for keys")]
    KeyHeader {
        /// The row.
        id: String,
        /// The header.
        header: String,
    },
    /// A range of temperatures is empty.
    #[error("dialect {id:?}: no temperature is between its least and its most")]
    Temperature {
        /// The row.
        id: String,
    },
}

impl TableError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "compare the row with those that `ktd vendors --json` prints",
            Self::NoEndpoint { .. } => {
                "write endpoints = [{ wire = \"chat-completions\", base_url = \"https://...\" }]"
            }
            Self::Twice { .. } => "give each row its own id",
            Self::KeyHeader { .. } => {
                "write auth = \"bearer\", and name the key in the agent's `api_key_env` or `api_key_file`"
            }
            Self::Temperature { .. } => "write temperature = { min = 0.0, max = 2.0 }",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    dialects: Vec<Dialect>,
}

impl DialectTable {
    /// The rows compiled in.
    ///
    /// # Errors
    /// Never in a program whose tests passed.
    pub fn builtin() -> Result<Self, TableError> {
        Self::parse(BUILTIN)
    }

    /// Reads rows (`[[dialects]]`).
    ///
    /// # Errors
    /// [`TableError`] for the first row that cannot be used.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let rows: Rows = toml::from_str(text).map_err(|error| TableError::Unreadable {
            detail: error.to_string().trim_end().to_owned(),
        })?;
        Self::of(rows.dialects)
    }

    /// A table of these rows.
    ///
    /// # Errors
    /// [`TableError`] for the first row that cannot be used.
    pub fn of(rows: Vec<Dialect>) -> Result<Self, TableError> {
        let mut seen = std::collections::BTreeSet::new();
        for row in &rows {
            let id = row.id.clone();
            if row.endpoints.is_empty() {
                return Err(TableError::NoEndpoint { id });
            }
            if let Some(header) = row.headers.keys().find(|name| is_for_keys(name)) {
                let header = header.clone();
                return Err(TableError::KeyHeader { id, header });
            }
            let limits = row.temperature;
            if limits.min.partial_cmp(&limits.max) != Some(std::cmp::Ordering::Less) {
                return Err(TableError::Temperature { id });
            }
            if !seen.insert(&row.id) {
                return Err(TableError::Twice { id });
            }
        }
        Ok(Self(rows))
    }

    /// These rows before those of `other`.
    #[must_use]
    pub fn before(mut self, other: Self) -> Self {
        let fresh = |row: &Dialect| !self.0.iter().any(|mine| mine.id == row.id);
        let rest: Vec<Dialect> = other.0.into_iter().filter(fresh).collect();
        self.0.extend(rest);
        self
    }

    /// The row of that id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Dialect> {
        self.0.iter().find(|row| row.id == id)
    }

    /// All rows, in order.
    #[must_use]
    pub fn rows(&self) -> &[Dialect] {
        &self.0
    }
}

/// What the names of headers have in them that services and gateways take keys in.
const KEY_WORDS: [&str; 7] = [
    "auth",
    "cookie",
    "credential",
    "key",
    "password",
    "secret",
    "token",
];

fn is_for_keys(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    KEY_WORDS.iter().any(|word| header.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::{ForceLevel, ThinkingPolicy};
    use crate::wire_format::Wire;

    #[test]
    fn the_rows_compiled_in_can_be_used() {
        let table = DialectTable::builtin().unwrap();
        for id in [
            "stepfun",
            "openai",
            "anthropic",
            "google",
            "doubao",
            "deepseek",
            "qwen",
            "minimax",
            "zhipu",
            "moonshot",
            "openrouter",
            "vllm",
            "sglang",
            "ollama",
            "llamacpp",
            "tgi",
            "compatible",
        ] {
            let row = table.find(id).unwrap();
            assert!(
                row.endpoints
                    .iter()
                    .all(|endpoint| endpoint.base_url.is_empty() == row.self_hosted),
                "{id}"
            );
            assert!(!row.usage.law.is_empty() || id == "compatible", "{id}");
            let json = serde_json::to_string(row).unwrap();
            let known = |key: &String| json.contains(&format!("\"{}\"", key.split('.').next().unwrap()));
            assert!(row.unverified.iter().all(known), "{id}: {:?}", row.unverified);
            assert_eq!(&serde_json::from_str::<Dialect>(&json).unwrap(), row);
        }
        assert_eq!(table.find("compatible"), Some(&Dialect::plain()));
    }

    #[test]
    fn thinking_weakens_what_can_be_forced() {
        let table = DialectTable::builtin().unwrap();
        let strongest = |id: &str, policy| table.find(id).unwrap().strongest_force(policy);
        assert_eq!(
            strongest("deepseek", ThinkingPolicy::VendorDefault),
            ForceLevel::Auto
        );
        assert_eq!(
            strongest("deepseek", ThinkingPolicy::ThinkThenForce),
            ForceLevel::Named
        );
        assert_eq!(strongest("minimax", ThinkingPolicy::Never), ForceLevel::Auto);
        assert_eq!(
            strongest("anthropic", ThinkingPolicy::VendorDefault),
            ForceLevel::Named
        );
        assert_eq!(strongest("anthropic", ThinkingPolicy::Always), ForceLevel::Auto);
    }

    #[test]
    fn a_wire_has_its_own_peculiarities() {
        let table = DialectTable::builtin().unwrap();
        let openai = table.find("openai").unwrap();
        assert!(openai.on(Wire::Responses).unwrap().body.contains_key("include"));
        let chat = openai.on(Wire::ChatCompletions).unwrap();
        assert!(chat.body.is_empty() && chat.seed);
        assert_eq!(chat.endpoints.len(), 1);
        assert_eq!(openai.on(Wire::Messages), None);
    }

    #[test]
    fn a_row_of_ones_own_goes_first_and_bad_rows_are_named() {
        let row = "[[dialects]]\nid = \"vllm\"\nname = \"mine\"\nendpoints = [{ wire = \"messages\" }]\nforce = { thinking = \"F1\" }\n";
        let table = DialectTable::parse(row)
            .unwrap()
            .before(DialectTable::builtin().unwrap());
        assert_eq!(table.find("vllm").unwrap().name, "mine");
        assert!(table.find("openai").is_some());
        let bad = |text: &str| DialectTable::parse(text).unwrap_err().to_string();
        assert!(bad(&row.replace("F1", "F9")).contains("F9"));
        assert!(bad(&row.replace("name", "nam")).contains("nam"));
        assert!(bad(&format!("{row}{row}")).contains("two dialects"));
        assert!(bad(&row.replace("[{ wire = \"messages\" }]", "[]")).contains("no endpoint"));
        for header in ["Api-Key", "X-Auth-Token", "helicone-auth", "Proxy-Authorization"] {
            assert!(bad(&format!("{row}headers = {{ {header} = \"k\" }}\n")).contains("is for keys"));
        }
        let version = format!("{row}headers = {{ anthropic-beta = \"b\", x-title = \"t\" }}\n");
        assert!(DialectTable::parse(&version).is_ok());
        assert!(bad(&format!("{row}temperature = {{ min = 1.0, max = 0.0 }}\n")).contains("temperature"));
    }
}
