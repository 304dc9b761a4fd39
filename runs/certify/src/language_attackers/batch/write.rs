//! `batch write`: the first requests that are still to be asked.

use super::form::BatchForm;
use crate::CertifyError;
use crate::language_attackers::attackers::{LanguageAttackers, Questions};
use crate::language_attackers::converse::{ProbeConversation, step_of};
use crate::language_attackers::custom_id::custom_id;
use crate::language_attackers::question::first_request;
use ktd_agents::WireRequest;
use ktd_bundle::BundlePaths;
use ktd_client::AskedModel;
use ktd_client::ClientError;
use ktd_probes::Probe;
use ktd_record::exchanges::{Cassette, RequestPlace};
use serde_json::value::RawValue;

/// A file for a vendor's batch interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchFile {
    /// What the vendor takes.
    pub text: String,
    /// Requests in it.
    pub requests: usize,
    /// Probes that are left out, because a first answer to them is recorded.
    pub recorded: usize,
}

/// The place of a probe's first request.
pub(super) fn first_place(probe: &Probe) -> RequestPlace {
    RequestPlace {
        step: step_of(probe.kind, probe.number),
        ordinal: 0,
        attempt: 0,
    }
}

/// The first request of a probe, its bytes scanned for what the mask hides.
pub(super) fn first_wire(
    conversation: &ProbeConversation<'_>,
    probe: &Probe,
) -> Result<WireRequest, CertifyError> {
    let request = first_request(&conversation.open(probe))
        .ok_or_else(|| CertifyError::input("the probe has nothing to ask", "report this defect"))?;
    let wire = conversation.asking.encode(&request);
    let own_guard = conversation.own_guard(probe);
    let scanned = own_guard.as_ref().unwrap_or(conversation.guard).scan(wire.body());
    scanned.map_err(|finding| CertifyError::Attack {
        attacker: conversation.asking.model().id().to_owned(),
        probe: custom_id(probe.kind, probe.number),
        source: Box::new(CertifyError::Client(ClientError::Leak {
            step: first_place(probe).step,
            kind: finding.kind,
            pointer: finding.pointer,
        })),
    })?;
    Ok(wire)
}

/// The batch file of an attacker: the first requests of the probes without a recorded answer, by kind and number.
///
/// # Errors
/// [`CertifyError`] for a vendor without batches, a hidden name in a request, and when nothing is left to ask.
pub fn write_batch(
    attackers: &LanguageAttackers,
    attacker: &AskedModel,
    questions: &Questions<'_>,
) -> Result<BatchFile, CertifyError> {
    let provider = &attacker.provider;
    let form = BatchForm::of(attacker.id(), provider)?;
    let paths = BundlePaths::new(&attackers.folder(attacker, questions.set));
    let conversation = attackers.conversation(attacker, questions, Cassette::read(&paths.exchanges())?, None);
    let mut probes: Vec<&Probe> = questions.probes.iter().collect();
    probes.sort_by_key(|probe| (probe.kind, probe.number));
    let all = probes.len();
    probes.retain(|probe| !conversation.asking.is_recorded(first_place(probe)));
    if probes.is_empty() {
        return Err(CertifyError::input(
            format!("nothing is left for a batch of attacker {:?}", attacker.id()),
            "every probe has a first answer; `ktd probe` shows them and asks again where an answer was bad",
        ));
    }
    let wires = probes.iter().map(|probe| first_wire(&conversation, probe));
    let wires: Vec<WireRequest> = wires.collect::<Result<_, _>>()?;
    let unwritable = |error: serde_json::Error| CertifyError::damaged(&paths.exchanges(), error.to_string());
    let mut requests = Vec::with_capacity(wires.len());
    for (probe, wire) in probes.iter().zip(&wires) {
        let body: &RawValue = serde_json::from_slice(wire.body()).map_err(unwritable)?;
        requests.push((custom_id(probe.kind, probe.number), wire.path().to_owned(), body));
    }
    Ok(BatchFile {
        text: form.write(&provider.base_url, &requests).map_err(unwritable)?,
        requests: requests.len(),
        recorded: all - requests.len(),
    })
}
