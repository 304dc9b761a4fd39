//! The record of a unit that is a folder: header, agent, exchanges, events, works, made files, result.
//!
//! | file | holds |
//! |---|---|
//! | `header.json` | all that decides the unit |
//! | `agent.json`, `exchanges.jsonl.zst`, `spending.json` | who was asked, every request and reply, what they cost |
//! | `events.jsonl` | chained lines, from the hash of the header |
//! | `works.jsonl.zst` | long computations, by the hash of their input |
//! | `result.json` | what it came to, and the hash of every file beside it; written last |

use crate::StudyError;
use crate::different_values::told_differences;
use crate::hands::{Given, Hands};
use crate::identity::Decided;
use crate::json_file::read_as;
use crate::kind::{Planned, StudyKind};
use crate::line_files::{CHANGED_HINT, LineFiles, LineMode};
use crate::works::{WORKS, Works};
use ktd_asking::{AGENT_FILE, AgentFile, Answerer, AskedRecord, OpenModels};
use ktd_client::AskedModel;
use ktd_client::money::Metering;
use ktd_experiment::config::RetryConfig;
use ktd_io::file_set::write_together;
use ktd_io::sha256::{sha256_file, sha256_hex};
use ktd_io::whole_file::{
    create_directory, json_bytes, list, parse_json, read_if_exists, remove_directory, remove_if_exists,
    write_whole,
};
use ktd_record::RecordPaths;
use ktd_record::chain::{Log, LogEnd, LogReader};
use ktd_record::program_record::check_program;
use ktd_record::spending::Spending;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

/// Where units with a folder lie.
pub(crate) const UNITS: &str = "units";
pub(crate) const RESULT: &str = "result.json";
pub(crate) const SPENDING: &str = "spending.json";
const HEADER: &str = "header.json";
/// What a writer of a record has there says nothing of it.
const PRIVATE: &str = "private";

/// `result.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnitResult<F> {
    /// Of all that decides the unit.
    pub(crate) sha256: String,
    pub(crate) found: F,
    /// SHA-256 of every other file of the record, by its place in the folder.
    pub(crate) files: BTreeMap<String, String>,
}

/// The folder of a unit.
pub(crate) struct UnitFolder {
    paths: RecordPaths,
    header: Vec<u8>,
    sha256: String,
}

/// Who is asked and answers, where anybody is.
pub(crate) struct AskedBy<'m> {
    pub(crate) models: &'m OpenModels,
    pub(crate) model: &'m AskedModel,
    pub(crate) answerer: &'m Answerer,
    pub(crate) retries: RetryConfig,
}

impl UnitFolder {
    pub(crate) fn new<U: Serialize>(
        units: &Path,
        planned: &Planned<U>,
        decided: &Decided,
    ) -> Result<Self, StudyError> {
        Ok(Self {
            paths: RecordPaths::new(&units.join(planned.id.as_str())),
            header: decided.unit_header(&planned.id, &planned.unit)?,
            sha256: decided.unit_sha256(&planned.unit)?,
        })
    }

    /// Where the result of a finished unit lies.
    pub(crate) fn result_path(&self) -> PathBuf {
        self.paths.root().join(RESULT)
    }

    /// Where the works of a running unit lie.
    pub(crate) fn open_works(&self) -> PathBuf {
        crate::works::open_path(self.paths.root())
    }

    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Writes the header, or sees that an earlier run was decided by the same.
    pub(crate) fn check_header(&self) -> Result<bool, StudyError> {
        let path = self.paths.root().join(HEADER);
        match read_if_exists(&path)? {
            None => Ok(false),
            Some(recorded) if recorded == self.header => Ok(true),
            Some(recorded) => {
                check_program(&path, &recorded, &self.header)?;
                let [first, now] = [&recorded, &self.header].map(|bytes| parse_json::<Value>(&path, bytes));
                Err(StudyError::input(
                    format_args!(
                        "{}: the record is of other settings or another world: {}",
                        path.display(),
                        told_differences(&first?, &now?)?
                    ),
                    "choose another directory with --out, or move this folder away to ask everything anew",
                ))
            }
        }
    }

    /// Runs the unit over what an earlier run has left, and closes its record.
    pub(crate) async fn run<K: StudyKind>(
        &self,
        (world, planned): (&K::World, &Planned<K::Unit>),
        asked: Option<&AskedBy<'_>>,
        (progress, threads, before): Given<'_>,
    ) -> Result<K::Found, StudyError> {
        // What another program or another world gave costs nothing but time, where nobody was asked: it is made anew.
        if !K::ASKS && self.check_header().is_err() {
            remove_directory(self.paths.root())?;
        }
        self.paths.create()?;
        let asked_record = match asked {
            None => None,
            Some(by) => {
                let (model, metering) = (by.model, &by.models.metering);
                let transport = by.answerer.transport();
                Some(AskedRecord::continued(
                    self.paths.root(),
                    model,
                    metering,
                    by.retries,
                    transport,
                )?)
            }
        };
        if !self.check_header()? {
            write_whole(&self.paths.root().join(HEADER), &self.header)?;
        }
        if let Some(by) = asked {
            let agent = AgentFile::of(by.model, K::FORMAT, None);
            ktd_asking::keep_same(&self.paths.root().join(AGENT_FILE), &agent, "of another agent")?;
        }
        let events = self.paths.events();
        let genesis = sha256_hex(&self.header);
        let recorded = LogReader::open(&events)?.from(&genesis).read_to_end()?;
        let log = Log::continue_at(&events, (&LogEnd::default(), &recorded), &genesis)?;
        let mut hands = Hands {
            log: Some(log),
            works: Works::kept(self.paths.root())?,
            asked: asked_record,
            answerer: asked.map(|by| by.answerer),
            spent: None,
            files: BTreeMap::new(),
            lines: LineFiles::new(Some(self.paths.root()), LineMode::Written),
            folder: None,
            progress,
            advanced: AtomicU64::default(),
            threads,
            before,
            event: PhantomData,
        };
        let found = K::run(world, &planned.unit, &mut hands).await;
        if let Some(by) = asked {
            by.answerer.close(found.is_ok()).await;
        }
        let found = found?;
        check_no_more(hands.log.as_ref(), &events)?;
        self.close(&mut hands, &found)?;
        hands.advance_to(planned.steps);
        Ok(found)
    }

    /// Writes what was made, the result last.
    fn close<E: Serialize, F: Serialize>(
        &self,
        hands: &mut Hands<'_, E>,
        found: &F,
    ) -> Result<(), StudyError> {
        hands.log = None;
        let events = self.paths.events();
        if read_if_exists(&events)?.is_some_and(|bytes| bytes.is_empty()) {
            remove_if_exists(&events)?;
        }
        if let Some(asked) = &hands.asked {
            asked.finish()?;
        }
        let root = self.paths.root();
        let made = std::mem::take(&mut hands.files).into_iter();
        let mut files: Vec<(PathBuf, Vec<u8>)> = made.map(|(name, bytes)| (root.join(name), bytes)).collect();
        files.extend(hands.works.closed_bytes()?.map(|bytes| (root.join(WORKS), bytes)));
        for (path, _) in &files {
            create_directory(path.parent().unwrap_or(root))?;
        }
        write_together(&files)?;
        // What a kill left under a temporary name is no part of the record.
        for path in files_of(root)? {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name.starts_with('.') {
                remove_if_exists(&path)?;
            }
        }
        let path = self.result_path();
        let result = UnitResult {
            sha256: self.sha256.clone(),
            found,
            files: digests(root)?,
        };
        write_whole(&path, &json_bytes(&path, &result)?)?;
        hands.works.remove_open()
    }

    /// Makes a finished unit again from its record with nobody to ask, and compares every byte. `deep` makes its works again
    /// too.
    pub(crate) async fn replay<K: StudyKind>(
        &self,
        (world, planned, role): (&K::World, &Planned<K::Unit>, (String, u64)),
        deep: bool,
        (progress, threads, before): Given<'_>,
    ) -> Result<K::Found, StudyError> {
        let root = self.paths.root();
        let result: UnitResult<K::Found> = self.recorded()?;
        self.check_header()?;
        check_files(root, &result.files)?;
        let agent: Option<AgentFile> = read_as(&root.join(AGENT_FILE))?;
        let metering = Metering::default();
        let model = agent.map(|agent| agent.model(&role.0, role.1));
        let (mut asked, mut spent) = (None, None);
        if let Some(model) = &model {
            let closed = AskedRecord::closed(root, model, &metering)?;
            spent = Some(checked_spending(root, &closed.spending()?)?);
            asked = Some(closed);
        }
        let events = self.paths.events();
        let recorded = LogReader::open(&events)?.read_to_end()?;
        let log = Log::compare(&events, &recorded, &sha256_hex(&self.header))?;
        let mode = if deep {
            LineMode::Compared
        } else {
            LineMode::Recorded
        };
        let mut hands = Hands {
            log: Some(log),
            works: Works::closed(root, deep.then_some(K::difference))?,
            asked,
            answerer: None,
            spent,
            files: BTreeMap::new(),
            lines: LineFiles::new(Some(root), mode),
            folder: None,
            progress,
            advanced: AtomicU64::default(),
            threads,
            before,
            event: PhantomData,
        };
        let found = K::run(world, &planned.unit, &mut hands).await?;
        check_no_more(hands.log.as_ref(), &events)?;
        let mut made: BTreeMap<PathBuf, Vec<u8>> = std::mem::take(&mut hands.files)
            .into_iter()
            .map(|(name, bytes)| (root.join(name), bytes))
            .collect();
        made.extend(hands.works.closed_bytes()?.map(|bytes| (root.join(WORKS), bytes)));
        let now = UnitResult {
            found: &found,
            sha256: self.sha256.clone(),
            files: result.files.clone(),
        };
        let path = self.result_path();
        made.insert(path.clone(), json_bytes(&path, &now)?);
        for (path, bytes) in &made {
            ktd_asking::compare_with_file(path, bytes, CHANGED_HINT)?;
        }
        hands.advance_to(planned.steps);
        Ok(found)
    }

    /// What a finished unit came to, from a folder whose files are those that its result names; none of an unfinished one.
    pub(crate) fn found_in<F: serde::de::DeserializeOwned>(root: &Path) -> Result<Option<F>, StudyError> {
        let result: Option<UnitResult<F>> = read_as(&root.join(RESULT))?;
        let Some(result) = result else { return Ok(None) };
        check_files(root, &result.files)?;
        Ok(Some(result.found))
    }

    /// The result of a finished unit.
    pub(crate) fn recorded<F: serde::de::DeserializeOwned>(&self) -> Result<UnitResult<F>, StudyError> {
        let path = self.result_path();
        read_as(&path)?.ok_or_else(|| {
            StudyError::difference(
                format_args!(
                    "{}: it is missing: the unit is unfinished, or the file was removed",
                    path.display()
                ),
                "run the study again: it continues",
            )
        })
    }
}

/// What a record says that it cost, whose tokens and requests must be those of its exchanges: prices are in no record.
fn checked_spending(root: &Path, counted: &Spending) -> Result<Spending, StudyError> {
    let path = root.join(SPENDING);
    let recorded: Spending = read_as(&path)?.unwrap_or_default();
    if (&recorded.tokens, &recorded.sends) == (&counted.tokens, &counted.sends) {
        return Ok(recorded);
    }
    let what = format!(
        "{}: its tokens or requests are not those of the exchanges",
        path.display()
    );
    Err(StudyError::difference(what, CHANGED_HINT))
}

/// Fails where recorded events were left that never came again.
fn check_no_more(log: Option<&Log>, events: &Path) -> Result<(), StudyError> {
    if log.is_some_and(Log::has_leftovers) {
        let what = format!("{}: it has more lines than the unit gives", events.display());
        return Err(StudyError::difference(what, CHANGED_HINT));
    }
    Ok(())
}

/// SHA-256 of every file of a record but its result, by its place in the folder.
fn digests(root: &Path) -> Result<BTreeMap<String, String>, StudyError> {
    let mut found = BTreeMap::new();
    for path in files_of(root)? {
        found.insert(name_in(root, &path), sha256_file(&path)?);
    }
    Ok(found)
}

/// Compares every file of a record with what its result says of it.
fn check_files(root: &Path, recorded: &BTreeMap<String, String>) -> Result<(), StudyError> {
    let found = digests(root)?;
    let names = recorded.keys().chain(found.keys());
    for name in names {
        let problem = match (recorded.get(name), found.get(name)) {
            (Some(recorded), Some(found)) if recorded == found => continue,
            (Some(_), Some(_)) => "it differs from the file that the result names",
            (Some(_), None) => "the file is missing",
            _ => "the record has no such file",
        };
        let path = root.join(name);
        return Err(StudyError::difference(
            format_args!("{}: {problem}", path.display()),
            CHANGED_HINT,
        ));
    }
    Ok(())
}

/// The files of a record but its result and what is private.
fn files_of(root: &Path) -> Result<Vec<PathBuf>, StudyError> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in list(&folder)? {
            let is_left_out = folder == root && (path.ends_with(PRIVATE) || path.ends_with(RESULT));
            if is_left_out {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// The place of a file in a folder, with `/` on every system.
fn name_in(root: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(root).unwrap_or(path).iter();
    let parts: Vec<_> = parts.map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
