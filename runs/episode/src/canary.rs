//! The canary step: one fixed step of a synthetic market, asked of an agent again and again.

use crate::EpisodeError;
use crate::Shared;
use crate::cell_run::{factor_table, run_cell};
use crate::transports::Transports;
use ktd_bundle::canary::{CanaryRecord, next_bundle};
use ktd_client::money::Metering;
use ktd_client::progress::Silent;
use ktd_data::market_source::MarketSource;
use ktd_experiment::cells::{Cell, cells};
use ktd_experiment::config::{ExperimentConfig, RetryConfig};
use ktd_experiment::toolbox::toolbox;
use ktd_guard::Guards;
use ktd_masking::MaskKey;
use ktd_record::program_record::ProgramRecord;
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
    /// The canary steps of the models among the agents of `grid`, paid from the same accounts; results go to `output`.
    ///
    /// # Errors
    /// [`EpisodeError`] for a defect of this program alone.
    pub fn of(
        grid: &[Cell],
        every_cells: usize,
        (retries, program): (RetryConfig, Option<ProgramRecord>),
        metering: &Arc<Metering>,
        output: &Path,
    ) -> Result<Self, EpisodeError> {
        let config = ExperimentConfig::parse(STEP)?;
        let source = MarketSource::of(&config, Path::new(""))?;
        let step = cells(&config, &source.market)?;
        let mut own: Vec<Cell> = Vec::new();
        for cell in grid.iter().filter(|cell| cell.agent.model().is_some()) {
            let is_known = own.iter().any(|known| known.agent.id == cell.agent.id);
            own.extend(step.iter().filter(|_| !is_known).map(|step| Cell {
                id: format!("{}__canary", cell.agent.id),
                agent: cell.agent.clone(),
                provider: cell.provider.clone(),
                basis: cell.basis.clone(),
                ..step.clone()
            }));
        }
        Ok(Self {
            shared: Shared {
                program,
                experiment: config.name,
                factors: Arc::new(factor_table(&source.market, &step)?),
                market: source.market,
                toolbox: toolbox(&config.tools)?,
                data: source.record,
                panel: None,
                rules: config.rules,
                session: config.session,
                tools: config.tools,
                retries,
                guards: Guards::default(),
                metering: Arc::clone(metering),
            },
            cells: own,
            // The market is synthetic: there is nothing to hide, and every answer must be to the same bytes.
            key: MaskKey::from_bytes([0; 32]).derive("ktd canary step 1"),
            output: output.to_owned(),
            every_cells: every_cells.max(1),
            unanswered: Mutex::default(),
        })
    }

    /// Whether a canary is due after so many cells of all have ended.
    #[must_use]
    pub const fn is_due(&self, ended: usize, cells: usize) -> bool {
        ended == cells || ended.is_multiple_of(self.every_cells)
    }

    /// Asks each agent once more. A canary that cannot be asked stops no cell: the notes of the run say why.
    pub async fn ask(&self, endpoints: &(Transports, PathBuf)) {
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
    pub async fn ask_all(&self, endpoints: &(Transports, PathBuf)) -> Result<(), EpisodeError> {
        for cell in &self.cells {
            self.ask_one(cell, endpoints).await?;
        }
        Ok(())
    }

    async fn ask_one(&self, cell: &Cell, endpoints: &(Transports, PathBuf)) -> Result<(), EpisodeError> {
        let bundle = next_bundle(&self.output, &cell.agent.id)?;
        run_cell(
            &self.shared,
            endpoints,
            (cell, self.key.clone()),
            &bundle,
            &Silent,
        )
        .await
        .map(|_| ())
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
