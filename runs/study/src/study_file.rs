//! The file of a study.

use crate::{StudyError, StudyKind};
use ktd_experiment::config::unreadable;
use ktd_io::whole_file::read_text;
use serde::Deserialize;
use std::path::Path;

/// The most that the file of a study may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
struct KindOf {
    kind: Option<String>,
}

/// The kind that the file of a study names; none where it names none, or cannot be read.
#[must_use]
pub fn kind_of_file(path: &Path) -> Option<String> {
    let text = read_text(path, FILE_LIMIT_BYTES).ok()?;
    toml::from_str::<KindOf>(&text).ok()?.kind
}

/// Reads the file of a study and checks its keys. A file without `kind` is one of the kind that is asked for.
///
/// # Errors
/// [`StudyError`] with file, line, column and key; for a file of another kind.
pub fn read_study_file<K: StudyKind>(path: &Path) -> Result<K::Keys, StudyError> {
    let text = read_text(path, FILE_LIMIT_BYTES)?;
    let at = |what: &dyn std::fmt::Display, hint: &str| {
        StudyError::input(format_args!("{}: {what}", path.display()), hint)
    };
    let named: Result<KindOf, _> = toml::from_str(&text);
    if let Ok(KindOf { kind: Some(kind) }) = named
        && kind != K::NAME
    {
        return Err(at(
            &format_args!(
                "it is a study of kind {kind:?}, and `{}` runs {:?}",
                K::COMMAND,
                K::NAME
            ),
            "`ktd run FILE` runs every kind",
        ));
    }
    let keys: K::Keys = toml::from_str(&text).map_err(|error| {
        let hint = format!("`{} --help` shows an example", K::COMMAND);
        at(&unreadable(&text, &error), &hint)
    })?;
    K::check(&keys).map_err(|error| error.at(path.display()))?;
    Ok(keys)
}
