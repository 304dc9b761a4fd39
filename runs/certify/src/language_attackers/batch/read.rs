//! `batch read`: results into the same record that a live run writes.

use super::form::BatchForm;
use super::write::{first_place, first_wire};
use crate::CertifyError;
use crate::language_attackers::attackers::{LanguageAttackers, Questions, keep};
use crate::language_attackers::custom_id::custom_id;
use crate::language_attackers::record::LanguageAnswer;
use ktd_bundle::BundlePaths;
use ktd_client::AskedModel;
use ktd_probes::Probe;
use ktd_record::exchanges::{Cassette, ExchangeOutcome, ExchangeStore, Intent, request_key};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a results file brought.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchRead {
    /// The answers of all probes, by kind and number; first answers alone, without a retry.
    pub answers: Vec<LanguageAnswer>,
    /// Rows that were recorded now.
    pub recorded: usize,
    /// Rows whose probe had a recorded answer already; they were passed over.
    pub known: usize,
    /// Rows without an answer.
    pub errors: Vec<RowError>,
    /// Probes that neither this file nor the record has a row for.
    pub missing: Vec<String>,
}

/// A row that came back without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowError {
    /// The probe, such as `day-17`.
    pub id: String,
    /// The vendor's code.
    pub code: String,
}

/// Reads the results of a batch, rows in any order, and keeps them as the exchanges they are. `path` is where the text
/// comes from, for messages.
///
/// # Errors
/// [`CertifyError::Input`] for a line that is no row, an id that is no probe of the set, and an id twice: nothing is kept then.
/// Errors of writing.
pub async fn read_batch(
    attackers: &LanguageAttackers,
    attacker: &AskedModel,
    questions: &Questions<'_>,
    (path, text): (&Path, &str),
) -> Result<BatchRead, CertifyError> {
    let form = BatchForm::of(attacker.id(), &attacker.provider)?;
    let rows = rows(form, questions.probes, (path, text))?;
    let folder = attackers.folder(attacker, questions.set);
    let _lock = attackers.take(attacker, questions)?;
    let paths = BundlePaths::new(&folder);
    let conversation = attackers.conversation(attacker, questions, Cassette::read(&paths.exchanges())?, None);
    let store = ExchangeStore::continue_after(&paths.exchanges(), conversation.asking.record())?;
    let (mut recorded, mut known, mut errors, mut missing) = (0, 0, Vec::new(), Vec::new());
    let mut probes: Vec<&Probe> = questions.probes.iter().collect();
    probes.sort_by_key(|probe| (probe.kind, probe.number));
    for probe in probes {
        let id = custom_id(probe.kind, probe.number);
        let at = first_place(probe);
        let is_known = conversation.asking.is_recorded(at);
        let Some(outcome) = rows.get(&id) else {
            missing.extend((!is_known).then_some(id));
            continue;
        };
        if is_known {
            known += 1;
            continue;
        }
        if let ExchangeOutcome::Failed { detail, .. } = outcome {
            errors.push(RowError {
                id,
                code: detail.clone(),
            });
        }
        let wire = first_wire(&conversation, probe)?;
        store.intend(Intent::of(at, &request_key(&wire), &wire))?;
        store.settle(at, outcome.clone())?;
        recorded += 1;
    }
    store.finish()?;
    let answers = attackers.recall(attacker, questions).await?;
    keep(&folder, &answers)?;
    Ok(BatchRead {
        answers,
        recorded,
        known,
        errors,
        missing,
    })
}

fn rows(
    form: BatchForm,
    probes: &[Probe],
    (path, text): (&Path, &str),
) -> Result<BTreeMap<String, ExchangeOutcome>, CertifyError> {
    let ids: BTreeSet<String> = probes
        .iter()
        .map(|probe| custom_id(probe.kind, probe.number))
        .collect();
    let mut rows = BTreeMap::new();
    for (place, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let wrong = |what: String| {
            CertifyError::input(
                format!("{}:{}: {what}", path.display(), place + 1),
                "give the vendor's results file as it was downloaded, for the attacker and probes it was written for",
            )
        };
        let (id, outcome) = form
            .read(line)
            .map_err(|error| wrong(format!("it is no row of this vendor's results: {error}")))?;
        if !ids.contains(&id) {
            return Err(wrong(format!("{id:?} is no probe of this set")));
        }
        if rows.insert(id.clone(), outcome).is_some() {
            return Err(wrong(format!("{id:?} is there twice")));
        }
    }
    Ok(rows)
}
