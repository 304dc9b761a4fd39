//! A finished episode, every file of it read and verified on its way to a row.

use crate::bundle_ref::BundleRef;
use crate::header::PrivateEpisode;
use crate::ledger::LedgerLine;
use crate::ledger_binding::file_binding;
use crate::open::{opened_window, read_private};
use crate::recorded_files::{RecordObserver, RecordedFiles};
use crate::recorded_prompts::PromptCheck;
use crate::sent_settings::SentSettings;
use crate::summary::{KEYED, Summary};
use crate::summary_file::{check_bytes, check_hashes, read_summary};
use crate::{BundlePaths, recorded_agent};
use ktd_env::{DayIndex, Market, TradeDate};
use ktd_experiment::panel_windows::days_between;
use ktd_experiment::window_config::WindowDates;
use ktd_io::sha256::sha256_file;
use ktd_io::whole_file::{parse_json, read_bounded};
use ktd_masking::MaskKey;
use ktd_record::RecordError;
use ktd_record::chain::LogReader;
use std::path::{Path, PathBuf};

/// The most that a summary may hold: 4 MiB, far above the largest that is written.
const SUMMARY_LIMIT_BYTES: u64 = 4 << 20;

/// A bundle with its private part, where it has one: header and private part are read and verified.
#[derive(Debug, Clone)]
pub struct OpenedBundle {
    /// Which bundle.
    pub bundle: BundleRef,
    private: Option<(PrivateEpisode, MaskKey)>,
}

/// A finished episode, whose files were checked against its summary.
#[derive(Debug, Clone)]
pub struct FinishedEpisode {
    /// The bundle that it was read from.
    pub opened: OpenedBundle,
    /// Its summary.
    pub summary: Summary,
    /// Settings of generation as its requests name them.
    pub sent: SentSettings,
}

impl OpenedBundle {
    /// A bundle and its private part, where there is one.
    ///
    /// # Errors
    /// [`RecordError`] when the private part is damaged or belongs to another bundle.
    pub fn read(bundle: BundleRef) -> Result<Self, RecordError> {
        let paths = BundlePaths::new(&bundle.root);
        let private = paths
            .episode()
            .exists()
            .then(|| read_private(&paths, &bundle.header))
            .transpose()
            .map_err(RecordError::of_bundle)?;
        Ok(Self { bundle, private })
    }

    /// The key of its mask; `None` without a private part.
    #[must_use]
    pub fn key(&self) -> Option<&MaskKey> {
        self.private.as_ref().map(|(_, key)| key)
    }

    /// Where its panel was when it was made, where the bundle says so.
    #[must_use]
    pub fn panel(&self) -> Option<PathBuf> {
        self.private.as_ref()?.0.panel.clone().map(PathBuf::from)
    }

    /// First and last trading day, where header or private part says.
    #[must_use]
    pub fn dates(&self) -> Option<WindowDates> {
        let private = || {
            let (private, _) = self.private.as_ref()?;
            Some(WindowDates {
                first: private.first_day.clone(),
                last: private.last_day.clone(),
            })
        };
        self.bundle.header.window.dates.clone().or_else(private)
    }

    /// Its trading days on a panel; `None` without a private part.
    ///
    /// # Errors
    /// [`RecordError`] when a day is not a date, or the panel does not cover the window.
    pub fn panel_days(&self, market: &Market) -> Result<Option<Vec<DayIndex>>, RecordError> {
        let Some((private, _)) = &self.private else {
            return Ok(None);
        };
        let date = |text: &str| {
            let path = BundlePaths::new(&self.bundle.root).episode();
            TradeDate::parse(text).map_err(|error| RecordError::damaged(&path, error.to_string()))
        };
        let (first, last) = (date(&private.first_day)?, date(&private.last_day)?);
        let header = &self.bundle.header;
        let days = days_between(&header.window.id, first, last, market)?;
        let paths = BundlePaths::new(&self.bundle.root);
        opened_window((&paths, header), private, &days, market)?;
        Ok(Some(days))
    }

    /// The SHA-256 of what closes a finished record, its summaries, and what they say. Every other file of it has the hash that
    /// the public summary names; that this follows from the files is not looked at.
    ///
    /// # Errors
    /// [`RecordError`] when a file is missing or is not the one that the summary was made of.
    pub fn closed(&self) -> Result<(String, Summary), RecordError> {
        let paths = BundlePaths::new(&self.bundle.root);
        let summary = read_summary(&paths)?;
        let private = paths.private_summary();
        let private = private.exists().then(|| sha256_file(&private)).transpose()?;
        let closing = format!(
            "{} {}",
            sha256_file(&paths.summary())?,
            private.unwrap_or_default()
        );
        let ledger = self
            .key()
            .map(|key| file_binding(key, &paths.ledger()))
            .transpose()?;
        let files = [
            ("header.json".to_owned(), Some(self.bundle.header_sha256.clone())),
            ("events.jsonl".to_owned(), Some(sha256_file(&paths.events())?)),
            (
                "exchanges.jsonl.zst".to_owned(),
                Some(sha256_file(&paths.exchanges())?),
            ),
            (format!("private/ledger.jsonl{KEYED}"), ledger),
        ];
        let found = files.into_iter().filter_map(|(name, hash)| Some((name, hash?)));
        let now = Summary {
            sha256: found.collect(),
            ..summary.clone()
        };
        check_hashes(&paths, &summary, &now)?;
        Ok((closing, summary))
    }

    /// Hands over the ledger alone, checked against the hash in the summary: what an account needs, without events and
    /// exchanges, which are most of a bundle's bytes.
    ///
    /// # Errors
    /// [`RecordError`] when summary or ledger is missing or damaged, or there is no private part; what `look` returns.
    pub fn each_ledger_line(
        &self,
        look: impl FnMut(LedgerLine) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        let (paths, header) = (BundlePaths::new(&self.bundle.root), &self.bundle.header);
        let key = match &self.private {
            Some((_, key)) => key,
            None => &read_private(&paths, header)?.1,
        };
        let (path, summary) = (paths.ledger(), read_summary(&paths)?);
        let recorded = summary.sha256.get(&format!("private/ledger.jsonl{KEYED}"));
        if recorded != Some(&file_binding(key, &path)?) {
            let what = "its hash is not the one in summary.json";
            return Err(RecordError::damaged(&path, what));
        }
        LogReader::open(&path)?.each(look).map(|_| ())
    }
}

/// Checks that a bundle is as it was written: of a finished one every file against its summary and the summary against the
/// files, of another one the chain of its events. What changed all files together, `ktd verify` finds alone. Without
/// `with_private` nothing private is read.
///
/// # Errors
/// [`RecordError`] naming the file that is missing or damaged.
pub fn check_bundle(root: &Path, with_private: bool) -> Result<(), RecordError> {
    let bundle = BundleRef::read(root)?;
    if !bundle.is_finished() {
        let path = BundlePaths::new(root).events();
        let genesis = bundle.header.genesis()?;
        let checked = LogReader::open(&path).and_then(|log| log.from(&genesis).read_to_end());
        return checked.map(|_| ()).map_err(RecordError::of_bundle);
    }
    let opened = if with_private {
        OpenedBundle::read(bundle)?
    } else {
        OpenedBundle {
            bundle,
            private: None,
        }
    };
    FinishedEpisode::read(opened, &mut ()).map(|_| ())
}

impl FinishedEpisode {
    /// Reads the rest of a bundle, line by line, checks it against its summary, and tells an observer what it holds.
    ///
    /// # Errors
    /// [`RecordError`] when a file is missing, damaged or not the one that the summary was made of; what the observer finds.
    pub fn read(opened: OpenedBundle, observer: &mut dyn RecordObserver) -> Result<Self, RecordError> {
        Self::checked(opened, observer).map_err(RecordError::of_bundle)
    }

    fn checked(opened: OpenedBundle, observer: &mut dyn RecordObserver) -> Result<Self, RecordError> {
        let paths = BundlePaths::new(&opened.bundle.root);
        let path = paths.summary();
        if !path.exists() {
            return Err(RecordError::Unfinished { path });
        }
        let bytes = read_bounded(&path, SUMMARY_LIMIT_BYTES)?;
        let summary: Summary = parse_json(&path, &bytes)?;
        let header = &opened.bundle.header;
        let mut sent = SentSettings::default();
        let mut prompts = PromptCheck::new(header, &paths.exchanges());
        let files = RecordedFiles::read(&opened.bundle, opened.key(), observer, |exchange| {
            sent.add_exchange(exchange);
            recorded_agent::check(header, exchange, &paths.exchanges())?;
            prompts.check(exchange)
        })?;
        prompts.end()?;
        let now = files.summary(&opened.bundle)?;
        check_hashes(&paths, &summary, &now)?;
        let level = opened.bundle.header.mask.level;
        let account = now.account.clone();
        check_bytes(&paths, (&bytes, &summary), now, (opened.key(), level))?;
        let summary = Summary { account, ..summary };
        Ok(Self {
            opened,
            summary,
            sent,
        })
    }
}
