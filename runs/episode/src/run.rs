//! Running a grid: several cells at once, each in its own bundle; rerunning continues where it stopped.

pub use crate::cell_run::factor_table;

use crate::canary::CanarySteps;
use crate::cell_run::run_cell;
use crate::transports::Transports;
use crate::{EpisodeError, Shared};
use ktd_bundle::BundlePaths;
use ktd_bundle::mask_key::mask_key;
use ktd_bundle::summary::Summary;
use ktd_bundle::summary_file::spending_of;
use ktd_client::force_check;
use ktd_client::money::Metering;
use ktd_client::opening::{open_accounts, price_cells};
use ktd_client::progress::Progress;
use ktd_data::market_source::MarketSource;
use ktd_env::FactorTable;
use ktd_experiment::cells::{Cell, cells};
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::toolbox::toolbox;
use ktd_guard::Guards;
use ktd_io::ErrorClass;
use ktd_masking::MaskKey;
use ktd_record::program_record::ProgramRecord;
use ktd_record::spending::Spending;
use ktd_tools::Toolbox;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tracing::Instrument;

/// What a run needs besides its configuration.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// The configuration.
    pub config: ExperimentConfig,
    /// The directory that relative paths of the configuration start from.
    pub base: PathBuf,
    /// Where results go.
    pub output: PathBuf,
    /// The program that writes them; none where nothing is kept.
    pub program: Option<ProgramRecord>,
}

/// One cell's result.
#[derive(Debug)]
pub struct CellResult {
    /// The cell.
    pub cell: Cell,
    /// Its bundle.
    pub bundle: PathBuf,
    /// Its summary, or what stopped it.
    pub result: Result<Summary, EpisodeError>,
    /// What it has cost so far, where its bundle says so.
    pub money: Option<Spending>,
}

impl CellResult {
    /// The result of a cell whose bundle is in `bundle`.
    #[must_use]
    pub fn of(cell: Cell, bundle: PathBuf, result: Result<Summary, EpisodeError>) -> Self {
        let money = match &result {
            Ok(summary) => Some(summary.money.clone()),
            Err(_) => spending_of(&BundlePaths::new(&bundle)).ok(),
        };
        Self {
            cell,
            bundle,
            result,
            money,
        }
    }
}

/// The panel's shared, immutable parts of one run.
#[derive(Debug)]
pub struct Prepared {
    /// The program that writes the bundles; none where nothing is kept.
    pub program: Option<ProgramRecord>,
    /// The market.
    pub source: MarketSource,
    /// Factor values over all windows.
    pub factors: Arc<FactorTable>,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The tools with their validators, compiled once.
    pub toolbox: Arc<Toolbox>,
    /// The experiment's mask key.
    pub key: MaskKey,
    /// What a reader of the results must know about the agents.
    pub notes: Vec<String>,
    /// What has been spent of its budget, and the gates of its keys.
    pub metering: Arc<Metering>,
    /// The canary steps, where the experiment asks for them.
    pub canaries: Option<Arc<CanarySteps>>,
}

impl Prepared {
    /// The mask key of a cell's episode, which the cells of all agents share that are to be compared.
    #[must_use]
    pub fn episode_key(&self, cell: &Cell) -> MaskKey {
        self.key.derive(&cell.mask_draw())
    }

    /// What the episodes of the grid share.
    #[must_use]
    pub fn shared(&self, config: &ExperimentConfig) -> Shared {
        Shared {
            program: self.program.clone(),
            experiment: config.name.clone(),
            market: Arc::clone(&self.source.market),
            factors: Arc::clone(&self.factors),
            toolbox: Arc::clone(&self.toolbox),
            data: self.source.record.clone(),
            panel: self.source.path.clone(),
            rules: config.rules.clone(),
            session: config.session,
            tools: config.tools,
            retries: config.retries,
            guards: Guards::default(),
            metering: Arc::clone(&self.metering),
        }
    }
}

/// Reads the panel, lays out the grid, computes factors once, and draws or reads the mask key.
///
/// # Errors
/// [`EpisodeError`] for anything that does not fit, before a single request is sent.
pub fn prepare(plan: &RunPlan) -> Result<Prepared, EpisodeError> {
    let source = MarketSource::of(&plan.config, &plan.base)?;
    let mut cells = cells(&plan.config, &source.market)?;
    let terms = price_cells(&mut cells, &plan.config, &plan.base)?;
    // Every agent is made once here, so that a missing key is told before hours of work.
    let transports = Transports::default();
    for cell in &cells {
        let who = (&cell.agent, &cell.provider);
        transports.connect(who, cell.seed, &source.market, &plan.base)?;
    }
    let notes = force_check::notes(&plan.output, &cells)?;
    let factors = factor_table(&source.market, &cells)?;
    let key = experiment_key(plan)?;
    let metering = Arc::new(open_accounts(&terms, &cells, &plan.output)?);
    let canaries = plan.config.canary.map(|canary| {
        let every = canary.every_cells;
        CanarySteps::of(
            &cells,
            every,
            (plan.config.retries, plan.program.clone()),
            &metering,
            &plan.output,
        )
    });
    Ok(Prepared {
        program: plan.program.clone(),
        canaries: canaries.transpose()?.map(Arc::new),
        source,
        factors: Arc::new(factors),
        cells,
        toolbox: toolbox(&plan.config.tools)?,
        key,
        notes,
        metering,
    })
}

/// The experiment's mask key: given by file, kept from an earlier run, or drawn once from the system's entropy.
fn experiment_key(plan: &RunPlan) -> Result<MaskKey, EpisodeError> {
    let kept = plan.output.join("private").join("mask.key");
    let given = plan.config.mask_key_file.as_ref();
    Ok(mask_key(given.map(|file| plan.base.join(file)), &kept)?)
}

/// Runs all cells, at most `parallel_cells` at once; results come in the order of the grid.
///
/// A cell that fails does not stop the others.
pub async fn run_cells(plan: &RunPlan, prepared: &Prepared, progress: Arc<dyn Progress>) -> Vec<CellResult> {
    let permits = Arc::new(Semaphore::new(plan.config.parallel_cells));
    let shared = Arc::new(prepared.shared(&plan.config));
    let endpoints = Arc::new((Transports::default(), plan.base.clone()));
    let canaries = prepared
        .canaries
        .as_ref()
        .filter(|_| is_unfinished(plan, prepared));
    if let Some(canaries) = canaries {
        canaries.ask(&endpoints).await;
    }
    let mut tasks = JoinSet::new();
    for (place, cell) in prepared.cells.iter().enumerate() {
        let (permits, shared, progress) = (Arc::clone(&permits), Arc::clone(&shared), Arc::clone(&progress));
        let endpoints = Arc::clone(&endpoints);
        let (cell, key) = (cell.clone(), prepared.episode_key(cell));
        let bundle = bundle_directory(&plan.output, &cell.id);
        // All that is logged of a cell, its retries and its waits too, says of which.
        let span = tracing::info_span!("cell", id = cell.id);
        let running = async move {
            let _permit = permits.acquire_owned().await;
            tracing::info!(steps = cell.window.days.len(), "cell begins");
            let result = run_cell(&shared, &endpoints, (&cell, key), &bundle, progress.as_ref()).await;
            match &result {
                Ok(_) => tracing::info!("cell ended"),
                Err(error) if error.class() == ErrorClass::Budget => tracing::warn!(%error, "cell stopped"),
                Err(error) => tracing::error!(%error, "cell stopped"),
            }
            (place, CellResult::of(cell, bundle, result))
        };
        tasks.spawn(running.instrument(span));
    }
    let mut results: BTreeMap<usize, CellResult> = BTreeMap::new();
    let mut ended = 0;
    while let Some(joined) = tasks.join_next().await {
        results.extend(joined.ok());
        ended += 1;
        if let Some(canaries) = canaries.filter(|own| own.is_due(ended, prepared.cells.len())) {
            canaries.ask(&endpoints).await;
        }
    }
    // A cell whose task broke an invariant has no result: it is told as failed, and the others stand.
    for (place, cell) in prepared.cells.iter().enumerate() {
        results.entry(place).or_insert_with(|| {
            let cell_id = cell.id.clone();
            let bundle = bundle_directory(&plan.output, &cell_id);
            CellResult::of(
                cell.clone(),
                bundle,
                Err(EpisodeError::Panicked { cell: cell_id }),
            )
        });
    }
    results.into_values().collect()
}

/// Whether a cell is still to be run.
fn is_unfinished(plan: &RunPlan, prepared: &Prepared) -> bool {
    let bundle = |cell: &Cell| BundlePaths::new(&bundle_directory(&plan.output, &cell.id));
    prepared.cells.iter().any(|cell| !bundle(cell).summary().exists())
}

/// Where a cell's bundle is.
#[must_use]
pub fn bundle_directory(output: &Path, cell: &str) -> PathBuf {
    output.join("cells").join(cell)
}
