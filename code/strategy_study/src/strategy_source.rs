//! Where a strategy comes from: the benchmark, or a folder of one's own.

use crate::error::StrategyError;
use crate::own_strategy::{OwnStrategy, SPEC};
use crate::task::StrategyTask;
use ktd_strategy_code::{DocumentId, StrategyDocument, StrategyId, document_json, document_text};
use ktd_study::Opening;
use std::path::Path;

/// What a strategy is made of: its document, its scenarios, and its reference.
#[derive(Debug, Clone, PartialEq)]
pub enum StrategySource {
    /// A strategy of the benchmark.
    BuiltIn(DocumentId),
    /// A folder.
    Own(Box<OwnStrategy>),
}

impl StrategySource {
    /// The strategy of a word: `S01` to `S12`, or a folder.
    ///
    /// # Errors
    /// [`StrategyError`] for a word that is neither, and for a folder that cannot be read.
    pub fn find(word: &str, at: &Opening<'_>) -> Result<Self, StrategyError> {
        if let Some(id) = DocumentId::parse(word) {
            return Ok(Self::BuiltIn(id));
        }
        let folder = Path::new(word);
        if word.is_empty() || at.input(&folder.join(SPEC))?.is_none() {
            return Err(StrategyError::input(
                format_args!("unknown strategy {word:?}: neither S01 to S12 nor a folder with {SPEC}"),
                "`ktd strategy-code list` shows the strategies; a folder of your own holds spec.json, spec.md, \
                 scenarios.jsonl and, where there is one, reference.py",
            ));
        }
        Ok(Self::Own(Box::new(OwnStrategy::read(folder, at)?)))
    }

    /// Its identifier.
    #[must_use]
    pub fn id(&self) -> StrategyId {
        match self {
            Self::BuiltIn(id) => (*id).into(),
            Self::Own(own) => own.id.clone(),
        }
    }

    /// The machine form of its document.
    ///
    /// # Errors
    /// [`StrategyError`] where one of the benchmark cannot be read, which a test rules out.
    pub fn document(&self) -> Result<StrategyDocument, StrategyError> {
        match self {
            Self::BuiltIn(id) => StrategyDocument::built_in(*id).map_err(StrategyError::invalid),
            Self::Own(own) => Ok(own.document.clone()),
        }
    }

    /// The text of its document, as a model gets it.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::BuiltIn(id) => document_text(*id),
            Self::Own(own) => &own.text,
        }
    }

    /// The text of its machine form.
    #[must_use]
    pub fn spec(&self) -> &str {
        match self {
            Self::BuiltIn(id) => document_json(*id),
            Self::Own(own) => &own.spec,
        }
    }

    /// The strategy with the bars that programs of it are judged on.
    ///
    /// # Errors
    /// [`StrategyError`] where no bars can be drawn, and for a reference program that is no text.
    pub fn task(&self, seed: u64) -> Result<StrategyTask, StrategyError> {
        match self {
            Self::BuiltIn(id) => StrategyTask::drawn(*id, seed),
            Self::Own(own) => StrategyTask::own(own, seed),
        }
    }

    /// The folder, of a strategy of one's own.
    #[must_use]
    pub const fn own(&self) -> Option<&OwnStrategy> {
        match self {
            Self::BuiltIn(_) => None,
            Self::Own(own) => Some(own),
        }
    }
}
