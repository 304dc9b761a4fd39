//! What lies at a path that a command was given, and which commands take it.

use crate::CliError;
use crate::study::KINDS;
use ktd_board::is_board;
use ktd_record::signed_folder::PUBLICATION;
use ktd_study::{AnyKind, kind_of};
use std::path::Path;

/// The kind of the study in a folder; none where another thing lies there.
///
/// # Errors
/// [`CliError`] for a study of a kind that there is not.
pub(super) fn kind_in(folder: &Path) -> Result<Option<&'static dyn AnyKind>, CliError> {
    let Some(name) = kind_of(folder) else {
        return Ok(None);
    };
    let kind = KINDS.into_iter().find(|kind| kind.name() == name);
    kind.map(Some).ok_or_else(|| {
        let what = format!(
            "{} holds a study of kind {name:?}, which is unknown",
            folder.display()
        );
        CliError::input(what, "use the version of ktd that made it")
    })
}

/// The kind of the study in a folder, for a command that takes studies alone.
///
/// # Errors
/// [`CliError`] naming the commands that take what lies there.
pub(super) fn study_at(folder: &Path) -> Result<&'static dyn AnyKind, CliError> {
    kind_in(folder)?.ok_or_else(|| not_a_study(folder))
}

/// Why a path holds no study, and which commands take what it holds.
pub(super) fn not_a_study(path: &Path) -> CliError {
    let has = |name: &str| path.join(name).exists();
    let (what, hint) = if !path.exists() {
        (
            "no such file or folder",
            "name the folder of a study's results, such as results/NAME",
        )
    } else if path.is_file() {
        (
            "it is a file, and no folder of results",
            "`ktd run FILE` runs the study of a file, `ktd plan FILE` says what it asks: name the folder of its results",
        )
    } else if has("header.json") {
        (
            "it holds an episode, and no study",
            "`ktd replay`, `ktd verify`, `ktd diff`, `ktd view` and `ktd leaderboard` take an episode",
        )
    } else if has("cells") {
        (
            "it holds episodes, and no study",
            "`ktd leaderboard DIR` ranks them, `ktd view DIR` shows them, `ktd verify DIR/cells/*` checks them",
        )
    } else if has("certificate.json") {
        (
            "it holds a certificate, and no study",
            "`ktd verify --certificate FILE` checks it, `ktd view DIR` shows it",
        )
    } else if is_board(path) || has(PUBLICATION) {
        (
            "it holds no study",
            "`ktd verify DIR` checks boards and what was published, `ktd view DIR` shows them",
        )
    } else {
        (
            "it holds no study",
            "name a folder that `ktd run FILE` has written",
        )
    };
    CliError::input(format_args!("{}: {what}", path.display()), hint)
}

/// Refuses a folder where a file that says what is asked is wanted.
///
/// # Errors
/// [`CliError`] naming the commands that take a folder.
pub(super) fn check_file(path: &Path) -> Result<(), CliError> {
    if !path.is_dir() {
        return Ok(());
    }
    Err(CliError::input(
        format_args!(
            "{}: it is a folder, and no file that says what is asked",
            path.display()
        ),
        "`ktd status DIR` and `ktd report DIR` take the folder of a study; name the file that it was run with",
    ))
}
