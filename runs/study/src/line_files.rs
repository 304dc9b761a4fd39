//! Files that a unit makes beside its record: written as their lines come, or compared with the recorded ones.

use crate::StudyError;
use ktd_io::line_file::{LineKind, LineReader, LineWriter};
use ktd_io::sha256::sha256_file;
use ktd_io::whole_file::create_private;
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
    File(LineWriter),
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
                let mut sink = LineSink(SinkTo::File(LineWriter::create(&path)?));
                fill(&mut sink)?;
                sink.finish()?;
            }
            LineMode::Compared => {
                let mut sink = LineSink(SinkTo::Recorded(&path, LineKind::Probes.open(&path)?));
                fill(&mut sink)?;
                sink.finish()?;
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
        match &mut self.0 {
            SinkTo::Nothing => Ok(()),
            SinkTo::File(file) => Ok(file.add(value)?),
            SinkTo::Recorded(path, recorded) => {
                let made = serde_json::to_string(value).map_err(|error| {
                    StudyError::input(format_args!("a line cannot be written: {error}"), "")
                })?;
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

    fn finish(self) -> Result<(), StudyError> {
        match self.0 {
            SinkTo::Nothing => Ok(()),
            SinkTo::File(file) => Ok(file.finish()?),
            SinkTo::Recorded(path, mut recorded) => {
                if recorded.next_line()?.is_some() {
                    return Err(differs(path, recorded.number(), "nothing makes it"));
                }
                Ok(recorded.check_whole()?)
            }
        }
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

/// The first of these files that is not as its hash says, and what is wrong with it.
pub(crate) fn changed_file(
    folder: &Path,
    files: &BTreeMap<String, String>,
) -> Result<Option<StudyError>, StudyError> {
    for (name, sha256) in files {
        let path = folder.join(name);
        let problem = if !path.exists() {
            "the file is missing"
        } else if sha256_file(&path)? != *sha256 {
            "it differs from the file that its record names"
        } else {
            continue;
        };
        let what = format_args!("{}: {problem}", path.display()).to_string();
        return Ok(Some(StudyError::difference(what, CHANGED_HINT)));
    }
    Ok(None)
}
