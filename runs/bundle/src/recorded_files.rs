//! The files that a summary is made of, each read line by line.

use crate::bundle_ref::BundleRef;
use crate::episode_tariff::tariff_of_header;
use crate::event::{Mark, ReadEvent, publishes_account};
use crate::ledger::LedgerLine;
use crate::ledger_binding::file_binding;
use crate::ledger_mark::mark_of;
use crate::metrics::{account_summary, metrics};
use crate::summary::{EpisodeFold, KEYED, Summary};
use crate::{BundlePaths, FORMAT_VERSION};
use ktd_io::sha256::sha256_file;
use ktd_masking::MaskKey;
use ktd_record::RecordError;
use ktd_record::chain::LogReader;
use ktd_record::exchanges::{ExchangeRecord, each_exchange};
use ktd_record::spending::Spending;
use std::collections::BTreeMap;
use std::path::Path;

/// What is told of a record while it is read, once, line by line: first its events, then its ledger.
pub trait RecordObserver {
    /// The next event.
    fn event(&mut self, _event: ReadEvent) {}

    /// The next line of the private ledger, where that is read.
    ///
    /// # Errors
    /// What the observer finds wrong.
    fn ledger_line(&mut self, _line: LedgerLine) -> Result<(), RecordError> {
        Ok(())
    }
}

/// Nobody is told.
impl RecordObserver for () {}

/// What the files of a finished episode come to, the header and the private part apart. None of them is held.
#[derive(Debug)]
pub(crate) struct RecordedFiles {
    fold: EpisodeFold,
    /// The totals of the ledger; absent without the key.
    ledger: Option<Vec<Mark>>,
    spending: Spending,
    sha256: BTreeMap<String, String>,
}

impl RecordedFiles {
    /// Reads events, exchanges and, with the key, the ledger; `look` is given the exchanges.
    ///
    /// # Errors
    /// [`RecordError`] when one is missing or damaged, and what `look` and the observer find.
    pub(crate) fn read(
        bundle: &BundleRef,
        key: Option<&MaskKey>,
        observer: &mut dyn RecordObserver,
        mut look: impl FnMut(ExchangeRecord<'_>) -> Result<(), RecordError>,
    ) -> Result<Self, RecordError> {
        let paths = BundlePaths::new(&bundle.root);
        let mut sha256 = BTreeMap::from([(name(&paths.header()), bundle.header_sha256.clone())]);
        let path = paths.events();
        sha256.insert(name(&path), sha256_file(&path)?);
        let mut fold = EpisodeFold::default();
        let events = LogReader::open(&path)?.from(&bundle.header.genesis()?);
        events.each(|event| {
            fold.add(&event);
            observer.event(event);
            Ok(())
        })?;
        let path = paths.exchanges();
        sha256.insert(name(&path), sha256_file(&path)?);
        let tariff = tariff_of_header(&bundle.header);
        let mut spending = Spending::begin(&tariff);
        each_exchange(&path, |exchange| {
            spending.add_exchange(exchange, &tariff);
            look(exchange)
        })?;
        let mut ledger = None;
        if let Some(key) = key {
            let path = paths.ledger();
            sha256.insert(format!("private/ledger.jsonl{KEYED}"), file_binding(key, &path)?);
            let marks = ledger.insert(Vec::new());
            LogReader::open(&path)?.each(|line| {
                marks.push(mark_of(&line));
                observer.ledger_line(line)
            })?;
        }
        Ok(Self {
            fold,
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
        let fold = &self.fold;
        let reason = fold.reason.clone();
        let reason = reason
            .ok_or_else(|| damaged("the episode has not ended; continue it with `ktd run`".to_owned()))?;
        let marks = self.marks(bundle)?;
        let account = marks.map(|marks| account_summary(fold.initial_cash_fen, &marks));
        let account = account.transpose().map_err(|error| damaged(error.to_string()))?;
        let first_own_step = tariff_of_header(&bundle.header).first_own_step();
        let own_steps = (fold.steps + 1).saturating_sub(first_own_step);
        let own_steps = u64::try_from(own_steps).unwrap_or(u64::MAX);
        Ok(Summary {
            format: FORMAT_VERSION,
            reason,
            metrics: metrics(fold),
            counters: fold.counters.clone(),
            account,
            per_step: self.spending.per_step(own_steps),
            money: self.spending.clone(),
            sha256: self.sha256.clone(),
        })
    }

    /// The account's totals at each close: of the ledger, or of the events where the mask lets them stand there. `None`
    /// where neither can tell.
    fn marks(&self, bundle: &BundleRef) -> Result<Option<Vec<Mark>>, RecordError> {
        let (paths, fold) = (BundlePaths::new(&bundle.root), &self.fold);
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
        let Some(marks) = &self.ledger else {
            return Ok(are_public.then(|| fold.marks.clone()));
        };
        if marks.len() != fold.steps || (are_public && *marks != fold.marks) {
            let what = "its totals are not those of events.jsonl";
            return Err(RecordError::damaged(&paths.ledger(), what));
        }
        Ok(Some(marks.clone()))
    }
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
