//! Long computations of a unit, kept by the hash of their input.

use crate::StudyError;
use ktd_asking::LineJournal;
use ktd_io::line_file::{LineKind, line_bytes};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::remove_if_exists;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The closed file of works in a unit's folder.
pub(crate) const WORKS: &str = "works.jsonl.zst";
const REPLAY_HINT: &str = "the record was changed, or what it was computed with is another: run the study again into another folder";

/// A line of the works of a unit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkLine {
    work: String,
    input_sha256: String,
    output: Box<RawValue>,
}

/// What compares a recorded output with one that was made again: where they differ.
type DifferenceFn = fn(&str, &str) -> Option<String>;

/// What is done about works that are recorded, and those that are not.
#[derive(Clone, Copy)]
enum Mode {
    /// Recorded ones are taken, others made and kept.
    Kept,
    /// Recorded ones are taken, others are missing.
    Recorded,
    /// Recorded ones are made again and compared, others are missing.
    MadeAgain(DifferenceFn),
    /// Every one is made, nothing is kept.
    Made,
}

/// Works of one unit.
pub(crate) struct Works {
    mode: Mode,
    known: Mutex<BTreeMap<String, WorkLine>>,
    used: Mutex<BTreeSet<String>>,
    journal: Option<Mutex<LineJournal>>,
    open_path: PathBuf,
}

impl Works {
    /// Works that nothing keeps, of a unit whose record is a line.
    pub(crate) fn unkept() -> Self {
        Self::of(Path::new(""), Mode::Made, Vec::new())
    }

    /// Works of a folder that is written: those of an earlier run are taken.
    pub(crate) fn kept(folder: &Path) -> Result<Self, StudyError> {
        let path = open_path(folder);
        let (journal, lines) = LineJournal::open::<WorkLine>(&path)?;
        Ok(Self {
            journal: Some(Mutex::new(journal)),
            ..Self::of(folder, Mode::Kept, lines)
        })
    }

    /// Works of a closed folder: taken as they are recorded, or made again and compared by `difference`.
    pub(crate) fn closed(folder: &Path, difference: Option<DifferenceFn>) -> Result<Self, StudyError> {
        let path = folder.join(WORKS);
        let lines = if path.exists() {
            LineKind::Log.open(&path)?.values()?
        } else {
            Vec::new()
        };
        Ok(Self::of(
            folder,
            difference.map_or(Mode::Recorded, Mode::MadeAgain),
            lines,
        ))
    }

    fn of(folder: &Path, mode: Mode, lines: Vec<WorkLine>) -> Self {
        let lines = lines.into_iter().map(|line| (line.input_sha256.clone(), line));
        Self {
            mode,
            known: Mutex::new(lines.collect()),
            used: Mutex::default(),
            journal: None,
            open_path: open_path(folder),
        }
    }

    /// What works of one name give, recorded or made; see [`crate::Hands::works`].
    pub(crate) fn works<I: Serialize, O: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        inputs: &[I],
        make: impl FnOnce(&[usize]) -> Result<Vec<O>, StudyError>,
    ) -> Result<Vec<O>, StudyError> {
        let all: Vec<usize> = (0..inputs.len()).collect();
        if matches!(self.mode, Mode::Made) {
            return make(&all);
        }
        let mut keys = Vec::with_capacity(inputs.len());
        for input in inputs {
            let input = serde_json::to_value(input).map_err(|error| unwritable(name, &error))?;
            keys.push(sha256_hex(format!("{name}\0{input}").as_bytes()));
        }
        held(&self.used).extend(keys.iter().cloned());
        let known: Vec<Option<WorkLine>> = {
            let known = held(&self.known);
            keys.iter().map(|key| known.get(key).cloned()).collect()
        };
        let is_made = |place: &usize| {
            matches!(
                (known.get(*place), self.mode),
                (Some(Some(_)), Mode::MadeAgain(_)) | (Some(None), Mode::Kept)
            )
        };
        let missing: Vec<usize> = all.into_iter().filter(is_made).collect();
        let made = if missing.is_empty() {
            Vec::new()
        } else {
            make(&missing)?
        };
        let mut made = missing.into_iter().zip(made).peekable();
        let mut outputs = Vec::with_capacity(inputs.len());
        for (place, (key, known)) in keys.into_iter().zip(known).enumerate() {
            let made = made.next_if(|(made, _)| *made == place).map(|(_, made)| made);
            let line = match (known, made) {
                (Some(line), made) => {
                    if let (Some(made), Mode::MadeAgain(difference)) = (made, self.mode) {
                        compare(&line, &made, difference)?;
                    }
                    line
                }
                (None, Some(made)) => self.keep(name, key, &made)?,
                (None, None) => {
                    let what = format!("{WORKS}: a work {name} that the unit needs is not recorded");
                    return Err(StudyError::difference(what, REPLAY_HINT));
                }
            };
            outputs.push(read(&line)?);
        }
        Ok(outputs)
    }

    /// Keeps what was made, and gives what stands: another thread may have made the same before.
    fn keep<O: Serialize>(&self, name: &str, key: String, made: &O) -> Result<WorkLine, StudyError> {
        let output = serde_json::value::to_raw_value(made).map_err(|error| unwritable(name, &error))?;
        let line = WorkLine {
            work: name.to_owned(),
            input_sha256: key.clone(),
            output,
        };
        let mut known = held(&self.known);
        if let Some(first) = known.get(&key) {
            return Ok(first.clone());
        }
        if let Some(journal) = &self.journal {
            held(journal).add(&line)?;
        }
        known.insert(key, line.clone());
        Ok(line)
    }

    /// The works that the unit used, by the hash of their input, as the closed file holds them; none where it used none.
    /// Which thread made one first does not show.
    pub(crate) fn closed_bytes(&self) -> Result<Option<Vec<u8>>, StudyError> {
        let (known, used) = (held(&self.known), held(&self.used));
        if used.is_empty() {
            return Ok(None);
        }
        let lines = used.iter().filter_map(|key| known.get(key));
        Ok(Some(line_bytes(Path::new(WORKS), lines)?))
    }

    /// Takes the open file away, once the closed one stands.
    pub(crate) fn remove_open(&self) -> Result<(), StudyError> {
        Ok(remove_if_exists(&self.open_path)?)
    }
}

pub(crate) fn open_path(folder: &Path) -> PathBuf {
    folder.join("private").join("works.jsonl")
}

/// Compares a recorded output with one that was made again.
fn compare<O: Serialize>(line: &WorkLine, made: &O, difference: DifferenceFn) -> Result<(), StudyError> {
    let made = serde_json::to_string(made).map_err(|error| unwritable(&line.work, &error))?;
    let Some(found) = difference(line.output.get(), &made) else {
        return Ok(());
    };
    let place: String = line.input_sha256.chars().take(12).collect();
    let what = format!(
        "{WORKS}: the work {} {place} comes to something else: {found}",
        line.work
    );
    Err(StudyError::difference(what, REPLAY_HINT))
}

fn read<O: DeserializeOwned>(line: &WorkLine) -> Result<O, StudyError> {
    serde_json::from_str(line.output.get()).map_err(|error| {
        let what = format!("{WORKS}: the work {} cannot be read: {error}", line.work);
        StudyError::difference(what, REPLAY_HINT)
    })
}

fn unwritable(name: &str, error: &serde_json::Error) -> StudyError {
    StudyError::input(format_args!("the work {name} cannot be written: {error}"), "")
}

/// A panic while it is held ends the unit, and leaves what is in it whole.
fn held<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
