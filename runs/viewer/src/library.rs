//! The directories that are shown, with what was read of them last.

use crate::catalogue::{Catalogue, CatalogueReader};
use crate::entry::EpisodeEntry;
use crate::episode::{Episode, check_hash};
use crate::step::StepExchange;
use crate::{ViewerError, plain_files};
use ktd_bundle::BundlePaths;
use ktd_bundle::exchanges::ExchangesByStep;
use ktd_bundle::tariff::Tariff;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Episodes whose exchanges are held, compressed: two to compare, and some that were opened before.
const HELD_EPISODES: usize = 6;

/// Episodes whose timeline is held: two to compare.
const HELD_TIMELINES: usize = 2;

/// The directories that are shown. Its parts are read when they are asked for.
#[derive(Debug)]
pub(crate) struct Library {
    reader: Mutex<CatalogueReader>,
    with_private: bool,
    episodes: Mutex<VecDeque<HeldEpisode>>,
    held: Mutex<VecDeque<HeldExchanges>>,
}

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

impl Library {
    pub(crate) fn new(roots: &[PathBuf], with_private: bool) -> Result<Self, ViewerError> {
        Ok(Self {
            reader: Mutex::new(CatalogueReader::new(roots, with_private)?),
            with_private,
            episodes: Mutex::new(VecDeque::new()),
            held: Mutex::new(VecDeque::new()),
        })
    }

    /// What lies there now.
    pub(crate) fn catalogue(&self) -> Result<Catalogue, ViewerError> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).read()
    }

    /// What changes when anything of the episodes does.
    pub(crate) fn fingerprint(&self) -> Result<u64, ViewerError> {
        self.reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .fingerprint()
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

    /// What was sent and came back in a step.
    pub(crate) fn exchanges(
        &self,
        entry: &Arc<EpisodeEntry>,
        step: usize,
    ) -> Result<Vec<StepExchange>, ViewerError> {
        let content = entry.content.as_ref().map_err(ViewerError::invalid)?;
        let sends = self.by_step(entry)?.step(step)?;
        StepExchange::all(&sends, &Tariff::of_header(&content.header))
    }

    fn by_step(&self, entry: &Arc<EpisodeEntry>) -> Result<Arc<ExchangesByStep>, ViewerError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held.iter().find(|held| Arc::ptr_eq(&held.entry, entry)) {
            return Ok(Arc::clone(&known.exchanges));
        }
        let paths = BundlePaths::new(&entry.root);
        plain_files::check(&paths)?;
        let read = ExchangesByStep::read(&paths.exchanges())?;
        let content = entry.content.as_ref().map_err(ViewerError::invalid)?;
        if let Some(summary) = content.summary() {
            let found = read.sha256().unwrap_or_default();
            check_hash(&paths.exchanges(), "exchanges.jsonl.zst", found, &summary.sha256)?;
        }
        let exchanges = Arc::new(read);
        held.retain(|held| held.entry.root != entry.root);
        held.truncate(HELD_EPISODES - 1);
        held.push_front(HeldExchanges {
            entry: Arc::clone(entry),
            exchanges: Arc::clone(&exchanges),
        });
        Ok(exchanges)
    }
}
