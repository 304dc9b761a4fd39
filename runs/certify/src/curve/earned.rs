//! What the strategies earn in episodes on a rung.

use super::record::{ReturnDifference, StrategyCost};
use super::sight::{StrategySight, mean};
use super::strategy::FactorStrategy;
use crate::CertifyError;
use crate::world::MaskWorld;
use ktd_bundle::BundlePaths;
use ktd_client::progress::Silent;
use ktd_env::TradeDate;
use ktd_episode::grid::{Grid, RunPlan};
use ktd_episode::run_cell;
use ktd_episode::transports::Transports;
use ktd_experiment::config::{AgentConfig, ExperimentConfig};
use ktd_experiment::mask_arm::MaskArm;
use ktd_experiment::window_config::{WindowConfig, Windows};
use ktd_io::whole_file::temporary_directory;
use ktd_masking::{Level, MaskSettings, Numeric};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Total return of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeReturn {
    agent: String,
    window: String,
    value: f64,
}

/// Steps of an episode of the strategies, if the stretch is as long: about a quarter.
const STEPS: usize = 60;

/// What each strategy earns in the first days of each stretch, blinded. The episodes are run in a directory that is removed
/// afterwards: a fixed strategy does the same each time.
///
/// # Errors
/// [`CertifyError`] for stretches outside the panel, and of the first episode that stopped.
pub(super) async fn earned(world: &MaskWorld, numeric: Numeric) -> Result<Vec<EpisodeReturn>, CertifyError> {
    let folder = temporary_directory()?;
    let plan = RunPlan {
        config: experiment(world, numeric)?,
        base: PathBuf::new(),
        output: folder.path().to_owned(),
        program: None,
    };
    let grid = Grid::over(plan, world.source.clone(), world.key.clone())?;
    let (shared, transports) = (grid.shared(Arc::default()), Transports::default());
    let mut earned = Vec::new();
    for cell in &grid.cells {
        let input = grid.episode(&shared, cell);
        let bundle = BundlePaths::new(&folder.path().join(&cell.id));
        let summary = run_cell(&input, (&transports, &grid.plan.base), &bundle, &Silent).await?;
        let value = summary.account.and_then(|account| account.total_return.value);
        earned.extend(value.map(|value| EpisodeReturn {
            agent: cell.agent.id.clone(),
            window: cell.window.id.clone(),
            value,
        }));
    }
    Ok(earned)
}

fn experiment(world: &MaskWorld, numeric: Numeric) -> Result<ExperimentConfig, CertifyError> {
    let market = &world.source.market;
    let date = |place: usize| {
        let date = market.day_at(place).and_then(|day| market.date(day));
        date.map(TradeDate::reveal)
            .ok_or_else(|| CertifyError::input("a stretch lies outside the panel", "choose other stretches"))
    };
    let mut experiment = ExperimentConfig::parse(TEMPLATE)?;
    let mut windows = Vec::new();
    for (place, stretch) in world.plan.stretches.iter().enumerate() {
        let last = stretch.end.min(stretch.start + STEPS).saturating_sub(1);
        windows.push(WindowConfig {
            id: format!("s{}", place + 1),
            preset: None,
            start: Some(date(stretch.start)?),
            end: Some(date(last)?),
            last_days: None,
        });
    }
    experiment.windows = Windows::Listed(windows);
    experiment.masks = vec![MaskArm::from(MaskSettings {
        level: Level::Blinded,
        numeric,
    })];
    experiment.agents = FactorStrategy::ALL
        .map(|strategy| AgentConfig::builtin(strategy.builtin()))
        .to_vec();
    Ok(experiment)
}

/// What the strategies' experiment starts from; windows, masks and agents are filled in.
const TEMPLATE: &str = r#"
name = "curve"
modes = ["open-research"]
seeds = [1]
agents = [{ id = "hold", builtin = "hold" }]
windows = [{ id = "W1" }]
"#;

/// The cost of a rung to a strategy, beside what it earned with `exact` numbers; none of that with exact numbers themselves.
pub(super) fn strategy_cost(
    seen: &StrategySight,
    here: &[EpisodeReturn],
    exact: Option<&[EpisodeReturn]>,
) -> StrategyCost {
    let is_own = |found: &&EpisodeReturn| found.agent == seen.strategy.builtin();
    let values: Vec<f64> = here.iter().filter(is_own).map(|found| found.value).collect();
    let pairs = exact.map(|exact| -> Vec<f64> {
        let other = |found: &EpisodeReturn| {
            let mut own = exact.iter().filter(is_own);
            own.find(|other| other.window == found.window)
                .map(|other| found.value - other.value)
        };
        here.iter().filter(is_own).filter_map(other).collect()
    });
    StrategyCost {
        strategy: seen.strategy,
        rank_correlation: seen.rank_correlation,
        days: seen.days,
        mean_return: mean(&values),
        difference: pairs.and_then(|pairs| spread(&pairs)),
        episodes: values.len(),
    }
}

/// Mean and its standard error.
#[expect(clippy::cast_precision_loss, reason = "some hundred values")]
fn spread(values: &[f64]) -> Option<ReturnDifference> {
    let middle = mean(values).filter(|_| 2 <= values.len())?;
    let squares: f64 = values
        .iter()
        .map(|value| (value - middle) * (value - middle))
        .sum();
    let count = values.len() as f64;
    Some(ReturnDifference {
        mean: middle,
        standard_error: (squares / (count - 1.0) / count).sqrt(),
    })
}
