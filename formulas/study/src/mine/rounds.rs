//! The rounds of a search by a language model.

use super::config::LlmKeys;
use super::feedback::{PastProposal, ProposalEnd, question, system};
use super::market::OpenMine;
use super::proposals::{ProposedAlpha, proposal_tool, proposals_of};
use super::round_event::{ProposalLine, RoundEvent};
use super::trials::Trials;
use crate::language::{FormulaConversations, FormulaQuestion};
use ktd_alphas::{ProposalFault, SearchCandidate, TrialBook, screen_proposals};
use ktd_expressions::FormulaRole;
use ktd_masking::Payload;
use ktd_study::StudyError;
use std::collections::BTreeSet;

/// A search by a language model, as far as it has come.
pub(super) struct ModelRounds<'a> {
    pub(super) open: &'a OpenMine,
    pub(super) keys: &'a LlmKeys,
    pub(super) book: TrialBook,
    pub(super) events: Vec<RoundEvent>,
    past: Vec<PastProposal>,
    /// Forms of formulas that were tried, those that are no formulas left out.
    known: BTreeSet<String>,
}

impl<'a> ModelRounds<'a> {
    pub(super) fn new(open: &'a OpenMine, keys: &'a LlmKeys) -> Self {
        Self {
            open,
            keys,
            book: TrialBook::default(),
            events: Vec::new(),
            past: Vec::new(),
            known: BTreeSet::new(),
        }
    }

    /// Holds all rounds.
    pub(super) async fn hold(
        &mut self,
        conversations: &FormulaConversations<'_>,
        trials: &mut Trials<'_>,
    ) -> Result<(), StudyError> {
        for round in 1..=self.keys.rounds {
            let asked = (round, self.keys.rounds, self.keys.ask);
            let question = FormulaQuestion {
                step: round,
                what: format!("round {round}"),
                tool: proposal_tool(),
                system: system(self.open),
                question: question(self.open, asked, &self.book, &self.past)?,
            };
            let Some(ended) = conversations.hold(question, &proposals_of).await? else {
                return Ok(());
            };
            let end = ended.map(|proposals| self.take(round, proposals, trials))?;
            self.events.push(RoundEvent { round, end });
        }
        Ok(())
    }

    /// Tries the formulas of an answer.
    fn take(
        &mut self,
        round: usize,
        proposals: Vec<ProposedAlpha>,
        trials: &mut Trials<'_>,
    ) -> Result<Vec<ProposalLine>, StudyError> {
        let candidates = self.candidates(&proposals);
        let new: Vec<SearchCandidate> = candidates.iter().filter_map(Proposal::tried).cloned().collect();
        let tried = trials.tried(&new)?;
        let mut outcomes = tried.iter();
        let mut lines = Vec::with_capacity(proposals.len());
        for ((proposed, candidate), place) in proposals.into_iter().zip(&candidates).zip(1..) {
            let outcome = candidate.tried().and_then(|_| outcomes.next());
            let end = match (outcome, candidate.fault) {
                (_, Some(fault)) => Err(ProposalEnd::NotTried(fault)),
                (Some(trial), None) => trial.outcome.map(|_| ()).map_err(ProposalEnd::LeftOut),
                (None, None) => Ok(()),
            };
            let form = candidate.form();
            lines.push(ProposalLine {
                expression: proposed.expression,
                idea: proposed.idea,
                form: form.clone(),
                code: end.err().map(|end| end.code().to_owned()),
            });
            self.past.push(PastProposal {
                round,
                place,
                form,
                end,
            });
        }
        for trial in tried {
            self.book.add(trial);
        }
        Ok(lines)
    }

    /// What is tried of an answer, and what is not.
    fn candidates(&mut self, proposals: &[ProposedAlpha]) -> Vec<Proposal> {
        let texts: Vec<&str> = proposals.iter().map(|one| one.expression.as_str()).collect();
        let panel = &self.open.train.data.panel.fields;
        let shown = Payload::formula_fields().iter();
        let fields: Vec<&str> = shown
            .copied()
            .filter(|field| panel.iter().any(|known| known == field))
            .collect();
        let screened = screen_proposals(&texts, &self.known, &fields, self.keys.ask);
        let max_nodes = self.open.mine.filter.max_nodes;
        let tried = |text: &str| SearchCandidate::of_text(text, &fields, FormulaRole::MaskedAlpha, max_nodes);
        let mut found = Vec::with_capacity(texts.len());
        for (text, screened) in texts.iter().zip(screened) {
            let (candidate, fault) = match screened {
                Ok(checked) => {
                    let form = checked.canonical().to_owned();
                    self.known.insert(form.clone());
                    (Some(tried(&form)), None)
                }
                Err(fault @ ProposalFault::Formula(_)) if self.known.insert(format!("refused {text}")) => {
                    (Some(tried(text)), Some(fault))
                }
                Err(fault) => (None, Some(fault)),
            };
            found.push(Proposal { candidate, fault });
        }
        found
    }
}

/// A proposal before it is tried.
struct Proposal {
    /// What the journal keeps of it; none of what stands there already or is beyond what was asked for.
    candidate: Option<SearchCandidate>,
    fault: Option<ProposalFault>,
}

impl Proposal {
    const fn tried(&self) -> Option<&SearchCandidate> {
        self.candidate.as_ref()
    }

    fn form(&self) -> Option<String> {
        let candidate = self.candidate.as_ref().filter(|_| self.fault.is_none());
        candidate.map(|candidate| candidate.form().to_owned())
    }
}
