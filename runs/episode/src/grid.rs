//! Grid of an experiment over its panel: its cells, and what their episodes share.

use crate::transports::Transports;
use crate::{EpisodeError, EpisodeInput, LazyFactors, Shared, WithdrawnAgents};
use ktd_bundle::event::publishes_account;
use ktd_bundle::mask_key::{drawn, keep_key, mask_key};
use ktd_bundle::open::read_header;
use ktd_bundle::{BundlePaths, CELLS, PRIVATE};
use ktd_client::money::{Metering, PaymentTerms};
use ktd_client::opening::{open_accounts, price_cells};
use ktd_data::market_source::MarketSource;
use ktd_experiment::cells::{Cell, cells};
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::drawn_windows::{DrawSecret, window_key};
use ktd_experiment::score_files::hash_score_files;
use ktd_experiment::toolbox::toolbox;
use ktd_experiment::window_config::Windows;
use ktd_guard::Guards;
use ktd_masking::MaskKey;
use ktd_record::draw_number::read_number;
use ktd_record::program_record::ProgramRecord;
use ktd_tools::Toolbox;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a grid is laid out from.
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

/// Grid of an experiment.
#[derive(Debug, Clone)]
pub struct Grid {
    /// What it is laid out from.
    pub plan: RunPlan,
    /// The market.
    pub source: MarketSource,
    /// The cells, with what their tokens cost.
    pub cells: Vec<Cell>,
    /// What may be spent, at which prices and rates.
    pub terms: PaymentTerms,
    /// The tools with their validators, compiled once.
    pub toolbox: Arc<Toolbox>,
    /// Factor values over all windows.
    pub factors: Arc<LazyFactors>,
    /// The experiment's mask key.
    pub key: MaskKey,
}

impl Grid {
    /// Reads the panel, lays out the cells, and reads the mask key: that of the file that is named, or the one that is kept in the
    /// results directory and drawn there once.
    ///
    /// # Errors
    /// [`EpisodeError`] for anything that does not fit.
    pub fn open(plan: RunPlan) -> Result<Self, EpisodeError> {
        Self::read(plan, false)
    }

    /// The same to be run: an agent that cannot be made, such as one without its key, is told before anything is written.
    ///
    /// # Errors
    /// [`EpisodeError`] as [`Self::open`], and for such an agent.
    pub fn open_to_run(plan: RunPlan) -> Result<Self, EpisodeError> {
        Self::read(plan, true)
    }

    fn read(mut plan: RunPlan, is_run: bool) -> Result<Self, EpisodeError> {
        hash_score_files(&mut plan.config.agents, &plan.base)?;
        let source = MarketSource::of(&plan.config, &plan.base)?;
        let kept = kept_key(&plan.output);
        // A key that is new is written when it is known that the agents can be made.
        let is_new = plan.config.mask_key_file.is_none() && !kept.exists();
        let key = if is_new { drawn()? } else { experiment_key(&plan)? };
        let grid = Self::over(plan, source, key)?;
        if is_run {
            check_panel(&grid)?;
            check_agents(&grid.plan, &grid.cells, &grid.source)?;
            if !grid.cells.iter().all(|cell| is_finished(&grid.plan, cell)) {
                grid.factors.get()?;
            }
        }
        if is_new && keep_key(&kept, &grid.key)? != grid.key {
            return Err(EpisodeError::input(
                "another process has just drawn the mask key of this experiment",
                "run the same command again",
            ));
        }
        Ok(grid)
    }

    /// The same of results that stand: no key is drawn.
    ///
    /// # Errors
    /// [`EpisodeError`] as [`Self::open`], and where the key is gone.
    pub fn recorded(plan: RunPlan) -> Result<Self, EpisodeError> {
        let kept = kept_key(&plan.output);
        if plan.config.mask_key_file.is_none() && !kept.exists() {
            return Err(EpisodeError::input(
                format!(
                    "{}: it is missing: nobody can make masked episodes again without it",
                    kept.display()
                ),
                "ask whoever made the results for their private/; `ktd verify DIR/cells/*` checks what it can without",
            ));
        }
        Self::read(plan, false)
    }

    /// A grid over a market that is open.
    ///
    /// # Errors
    /// [`EpisodeError`] for windows, agents and prices that do not fit.
    pub fn over(plan: RunPlan, source: MarketSource, key: MaskKey) -> Result<Self, EpisodeError> {
        let secret = draw_secret(&plan, &key)?;
        let mut cells = cells(&plan.config, &source.market, secret.as_ref())?;
        let WithdrawnAgents { agents } = WithdrawnAgents::read(&plan.output)?;
        cells.retain(|cell| !agents.contains(&cell.agent.id) || is_finished(&plan, cell));
        if cells.is_empty() {
            return Err(EpisodeError::input(
                "all agents of the experiment were withdrawn before they played a step",
                format!(
                    "take them out of {}",
                    WithdrawnAgents::path(&plan.output).display()
                ),
            ));
        }
        let terms = price_cells(&mut cells, &plan.config, &plan.base)?;
        let factors = LazyFactors::over(&source.market, &cells)?;
        Ok(Self {
            toolbox: toolbox(&plan.config.tools)?,
            key,
            factors: Arc::new(factors),
            source,
            cells,
            terms,
            plan,
        })
    }

    /// The mask key of a cell's episode, which the cells of all agents share that are to be compared.
    #[must_use]
    pub fn episode_key(&self, cell: &Cell) -> MaskKey {
        self.key.derive(&cell.mask_draw())
    }

    /// The episode of a cell.
    #[must_use]
    pub fn episode<'a>(&self, shared: &'a Shared, cell: &'a Cell) -> EpisodeInput<'a> {
        EpisodeInput {
            shared,
            cell,
            key: self.episode_key(cell),
        }
    }

    /// What the episodes of the grid share, paid from these accounts.
    #[must_use]
    pub fn shared(&self, metering: Arc<Metering>) -> Shared {
        let config = &self.plan.config;
        Shared {
            program: self.plan.program.clone(),
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
            stop_after: Some(config.stop_after),
            guards: Guards::default(),
            metering,
        }
    }

    /// Its accounts, of which everything that is recorded has been spent. A budget is held for this process.
    ///
    /// # Errors
    /// [`EpisodeError`] as [`open_accounts`].
    pub fn accounts(&self) -> Result<Arc<Metering>, EpisodeError> {
        Ok(Arc::new(open_accounts(
            &self.terms,
            &self.cells,
            &self.plan.output,
        )?))
    }

    /// Where a cell's bundle is.
    #[must_use]
    pub fn bundle(&self, cell: &Cell) -> BundlePaths {
        cell_paths(&self.plan.output, cell)
    }
}

/// Refuses to go on over another panel than the one that episodes of these cells were begun on. All of them would end with that, each for
/// itself, and the plan would be written anew before they did.
fn check_panel(grid: &Grid) -> Result<(), EpisodeError> {
    let own = &grid.source.record.panel_blake3;
    let mut begun = grid.cells.iter().map(|cell| grid.bundle(cell));
    // What cannot be read is told by the episode that is begun with it.
    let Some(header) = begun.find_map(|paths| read_header(&paths).ok()) else {
        return Ok(());
    };
    let made_on = &header.data.panel_blake3;
    if made_on == own {
        return Ok(());
    }
    let output = grid.plan.output.display();
    Err(EpisodeError::input(
        format!(
            "{output}: its episodes were made on another panel ({made_on}) than the one that is named now ({own})"
        ),
        format!(
            "give the experiment another `name`, or --out another directory; or move {output} away, and all is run again; with the \
             old panel in its place it goes on"
        ),
    ))
}

fn is_finished(plan: &RunPlan, cell: &Cell) -> bool {
    cell_paths(&plan.output, cell).summary().exists()
}

/// Where the bundle of a cell lies in the results.
fn cell_paths(output: &Path, cell: &Cell) -> BundlePaths {
    let above = if is_sealed(output, cell) {
        output.join(PRIVATE)
    } else {
        output.to_owned()
    };
    BundlePaths::new(&above.join(CELLS).join(&cell.id))
}

/// Whether the whole bundle of a cell is private until its mask is opened: under a mask an agent that decides with real codes or
/// real days would tell them by its orders, and all agents of the window have its aliases.
#[must_use]
pub fn is_sealed(output: &Path, cell: &Cell) -> bool {
    // One that an earlier version began stays where it is.
    let is_begun = || output.join(CELLS).join(&cell.id).join("header.json").exists();
    cell.agent.knows_names() && !publishes_account(cell.mask.level) && !is_begun()
}

/// The mask key of an experiment: that of the file that is named, or the one that is kept in the results directory and drawn there
/// once.
///
/// # Errors
/// [`EpisodeError`] when it cannot be read, or is none.
pub fn experiment_key(plan: &RunPlan) -> Result<MaskKey, EpisodeError> {
    let given = plan.config.mask_key_file.as_ref();
    Ok(mask_key(
        given.map(|file| plan.base.join(file)),
        &kept_key(&plan.output),
    )?)
}

/// What the windows of an experiment are drawn with; `None` where its file names them.
///
/// # Errors
/// [`EpisodeError`] for a number that was not signed for this draw.
pub fn draw_secret(plan: &RunPlan, key: &MaskKey) -> Result<Option<DrawSecret>, EpisodeError> {
    let Windows::Drawn(draw) = &plan.config.windows else {
        return Ok(None);
    };
    let key = window_key(key);
    let nonce = draw
        .nonce
        .as_ref()
        .map(|file| read_number(&plan.base.join(file), draw, &key.commitment()));
    Ok(Some(DrawSecret {
        nonce: nonce.transpose()?,
        key,
    }))
}

fn kept_key(output: &Path) -> PathBuf {
    output.join("private").join("mask.key")
}

/// Makes every agent once that is still to be asked.
fn check_agents(plan: &RunPlan, cells: &[Cell], source: &MarketSource) -> Result<(), EpisodeError> {
    let transports = Transports::default();
    let mut known = BTreeSet::new();
    let asked = cells.iter().filter(|cell| !is_finished(plan, cell));
    for cell in asked.filter(|cell| known.insert(&cell.agent.id)) {
        let who = (&cell.agent, &cell.provider);
        transports.connect(who, cell.seed, &source.market, &plan.base)?;
    }
    Ok(())
}
