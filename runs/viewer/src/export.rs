//! A site of published episodes that needs no server: a folder of pages, or one file of one episode.

use crate::ViewerError;
use crate::catalogue::{Catalogue, DocumentEntry, ExperimentEntry};
use crate::certificate::CertificateFolder;
use crate::entry::EpisodeEntry;
use crate::episode::Episode;
use crate::library::{DocumentReaders, Library};
use crate::overview::{FolderState, Overview};
use crate::page::ranked_row::RankedRow;
use crate::page::{self, PageSite, SiteKind};
use crate::plain_files::check_all;
use ktd_bundle::publication::{Publication, publication_of};
use ktd_io::whole_file::{
    Durability, IfExists, create_directory, list_if_exists, read_text, write_file, write_whole,
};
use ktd_io::whole_folder::WholeFolder;
use ktd_study::recorded_verdict;
use maud::html;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a browser must know of a board's own page, before anything else of it: it runs no script and reaches nothing.
const FOREIGN_PREFIX: &str = concat!(
    "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" ",
    "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
);
/// The most that a board's page may hold.
const PAGE_LIMIT_BYTES: u64 = 64 << 20;

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportedSite {
    /// Episodes.
    pub episodes: usize,
    /// Files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Boards and certificates that were left out.
    pub left_out: usize,
}

/// Writes the pages of published episodes below `out`, or to `out` itself where it ends with `.html`. Nothing of a private
/// part is read. Boards and certificates, which no signature covers, are pages of it only `with_documents`.
///
/// # Errors
/// [`ViewerError`] when there is no episode, one was not published or was changed since, when `out` is in use, or a file cannot
/// be written.
pub fn export(
    directories: &[PathBuf],
    out: &Path,
    with_documents: bool,
    readers: DocumentReaders,
) -> Result<ExportedSite, ViewerError> {
    let library = Library::new(directories, false, readers)?;
    let mut catalogue = Arc::unwrap_or_clone(library.catalogue()?);
    check_published(&catalogue)?;
    let left_out = if with_documents {
        0
    } else {
        take_documents(&mut catalogue)
    };
    let mut site = if out.extension().is_some_and(|extension| extension == "html") {
        one_file(&library, &catalogue, out)?
    } else {
        let mut writer = SiteWriter {
            folder: WholeFolder::begin(out)?,
            site: ExportedSite::default(),
        };
        writer.pages(&library, &catalogue)?;
        writer.folder.finish()?;
        writer.site
    };
    site.left_out = left_out;
    Ok(site)
}

/// Takes boards and certificates out, and what held nothing else; how many there were.
fn take_documents(catalogue: &mut Catalogue) -> usize {
    let mut taken = 0;
    for experiment in &mut catalogue.experiments {
        taken += experiment.boards.len() + experiment.certificates.len();
        experiment.boards.clear();
        experiment.certificates.clear();
    }
    catalogue
        .experiments
        .retain(|experiment| !experiment.episodes.is_empty());
    taken
}

/// Checks that whoever owns the episodes made them public, and that they are what was signed.
fn check_published(catalogue: &Catalogue) -> Result<(), ViewerError> {
    if catalogue.experiments.iter().all(|one| one.episodes.is_empty()) {
        return Err(ViewerError::input(
            "there is no published episode",
            "name a folder that `ktd publish` made, or an episode in it",
        ));
    }
    let mut checked = BTreeSet::new();
    for episode in catalogue.experiments.iter().flat_map(|one| &one.episodes) {
        let Some(folder) = publication_of(&episode.root) else {
            return Err(ViewerError::input(
                format!("{} was not published", episode.root.display()),
                "`ktd publish` makes a signed folder of finished episodes: export that one",
            ));
        };
        if checked.insert(folder.to_owned()) {
            let publication = Publication::read(folder, &[])?;
            publication.manifest.check_files(folder)?;
        }
    }
    Ok(())
}

/// Writes files and counts them.
#[derive(Debug)]
struct SiteWriter {
    folder: WholeFolder,
    site: ExportedSite,
}

impl SiteWriter {
    fn put(&mut self, name: &str, text: &str) -> Result<(), ViewerError> {
        let path = self.folder.at(name)?;
        create_directory(path.parent().unwrap_or(&path))?;
        write_whole(&path, text.as_bytes())?;
        self.site.files += 1;
        self.site.bytes += u64::try_from(text.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    fn pages(&mut self, library: &Library, catalogue: &Catalogue) -> Result<(), ViewerError> {
        let site = PageSite::exported(SiteKind::Folder);
        self.put(page::STYLE_SHEET, &page::style_sheet())?;
        self.put(page::SCRIPT, page::script())?;
        let overview = Overview::exported(library, catalogue);
        self.put("index.html", &page::experiment::index(site, catalogue, &overview))?;
        for experiment in &catalogue.experiments {
            let text = page::experiment::page(site, experiment, &FolderState::default());
            self.put(&format!("x/{}.html", experiment.slug), &text)?;
            for entry in &experiment.episodes {
                self.episode(library, experiment, entry)?;
            }
            self.documents(library, catalogue, experiment)?;
        }
        Ok(())
    }

    fn episode(
        &mut self,
        library: &Library,
        experiment: &ExperimentEntry,
        entry: &Arc<EpisodeEntry>,
    ) -> Result<(), ViewerError> {
        let site = PageSite::exported(SiteKind::Folder);
        let episode = library.episode(entry, false)?;
        let boards = library.readable_boards(&experiment.boards);
        let ranked = RankedRow::of(&boards, entry);
        let text = page::episode::page(site, Some(experiment), &episode, ranked);
        self.put(&format!("e/{}/index.html", entry.slug), &text)?;
        for step in &episode.steps {
            let exchanges = library.exchanges(entry, step.record.step)?;
            let text = page::step::page(site, Some(experiment), &episode, (step, &exchanges));
            self.put(&format!("e/{}/{}.html", entry.slug, step.record.step), &text)?;
        }
        self.site.episodes += 1;
        Ok(())
    }

    /// A board's own page, and what it links to.
    fn own_page(&mut self, board: &DocumentEntry) -> Result<(), ViewerError> {
        let own = read_text(&plain(board, "index.html")?, PAGE_LIMIT_BYTES)?;
        let own = format!("{FOREIGN_PREFIX}{own}");
        self.put(&format!("board/{}/index.html", board.slug), &own)?;
        for name in linked_files(board)? {
            let text = read_text(&plain(board, &name)?, PAGE_LIMIT_BYTES)?;
            self.put(&format!("board/{}/{name}", board.slug), &text)?;
        }
        Ok(())
    }

    fn documents(
        &mut self,
        library: &Library,
        catalogue: &Catalogue,
        experiment: &ExperimentEntry,
    ) -> Result<(), ViewerError> {
        let site = PageSite::exported(SiteKind::Folder);
        for board in &experiment.boards {
            let rows = library.board(board);
            let rows = rows.as_deref().map_err(ToString::to_string);
            if page::board::shows_own(site, rows.as_ref().ok().copied(), false) {
                self.own_page(board)?;
            }
            let experiments = catalogue.ranked_by(experiment, rows.as_ref().ok().copied());
            let parts = page::board::BoardParts {
                document: board,
                board: rows.as_ref().copied().map_err(String::as_str),
                experiments: &experiments,
                has_private: false,
            };
            let verdict = recorded_verdict(&board.folder);
            let text = page::board::page(site, parts, verdict.as_deref());
            self.put(&format!("board/{}.html", board.slug), &text)?;
            let Ok(rows) = rows else { continue };
            for (track, row) in rows.rows() {
                let ranked = RankedRow {
                    document: board,
                    board: rows,
                    track,
                    row,
                };
                let text = page::tear_sheet::page(site, &experiments, ranked, false);
                self.put(&ranked.address(), &text)?;
            }
        }
        for certificate in &experiment.certificates {
            let folder = CertificateFolder {
                folder: &certificate.folder,
                with_private: false,
            };
            let place = page::certificate::CertificatePlace {
                site,
                experiment,
                slug: &certificate.slug,
                has_private: false,
            };
            let document = folder.document()?;
            let says = library.certificate(&document);
            let text = page::certificate::page(place, &document, says.as_ref());
            self.put(&format!("certificate/{}.html", certificate.slug), &text)?;
        }
        Ok(())
    }
}

fn one_file(library: &Library, catalogue: &Catalogue, out: &Path) -> Result<ExportedSite, ViewerError> {
    let mut episodes = catalogue.experiments.iter().flat_map(|one| &one.episodes);
    let (Some(entry), None) = (episodes.next(), episodes.next()) else {
        return Err(ViewerError::input(
            "one file holds one episode",
            "name the directory of one episode, or a folder for the site",
        ));
    };
    let episode = library.episode(entry, false)?;
    let text = one_page(library, entry, &episode)?;
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        create_directory(folder)?;
    }
    write_file(out, text.as_bytes(), IfExists::Refuse, Durability::Buffered)?;
    Ok(ExportedSite {
        episodes: 1,
        files: 1,
        bytes: u64::try_from(text.len()).unwrap_or(u64::MAX),
        left_out: 0,
    })
}

fn one_page(library: &Library, entry: &Arc<EpisodeEntry>, episode: &Episode) -> Result<String, ViewerError> {
    let site = PageSite::exported(SiteKind::File);
    let mut steps = Vec::new();
    for step in &episode.steps {
        let exchanges = library.exchanges(entry, step.record.step)?;
        let body = page::step::body(site, episode, (step, &exchanges));
        steps.push(html! { article id={ "step-" (step.record.step) } { (body) } });
    }
    let body = html! {
        (page::episode::body(site, None, episode, None))
        @for step in steps { (step) }
    };
    Ok(page::episode::framed(site, None, episode, &body))
}

/// What a board's own page leads to: its document, its text and the CSV files of its tables.
fn linked_files(board: &DocumentEntry) -> Result<Vec<String>, ViewerError> {
    let own = ["leaderboard.json", "report.md"].map(str::to_owned);
    let mut names: Vec<String> = own
        .into_iter()
        .filter(|name| board.folder.join(name).is_file())
        .collect();
    let tables = board.folder.join("tables");
    check_all(std::slice::from_ref(&tables))?;
    let csv = list_if_exists(&tables)?.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        (path.extension()? == "csv").then(|| format!("tables/{name}"))
    });
    names.extend(csv);
    Ok(names)
}

/// A file of a document, which is no link.
fn plain(document: &DocumentEntry, name: &str) -> Result<PathBuf, ViewerError> {
    let path = document.folder.join(name);
    check_all(std::slice::from_ref(&path))?;
    Ok(path)
}
