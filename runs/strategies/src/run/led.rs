//! What was asked and judged of a submission so far.

use super::event::VersionEvent;
use super::kept_verdicts::{KeptVerdicts, Verdict};
use super::sent_messages::SentMessages;
use crate::bars::RealVersion;
use crate::error::StrategyError;
use crate::task::StrategyTask;
use crate::versions::VersionChain;

/// What was asked and judged so far.
pub(super) struct Led {
    pub(super) messages: SentMessages,
    /// Verdicts of an earlier run; none in a replay, which judges everything.
    pub(super) verdicts: Option<KeptVerdicts>,
    pub(super) chain: VersionChain,
    pub(super) events: Vec<VersionEvent>,
    pub(super) real: Vec<RealVersion>,
    pub(super) lost: Option<String>,
}

impl Led {
    /// The verdict that an earlier run left on the next answer.
    pub(super) fn kept_verdict(&mut self, words: &str) -> Option<Verdict> {
        let iteration = self.chain.versions.len();
        self.verdicts.as_mut()?.next(iteration, words)
    }

    /// Keeps a verdict, for a run that is killed.
    pub(super) fn keep(&mut self, verdict: Verdict) -> Result<Verdict, StrategyError> {
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.keep(&verdict)?;
        }
        Ok(verdict)
    }

    /// The event of the iteration that was judged last.
    pub(super) fn add_event(&mut self, task: &StrategyTask, reply: Option<&str>) {
        self.events
            .extend(VersionEvent::of_last(&self.chain, task, reply));
    }
}
