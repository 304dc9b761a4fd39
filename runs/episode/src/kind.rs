//! Episodes as a kind of study: a unit a cell, whose record is a bundle.

use crate::begin::check_identity;
use crate::begin::identity;
use crate::bundles::BUNDLES;
use crate::canary::CanarySteps;
use crate::early_windows::early_windows;
use crate::grid::{Grid, RunPlan, is_sealed};
use crate::results::{CellFigures, EpisodesSummary, results_report};
use crate::transports::Transports;
use crate::verify::check_whole;
use crate::{EpisodeError, Shared, finished_episode, run_cell};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_bundle::BundlePaths;
use ktd_bundle::canary::CanaryRecord;
use ktd_bundle::open::read_header;
use ktd_bundle::summary::Summary;
use ktd_client::force_check;
use ktd_client::money::KeyName;
use ktd_client::money::{Budget, Metering, Scope};
use ktd_client::progress::{FailedAttempt, Progress};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::caps::Caps;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::{EPISODES, ExperimentConfig};
use ktd_experiment::prune::{Pruned, pruned};
use ktd_io::ErrorClass;
use ktd_io::open_files::{missing_open_files, raise_open_files};
use ktd_record::budget_file::{BudgetCap, BudgetFile};
use ktd_study::{Hands, Opening, OwnFormat, Planned, Report, StudyError, StudyKind, UnitId, UnitProgress};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::OnceCell;
use tracing::Instrument;

/// Experiments: agents trade windows, masks, modes and seeds.
#[derive(Debug, Clone, Copy)]
pub struct EpisodesStudy;

/// Grid of an experiment, and what its running cells share.
#[derive(Debug)]
pub struct EpisodesWorld {
    /// The grid.
    pub grid: Grid,
    /// What episodes share that are read or made again: nobody pays.
    recorded: Shared,
    running: OnceLock<Running>,
}

/// What cells share that run.
#[derive(Debug)]
struct Running {
    shared: Shared,
    transports: Transports,
    canaries: Option<CanarySteps>,
    /// The canary before the first cell.
    first: OnceCell<()>,
    missing: usize,
    ended: AtomicUsize,
}

/// What decides a cell: all that its header says but prices and program.
#[derive(Debug, Serialize)]
pub struct CellUnit {
    #[serde(skip)]
    cell: Cell,
    header_sha256: String,
}

impl EpisodesWorld {
    /// Cells of a grid, none of them running.
    #[must_use]
    pub fn of(grid: Grid) -> Self {
        Self {
            recorded: grid.shared(Arc::default()),
            grid,
            running: OnceLock::new(),
        }
    }

    /// What was spent of a budget; nothing where no account was opened.
    #[must_use]
    pub fn metering(&self) -> Option<&Metering> {
        self.running.get().map(|running| running.shared.metering.as_ref())
    }

    /// What a reader of the results must know: of the panel, of the agents, of cells that are left out, of canaries.
    ///
    /// # Errors
    /// [`EpisodeError`] for an agent that cannot be forced as it declares, and a canary that is damaged.
    pub fn notes(&self) -> Result<Vec<String>, EpisodeError> {
        let plan = &self.grid.plan;
        let mut notes = self.grid.source.record.limitations.clone();
        notes.extend(force_check::notes(&plan.output, &self.grid.cells)?);
        notes.extend(pruned(&plan.config).iter().map(Pruned::told));
        notes.extend(early_windows(&self.grid.cells));
        if plan.config.canary.is_some() {
            for agent in &plan.config.agents {
                let record = CanaryRecord::make(&plan.output, &agent.id)?;
                notes.extend(record.iter().map(CanaryRecord::note));
            }
        }
        let canaries = self.running.get().and_then(|running| running.canaries.as_ref());
        notes.extend(canaries.iter().flat_map(|canaries| canaries.notes()));
        Ok(notes)
    }

    fn begin(&self, missing: usize) -> Result<(), EpisodeError> {
        let (grid, plan) = (&self.grid, &self.grid.plan);
        let transports = Transports::default();
        if 0 < missing {
            check_open_files(&plan.config)?;
            force_check::notes(&plan.output, &grid.cells)?;
            grid.factors.get()?;
        } else if !plan.config.budget.is_any() {
            return Ok(());
        }
        let metering = grid.accounts()?;
        match &metering.budget {
            Some(budget) if budget.is_on_server() => budget_file(budget).keep(&plan.output)?,
            Some(budget) => budget_file(budget).write(&plan.output)?,
            None => BudgetFile::remove(&plan.output)?,
        }
        let canaries = plan
            .config
            .canary
            .map(|canary| CanarySteps::of(grid, canary, &metering));
        let running = Running {
            canaries: canaries.transpose()?,
            shared: grid.shared(metering),
            transports,
            first: OnceCell::new(),
            missing,
            ended: AtomicUsize::new(0),
        };
        // A world is run once.
        self.running.set(running).ok();
        Ok(())
    }

    fn input<'a>(&'a self, cell: &'a Cell) -> crate::EpisodeInput<'a> {
        self.grid.episode(&self.recorded, cell)
    }

    async fn run(
        &self,
        cell: &Cell,
        folder: &Path,
        progress: &dyn Progress,
    ) -> Result<Summary, EpisodeError> {
        let Some(running) = self.running.get() else {
            return Err(EpisodeError::input(
                "the study was not begun",
                "report this defect",
            ));
        };
        let endpoints = (&running.transports, self.grid.plan.base.as_path());
        if let Some(canaries) = &running.canaries {
            running.first.get_or_init(|| canaries.ask(endpoints)).await;
        }
        tracing::info!(steps = cell.window.days.len(), "cell begins");
        let input = self.grid.episode(&running.shared, cell);
        let ended = run_cell(&input, endpoints, &BundlePaths::new(folder), progress).await;
        log_end(&ended);
        let count = running.ended.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(canaries) = &running.canaries
            && canaries.is_due(count, running.missing)
        {
            canaries.ask(endpoints).await;
        }
        ended
    }
}

fn log_end(ended: &Result<Summary, EpisodeError>) {
    match ended {
        Ok(_) => tracing::info!("cell ended"),
        Err(error) if error.class() == ErrorClass::Budget => tracing::warn!(%error, "cell stopped"),
        Err(error) => tracing::error!(%error, "cell stopped"),
    }
}

/// What may be spent, for those who look on.
fn budget_file(budget: &Budget) -> BudgetFile {
    let caps = budget.scopes().into_iter();
    let caps = caps.map(|(scope, cap_picodollars)| BudgetCap {
        scope: scope.to_string(),
        cap_picodollars,
    });
    BudgetFile::new(caps.collect())
}

/// Fails where the system allows fewer open files than cells at once need.
fn check_open_files(config: &ExperimentConfig) -> Result<(), EpisodeError> {
    let Some(cells) = config.parallel_cells else {
        // Where less is allowed than is needed the cell that meets the limit says so.
        let _allowed = raise_open_files();
        return Ok(());
    };
    let Some((needed, allowed)) = missing_open_files(cells) else {
        return Ok(());
    };
    Err(EpisodeError::input(
        format!("{cells} cells at once need up to {needed} open files, but the system allows {allowed}"),
        "raise `ulimit -n`, or lower `parallel_cells`",
    ))
}

/// Listener of an episode that tells its study.
struct StudyListener<'p> {
    unit: UnitProgress<'p>,
    is_begun: AtomicBool,
}

impl<'p> StudyListener<'p> {
    const fn of(unit: UnitProgress<'p>) -> Self {
        Self {
            unit,
            is_begun: AtomicBool::new(false),
        }
    }
}

impl Progress for StudyListener<'_> {
    fn step_began(&self, _: &str, step: usize, _: usize) {
        // What stands before the first step of this run was played by an earlier one.
        if !self.is_begun.swap(true, Ordering::Relaxed) && 1 < step {
            self.unit.found(u64::try_from(step - 1).unwrap_or(0));
        }
    }

    fn step_ended(&self, _: &str, _: usize, _: usize) {
        self.unit.advance(1);
    }

    fn attempt_failed(&self, failed: &FailedAttempt<'_>) {
        self.unit
            .notice(&format!("agent {}", failed.agent), &failed.to_string());
    }

    fn news(&self, what: &str) {
        self.unit.news(what);
    }
}

impl StudyKind for EpisodesStudy {
    const NAME: &'static str = EPISODES;
    const COMMAND: &'static str = "ktd run";
    const FORMAT: u32 = 1;
    const STEPS: &'static str = "steps";
    const ASKS: bool = true;
    const REPORTS_PARTS: bool = true;
    const PLACES: &'static [&'static str] = &["/panel", "/mask_key_file"];
    const OWN: Option<OwnFormat> = Some(BUNDLES);

    type Keys = ExperimentConfig;
    type World = EpisodesWorld;
    type Unit = CellUnit;
    type Event = ();
    type Found = Summary;
    type Summary = EpisodesSummary;

    fn name(keys: &ExperimentConfig) -> &str {
        &keys.name
    }

    fn panel(keys: &mut ExperimentConfig) -> Option<&mut PathBuf> {
        keys.panel.as_mut()
    }

    fn output(keys: &ExperimentConfig) -> Option<&Path> {
        keys.output.as_deref()
    }

    fn check(keys: &ExperimentConfig) -> Result<(), StudyError> {
        Ok(keys.check()?)
    }

    fn caps(keys: &ExperimentConfig) -> Caps {
        keys.budget.clone()
    }

    fn at_once(keys: &ExperimentConfig) -> Option<usize> {
        keys.parallel_cells
    }

    fn memory_megabytes(keys: &ExperimentConfig) -> u64 {
        keys.memory_mb
    }

    fn is_waited_for(world: &EpisodesWorld, key: &KeyName) -> bool {
        let metering = world.metering();
        metering.is_some_and(|metering| metering.gates.of(key).is_waited_for())
    }

    fn paused_for(world: &EpisodesWorld, key: &KeyName) -> Option<Duration> {
        world.metering()?.gates.of(key).paused_for()
    }

    fn spent_of_cap(world: &EpisodesWorld) -> Option<Picodollars> {
        let budget = world.metering()?.budget.as_ref()?;
        let spent = budget.account(&Scope::Experiment).spent;
        (!budget.is_on_server() && Picodollars::ZERO < spent).then_some(spent)
    }

    fn open(keys: &ExperimentConfig, at: &Opening<'_>) -> Result<EpisodesWorld, StudyError> {
        Ok(EpisodesWorld::of(Grid::open_to_run(plan(keys, at))?))
    }

    fn open_recorded(
        keys: &ExperimentConfig,
        at: &Opening<'_>,
        _recorded: &Value,
    ) -> Result<EpisodesWorld, StudyError> {
        Ok(EpisodesWorld::of(Grid::recorded(plan(keys, at))?))
    }

    /// Nothing: a cell says all that decides it, so that agents, windows and seeds may be added.
    fn decides(_world: &EpisodesWorld) -> Value {
        Value::Null
    }

    /// Each cell says over which panel it was played: another one is none of them.
    fn other_panel(world: &EpisodesWorld, _recorded: &Value) -> Option<[String; 2]> {
        let grid = &world.grid;
        let headers = grid.cells.iter().map(|cell| read_header(&grid.bundle(cell)));
        let mut recorded = headers.filter_map(|header| Some(header.ok()?.data.panel_blake3));
        let (now, first) = (&grid.source.record.panel_blake3, recorded.next()?);
        let is_played = first == *now || recorded.any(|hash| hash == *now);
        (!is_played).then(|| [now.clone(), first])
    }

    fn units(_keys: &ExperimentConfig, world: &EpisodesWorld) -> Result<Vec<Planned<CellUnit>>, StudyError> {
        let mut units = Vec::with_capacity(world.grid.cells.len());
        for cell in &world.grid.cells {
            let unit = CellUnit {
                header_sha256: identity(&world.input(cell))?,
                cell: cell.clone(),
            };
            let steps = u64::try_from(cell.window.days.len()).unwrap_or(u64::MAX);
            // A built-in agent computes and waits for nobody.
            let waits = cell.agent.builtin_name().is_none();
            let key = waits.then(|| KeyName::of(&cell.agent, &cell.provider));
            let is_private = is_sealed(&world.grid.plan.output, cell);
            let planned = Planned::own(cell.id.clone(), unit)
                .private(is_private)
                .by(&cell.agent.id);
            units.push(planned.steps(steps).waiting_for(key));
        }
        Ok(units)
    }

    fn begin(world: &EpisodesWorld, missing: usize) -> Result<(), StudyError> {
        Ok(world.begin(missing)?)
    }

    fn run<'a>(
        world: &'a EpisodesWorld,
        CellUnit { cell, .. }: &'a CellUnit,
        hands: &'a mut Hands<'_, ()>,
    ) -> LocalBoxFuture<'a, Result<Summary, StudyError>> {
        // All that is logged of a cell, its retries and its waits too, says of which.
        let span = tracing::info_span!("cell", id = cell.id);
        let running = async move {
            let listener = StudyListener::of(hands.progress());
            let ended = world.run(cell, hands.folder()?, &listener).await;
            ended.map_err(|error| match cell.agent.client() {
                // Its client goes on with it whenever it likes.
                Some(_) => StudyError::waiting(&error, error.hint()),
                None => error.into(),
            })
        };
        running.instrument(span).boxed_local()
    }

    fn check_begun(
        world: &EpisodesWorld,
        CellUnit { cell, .. }: &CellUnit,
        folder: &Path,
    ) -> Result<(), StudyError> {
        Ok(check_identity(&world.input(cell), &BundlePaths::new(folder))?)
    }

    fn finished(
        world: &EpisodesWorld,
        CellUnit { cell, .. }: &CellUnit,
        folder: &Path,
    ) -> Result<Summary, StudyError> {
        let paths = BundlePaths::new(folder);
        let found = finished_episode(&world.input(cell), &paths)?;
        Ok(found.ok_or_else(|| EpisodeError::damaged(&paths.summary(), "it is missing"))?)
    }

    fn again<'a>(
        world: &'a EpisodesWorld,
        CellUnit { cell, .. }: &'a CellUnit,
        (folder, progress): (&'a Path, UnitProgress<'a>),
    ) -> LocalBoxFuture<'a, Result<Summary, StudyError>> {
        async move {
            let (input, paths) = (world.input(cell), BundlePaths::new(folder));
            Ok(check_whole(&input, &paths, &StudyListener::of(progress)).await?)
        }
        .boxed_local()
    }

    fn is_lost(found: &Summary) -> bool {
        found.is_lost()
    }

    fn conclude(
        keys: &ExperimentConfig,
        found: Vec<(UnitId, Summary)>,
    ) -> Result<EpisodesSummary, StudyError> {
        let cells = found.iter();
        let cells = cells.map(|(id, summary)| CellFigures::of(id.as_str(), summary));
        Ok(EpisodesSummary {
            name: keys.name.clone(),
            cells: cells.collect(),
        })
    }

    fn report(_keys: &ExperimentConfig, summary: &EpisodesSummary) -> Result<Report, StudyError> {
        Ok(results_report(summary))
    }
}

fn plan(keys: &ExperimentConfig, at: &Opening<'_>) -> RunPlan {
    RunPlan {
        config: keys.clone(),
        base: at.base.to_owned(),
        output: at.out.to_owned(),
        program: at.program.cloned(),
    }
}
