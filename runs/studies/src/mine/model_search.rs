//! A search by a language model: its folder, its record, and its pool made again from the record.

use super::config::MineStudy;
use super::folder::{EVENTS, HEADER, POOL, TRIALS, check_header};
use super::journal::TrialJournal;
use super::llm_keys::LlmKeys;
use super::market::OpenMine;
use super::pool::{MinedPool, ModelFinder};
use super::rounds::{ModelRounds, RoundEvent, TrialKeeper, round_bytes};
use crate::FormulaStudyError;
use crate::language::{FormulaConversations, LostCounts};
use ktd_asking::{AskedRecord, OpenModels, compare_with_file, endpoint_of};
use ktd_client::AskedModel;
use ktd_client::money::Metering;
use ktd_experiment::agent::TrainingCutoff;
use ktd_io::file_set::write_together;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{json_bytes, parse_json, read_bounded, read_if_exists};
use ktd_record::RecordPaths;
use ktd_record::program_record::ProgramRecord;
use ktd_record::spending::Spending;
use ktd_record::study_folder::StudyFolder;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The most that a header may hold.
const HEADER_LIMIT_BYTES: u64 = 1 << 24;

/// Searches by a language model into a folder, or continues there; `advance` is called with the number of formulas that are
/// done. The model's file lies in `base`. What is recorded is not asked again.
///
/// # Errors
/// [`FormulaStudyError`] as for other searches, for a missing key, a request that its endpoint does not take, a budget without
/// room, and faults of the infrastructure beyond the attempts. What was recorded stands, and the same call continues.
pub async fn mine_with_model(
    open: &OpenMine,
    (base, held): (&Path, &StudyFolder),
    advance: &mut dyn FnMut(usize),
) -> Result<MinedPool, FormulaStudyError> {
    let (keys, folder) = (keys(&open.mine)?, held.path());
    check_header(open, (folder, Some(held.program())))?;
    if let Some(pool) = finished(folder)? {
        return Ok(pool);
    }
    let paths = RecordPaths::new(folder);
    let models = keys.asking(open.mine.seed).open(base, folder, |models, budget| {
        models
            .iter()
            .try_for_each(|model| Ok(model.payer.count_recorded(&paths.exchanges(), budget)?))
    })?;
    let OpenModels { models, metering } = models;
    let model = models.first().ok_or_else(no_model)?;
    let endpoint = endpoint_of(model, base)?;
    let record = AskedRecord::continued(folder, model, &metering, keys.retries, &endpoint)?;
    let conversations = FormulaConversations {
        asking: record.conversations(),
        schema_retries: keys.schema_retries,
    };
    let mut journal = TrialJournal::open(&folder.join(TRIALS))?;
    let mut rounds = ModelRounds::new(open, keys);
    let mut trials = TrialKeeper::Journal(&mut journal);
    rounds.hold(&conversations, &mut trials, advance).await?;
    let spending = record.finish()?;
    let hash = TrialJournal::hash(&folder.join(TRIALS))?.unwrap_or_default();
    let pool = pool(open, &rounds, model, (&spending, hash))?;
    let pool_path = folder.join(POOL);
    let pool_bytes = json_bytes(&pool_path, &pool)?;
    let events = (folder.join(EVENTS), round_bytes(&rounds.events)?);
    write_together(&[events, (pool_path, pool_bytes)])?;
    Ok(pool)
}

/// What a whole search left; none of one that is not finished, or whose files do not belong together.
fn finished(folder: &Path) -> Result<Option<MinedPool>, FormulaStudyError> {
    let path = folder.join(POOL);
    let known = read_if_exists(&path)?.and_then(|bytes| parse_json::<MinedPool>(&path, &bytes).ok());
    let Some(pool) = known else {
        return Ok(None);
    };
    let hash = |name: &str| -> Result<Option<String>, FormulaStudyError> {
        Ok(read_if_exists(&folder.join(name))?.map(|bytes| sha256_hex(&bytes)))
    };
    let events = pool.model.as_ref().map(|model| model.events.clone());
    let is_whole = hash(TRIALS)?.as_ref() == Some(&pool.trials) && hash(EVENTS)? == events;
    Ok(is_whole.then_some(pool))
}

fn keys(mine: &MineStudy) -> Result<&LlmKeys, FormulaStudyError> {
    mine.llm.as_ref().ok_or_else(no_model)
}

fn no_model() -> FormulaStudyError {
    FormulaStudyError::input(
        "this search asks no model",
        "write method = \"llm\" and a table [llm] with agents = [..]",
    )
}

/// The pool of the rounds that were held.
fn pool(
    open: &OpenMine,
    rounds: &ModelRounds<'_>,
    model: &AskedModel,
    (spending, trials): (&Spending, String),
) -> Result<MinedPool, FormulaStudyError> {
    let mut lost = LostCounts::default();
    let kinds = rounds.events.iter().filter_map(|event: &RoundEvent| event.lost);
    kinds.for_each(|kind| lost.add(kind));
    let cutoff = model.agent.cutoff.map(TrainingCutoff::text);
    Ok(MinedPool {
        model: Some(ModelFinder {
            model: model.agent.model_name().to_owned(),
            known_until: cutoff.unwrap_or_else(|| "unknown".to_owned()),
            rounds: rounds.events.len(),
            lost,
            tokens: spending.tokens,
            events: sha256_hex(&round_bytes(&rounds.events)?),
        }),
        ..open.pool(&rounds.book, trials)?
    })
}

/// The settings that the header of a search holds, and the program that made it.
#[derive(Debug, Deserialize)]
struct HeaderSettings {
    program: Option<ProgramRecord>,
    settings: MineStudy,
}

/// Makes the pool of a model's search again from its exchanges and the panel, and compares trials, events and pool with
/// what the folder holds, byte for byte. Nothing that the search wrote of its trials is read for it.
///
/// # Errors
/// [`ktd_asking::AskingError::Difference`] naming the file that differs; other errors for a folder of another search and another panel.
pub async fn replay_mined(
    folder: &Path,
    (panel, bins): (Option<PathBuf>, Option<PathBuf>),
    threads: usize,
) -> Result<MinedPool, FormulaStudyError> {
    let path = folder.join(HEADER);
    let header: HeaderSettings = parse_json(&path, &read_bounded(&path, HEADER_LIMIT_BYTES)?)?;
    let mine = MineStudy {
        panel,
        bins,
        ..header.settings
    };
    let open = OpenMine::new(mine, threads)?;
    // Another program may come to the same bytes.
    check_header(&open, (folder, header.program.as_ref()))?;
    let keys = keys(&open.mine)?;
    let (models, _) = keys.asking(open.mine.seed).models(folder)?;
    let model = models.first().ok_or_else(no_model)?;
    let metering = Metering::default();
    let record = AskedRecord::closed(folder, model, &metering)?;
    let spending = record.spending()?;
    let conversations = FormulaConversations {
        asking: record.conversations(),
        schema_retries: keys.schema_retries,
    };
    let mut rounds = ModelRounds::new(&open, keys);
    let mut trials = TrialKeeper::Bytes(Vec::new());
    rounds.hold(&conversations, &mut trials, &mut |_| ()).await?;
    let TrialKeeper::Bytes(trials) = trials else {
        return Err(no_model());
    };
    let pool = pool(&open, &rounds, model, (&spending, sha256_hex(&trials)))?;
    let pool_bytes = json_bytes(&folder.join(POOL), &pool)?;
    let made = [
        (TRIALS, trials),
        (EVENTS, round_bytes(&rounds.events)?),
        (POOL, pool_bytes),
    ];
    for (name, made) in made {
        compare(&folder.join(name), &made)?;
    }
    Ok(pool)
}

fn compare(path: &Path, made: &[u8]) -> Result<(), FormulaStudyError> {
    Ok(compare_with_file(
        path,
        made,
        "the file or the record was changed: give `ktd alpha mine` again into another folder to search anew",
    )?)
}
