//! An episode in a list: what header, summary or the end of its log say.

use crate::{ViewerError, plain_files};
use ktd_bundle::BundlePaths;
use ktd_bundle::finished_episode::check_bundle;
use ktd_bundle::header::Header;
use ktd_bundle::log_tail::LogTail;
use ktd_bundle::open::read_header;
use ktd_bundle::summary::Summary;
use ktd_bundle::summary_file::read_summary;
use ktd_io::whole_file::read_json;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// An episode in a list.
#[derive(Debug, Clone)]
pub struct EpisodeEntry {
    /// Its name in addresses.
    pub slug: String,
    /// Its directory's name, which is that of its cell.
    pub name: String,
    /// Where it lies.
    pub root: PathBuf,
    /// What it is and how far, or why it cannot be read.
    pub content: Result<EpisodeContent, String>,
}

/// A readable episode in a list.
#[derive(Debug, Clone)]
pub struct EpisodeContent {
    /// Its header.
    pub header: Header,
    /// How far it is.
    pub progress: EpisodeProgress,
    /// Whether a private part lies beside that tells names or days which the mask hides.
    pub tells_hidden: bool,
    /// From its beginning to the last event, as the files' times say; absent where they say nothing.
    pub taken: Option<Duration>,
}

/// How far an episode is.
#[derive(Debug, Clone)]
pub enum EpisodeProgress {
    /// It has ended.
    Finished(Box<Summary>),
    /// It goes on, or was stopped.
    Unfinished(LogTail),
}

impl EpisodeContent {
    /// Header, and summary or the end of the log.
    ///
    /// # Errors
    /// [`ViewerError`] when one of them cannot be read, or is a link.
    pub fn read(root: &Path, with_private: bool) -> Result<Self, ViewerError> {
        let paths = BundlePaths::new(root);
        plain_files::check(&paths)?;
        let header = read_header(&paths)?;
        let progress = if paths.summary().exists() {
            check_bundle(root, with_private)?;
            let summary = if with_private {
                read_summary(&paths)?
            } else {
                read_json(&paths.summary())?
            };
            EpisodeProgress::Finished(Box::new(summary))
        } else {
            EpisodeProgress::Unfinished(LogTail::read(&paths.events())?)
        };
        let hides = header.mask.level.hides_stocks() || header.mask.level.hides_days();
        let (begun, last) = (changed(&paths.header()), changed(&paths.events()));
        let taken = begun
            .zip(last)
            .and_then(|(begun, last)| last.duration_since(begun).ok());
        Ok(Self {
            tells_hidden: with_private && hides && paths.episode().is_file(),
            header,
            progress,
            taken,
        })
    }

    /// Steps whose close is recorded.
    #[must_use]
    pub fn closed_steps(&self) -> usize {
        match &self.progress {
            EpisodeProgress::Finished(summary) => summary.metrics.days,
            EpisodeProgress::Unfinished(tail) => tail.closed_step,
        }
    }

    /// Its summary, where it has ended.
    #[must_use]
    pub fn summary(&self) -> Option<&Summary> {
        match &self.progress {
            EpisodeProgress::Finished(summary) => Some(summary),
            EpisodeProgress::Unfinished(_) => None,
        }
    }

    /// Time that the open steps need at the pace so far; `None` where it has ended or nothing tells.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let closed = u32::try_from(self.closed_steps())
            .ok()
            .filter(|closed| 0 < *closed)?;
        let open = self.header.window.steps.checked_sub(self.closed_steps())?;
        let open = u32::try_from(open).ok().filter(|open| 0 < *open)?;
        self.summary().is_none().then_some(())?;
        Some((self.taken? / closed).saturating_mul(open))
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}
