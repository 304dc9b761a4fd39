//! All submissions of an experiment: asked for, continued, replayed.

use super::cell::{
    AGENT, FORMAT, HEADER, REAL, RESULT, RealHeader, START, SubmissionCell, SubmissionHeader,
    SubmissionResult, check_files, folder_of,
};
use super::checked_submission::read_header;
use super::config::{StrategyExperiment, role};
use super::own_copies::{check_copies, difference, digests, keep_copy};
use super::reviewed_start::{ReviewedStart, StartingVersions};
use super::sourced_task::{SourcedTask, admit, document_hash, recorded_source, tasks};
use super::spent::SpentBefore;
use super::waves::{OpenSubmission, SUBMISSIONS_AT_ONCE, Waves};
use crate::bars::{RealBars, RealSource, RealTask, RealVersion, with_whole_paths};
use crate::error::StrategyError;
use crate::rows::SubmissionRows;
use crate::strategy_id::StrategyId;
use crate::task::StrategyTask;
use ktd_asking::{AgentFile, AskedRecord, OpenModels, endpoint_of, keep_same};
use ktd_boxed::BoxLauncher;
use ktd_client::AskedModel;
use ktd_client::money::Metering;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{json_bytes, list, parse_json, read_bounded, read_if_exists};
use ktd_prompts::strategy_code::strategy_code_hash;
use ktd_record::study_folder::StudyFolder;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

/// The most that a file of a submission may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 24;
/// The folder of submissions in that of an experiment.
pub(super) const SUBMISSIONS: &str = "submissions";
pub(crate) const BOX: &str = "box.json";

/// What all submissions came to, by model, document and seed.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyResults {
    /// Their iterations.
    pub rows: Vec<SubmissionRows>,
    /// Submissions that a fault of the infrastructure ended early, and which.
    pub lost: Vec<(String, String)>,
    /// Tokens of all requests and replies.
    pub tokens: u64,
}

impl StrategyResults {
    pub(crate) fn of(results: Vec<SubmissionResult>) -> Self {
        let lost = results.iter().filter_map(|result| {
            let rows = &result.rows;
            let name = format!("{} {} {}", rows.model, rows.strategy, rows.seed);
            Some((name, result.lost.clone()?))
        });
        Self {
            lost: lost.collect(),
            tokens: results.iter().map(|result| result.tokens).sum(),
            rows: results.into_iter().map(|result| result.rows).collect(),
        }
    }
}

/// Asks for all submissions into a folder, or continues there; the experiment's file lies in `base`. A submission with a
/// starting version begins with patches of it. What is recorded is not asked again, and what is finished is not judged again.
/// `advance` is called as submissions are finished.
///
/// # Errors
/// [`StrategyError`] for a missing key, a request that its endpoint does not take, a budget without room, faults of the
/// infrastructure beyond the attempts, a folder of another experiment, and a box that fails. What was recorded stands, and
/// the same call continues.
pub async fn run_experiment(
    (experiment, starts): (&StrategyExperiment, &StartingVersions),
    (base, held): (&Path, &StudyFolder),
    launcher: &BoxLauncher,
    advance: &(dyn Fn() + Sync),
) -> Result<StrategyResults, StrategyError> {
    let folder = held.path();
    let tasks = tasks(experiment, base)?;
    let real = RealTasks::of(experiment.real.as_ref(), base, &tasks)?;
    admit(&tasks, folder, launcher)?;
    let spent = SpentBefore::of(experiment, (base, folder))?;
    let opened = experiment
        .asking()
        .open(base, folder, |_, budget| spent.count(budget))?;
    let OpenModels { models, metering } = opened;
    let mut work = Vec::new();
    for model in &models {
        // A missing key stops everything before anybody is asked.
        let endpoint = endpoint_of(model, base)?;
        work.push((model, endpoint));
    }
    // Submissions that were judged in different boxes cannot be compared.
    keep_same(&folder.join(BOX), launcher.header(), "judged in another box")?;
    for own in tasks.iter().filter_map(|(source, _)| source.own()) {
        keep_copy(folder, own)?;
    }
    let mut done = BTreeMap::new();
    let mut open = Vec::new();
    for (place, (model, endpoint, task)) in work
        .iter()
        .flat_map(|(model, endpoint)| tasks.iter().map(move |task| (*model, endpoint, task)))
        .enumerate()
    {
        let which = (model.id(), task.1.id.label(), model.seed);
        let start = starts.of(which).cloned();
        let cell = cell_of((experiment, start), held, (model, task), &real)?;
        match cell.opened(model)? {
            Some(result) => {
                done.insert(place, result);
                advance();
            }
            None => open.push((place, cell, (model, endpoint))),
        }
    }
    let mut open = open.into_iter().peekable();
    while open.peek().is_some() {
        let mut waves = Waves::default();
        for (place, cell, (model, endpoint)) in open.by_ref().take(SUBMISSIONS_AT_ONCE) {
            let retries = experiment.retries;
            let record = AskedRecord::continued(&cell.folder, model, &metering, retries, endpoint)?;
            let led = cell.begin()?;
            waves.submissions.push(OpenSubmission {
                place,
                cell,
                record,
                led,
            });
        }
        done.extend(waves.lead((experiment.parallel, launcher), advance).await?);
    }
    Ok(StrategyResults::of(done.into_values().collect()))
}

fn cell_of<'a>(
    (experiment, start): (&StrategyExperiment, Option<ReviewedStart>),
    held: &StudyFolder,
    (model, (source, task)): (&AskedModel, &'a SourcedTask),
    real: &'a RealTasks,
) -> Result<SubmissionCell<'a>, StrategyError> {
    let own = real.tasks.get(&task.id);
    let folder = folder_of(held.path(), model.id(), task.id.label(), model.seed);
    Ok(SubmissionCell {
        task,
        real: own,
        header: SubmissionHeader {
            goal: experiment.goal,
            real: own.zip(real.keys.as_ref()).map(|(own, keys)| RealHeader {
                keys: keys.clone(),
                bars_sha256: own.bars_sha256.clone(),
            }),
            start_sha256: start_hash(&folder, start.as_ref())?,
            format: FORMAT,
            program: Some(held.program().clone()),
            strategy: task.id.label().to_owned(),
            seed: model.seed,
            iterations: experiment.iterations,
            drift: experiment.drift,
            scenario_seed: experiment.scenario_seed,
            document_sha256: document_hash(task.text(), task.spec()),
            prompts_sha256: strategy_code_hash(),
            own: source.own().map(digests),
        },
        folder,
        start,
    })
}

/// The hash of the file of a version to start with.
fn start_hash(folder: &Path, start: Option<&ReviewedStart>) -> Result<Option<String>, StrategyError> {
    let hash = |start| Ok(sha256_hex(&json_bytes(&folder.join(START), start)?));
    start.map(hash).transpose()
}

/// The version that a recorded submission starts with.
fn recorded_start(own: &Path, header: &SubmissionHeader) -> Result<Option<ReviewedStart>, StrategyError> {
    let path = own.join(START);
    let Some(hash) = &header.start_sha256 else {
        return Ok(None);
    };
    let bytes = read_bounded(&path, FILE_LIMIT_BYTES)?;
    if sha256_hex(&bytes) != *hash {
        return Err(StrategyError::damaged(
            &path,
            "it is not the one that the header names",
        ));
    }
    Ok(Some(parse_json(&path, &bytes)?))
}

/// The real bars of each document.
#[derive(Default)]
struct RealTasks {
    keys: Option<RealBars>,
    tasks: BTreeMap<StrategyId, RealTask>,
}

impl RealTasks {
    fn of(keys: Option<&RealBars>, base: &Path, tasks: &[SourcedTask]) -> Result<Self, StrategyError> {
        let Some(keys) = keys else {
            return Ok(Self::default());
        };
        let source = RealSource::read(keys, base)?;
        let tasks = tasks
            .iter()
            .map(|(_, task)| Ok((task.id.clone(), real_task(&source, task)?)));
        Ok(Self {
            keys: Some(with_whole_paths(keys, base)),
            tasks: tasks.collect::<Result<_, StrategyError>>()?,
        })
    }
}

fn real_task(source: &RealSource, task: &StrategyTask) -> Result<RealTask, StrategyError> {
    task.id.document().map_or_else(
        || Ok(RealTask::without_series(source)),
        |id| RealTask::of(source, (id, &task.document)),
    )
}

/// The real bars of a recorded submission, from those that were read last where they are the same.
fn recorded_real(
    source: &mut Option<RealSource>,
    header: &SubmissionHeader,
    task: &StrategyTask,
) -> Result<Option<RealTask>, StrategyError> {
    let Some(real) = &header.real else {
        return Ok(None);
    };
    let source = match source.take().filter(|source| source.keys == real.keys) {
        Some(known) => source.insert(known),
        None => source.insert(RealSource::read(&real.keys, Path::new(""))?),
    };
    let made = real_task(source, task)?;
    if made.bars_sha256 == real.bars_sha256 {
        return Ok(Some(made));
    }
    Err(StrategyError::input(
        "the real bars are not those that the submission was judged on",
        "put the files back that the header names",
    ))
}

/// Makes every submission of a folder again from its record, each program in the box, and compares events, sources and
/// results with the files, byte for byte. Nobody is asked.
///
/// # Errors
/// [`ktd_asking::AskingError::Difference`] naming the file that differs; other errors for a folder that holds no experiment,
/// and for one of other documents or prompts.
pub async fn replay_experiment(
    folder: &Path,
    launcher: &BoxLauncher,
    advance: &(dyn Fn() + Sync),
) -> Result<StrategyResults, StrategyError> {
    let mut results = Vec::new();
    let mut source = None;
    let mut tasks: BTreeMap<(String, u64), StrategyTask> = BTreeMap::new();
    for own in list(&folder.join(SUBMISSIONS))? {
        let header = read_header(&own)?;
        let agent: AgentFile = read(&own.join(AGENT))?;
        let key = (header.strategy.clone(), header.scenario_seed);
        let task: &StrategyTask = match tasks.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                place.insert(recorded_source(folder, &header)?.task(header.scenario_seed)?)
            }
        };
        let hashes = (&header.document_sha256, &header.prompts_sha256);
        if header.format != FORMAT
            || hashes != (&document_hash(task.text(), task.spec()), &strategy_code_hash())
        {
            return Err(StrategyError::input(
                format_args!(
                    "{}: made with other documents or prompts, or by another version",
                    own.display()
                ),
                "replay it with the version of ktd that made it",
            ));
        }
        let real = recorded_real(&mut source, &header, task)?;
        let (model, metering) = (agent.model(&role(header.seed), header.seed), Metering::default());
        let record = AskedRecord::closed(&own, &model, &metering)?;
        let start = recorded_start(&own, &header)?;
        let cell = SubmissionCell {
            folder: own,
            start,
            task,
            real: real.as_ref(),
            header,
        };
        results.push(cell.replay(&record, launcher).await?);
        advance();
    }
    Ok(StrategyResults::of(results))
}

/// Whether a folder holds submissions of an experiment on strategies.
#[must_use]
pub fn is_strategy_code(folder: &Path) -> bool {
    let submissions = list(&folder.join(SUBMISSIONS)).unwrap_or_default();
    let has_header = |own: &PathBuf| read::<SubmissionHeader>(&own.join(HEADER)).is_ok();
    submissions.iter().any(has_header)
}

/// Compares every file of an experiment's submissions with what their results say of them, and the copies of strategies of
/// one's own with what submissions say of those. Nothing is run.
///
/// # Errors
/// [`ktd_asking::AskingError::Difference`] naming the file; other errors for a submission that is not finished.
pub fn check_records(folder: &Path) -> Result<(), StrategyError> {
    let mut strategies = BTreeMap::new();
    for own in list(&folder.join(SUBMISSIONS))? {
        check_files(&own)?;
        let header = read_header(&own)?;
        if let Some(digests) = header.own {
            let known = strategies
                .entry(header.strategy)
                .or_insert_with(|| digests.clone());
            if *known != digests {
                let what = "another submission was judged by other files of the same strategy";
                return Err(difference(&own.join(HEADER), what));
            }
        }
    }
    check_copies(folder, &strategies)
}

/// Whether an experiment was made in another box than this one, as a sentence.
///
/// # Errors
/// [`StrategyError`] where the record of its box cannot be read.
pub fn another_box(folder: &Path, launcher: &BoxLauncher) -> Result<Option<String>, StrategyError> {
    let path = folder.join(BOX);
    let here = json_bytes(&path, launcher.header())?;
    let is_same = read_if_exists(&path)?.is_some_and(|recorded| recorded == here);
    let other = "the box or its packages are not those that the experiment was made with";
    Ok((!is_same).then(|| other.to_owned()))
}

/// What every iteration of every finished submission earned on real bars, as a folder holds it.
///
/// # Errors
/// [`StrategyError`] for a folder without submissions, and for a file that cannot be read.
pub fn read_real(folder: &Path) -> Result<Vec<RealSubmission>, StrategyError> {
    let mut read = Vec::new();
    for own in list(&folder.join(SUBMISSIONS))? {
        let (path, real) = (own.join(RESULT), own.join(REAL));
        if let (Some(result), Some(bytes)) = (read_if_exists(&path)?, read_if_exists(&real)?) {
            let result: SubmissionResult = parse_json(&path, &result)?;
            // A lost submission has no result of its own, but what it tried was tried.
            let ranked = result
                .rows
                .ranked
                .filter(|_| result.lost.is_none())
                .and_then(|place| result.rows.versions.get(place));
            read.push(RealSubmission {
                is_lost: result.lost.is_some(),
                is_valid: ranked.is_some_and(|version| version.valid),
                model: result.rows.model,
                strategy: result.rows.strategy,
                seed: result.rows.seed,
                ranked: result.rows.ranked,
                versions: parse_json(&real, &bytes)?,
                is_continued: read_if_exists(&own.join(START))?.is_some(),
            });
        }
    }
    Ok(read)
}

/// What the iterations of one submission earned on real bars.
#[derive(Debug, Clone, PartialEq)]
pub struct RealSubmission {
    /// The model.
    pub model: String,
    /// The document.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// The iteration that is ranked.
    pub ranked: Option<usize>,
    /// Whether that one passes all gates.
    pub is_valid: bool,
    /// Whether a fault of the infrastructure ended it early: its versions are trials, and it has no row.
    pub is_lost: bool,
    /// Whether it starts with the last version of another experiment, whose versions are no trials here.
    pub is_continued: bool,
    /// Its iterations with a program.
    pub versions: Vec<RealVersion>,
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, StrategyError> {
    Ok(parse_json(path, &read_bounded(path, FILE_LIMIT_BYTES)?)?)
}
