//! The directories that are shown, with what was read of them last.

use crate::board::Board;
use crate::catalogue::{Catalogue, CatalogueReader, DocumentEntry};
use crate::entry::EpisodeEntry;
use crate::episode::{Episode, check_hash};
use crate::search::SearchIndex;
use crate::step::StepExchange;
use crate::{ViewerError, plain_files};
use ktd_bundle::BundlePaths;
use ktd_bundle::episode_tariff::tariff_of_header;
use ktd_record::RecordError;
use ktd_record::exchanges::ExchangesByStep;
use ktd_study::{Report, StudyStatus};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Episodes whose exchanges are held, compressed: two to compare, and some that were opened before.
const HELD_EPISODES: usize = 6;

/// Episodes whose timeline is held: two to compare, each as it is drawn and with its real names.
const HELD_TIMELINES: usize = 4;
/// Episodes whose texts are held for searches: two to compare, for one of 548 steps with twenty calls each has some 100 MB.
const HELD_INDEXES: usize = 2;

/// What a certificate's document says, as who judges certificates says it; none of what it cannot read.
pub type CertificateReader = fn(&Value) -> Option<Report>;

/// How far the study in a folder is, as who knows its kind says it; none of what it cannot read.
pub type StatusReader = fn(&Path) -> Option<StudyStatus>;

/// What reads documents that are others' to judge.
#[derive(Debug, Clone, Copy)]
pub struct DocumentReaders {
    /// What stands in a certificate.
    pub certificate: CertificateReader,
    /// How far a study is.
    pub status: StatusReader,
}

/// The directories that are shown. Its parts are read when they are asked for.
#[derive(Debug)]
pub(crate) struct Library {
    readers: DocumentReaders,
    reader: Mutex<(CatalogueReader, Arc<Catalogue>)>,
    with_private: bool,
    episodes: Mutex<VecDeque<HeldEpisode>>,
    held: Mutex<VecDeque<HeldExchanges>>,
    indexes: Mutex<VecDeque<HeldIndex>>,
    boards: Mutex<BTreeMap<PathBuf, HeldBoard>>,
}

/// A board, with the time and size of the file that it was read from.
type HeldBoard = (Option<(SystemTime, u64)>, Arc<Board>);

/// An episode, with the entry that it was read for: a changed bundle has another one.
#[derive(Debug)]
struct HeldEpisode {
    entry: Arc<EpisodeEntry>,
    shows_real: bool,
    episode: Arc<Episode>,
}

/// Exchanges of an episode, with the entry that they were read for: a changed bundle has another one.
#[derive(Debug)]
struct HeldExchanges {
    entry: Arc<EpisodeEntry>,
    exchanges: Arc<ExchangesByStep>,
}

/// What searches of an episode look through, with the entry that it was read for.
type HeldIndex = (Arc<EpisodeEntry>, Arc<SearchIndex>);

impl Library {
    pub(crate) fn new(
        roots: &[PathBuf],
        with_private: bool,
        readers: DocumentReaders,
    ) -> Result<Self, ViewerError> {
        Ok(Self {
            readers,
            reader: Mutex::new((CatalogueReader::new(roots, with_private)?, Arc::default())),
            with_private,
            episodes: Mutex::new(VecDeque::new()),
            held: Mutex::new(VecDeque::new()),
            indexes: Mutex::new(VecDeque::new()),
            boards: Mutex::new(BTreeMap::new()),
        })
    }

    /// What lies there now.
    pub(crate) fn catalogue(&self) -> Result<Arc<Catalogue>, ViewerError> {
        self.catalogue_with(&[])
    }

    /// What lies there, for pages that show nothing but these episodes: what was found last, while their bundles are as they
    /// were then. A thousand others need no look.
    pub(crate) fn catalogue_with(&self, slugs: &[&str]) -> Result<Arc<Catalogue>, ViewerError> {
        let mut held = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let (reader, last) = &mut *held;
        let is_current = |slug: &&str| last.episode(slug).is_some_and(|entry| reader.is_current(entry));
        if slugs.is_empty() || !slugs.iter().all(is_current) {
            *last = Arc::new(reader.read()?);
        }
        Ok(Arc::clone(last))
    }

    /// What changes when anything of the episodes does.
    pub(crate) fn fingerprint(&self) -> Result<u64, ViewerError> {
        let held = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        held.0.fingerprint()
    }

    /// An episode. Real names are in it only where they are asked for. Two are held, so that a step after another one needs
    /// no second look at its events.
    pub(crate) fn episode(
        &self,
        entry: &Arc<EpisodeEntry>,
        shows_real: bool,
    ) -> Result<Arc<Episode>, ViewerError> {
        let mut held = self.episodes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |held: &&HeldEpisode| Arc::ptr_eq(&held.entry, entry) && held.shows_real == shows_real;
        if let Some(known) = held.iter().find(is_same) {
            return Ok(Arc::clone(&known.episode));
        }
        let mut episode = Episode::read(entry, self.with_private)?;
        if !shows_real {
            episode.real.clear();
        }
        let episode = Arc::new(episode);
        held.truncate(HELD_TIMELINES - 1);
        held.push_front(HeldEpisode {
            entry: Arc::clone(entry),
            shows_real,
            episode: Arc::clone(&episode),
        });
        Ok(episode)
    }

    /// What a certificate's document says.
    pub(crate) fn certificate(&self, document: &Value) -> Option<Report> {
        (self.readers.certificate)(document)
    }

    /// How far the study in a folder is. What was sent stands in private parts.
    pub(crate) fn status(&self, folder: &Path) -> Option<StudyStatus> {
        self.with_private.then(|| (self.readers.status)(folder)).flatten()
    }

    /// Whether private parts are read at all.
    pub(crate) const fn with_private(&self) -> bool {
        self.with_private
    }

    /// A board; one that did not change is not read again.
    pub(crate) fn board(&self, document: &DocumentEntry) -> Result<Arc<Board>, ViewerError> {
        let metadata = document.folder.join("leaderboard.json").metadata().ok();
        let stamp = metadata.and_then(|metadata| Some((metadata.modified().ok()?, metadata.len())));
        let mut boards = self.boards.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = boards.get(&document.folder).filter(|(known, _)| *known == stamp) {
            return Ok(Arc::clone(known));
        }
        let board = Arc::new(Board::read(&document.folder)?);
        boards.insert(document.folder.clone(), (stamp, Arc::clone(&board)));
        Ok(board)
    }

    /// The boards of documents that can be read: one that cannot says so on its own page.
    pub(crate) fn readable_boards<'d>(
        &self,
        documents: &'d [DocumentEntry],
    ) -> Vec<(&'d DocumentEntry, Arc<Board>)> {
        let boards = documents
            .iter()
            .filter_map(|one| Some((one, self.board(one).ok()?)));
        boards.collect()
    }

    /// What was sent and came back in a step.
    pub(crate) fn exchanges(
        &self,
        entry: &Arc<EpisodeEntry>,
        step: usize,
    ) -> Result<Vec<StepExchange>, ViewerError> {
        let content = entry.content.as_ref().map_err(ViewerError::invalid)?;
        let sends = self.by_step(entry)?.step(step)?;
        StepExchange::all(&sends, &tariff_of_header(&content.header))
    }

    /// What was sent and came back in a step, as fast as may be: until the exchanges of a finished episode are held, the step
    /// is read alone, also while another request makes them so.
    pub(crate) fn step_exchanges(
        &self,
        entry: &Arc<EpisodeEntry>,
        step: usize,
    ) -> Result<Vec<StepExchange>, ViewerError> {
        let content = entry.content.as_ref().map_err(ViewerError::invalid)?;
        let is_held = self
            .held
            .try_lock()
            .is_ok_and(|held| held.iter().any(|held| Arc::ptr_eq(&held.entry, entry)));
        if is_held || content.summary().is_none() {
            return self.exchanges(entry, step);
        }
        let sends = checked_exchanges(entry, |path| ExchangesByStep::read_step(path, step))?.step(step)?;
        StepExchange::all(&sends, &tariff_of_header(&content.header))
    }

    /// Whether the exchanges of an episode are held, as far as can be said without waiting.
    pub(crate) fn holds(&self, slug: &str) -> bool {
        self.held
            .try_lock()
            .is_ok_and(|held| held.iter().any(|held| held.entry.slug == slug))
    }

    /// What searches of an episode look through; read once, and again when the bundle has changed.
    pub(crate) fn index(&self, entry: &Arc<EpisodeEntry>) -> Result<Arc<SearchIndex>, ViewerError> {
        let mut held = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = held.iter().find(|(of, _)| Arc::ptr_eq(of, entry)) {
            return Ok(Arc::clone(known));
        }
        let episode = self.episode(entry, false)?;
        let index = Arc::new(SearchIndex::of(&episode, |step| self.exchanges(entry, step))?);
        held.retain(|(of, _)| of.root != entry.root);
        held.truncate(HELD_INDEXES - 1);
        held.push_front((Arc::clone(entry), Arc::clone(&index)));
        Ok(index)
    }

    /// Unpacks the exchanges of a finished episode before a step is asked for, and reads them for a search.
    pub(crate) fn prepare(&self, slug: &str) {
        let Ok(catalogue) = self.catalogue_with(&[slug]) else {
            return;
        };
        let entry = catalogue.episode(slug);
        let is_finished = |entry: &&Arc<EpisodeEntry>| {
            let content = entry.content.as_ref();
            content.is_ok_and(|content| content.summary().is_some())
        };
        if let Some(entry) = entry.filter(is_finished) {
            self.by_step(entry).ok();
            self.index(entry).ok();
        }
    }

    fn by_step(&self, entry: &Arc<EpisodeEntry>) -> Result<Arc<ExchangesByStep>, ViewerError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held.iter().find(|held| Arc::ptr_eq(&held.entry, entry)) {
            return Ok(Arc::clone(&known.exchanges));
        }
        let exchanges = Arc::new(checked_exchanges(entry, ExchangesByStep::read)?);
        held.retain(|held| held.entry.root != entry.root);
        held.truncate(HELD_EPISODES - 1);
        held.push_front(HeldExchanges {
            entry: Arc::clone(entry),
            exchanges: Arc::clone(&exchanges),
        });
        Ok(exchanges)
    }
}

/// Exchanges as the summary of a finished episode names them.
fn checked_exchanges(
    entry: &EpisodeEntry,
    read: impl Fn(&Path) -> Result<ExchangesByStep, RecordError>,
) -> Result<ExchangesByStep, ViewerError> {
    let content = entry.content.as_ref().map_err(ViewerError::invalid)?;
    let paths = BundlePaths::new(&entry.root);
    plain_files::check(&paths)?;
    let read = read(&paths.exchanges())?;
    if let Some(summary) = content.summary() {
        let found = read.sha256().unwrap_or_default();
        check_hash(&paths.exchanges(), "exchanges.jsonl.zst", found, &summary.sha256)?;
    }
    Ok(read)
}
