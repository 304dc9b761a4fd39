//! What the start page says beside its lists: how far each study is, and the boards, certificates and reports that lie there.

use crate::catalogue::{Catalogue, DocumentEntry, ExperimentEntry, is_held};
use crate::certificate::CertificateFolder;
use crate::library::Library;
use ktd_study::{SpentMoney, StudyStatus, recorded_verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the start page shows.
#[derive(Debug, Default)]
pub(crate) struct Overview {
    /// By the folder of a study.
    states: BTreeMap<PathBuf, FolderState>,
    /// Kind by kind.
    pub(crate) documents: Vec<ListedDocument>,
}

/// How far the study in a folder is.
#[derive(Debug, Clone, Default)]
pub(crate) struct FolderState {
    /// Whether a process writes it now.
    pub(crate) is_running: bool,
    /// Its status, for its owner.
    status: Option<StudyStatus>,
}

/// A board, certificate or report in a list.
#[derive(Debug)]
pub(crate) struct ListedDocument {
    pub(crate) kind: &'static str,
    /// From the root of the pages.
    pub(crate) address: String,
    pub(crate) name: String,
    /// What it says first, where that can be read.
    pub(crate) verdict: Option<String>,
}

impl FolderState {
    /// How far the study in a folder is. The private logs of what was sent are read for its owner alone.
    pub(crate) fn of(library: &Library, folder: &Path) -> Self {
        Self {
            is_running: is_held(folder),
            status: library.status(folder),
        }
    }

    /// The same of an experiment.
    pub(crate) fn of_experiment(library: &Library, experiment: &ExperimentEntry) -> Self {
        Self {
            is_running: experiment.is_written(),
            // Of a few of its episodes the status of the whole experiment says nothing.
            status: library
                .status(&experiment.folder)
                .filter(|status| status.finished <= experiment.episodes.len()),
        }
    }

    /// Whether anybody runs it, and else whether it has come to its end: the class of the word, and the word.
    pub(crate) const fn label(&self, is_whole: bool) -> (&'static str, &'static str) {
        match (self.is_running, is_whole) {
            (true, _) => ("open", "running"),
            (false, true) => ("ended", "finished"),
            (false, false) => ("partial", "stopped"),
        }
    }

    /// What its records say that was spent, open units among them; none where nobody was asked or nothing tells.
    pub(crate) fn spent(&self) -> Option<String> {
        let status = self.status.as_ref()?;
        (0 < status.requests.asked).then(|| {
            status
                .spent
                .map_or_else(|| "unknown".to_owned(), SpentMoney::text)
        })
    }
}

impl Overview {
    /// What lies below the directories.
    pub(crate) fn of(library: &Library, catalogue: &Catalogue) -> Self {
        let experiments = catalogue.experiments.iter();
        let experiments =
            experiments.map(|one| (one.folder.clone(), FolderState::of_experiment(library, one)));
        let studies = catalogue.other_studies();
        let studies = studies.map(|one| (one.folder.clone(), FolderState::of(library, &one.folder)));
        let states = experiments.chain(studies);
        let mut documents = Self::documents(library, &catalogue.experiments);
        for study in &catalogue.studies {
            if let Ok(outline) = study.outline()
                && let Some(page) = &outline.page
            {
                documents.push(ListedDocument {
                    kind: "report",
                    address: format!("s/{}/index.html", study.slug),
                    name: study.slug.clone(),
                    verdict: page.parent().and_then(recorded_verdict),
                });
            }
        }
        Self {
            states: states.collect(),
            documents,
        }
    }

    /// Boards and certificates alone, of exported pages.
    pub(crate) fn exported(library: &Library, catalogue: &Catalogue) -> Self {
        Self {
            documents: Self::documents(library, &catalogue.experiments),
            ..Self::default()
        }
    }

    fn documents(library: &Library, experiments: &[ExperimentEntry]) -> Vec<ListedDocument> {
        let board = |one: &DocumentEntry| {
            let board = library.board(one).ok();
            // The words of a board that names closed windows are for its owner, behind a switch on its own page.
            let is_shown = board.is_some_and(|board| !board.names_closed_windows);
            ListedDocument {
                kind: "board",
                address: format!("board/{}.html", one.slug),
                name: one.slug.clone(),
                verdict: is_shown.then(|| recorded_verdict(&one.folder)).flatten(),
            }
        };
        let certificate = |one: &DocumentEntry| {
            let folder = CertificateFolder {
                folder: &one.folder,
                with_private: false,
            };
            let says = folder
                .document()
                .ok()
                .and_then(|document| library.certificate(&document));
            ListedDocument {
                kind: "certificate",
                address: format!("certificate/{}.html", one.slug),
                name: one.slug.clone(),
                verdict: says.map(|says| says.verdict),
            }
        };
        let boards = nearest(experiments, |one| &one.boards).into_iter().map(board);
        let certificates = nearest(experiments, |one| &one.certificates)
            .into_iter()
            .map(certificate);
        boards.chain(certificates).collect()
    }

    /// How far the study in a folder is.
    pub(crate) fn state(&self, folder: &Path) -> FolderState {
        self.states.get(folder).cloned().unwrap_or_default()
    }

    /// Whether any of them is written now.
    pub(crate) fn is_any_running(&self) -> bool {
        self.states.values().any(|state| state.is_running)
    }
}

/// Documents of experiments, each once: what lies in the folder of two is the inner one's.
fn nearest(
    experiments: &[ExperimentEntry],
    of: fn(&ExperimentEntry) -> &Vec<DocumentEntry>,
) -> Vec<&DocumentEntry> {
    // Folders are in order, so that an outer one comes before those in it.
    let mut known = BTreeMap::new();
    for document in experiments.iter().flat_map(of) {
        known.insert(&document.folder, document);
    }
    known.into_values().collect()
}
