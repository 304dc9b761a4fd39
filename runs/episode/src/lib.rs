//! One episode: a fold of events, written as it goes, continued where it stopped; and the grid of them.
//!
//! Knows: the market, the mask, the session, the client, the record. Never knows: ranks, certificates, a terminal.

mod at_step;
mod banded_resume;
mod begin;
mod branch;
mod bundles;
pub mod canary;
mod cell_result;
mod cell_run;
pub mod control;
mod decide;
mod early_windows;
mod error;
mod exported_rows;
mod exported_step;
mod finish;
pub mod grid;
mod kind;
mod lazy_factors;
pub mod open_bundle;
mod played;
pub mod real_names;
mod results;
mod resume;
mod revalued;
mod step;
mod texts;
pub mod transports;
pub mod verify;
mod withdraw;
mod withdrawn;

pub use branch::{branch_cell, branch_episode};
pub use cell_result::CellResult;
pub use cell_run::run_cell;
pub use error::EpisodeError;
pub use exported_rows::{EXPORTED_FILES, ExportedRows, ExportedTable, export_rows};
pub use kind::{EpisodesStudy, EpisodesWorld};
pub use lazy_factors::LazyFactors;
pub use results::{CellFigures, EpisodesSummary};
pub use withdraw::withdraw;
pub use withdrawn::WithdrawnAgents;

use ktd_agents::Transport;
use ktd_bundle::BundlePaths;
use ktd_bundle::summary::Summary;
use ktd_client::ask::{Observer, RecordedClient};
use ktd_client::money::Metering;
use ktd_client::progress::Progress;
use ktd_env::Market;
use ktd_env::exchange::{Account, Rules};
use ktd_experiment::cells::Cell;
use ktd_experiment::config::{RetryConfig, SessionConfig};
use ktd_experiment::data_record::DataRecord;
use ktd_experiment::rules_config::RulesConfig;
use ktd_experiment::stop_rules::StopRules;
use ktd_guard::Guards;
use ktd_masking::{Mask, MaskKey};
use ktd_record::chain::Log;
use ktd_record::program_record::ProgramRecord;
use ktd_tools::banded::BandedState;
use ktd_tools::{LastStep, ToolLimits, Toolbox};
use played::Played;
use std::path::PathBuf;
use std::sync::Arc;

/// What all episodes of an experiment share.
#[derive(Debug)]
pub struct Shared {
    /// The program that writes them; that of the record where a bundle is run again, which may name none.
    pub program: Option<ProgramRecord>,
    /// The experiment's name.
    pub experiment: String,
    /// The panel.
    pub market: Arc<Market>,
    /// Factor values of the panel.
    pub factors: Arc<LazyFactors>,
    /// The tools with their validators.
    pub toolbox: Arc<Toolbox>,
    /// What headers say of the panel.
    pub data: DataRecord,
    /// Where the panel was read from.
    pub panel: Option<PathBuf>,
    /// The exchange's rules.
    pub rules: RulesConfig,
    /// Limits of a step's conversation.
    pub session: SessionConfig,
    /// Limits of the tools.
    pub tools: ToolLimits,
    /// What is done about infrastructure faults.
    pub retries: RetryConfig,
    /// When an agent is stopped; `None` where nobody is.
    pub stop_after: Option<StopRules>,
    /// The last look at requests, one a mask level.
    pub guards: Guards,
    /// Its budget, and the gates of its keys.
    pub metering: Arc<Metering>,
}

/// One episode of them.
#[derive(Debug)]
pub struct EpisodeInput<'a> {
    /// What it shares.
    pub shared: &'a Shared,
    /// Which cell it is.
    pub cell: &'a Cell,
    /// Its own mask key.
    pub key: MaskKey,
}

/// Runs an episode, or continues it from the last complete step of its bundle.
///
/// # Errors
/// [`EpisodeError`]; what was written stands, and the same call continues it.
pub async fn run_episode(
    input: &EpisodeInput<'_>,
    paths: &BundlePaths,
    transport: &dyn Transport,
    progress: &dyn Progress,
) -> Result<Summary, EpisodeError> {
    if let Some(summary) = finished_episode(input, paths)? {
        return Ok(summary);
    }
    paths.create()?;
    let _lock = paths.lock_for_writing()?;
    let revalued = revalued::revalued(paths, &input.cell.basis)?;
    let genesis = begin::write_identity(input, paths)?;
    if let Some(revalued) = revalued {
        progress.news(&revalued);
    }
    let guard = input
        .shared
        .guards
        .of(input.cell.mask.level, &input.shared.market);
    let mut episode = begin::open(input, (paths, &genesis), guard, begin::Opening::Play(transport))?;
    episode.exchanger.observer = Some(Observer {
        progress,
        agent: &input.cell.agent.id,
    });
    episode.run(progress).await?;
    let store = episode.exchanger.store.take();
    drop(episode);
    finish::close(input, paths, store).await
}

/// The summary of an episode that has ended, checked against its files; `None` while it has not.
///
/// # Errors
/// [`EpisodeError`] when the bundle is another episode's, or was changed.
pub fn finished_episode(
    input: &EpisodeInput<'_>,
    paths: &BundlePaths,
) -> Result<Option<Summary>, EpisodeError> {
    if !paths.summary().exists() {
        return Ok(None);
    }
    begin::compare_identity(input, paths)?;
    finish::finished(input, paths).map(Some)
}

/// Runs an episode again from its recorded replies, without network, and compares every byte of every event.
///
/// # Errors
/// [`EpisodeError::Bundle`] naming the first event or request that differs from the record or is missing in it.
pub async fn replay_episode(
    input: &EpisodeInput<'_>,
    paths: &BundlePaths,
    progress: &dyn Progress,
) -> Result<(), EpisodeError> {
    let genesis = begin::compare_identity(input, paths)?;
    let guard = input
        .shared
        .guards
        .of(input.cell.mask.level, &input.shared.market);
    let mut episode = begin::open(input, (paths, &genesis), guard, begin::Opening::Compare)?;
    episode.run(progress).await?;
    episode.check_complete(paths)
}

/// The mask of an episode, for the owner of its key.
#[must_use]
pub fn mask_of(input: &EpisodeInput<'_>) -> Option<Mask> {
    begin::mask_of(input, &begin::rules(input).ok()?)
}

/// An episode on its way.
struct Episode<'a> {
    input: &'a EpisodeInput<'a>,
    rules: Rules,
    mask: Mask,
    limits: ToolLimits,
    exchanger: RecordedClient<'a>,
    events: Log,
    ledger: Log,
    account: Account,
    last_step: Option<LastStep>,
    /// Roster and book, where factors are told in bands.
    banded: Option<BandedState>,
    /// 0-based first step that is still to be run.
    next_step: usize,
    /// Whether the record already holds the end.
    is_over: bool,
    /// The end that a record holds, where it is run again.
    recorded_end: Option<String>,
    /// What the agent has come to, of which the rules may stop it; none for one that is never stopped.
    played: Played,
    stop_after: Option<StopRules>,
}

impl Episode<'_> {
    fn steps(&self) -> usize {
        self.input.cell.window.days.len()
    }
}
