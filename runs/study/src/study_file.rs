//! The file of a study.

use crate::identity::StudyHeader;
use crate::{StudyError, StudyKind};
use ktd_experiment::config::{at_place, unreadable};
use ktd_io::whole_file::{list, read_text};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// The most that the file of a study may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
struct KindOf {
    kind: Option<String>,
}

/// The kind that the file of a study names; of one that names none, the kind beside the first of these keys that it has. None of
/// another one, and of one that cannot be read.
#[must_use]
pub fn kind_of_file(path: &Path, unnamed: &[(&str, &str)]) -> Option<String> {
    let keys: toml::Table = toml::from_str(&read_text(path, FILE_LIMIT_BYTES).ok()?).ok()?;
    let named = keys.get("kind").and_then(toml::Value::as_str);
    let of_key = || unnamed.iter().find(|(key, _)| keys.contains_key(*key));
    named
        .or_else(|| of_key().map(|(_, kind)| *kind))
        .map(str::to_owned)
}

/// Text of a TOML file, for errors that say where.
#[derive(Debug, Clone)]
pub struct TomlText {
    name: String,
    text: String,
}

impl TomlText {
    /// The text of a file.
    ///
    /// # Errors
    /// [`StudyError`] for one that cannot be read, or is too large.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        Ok(Self {
            name: path.display().to_string(),
            text: read_text(path, FILE_LIMIT_BYTES)?,
        })
    }

    /// A text that errors call by this name.
    #[must_use]
    pub fn new(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }

    /// The value that is written there.
    ///
    /// # Errors
    /// [`StudyError`] with file, line, column and key.
    pub fn value<T: DeserializeOwned>(&self, hint: &str) -> Result<T, StudyError> {
        toml::from_str(&self.text)
            .map_err(|error| StudyError::input(unreadable(&self.text, &error), hint).at(&self.name))
    }

    /// What is wrong at a byte of the text.
    #[must_use]
    pub fn error(&self, byte: usize, what: &str, hint: &str) -> StudyError {
        StudyError::input(at_place(&self.text, byte, what), hint).at(&self.name)
    }
}

/// Reads the file of a study and checks its keys. A file without `kind` is one of the kind that is asked for.
///
/// # Errors
/// [`StudyError`] with file, line, column and key; for a file of another kind.
pub fn read_study_file<K: StudyKind>(path: &Path) -> Result<K::Keys, StudyError> {
    let file = TomlText::read(path)?;
    if let Ok(KindOf { kind: Some(kind) }) = file.value("")
        && kind != K::NAME
    {
        let what = format_args!(
            "it is a study of kind {kind:?}, and `{}` runs {:?}",
            K::COMMAND,
            K::NAME
        );
        return Err(StudyError::input(what, "`ktd run FILE` runs every kind").at(&file.name));
    }
    let keys: K::Keys = file.value(&format!("`{} --help` shows an example", K::COMMAND))?;
    K::check(&keys).map_err(|error| error.at(&file.name))?;
    Ok(keys)
}

/// Where the results of a study go: where it is asked for, where its file says, or `results/NAME` beside the file.
pub(crate) fn folder_of<K: StudyKind>(keys: &K::Keys, base: &Path, out: Option<&Path>) -> PathBuf {
    let own = || match K::output(keys) {
        Some(output) => base.join(output),
        None => base.join("results").join(K::name(keys)),
    };
    out.map_or_else(own, Path::to_owned)
}

/// What goes on with the study in a folder. Its file is that in the folder where its paths start which has its name, and of several
/// that which says what is recorded; where that is none, or several, a person has to choose.
pub(crate) fn command_of<K: StudyKind>(folder: &Path, base: &Path, header: &StudyHeader<K::Keys>) -> String {
    let files = list(base).unwrap_or_default().into_iter();
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let files = files.filter_map(|path| Some((read_study_file::<K>(&path).ok()?, path)));
    let named: Vec<_> = files.filter(|(keys, _)| K::name(keys) == header.name).collect();
    let recorded = serde_json::to_value(&header.keys).ok();
    let is_same = |(keys, _): &&(K::Keys, PathBuf)| recorded == serde_json::to_value(keys).ok();
    let same: Vec<_> = named.iter().filter(is_same).collect();
    let (([only], _) | (_, &[only])) = (&named[..], &same[..]) else {
        let paths: Vec<PathBuf> = named.into_iter().map(|(_, path)| path).collect();
        return command_of_choice::<K>(folder, base, header, &paths);
    };
    let (keys, path) = only;
    let (command, options) = K::goes_on_with(&header.decides, &header.keys, Some(keys));
    let names_kind = kind_of_file(path, &[]).is_some() && options.is_empty();
    let command = if names_kind { "ktd run" } else { command };
    let whole = |path: &Path| std::path::absolute(path).ok();
    let is_default = whole(&folder_of::<K>(keys, base, None)) == whole(folder);
    let out = if is_default {
        String::new()
    } else {
        format!(" --out {}", folder.display())
    };
    format!("{command} {}{options}{out}", path.display())
}

/// The same where a person has to choose the file: none of them has the name of the study, or several have.
fn command_of_choice<K: StudyKind>(
    folder: &Path,
    base: &Path,
    header: &StudyHeader<K::Keys>,
    named: &[PathBuf],
) -> String {
    let (command, options) = K::goes_on_with(&header.decides, &header.keys, None);
    let command = format!("{command} FILE{options} --out {}", folder.display());
    if named.is_empty() {
        return format!(
            "{command}, where FILE is that of the study: none in {} has its name",
            base.display()
        );
    }
    let named: Vec<_> = named.iter().map(|path| path.display().to_string()).collect();
    format!(
        "{command}, where FILE is one of these, which have its name: {}",
        named.join(", ")
    )
}
