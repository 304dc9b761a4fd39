//! Verdicts on the functions of a bundle: those of an earlier run, or of the box.

use super::event::{FactorCodeEvent, RoundPlace};
use crate::boxed_reply::{JudgedReply, judge_reply};
use crate::error::CodeError;
use ktd_asking::LineJournal;
use ktd_boxed::BoxLauncher;
use ktd_factor_code::{AccuracyRules, FactorPanels, FactorTask};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A line of `judged.jsonl`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JudgedLine {
    place: RoundPlace,
    reply_sha256: String,
    event: FactorCodeEvent,
}

/// Who judges functions, and what is known already.
pub(super) struct VerdictBook<'a> {
    pub(super) launcher: &'a BoxLauncher,
    pub(super) panels: &'a FactorPanels,
    pub(super) rules: AccuracyRules,
    known: BTreeMap<RoundPlace, JudgedLine>,
    journal: Option<Mutex<LineJournal>>,
}

impl<'a> VerdictBook<'a> {
    /// Verdicts that nobody keeps.
    pub(super) const fn new(
        launcher: &'a BoxLauncher,
        panels: &'a FactorPanels,
        rules: AccuracyRules,
    ) -> Self {
        Self {
            launcher,
            panels,
            rules,
            known: BTreeMap::new(),
            journal: None,
        }
    }

    /// Verdicts that are kept in a file, and those that it holds.
    pub(super) fn kept(mut self, path: &Path) -> Result<Self, CodeError> {
        let (journal, lines) = LineJournal::open::<JudgedLine>(path)?;
        self.known = lines.into_iter().map(|line| (line.place, line)).collect();
        self.journal = Some(Mutex::new(journal));
        Ok(self)
    }

    /// The event of an earlier run on the same reply.
    pub(super) fn known(&self, place: RoundPlace, reply_sha256: &str) -> Option<FactorCodeEvent> {
        let line = self.known.get(&place)?;
        (line.reply_sha256 == reply_sha256).then(|| line.event.clone())
    }

    /// The verdict on a reply; none where the box failed.
    pub(super) fn judge(&self, task: &FactorTask, reply: &str) -> Result<Option<JudgedReply>, CodeError> {
        judge_reply(self.launcher, task, self.panels, reply, &self.rules)
    }

    /// Keeps an event that the box gave.
    pub(super) fn keep(
        &self,
        place: RoundPlace,
        reply_sha256: &str,
        event: &FactorCodeEvent,
    ) -> Result<(), CodeError> {
        let Some(journal) = &self.journal else {
            return Ok(());
        };
        let line = JudgedLine {
            place,
            reply_sha256: reply_sha256.to_owned(),
            event: event.clone(),
        };
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(journal.add(&line)?)
    }
}
