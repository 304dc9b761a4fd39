//! The canary step: one fixed step of a synthetic market, asked of an agent again and again.

use crate::grid::{Grid, RunPlan};
use crate::transports::Transports;
use crate::{EpisodeError, EpisodeInput, Shared, run_cell};
use ktd_bundle::BundlePaths;
use ktd_bundle::canary::{CanaryRecord, next_bundle};
use ktd_client::money::Metering;
use ktd_client::progress::Silent;
use ktd_data::market_source::MarketSource;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::{CanaryConfig, ExperimentConfig, RetryConfig};
use ktd_masking::MaskKey;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The step: it is the same in every experiment and under every program that has the same prompts and tools. Nothing of a
/// run's data is in it.
const STEP: &str = r#"
name = "canary"
synthetic = { seed = 20261122, names = 40, days = 330 }
windows = [{ id = "canary", last_days = 1 }]
masks = [{ level = "blinded" }]
modes = ["fixed-candidate"]
agents = [{ id = "canary", builtin = "hold" }]
"#;

/// Canary steps of a run's agents.
#[derive(Debug)]
pub struct CanarySteps {
    shared: Shared,
    /// One an agent.
    cells: Vec<Cell>,
    key: MaskKey,
    output: PathBuf,
    every_cells: usize,
    /// Why steps were not answered, with how many.
    unanswered: Mutex<BTreeMap<String, usize>>,
}

impl CanarySteps {
    /// The canary steps of the models among a grid's agents, paid from the same accounts; results go beside its cells.
    ///
    /// # Errors
    /// [`EpisodeError`] for a defect of this program alone.
    pub fn of(grid: &Grid, canary: CanaryConfig, metering: &Arc<Metering>) -> Result<Self, EpisodeError> {
        let plan = RunPlan {
            config: ExperimentConfig {
                // Cells of all vendors wait for it.
                retries: RetryConfig {
                    unanswered_hours: 0,
                    ..grid.plan.config.retries
                },
                ..ExperimentConfig::parse(STEP)?
            },
            base: PathBuf::new(),
            ..grid.plan.clone()
        };
        let source = MarketSource::of(&plan.config, Path::new(""))?;
        // The market is synthetic: there is nothing to hide, and every answer must be to the same bytes.
        let key = MaskKey::from_bytes([0; 32]).derive("ktd canary step 1");
        let step = Grid::over(plan, source, key.clone())?;
        let mut own: Vec<Cell> = Vec::new();
        for cell in grid.cells.iter().filter(|cell| cell.agent.model().is_some()) {
            let is_known = own.iter().any(|known| known.agent.id == cell.agent.id);
            own.extend(step.cells.iter().filter(|_| !is_known).map(|step| Cell {
                id: format!("{}__canary", cell.agent.id),
                agent: cell.agent.clone(),
                provider: cell.provider.clone(),
                basis: cell.basis.clone(),
                ..step.clone()
            }));
        }
        Ok(Self {
            shared: step.shared(Arc::clone(metering)),
            cells: own,
            key,
            output: grid.plan.output.clone(),
            every_cells: canary.every_cells.max(1),
            unanswered: Mutex::default(),
        })
    }

    /// Whether a canary is due after so many cells of all have ended.
    #[must_use]
    pub const fn is_due(&self, ended: usize, cells: usize) -> bool {
        ended == cells || ended.is_multiple_of(self.every_cells)
    }

    /// Asks each agent once more. A canary that cannot be asked stops no cell: the notes of the run say why.
    pub async fn ask(&self, endpoints: (&Transports, &Path)) {
        for cell in &self.cells {
            if let Err(error) = self.ask_one(cell, endpoints).await {
                let why = format!("{}: {error}", cell.agent.id);
                let mut unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
                *unanswered.entry(why).or_default() += 1;
            }
        }
    }

    /// The same; the first that cannot be asked is the error.
    ///
    /// # Errors
    /// [`EpisodeError`] of the step.
    pub async fn ask_all(&self, endpoints: (&Transports, &Path)) -> Result<(), EpisodeError> {
        for cell in &self.cells {
            self.ask_one(cell, endpoints).await?;
        }
        Ok(())
    }

    async fn ask_one(&self, cell: &Cell, endpoints: (&Transports, &Path)) -> Result<(), EpisodeError> {
        let bundle = BundlePaths::new(&next_bundle(&self.output, &cell.agent.id)?);
        let input = EpisodeInput {
            shared: &self.shared,
            cell,
            key: self.key.clone(),
        };
        run_cell(&input, endpoints, &bundle, &Silent).await.map(drop)
    }

    /// Notes on canary steps of this run that nobody answered.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        let note = |(why, count): (&String, &usize)| format!("{count} canary steps were not answered: {why}");
        unanswered.iter().map(note).collect()
    }

    /// Compares all answers of each agent, and keeps what is found.
    ///
    /// # Errors
    /// [`EpisodeError`] when a bundle is damaged.
    pub fn records(&self) -> Result<Vec<CanaryRecord>, EpisodeError> {
        let mut records = Vec::new();
        for cell in &self.cells {
            records.extend(CanaryRecord::make(&self.output, &cell.agent.id)?);
        }
        Ok(records)
    }
}
