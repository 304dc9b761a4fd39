//! A set of probes put to one model.

use super::converse::ProbeConversation;
use super::record::LanguageAnswer;
use crate::CertifyError;
use futures::StreamExt;
use ktd_client::conversations::Conversations;
use ktd_guard::Guard;
use ktd_masking::MaskSettings;
use ktd_probes::Probe;

/// Questions to an attacker: a set of probes, by kind and number.
#[derive(Debug, Clone, Copy)]
pub struct Questions<'a> {
    /// The mask they were made under.
    pub mask: MaskSettings,
    /// The probes.
    pub probes: &'a [Probe],
    /// The last look at what is sent under this mask.
    pub guard: &'a Guard,
    /// How often a bad answer may be corrected.
    pub schema_retries: u32,
}

impl Questions<'_> {
    /// Puts every probe to a model, as many at once as `parallel` says. What is recorded is not asked again, and what nobody is
    /// asked is unanswered. Answers stand in the order of the probes. A conversation that was begun is led to its end even when
    /// another one is stopped, so that nothing that was sent is lost.
    ///
    /// # Errors
    /// [`CertifyError`] of the first probe that could not be asked to its end: the infrastructure, the budget, a hidden name in
    /// a request, a request that is not the recorded one. What was recorded stands, and the same call continues.
    pub async fn put(
        &self,
        asking: &Conversations<'_>,
        parallel: usize,
        advance: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<LanguageAnswer>, CertifyError> {
        let conversation = ProbeConversation {
            mask: self.mask,
            guard: self.guard,
            schema_retries: self.schema_retries,
            asking,
        };
        let conversation = &conversation;
        let put = self.probes.iter().enumerate().map(|(place, probe)| async move {
            let answer = conversation.put(probe).await;
            advance(1);
            (place, answer)
        });
        let mut put: Vec<_> = futures::stream::iter(put)
            .buffer_unordered(parallel.max(1))
            .collect()
            .await;
        put.sort_by_key(|(place, _)| *place);
        let answers: Vec<Option<LanguageAnswer>> = put
            .into_iter()
            .map(|(_, answer)| answer)
            .collect::<Result<_, CertifyError>>()?;
        Ok(answers.into_iter().flatten().collect())
    }
}
