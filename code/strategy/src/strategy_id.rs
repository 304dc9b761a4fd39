//! Identifiers of strategies: those of the benchmark, and those of one's own.

use crate::reference::DocumentId;
use std::fmt;

/// Characters that an identifier of one's own may have.
const LENGTH_MAX: usize = 32;

/// Identifier of a strategy: `S01` to `S12`, or that of a strategy of one's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StrategyId(String);

impl StrategyId {
    /// The identifier of a strategy of one's own. It is part of folders' names, in which `__` separates.
    ///
    /// # Errors
    /// A sentence for a text that is no short word, and for one that is a strategy of the benchmark.
    pub fn own(text: &str) -> Result<Self, String> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let starts_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        if !starts_well || LENGTH_MAX < text.len() || !text.bytes().all(is_word) || text.contains("__") {
            return Err(format!(
                "`strategy_id` is {text:?}; write at most {LENGTH_MAX} letters, digits, - and _, with a letter or digit first \
                 and no two _ together"
            ));
        }
        // Some file systems take upper and lower case for the same.
        let known = DocumentId::ALL
            .into_iter()
            .find(|id| id.label().eq_ignore_ascii_case(text));
        match known {
            Some(known) => Err(format!(
                "`strategy_id` is {text:?}, and {known} is a strategy of the benchmark; choose another"
            )),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The text, such as `S01`.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.0
    }

    /// The document of the benchmark; `None` for a strategy of one's own.
    #[must_use]
    pub fn document(&self) -> Option<DocumentId> {
        DocumentId::parse(&self.0)
    }
}

impl From<DocumentId> for StrategyId {
    fn from(id: DocumentId) -> Self {
        Self(id.label().to_owned())
    }
}

impl PartialEq<DocumentId> for StrategyId {
    fn eq(&self, other: &DocumentId) -> bool {
        self.0 == other.label()
    }
}

impl fmt::Display for StrategyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_identifier_is_a_short_word_that_no_strategy_of_the_benchmark_has() {
        let own = StrategyId::own("donchian-20_b").unwrap();
        assert_eq!((own.label(), own.document()), ("donchian-20_b", None));
        let known = StrategyId::from(DocumentId::S07);
        assert!(known == DocumentId::S07 && known.document() == Some(DocumentId::S07));
        for (text, part) in [
            ("S01", "S01 is a strategy of the benchmark"),
            ("s12", "S12 is a strategy of the benchmark"),
            ("", "letters, digits"),
            ("../x", "letters, digits"),
            ("_a", "a letter or digit first"),
            ("a__b", "no two _ together"),
            (&"x".repeat(33), "at most 32"),
        ] {
            let error = StrategyId::own(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
