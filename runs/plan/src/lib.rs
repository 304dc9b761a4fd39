//! What an experiment is before it is run: its grid, what it asks and costs, and the smallest difference it can detect.
//!
//! Knows: experiments, and episodes on a market of luck. Never knows: results, ranks, certificates.

mod agents;
pub mod cost_text;
mod error;
pub mod estimate;
pub mod estimate_text;
mod pace;
mod pooled;
mod power;
mod text;
mod window;

pub use agents::{AgentGrid, Kind};
pub use error::PlanningError;
pub use pace::{Minutes, Pace, paces};
pub use pooled::{PooledDesign, SEPARATION};
pub use power::{POWER, Pairing, SIGNIFICANCE, WindowNoise};
pub use text::text;

use crate::estimate::{Estimate, Measured};
use ktd_attribution::{RandomPortfolios, RandomPortfoliosError};
use ktd_client::PricedAgent;
use ktd_client::money::terms;
use ktd_data::market_source::MarketSource;
use ktd_env::Market;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::mask_arm::{MaskInstruction, arm_label};
use ktd_experiment::panel_windows::{Window, windows};
use ktd_experiment::prune::pruned;
use ktd_experiment::window_config::Windows;
use ktd_masking::{Level, Mode, Numeric};
use schemars::JsonSchema;
use serde::Serialize;

/// A plan.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct ExperimentPlan {
    /// The experiment's name.
    pub experiment: String,
    /// The panel.
    pub panel: PanelFacts,
    /// Cells that will be run.
    pub cells: usize,
    /// Their steps.
    pub steps: usize,
    /// Seeds of each cell.
    pub seeds: usize,
    /// Cells by mask and mode, those left out with the reason.
    pub settings: Vec<Setting>,
    /// Cells by agent, in the experiment's order.
    pub agents: Vec<AgentGrid>,
    /// Calls, tokens and cost of the agents that are asked over a network.
    pub estimate: Estimate,
    /// The time that declared rates take.
    pub paces: Vec<Pace>,
    /// Whether the windows are drawn when they are run: those here are stand-ins, as many and as long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub windows_are_drawn: bool,
    /// What luck does in each window, and what its days alone can tell.
    pub windows: Vec<WindowNoise>,
    /// What the windows together can tell.
    pub pairing: Pairing,
    /// What the ranking over several windows together can tell.
    pub pooled: PooledDesign,
}

/// What a plan was made on.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PanelFacts {
    /// Names.
    pub names: usize,
    /// Trading days.
    pub days: usize,
    /// Whether it is a synthetic market: its luck is not that of a real one.
    pub is_synthetic: bool,
}

/// The cells of one mask and mode.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Setting {
    /// The mask's level.
    pub level: Level,
    /// The level whose text explains identifiers, if this is a prompt-only control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<MaskInstruction>,
    /// How numbers are shown.
    pub numeric: Numeric,
    /// The mode.
    pub mode: Mode,
    /// Cells over all agents, windows and seeds.
    pub cells: usize,
    /// Why they are not run; `null` when they are.
    pub left_out: Option<&'static str>,
}

impl Setting {
    /// Name of the level, or of the prompt-only control.
    #[must_use]
    pub const fn level_label(&self) -> &'static str {
        arm_label(self.level, self.instruction)
    }
}

impl ExperimentPlan {
    /// The plan of an experiment's cells on a panel, with the traffic of its settings; none is needed where no agent is
    /// asked over a network.
    ///
    /// # Errors
    /// [`PlanningError::Input`] for what `ktd run` would refuse: settings, windows, rates.
    pub fn of(
        config: &ExperimentConfig,
        source: &MarketSource,
        cells: &[Cell],
        measured: &[Measured],
    ) -> Result<Self, PlanningError> {
        let windows = windows(config, &source.market, None)?;
        let noise: Vec<WindowNoise> = windows
            .iter()
            .map(|window| WindowNoise::of(window, luck(&source.market, window)))
            .collect();
        let estimate = Estimate::of(config, cells, measured);
        Ok(Self {
            experiment: config.name.clone(),
            panel: PanelFacts {
                names: source.market.names().len(),
                days: source.market.calendar().len(),
                is_synthetic: source.record.synthetic.is_some(),
            },
            cells: cells.len(),
            steps: cells.iter().map(|cell| cell.window.days.len()).sum(),
            seeds: config.seeds.len(),
            settings: settings(config),
            agents: agents::agents(config, cells),
            paces: paces(
                &terms::limits(&config.rates, cells.iter().map(PricedAgent::from))?,
                cells,
                &estimate,
            ),
            estimate,
            windows_are_drawn: matches!(config.windows, Windows::Drawn(_)),
            pairing: Pairing::of(&windows, &noise),
            pooled: PooledDesign::of(&windows, &noise, config.seeds.len()),
            windows: noise,
        })
    }
}

/// What random portfolios of a window earn.
fn luck(market: &Market, window: &Window) -> Result<RandomPortfolios, RandomPortfoliosError> {
    RandomPortfolios::of(market, &window.id, &window.days)
}

fn settings(config: &ExperimentConfig) -> Vec<Setting> {
    let pruned = pruned(config);
    let cells = config.agents.len() * config.windows.len() * config.seeds.len();
    let pairs = config
        .masks
        .iter()
        .flat_map(|mask| config.modes.iter().map(move |mode| (*mask, *mode)));
    let settings = pairs.map(|(arm, mode)| {
        let out = pruned.iter().find(|out| (out.arm, out.mode) == (arm, mode));
        Setting {
            level: arm.settings.level,
            instruction: arm.instruction,
            numeric: arm.settings.numeric,
            mode,
            cells,
            left_out: out.map(|out| out.why.reason()),
        }
    });
    settings.collect()
}
