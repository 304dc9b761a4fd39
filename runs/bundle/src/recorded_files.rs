//! The files that a summary is made of, each read once.

use crate::bundle_ref::BundleRef;
use crate::episode_tariff::tariff_of_header;
use crate::event::{Mark, ReadEvent, publishes_account};
use crate::ledger::LedgerLine;
use crate::ledger_binding::ledger_binding;
use crate::ledger_mark::mark_of;
use crate::metrics::{account_summary, metrics};
use crate::summary::{EpisodeFold, KEYED, Summary};
use crate::{BundlePaths, FORMAT_VERSION};
use ktd_io::line_file::LineKind;
use ktd_io::sha256::sha256_hex;
use ktd_masking::MaskKey;
use ktd_record::RecordError;
use ktd_record::chain::Lines;
use ktd_record::exchanges::Cassette;
use ktd_record::spending::Spending;
use std::collections::BTreeMap;
use std::path::Path;

/// What the files of a finished episode hold, the header and the private part apart.
#[derive(Debug)]
pub(crate) struct RecordedFiles {
    /// The events.
    pub(crate) events: Vec<ReadEvent>,
    /// The ledger; absent without the key.
    pub(crate) ledger: Option<Vec<LedgerLine>>,
    spending: Spending,
    sha256: BTreeMap<String, String>,
}

impl RecordedFiles {
    /// Reads events, exchanges and, with the key, the ledger; `look` is given the exchanges.
    ///
    /// # Errors
    /// [`RecordError`] when one is missing or damaged, and what `look` finds.
    pub(crate) fn read(
        bundle: &BundleRef,
        key: Option<&MaskKey>,
        look: impl FnOnce(&Cassette) -> Result<(), RecordError>,
    ) -> Result<Self, RecordError> {
        let paths = BundlePaths::new(&bundle.root);
        let mut sha256 = BTreeMap::from([(name(&paths.header()), bundle.header_sha256.clone())]);
        let path = paths.events();
        let bytes = LineKind::Log.bytes(&path)?;
        sha256.insert(name(&path), sha256_hex(&bytes));
        let lines = Lines::parse(&path, &bytes)?;
        lines.starts_from(&bundle.header.genesis()?, &path)?;
        let events = lines.bodies(&path)?;
        drop(bytes);
        let path = paths.exchanges();
        let bytes = LineKind::Exchanges.bytes(&path)?;
        sha256.insert(name(&path), sha256_hex(&bytes));
        let tariff = tariff_of_header(&bundle.header);
        let cassette = Cassette::parse(&path, &bytes)?;
        drop(bytes);
        let spending = Spending::of(&cassette, &tariff);
        look(&cassette)?;
        drop(cassette);
        let mut ledger = None;
        if let Some(key) = key {
            let (binding, lines) = read_ledger(&paths, key)?;
            sha256.insert(format!("private/ledger.jsonl{KEYED}"), binding);
            ledger = Some(lines);
        }
        Ok(Self {
            events,
            ledger,
            spending,
            sha256,
        })
    }

    /// The summary that they give.
    ///
    /// # Errors
    /// [`RecordError`] when the episode has not ended, or the NAV is not one.
    pub(crate) fn summary(&self, bundle: &BundleRef) -> Result<Summary, RecordError> {
        let path = BundlePaths::new(&bundle.root).events();
        let damaged = |what: String| RecordError::damaged(&path, what);
        let fold = EpisodeFold::of(&self.events);
        let reason = fold.reason.clone();
        let reason = reason
            .ok_or_else(|| damaged("the episode has not ended; continue it with `ktd run`".to_owned()))?;
        let marks = self.marks(&fold, bundle)?;
        let account = marks.map(|marks| account_summary(fold.initial_cash_fen, &marks));
        let account = account.transpose().map_err(|error| damaged(error.to_string()))?;
        let first_own_step = tariff_of_header(&bundle.header).first_own_step();
        let own_steps = (fold.steps + 1).saturating_sub(first_own_step);
        let own_steps = u64::try_from(own_steps).unwrap_or(u64::MAX);
        Ok(Summary {
            format: FORMAT_VERSION,
            reason,
            metrics: metrics(&fold),
            counters: fold.counters,
            account,
            per_step: self.spending.per_step(own_steps),
            money: self.spending.clone(),
            sha256: self.sha256.clone(),
        })
    }

    /// The account's totals at each close: of the ledger, or of the events where the mask lets them stand there. `None`
    /// where neither can tell.
    fn marks(&self, fold: &EpisodeFold, bundle: &BundleRef) -> Result<Option<Vec<Mark>>, RecordError> {
        let paths = BundlePaths::new(&bundle.root);
        let are_public = publishes_account(bundle.header.mask.level);
        let public = if are_public { fold.steps } else { 0 };
        if fold.marks.len() != public {
            let what = format!(
                "{} of {} steps hold the account's totals, but at this mask {public} do",
                fold.marks.len(),
                fold.steps
            );
            return Err(RecordError::damaged(&paths.events(), what));
        }
        let Some(ledger) = &self.ledger else {
            return Ok(are_public.then(|| fold.marks.clone()));
        };
        let marks: Vec<Mark> = ledger.iter().map(mark_of).collect();
        if marks.len() != fold.steps || (are_public && marks != fold.marks) {
            let what = "its totals are not those of events.jsonl";
            return Err(RecordError::damaged(&paths.ledger(), what));
        }
        Ok(Some(marks))
    }
}

/// The ledger with the hash that binds it to the key.
pub(crate) fn read_ledger(
    paths: &BundlePaths,
    key: &MaskKey,
) -> Result<(String, Vec<LedgerLine>), RecordError> {
    let path = paths.ledger();
    let bytes = LineKind::Log.bytes(&path)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| RecordError::damaged(&path, format!("not UTF-8 at byte {}", error.valid_up_to())))?;
    let lines = Lines::parse(&path, &bytes)?.bodies(&path)?;
    Ok((ledger_binding(key, text), lines))
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
