//! The answer to an address.

use super::reply::{Answer, FOREIGN_POLICY};
use super::route::{CertificatePart, Route, StudyPart};
use crate::ViewerError;
use crate::catalogue::{Catalogue, DocumentEntry, ExperimentEntry};
use crate::certificate::CertificateFolder;
use crate::difference::pairs;
use crate::entry::EpisodeEntry;
use crate::library::Library;
use crate::overview::{FolderState, Overview};
use crate::page::ranked_row::RankedRow;
use crate::page::{self, PageSite};
use crate::plain_files::{check_all, is_own_directory};
use crate::study::unit_files;
use axum::http::StatusCode;
use ktd_io::whole_file::read_text;
use ktd_record::exchanges::RequestPlace;
use ktd_study::recorded_verdict;
use std::path::Path;
use std::sync::Arc;

/// The most that a board's page may hold.
const PAGE_LIMIT_BYTES: u64 = 64 << 20;

/// The page of a route; what cannot be shown is a page that says why.
pub(super) fn answer(library: &Library, route: &Route) -> Answer {
    if *route == Route::StyleSheet {
        return Answer::file("text/css; charset=utf-8", page::style_sheet());
    }
    if *route == Route::Script {
        return Answer::file("text/javascript; charset=utf-8", page::script().to_owned());
    }
    match made(library, route) {
        Ok(Some(answer)) => answer,
        Ok(None) => {
            let hint = "it was moved or removed, or its directory was not named: go back to all results";
            let text = page::problem::page(
                PageSite::served(false),
                route.root(),
                "There is no such page.",
                hint,
            );
            Answer {
                status: StatusCode::NOT_FOUND,
                ..Answer::page(text)
            }
        }
        Err(error) => {
            let text = page::problem::page(
                PageSite::served(false),
                route.root(),
                &error.to_string(),
                &error.hint(),
            );
            Answer {
                status: StatusCode::UNPROCESSABLE_ENTITY,
                ..Answer::page(text)
            }
        }
    }
}

/// Pages of an experiment, whose folder a process may be writing.
fn site_of(experiment: Option<&ExperimentEntry>, shows_real: bool) -> PageSite {
    PageSite {
        is_running: experiment.is_some_and(ExperimentEntry::is_written),
        ..PageSite::served(shows_real)
    }
}

fn made(library: &Library, route: &Route) -> Result<Option<Answer>, ViewerError> {
    let catalogue = library.catalogue_with(&route.episodes())?;
    let text = match route {
        Route::Index => {
            let overview = Overview::of(library, &catalogue);
            Some(page::experiment::index(
                PageSite::served(false),
                &catalogue,
                &overview,
            ))
        }
        Route::Experiment(slug) => catalogue.experiment(slug).map(|one| {
            let state = FolderState::of_experiment(library, one);
            page::experiment::page(site_of(Some(one), false), one, &state)
        }),
        Route::Episode { slug, real } => episode(library, &catalogue, (slug, *real))?,
        Route::Step { slug, step, real } => self::step(library, &catalogue, (slug, *step, *real))?,
        Route::Raw {
            slug,
            place,
            is_reply,
        } => return raw(library, &catalogue, (slug, *place), *is_reply),
        Route::Search { slug, words } => found(library, &catalogue, slug, words)?,
        Route::Compare {
            left,
            right,
            step,
            real,
        } => compared(library, &catalogue, (left, right), (*step, *real))?,
        Route::Board { slug, real } => {
            let found = document(&catalogue, slug, |one| &one.boards);
            found.map(|found| board(library, &catalogue, found, *real))
        }
        Route::BoardFile { slug, file, real } => return board_file(library, &catalogue, (slug, file), *real),
        Route::TearSheet { board, row, real } => tear_sheet(library, &catalogue, (board, row), *real)?,
        Route::Study { slug, part } => return study(&catalogue, slug, part),
        Route::Certificate { slug, part } => certificate(library, &catalogue, slug, part)?,
        Route::StyleSheet | Route::Script | Route::Events => None,
    };
    Ok(text.map(Answer::page))
}

/// Whether real names can be shown, and are asked for.
fn shows_real(entry: &EpisodeEntry, asked: bool) -> bool {
    asked && entry.content.as_ref().is_ok_and(|content| content.tells_hidden)
}

fn episode(
    library: &Library,
    catalogue: &Catalogue,
    (slug, real): (&str, bool),
) -> Result<Option<String>, ViewerError> {
    let Some(entry) = catalogue.episode(slug) else {
        return Ok(None);
    };
    let real = shows_real(entry, real);
    let episode = library.episode(entry, real)?;
    let experiment = catalogue.experiment_of(entry);
    let boards = library.readable_boards(experiment.map_or(&[], |one| one.boards.as_slice()));
    let ranked = RankedRow::of(&boards, entry);
    Ok(Some(page::episode::page(
        site_of(experiment, real),
        experiment,
        &episode,
        ranked,
    )))
}

fn board(
    library: &Library,
    catalogue: &Catalogue,
    (home, document): (&ExperimentEntry, &DocumentEntry),
    real: bool,
) -> String {
    let has_private = library.with_private();
    let board = library.board(document).map_err(|error| error.to_string());
    let board = board.as_deref().map_err(String::as_str);
    let parts = page::board::BoardParts {
        document,
        board,
        experiments: &catalogue.ranked_by(home, board.ok()),
        has_private,
    };
    let verdict = recorded_verdict(&document.folder);
    page::board::page(PageSite::served(real && has_private), parts, verdict.as_deref())
}

fn tear_sheet(
    library: &Library,
    catalogue: &Catalogue,
    (slug, row): (&str, &str),
    real: bool,
) -> Result<Option<String>, ViewerError> {
    let Some((home, document)) = document(catalogue, slug, |one| &one.boards) else {
        return Ok(None);
    };
    let board = library.board(document)?;
    let found = board.row(row).map(|(track, row)| RankedRow {
        document,
        board: &board,
        track,
        row,
    });
    let has_private = library.with_private();
    Ok(found.map(|ranked| {
        page::tear_sheet::page(
            PageSite::served(real && has_private),
            &catalogue.ranked_by(home, Some(&board)),
            ranked,
            has_private,
        )
    }))
}

fn step(
    library: &Library,
    catalogue: &Catalogue,
    (slug, step, real): (&str, usize, bool),
) -> Result<Option<String>, ViewerError> {
    let Some(entry) = catalogue.episode(slug) else {
        return Ok(None);
    };
    let real = shows_real(entry, real);
    let episode = library.episode(entry, real)?;
    let Some(own) = episode.step(step) else {
        return Ok(None);
    };
    let exchanges = library.step_exchanges(entry, step)?;
    let experiment = catalogue.experiment_of(entry);
    Ok(Some(page::step::page(
        PageSite::served(real),
        experiment,
        &episode,
        (own, &exchanges),
    )))
}

/// Bytes as text: whatever they are, a browser shows them and runs nothing.
fn raw(
    library: &Library,
    catalogue: &Catalogue,
    (slug, place): (&str, RequestPlace),
    is_reply: bool,
) -> Result<Option<Answer>, ViewerError> {
    let Some(entry) = catalogue.episode(slug) else {
        return Ok(None);
    };
    let exchanges = library.exchanges(entry, place.step)?;
    let found = exchanges.into_iter().find(|exchange| exchange.at == place);
    let text = found.map(|exchange| {
        if is_reply {
            exchange.response
        } else {
            exchange.request
        }
    });
    Ok(text.map(|text| Answer {
        policy: FOREIGN_POLICY,
        ..Answer::file("text/plain; charset=utf-8", text)
    }))
}

fn found(
    library: &Library,
    catalogue: &Catalogue,
    slug: &str,
    words: &str,
) -> Result<Option<String>, ViewerError> {
    let Some(entry) = catalogue.episode(slug) else {
        return Ok(None);
    };
    let episode = library.episode(entry, false)?;
    let hits = library.index(entry)?.find(words);
    Ok(Some(page::search::page(
        PageSite::served(false),
        &episode,
        words,
        &hits,
    )))
}

fn compared(
    library: &Library,
    catalogue: &Catalogue,
    (left, right): (&str, &str),
    (step, real): (Option<usize>, bool),
) -> Result<Option<String>, ViewerError> {
    let (Some(left), Some(right)) = (catalogue.episode(left), catalogue.episode(right)) else {
        return Ok(None);
    };
    // That two aliases are one stock is told by the private part alone.
    let real = shows_real(left, real) || shows_real(right, real);
    let episodes = (library.episode(left, real)?, library.episode(right, real)?);
    let pairs = pairs(&episodes.0, &episodes.1);
    let step = step.unwrap_or_else(|| page::compare::first_difference(&pairs));
    let side = |entry: &Arc<EpisodeEntry>| library.exchanges(entry, step);
    let left = page::compare::ComparedEpisode {
        exchanges: side(left)?,
        episode: &episodes.0,
    };
    let right = page::compare::ComparedEpisode {
        exchanges: side(right)?,
        episode: &episodes.1,
    };
    Ok(Some(page::compare::page(
        PageSite::served(real),
        &left,
        &right,
        (&pairs, step),
    )))
}

fn document<'c>(
    catalogue: &'c Catalogue,
    slug: &str,
    kind: fn(&ExperimentEntry) -> &Vec<DocumentEntry>,
) -> Option<(&'c ExperimentEntry, &'c DocumentEntry)> {
    let mut all = catalogue.experiments.iter().flat_map(|experiment| {
        kind(experiment)
            .iter()
            .map(move |document| (experiment, document))
    });
    all.find(|(_, document)| document.slug == slug)
}

/// A study, or a part of it. A unit is looked up among those of its plan, and its name never becomes a path.
fn study(catalogue: &Catalogue, slug: &str, part: &StudyPart) -> Result<Option<Answer>, ViewerError> {
    let Some(entry) = catalogue.study(slug) else {
        return Ok(None);
    };
    let outline = entry.outline()?;
    let text = match part {
        StudyPart::Outline => {
            let verdict = outline
                .page
                .as_deref()
                .and_then(Path::parent)
                .and_then(recorded_verdict);
            page::study::page(PageSite::served(false), entry, &outline, verdict.as_deref())
        }
        StudyPart::Report => return outline.page.as_deref().map_or(Ok(None), foreign_file),
        StudyPart::File(name) => {
            let folder = outline.page.as_deref().and_then(Path::parent);
            return folder.map_or(Ok(None), |folder| foreign_file(&folder.join(name)));
        }
        StudyPart::Unit(name) => {
            let Some(unit) = outline.units.iter().find(|unit| unit.id.as_str() == name) else {
                return Ok(None);
            };
            let files = unit
                .folder
                .as_deref()
                .map_or_else(|| Ok(Vec::new()), unit_files)?;
            page::study::unit(PageSite::served(false), (entry, &outline), (unit, &files))
        }
    };
    Ok(Some(Answer::page(text)))
}

/// A board's own page, or what it links to: days of windows that are not opened only where they are asked for.
fn board_file(
    library: &Library,
    catalogue: &Catalogue,
    (slug, file): (&str, &str),
    real: bool,
) -> Result<Option<Answer>, ViewerError> {
    let Some((_, document)) = document(catalogue, slug, |one| &one.boards) else {
        return Ok(None);
    };
    let has_private = library.with_private();
    let board = library.board(document).ok();
    if !page::board::shows_own(
        PageSite::served(real && has_private),
        board.as_deref(),
        has_private,
    ) {
        return Err(ViewerError::input(
            "this page may name days of windows that are not opened",
            "their owner adds ?real=1 to the address; `--public` shows them to nobody",
        ));
    }
    foreign_file(&document.folder.join(file))
}

/// A file of a report as it was written: its page, or what that links to. Neither the file nor its folder is a link.
fn foreign_file(path: &Path) -> Result<Option<Answer>, ViewerError> {
    let place = path.parent().unwrap_or(path).to_owned();
    check_all(&[place, path.to_owned()])?;
    if !path.is_file() {
        return Ok(None);
    }
    let text = read_text(path, PAGE_LIMIT_BYTES)?;
    let is_page = path.extension().is_some_and(|extension| extension == "html");
    let kind = if is_page {
        "text/html; charset=utf-8"
    } else {
        "text/plain; charset=utf-8"
    };
    Ok(Some(Answer {
        policy: FOREIGN_POLICY,
        ..Answer::file(kind, text)
    }))
}

/// A certificate, or what one of its bounds rests on.
fn certificate(
    library: &Library,
    catalogue: &Catalogue,
    slug: &str,
    part: &CertificatePart,
) -> Result<Option<String>, ViewerError> {
    let Some((experiment, entry)) = document(catalogue, slug, |one| &one.certificates) else {
        return Ok(None);
    };
    let has_private = library.with_private() && is_own_directory(&entry.folder.join("private"));
    let real = matches!(part, CertificatePart::Answers { real: true, .. }) && has_private;
    let folder = CertificateFolder {
        folder: &entry.folder,
        with_private: real,
    };
    let place = page::certificate::CertificatePlace {
        site: PageSite::served(real),
        experiment,
        slug,
        has_private,
    };
    Ok(match part {
        CertificatePart::Document => {
            let document = folder.document()?;
            Some(page::certificate::page(
                place,
                &document,
                library.certificate(&document).as_ref(),
            ))
        }
        CertificatePart::Answers { kind, attacker, .. } => folder
            .answers(kind, attacker)?
            .map(|probes| page::certificate::answers(place, (kind, attacker), &probes)),
        CertificatePart::Probe { kind, number } => folder
            .probe(kind, *number)?
            .map(|probe| page::certificate::probe(place, (kind, *number), &probe)),
    })
}
