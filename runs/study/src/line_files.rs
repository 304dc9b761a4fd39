//! Files that a unit makes beside its record: written as their lines come, or compared with the recorded ones.

use crate::StudyError;
use ktd_io::FileError;
use ktd_io::line_file::{LineKind, LineReader, write_lines};
use ktd_io::sha256::sha256_file;
use ktd_io::whole_file::{create_directory, create_private};
use ktd_record::signed_folder::is_plain;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub(crate) const CHANGED_HINT: &str =
    "the record was changed; take the folder from whoever made it, or move it away and run the study again";

/// What becomes of the lines that a unit gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineMode {
    /// They are written.
    Written,
    /// The recorded file is taken as it is: nobody makes its lines.
    Recorded,
    /// Each is compared with the recorded one.
    Compared,
}

/// The files of lines of one unit.
pub(crate) struct LineFiles {
    /// Where they lie; none where nothing is kept.
    folder: Option<PathBuf>,
    mode: LineMode,
    hashes: Mutex<BTreeMap<String, String>>,
}

/// Sink of the lines of one file.
#[expect(missing_debug_implementations, reason = "a file has no form of its own")]
pub struct LineSink<'s>(SinkTo<'s>);

enum SinkTo<'s> {
    Nothing,
    File(&'s mut dyn FnMut(&[u8]) -> Result<(), FileError>),
    Recorded(&'s Path, LineReader<'static>),
}

impl LineFiles {
    pub(crate) fn new(folder: Option<&Path>, mode: LineMode) -> Self {
        Self {
            folder: folder.map(Path::to_owned),
            mode,
            hashes: Mutex::default(),
        }
    }

    /// See [`crate::Hands::lines`].
    pub(crate) fn lines(
        &self,
        name: &str,
        fill: impl FnOnce(&mut LineSink<'_>) -> Result<(), StudyError>,
    ) -> Result<String, StudyError> {
        let Some(folder) = &self.folder else {
            fill(&mut LineSink(SinkTo::Nothing))?;
            return Ok(String::new());
        };
        let path = folder.join(name);
        if let Some(private) = path.parent().filter(|parent| parent.ends_with("private")) {
            create_private(private)?;
        }
        match self.mode {
            LineMode::Recorded => {}
            LineMode::Written => {
                create_directory(path.parent().unwrap_or(folder))?;
                write_lines(&path, |write| fill(&mut LineSink(SinkTo::File(write))))?;
            }
            LineMode::Compared => {
                let mut sink = LineSink(SinkTo::Recorded(&path, LineKind::Probes.open(&path)?));
                fill(&mut sink)?;
                sink.check_no_more()?;
            }
        }
        let sha256 = sha256_file(&path)?;
        let mut hashes = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        hashes.insert(name.to_owned(), sha256.clone());
        Ok(sha256)
    }

    /// SHA-256 of every file that was made, by its name.
    pub(crate) fn into_hashes(self) -> BTreeMap<String, String> {
        self.hashes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LineSink<'_> {
    /// Adds a line.
    ///
    /// # Errors
    /// [`StudyError`] where the record has another line here, or it cannot be written.
    pub fn push(&mut self, value: &impl Serialize) -> Result<(), StudyError> {
        let made = serde_json::to_string(value)
            .map_err(|error| StudyError::input(format_args!("a line cannot be written: {error}"), ""))?;
        match &mut self.0 {
            SinkTo::Nothing => Ok(()),
            SinkTo::File(write) => Ok(write(format!("{made}\n").as_bytes())?),
            SinkTo::Recorded(path, recorded) => {
                let line = recorded.next_line()?.map(String::from_utf8_lossy);
                let found = match &line {
                    Some(line) if *line == made => return Ok(()),
                    Some(line) => ktd_record::chain::first_difference(line, &made),
                    None => "it is missing".to_owned(),
                };
                Err(differs(path, recorded.number(), &found))
            }
        }
    }

    /// Fails where recorded lines are left.
    fn check_no_more(self) -> Result<(), StudyError> {
        let SinkTo::Recorded(path, mut recorded) = self.0 else {
            return Ok(());
        };
        if recorded.next_line()?.is_some() {
            return Err(differs(path, recorded.number(), "nothing makes it"));
        }
        Ok(recorded.check_whole()?)
    }
}

fn differs(path: &Path, line: usize, found: &str) -> StudyError {
    StudyError::difference(
        format_args!(
            "{}: line {line}: it comes to something else: {found}",
            path.display()
        ),
        CHANGED_HINT,
    )
}

/// The first of these files that is not as its hash says, and what is wrong with it. What is private is compared where its owner
/// has it.
pub(crate) fn changed_file(
    folder: &Path,
    files: &BTreeMap<String, String>,
) -> Result<Option<StudyError>, StudyError> {
    for (name, sha256) in files {
        let path = folder.join(name);
        let problem = if !is_plain(Path::new(name)) {
            "it is no path of a file of the study"
        } else if name.starts_with("private/") && !folder.join("private").exists() {
            continue;
        } else if !path.exists() {
            "the file is missing"
        } else if sha256_file(&path)? != *sha256 {
            "it differs from the file that units.jsonl names: one of the two was changed"
        } else {
            continue;
        };
        let what = format_args!("{}: {problem}", path.display()).to_string();
        return Ok(Some(StudyError::difference(what, CHANGED_HINT)));
    }
    Ok(None)
}
