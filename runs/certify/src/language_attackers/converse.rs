//! One probe: from its question to an answer, or to the reason why there is none.

use super::guess::{self, Guess, SUBMIT_GUESS};
use super::question::{self, bad_guess, given_away, given_day};
use super::record::LanguageAnswer;
use crate::CertifyError;
use ktd_agents::{Mistakes, Outcome, Session, Submission, SubmissionEffect};
use ktd_client::conversations::{Answered, Conversations, NOT_ASKED};
use ktd_guard::Guard;
use ktd_masking::MaskSettings;
use ktd_probes::{Probe, ProbeKind};

/// What all conversations of one attacker share.
pub(super) struct ProbeConversation<'a> {
    pub(super) mask: MaskSettings,
    pub(super) guard: &'a Guard,
    pub(super) schema_retries: u32,
    pub(super) asking: &'a Conversations<'a>,
}

/// The place of a probe's requests among the exchanges of an attacker: each probe is a step.
fn step_of(kind: ProbeKind, number: usize) -> usize {
    let place = ProbeKind::ALL.into_iter().position(|known| known == kind);
    number * ProbeKind::ALL.len() + place.unwrap_or(0) + 1
}

impl ProbeConversation<'_> {
    /// The guard of a probe that gives codes or a day away on purpose: they may pass, and nothing else. `None` of any other.
    fn own_guard(&self, probe: &Probe) -> Option<Guard> {
        let of_codes = given_away(probe).fold(None, |own: Option<Guard>, code| {
            Some(own.as_ref().unwrap_or(self.guard).but(&code))
        });
        match given_day(probe) {
            Some(day) => Some(of_codes.as_ref().unwrap_or(self.guard).but_day(&day)),
            None => of_codes,
        }
    }

    fn open(&self, probe: &Probe) -> Session<Submission> {
        question::open(self.asking.model(), self.mask, self.schema_retries, probe)
    }

    /// Puts one probe; `None` when it is left for a later run, because another one was stopped.
    pub(super) async fn put(&self, probe: &Probe) -> Result<Option<LanguageAnswer>, CertifyError> {
        let answer = self.converse(probe).await;
        if answer.is_err() {
            self.asking.stop();
        }
        answer.map_err(|source| CertifyError::Attack {
            attacker: self.asking.model().id().to_owned(),
            probe: format!("{}-{}", probe.kind.label(), probe.number),
            source: Box::new(source),
        })
    }

    async fn converse(&self, probe: &Probe) -> Result<Option<LanguageAnswer>, CertifyError> {
        let own_guard = self.own_guard(probe);
        let guard = own_guard.as_ref().unwrap_or(self.guard);
        let which = (probe.kind, probe.number);
        let step = step_of(probe.kind, probe.number);
        let client = self.asking.client(guard, step);
        let mut session = self.open(probe);
        let mut mistakes = Mistakes::default();
        let mut ordinal = 0;
        let mut accepted: Option<Guess> = None;
        let answer = loop {
            let mut detail = None;
            match session.next() {
                SubmissionEffect::Ask(request) => {
                    let place = (step, ordinal);
                    match self
                        .asking
                        .ask(&client, place, &request, Some(SUBMIT_GUESS))
                        .await?
                    {
                        Answered::Turn(turn) => session.feed_turn(*turn)?,
                        Answered::Nothing(reason) => {
                            let reason = mistakes.last().map_or(reason, str::to_owned);
                            break LanguageAnswer::of(which, Err(&reason));
                        }
                        Answered::Stopped => return Ok(None),
                    }
                    ordinal += 1;
                }
                SubmissionEffect::Submit { arguments } => match guess::read(probe.kind, &arguments) {
                    Ok(guess) => {
                        accepted = Some(guess);
                        session.accept()?;
                    }
                    Err(problem) => {
                        detail = Some(problem.code());
                        session.reject(&bad_guess(problem, session.attempt()))?;
                    }
                },
                SubmissionEffect::End(Outcome::Submitted { .. } | Outcome::Fallback { .. }) => {
                    let why = || mistakes.last().unwrap_or(NOT_ASKED);
                    break LanguageAnswer::of(which, accepted.ok_or_else(why));
                }
            }
            mistakes.count(session.tally(), detail);
        };
        Ok(Some(LanguageAnswer {
            mistakes: mistakes.into_codes(),
            ..answer
        }))
    }
}
