//! The episodes that tell what a rung costs a strategy in return.

use super::strategy::FactorStrategy;
use crate::CertifyError;
use crate::config::CertifyConfig;
use crate::probe_inputs::ProbeInputs;
use ktd_experiment::config::{AgentConfig, ExperimentConfig};
use ktd_experiment::mask_arm::MaskArm;
use ktd_experiment::window_config::WindowConfig;
use ktd_masking::{Level, MaskSettings, Numeric};
use ktd_probes::Stretch;

/// Steps of an episode of the strategies, if the stretch is as long: about a quarter.
const STEPS: usize = 60;

/// Each strategy in the first days of each stretch, blinded, on every rung, as an experiment of its own.
///
/// # Errors
/// [`CertifyError::Input`] for stretches outside the panel.
pub fn experiment(
    config: &CertifyConfig,
    inputs: &ProbeInputs,
    stretches: &[Stretch],
) -> Result<ExperimentConfig, CertifyError> {
    let market = &inputs.source.market;
    let date = |place: usize| {
        let date = market.day_at(place).and_then(|day| market.date(day));
        date.map(ktd_env::TradeDate::reveal)
            .ok_or_else(|| CertifyError::input("a stretch lies outside the panel", "choose other stretches"))
    };
    let mut windows = Vec::with_capacity(stretches.len());
    for (place, stretch) in stretches.iter().enumerate() {
        let last = stretch.end.min(stretch.start + STEPS).saturating_sub(1);
        windows.push(WindowConfig {
            id: format!("s{}", place + 1),
            preset: None,
            start: Some(date(stretch.start)?),
            end: Some(date(last)?),
            last_days: None,
        });
    }
    let mut experiment = ExperimentConfig::parse(TEMPLATE)?;
    experiment.name.clone_from(&config.name);
    experiment.panel.clone_from(&config.panel);
    experiment.synthetic = config.synthetic;
    experiment.mask_key_file.clone_from(&config.mask_key_file);
    experiment.windows = windows;
    experiment.masks = Numeric::ALL
        .map(|numeric| {
            MaskArm::from(MaskSettings {
                level: Level::Blinded,
                numeric,
            })
        })
        .to_vec();
    experiment.agents = FactorStrategy::ALL
        .map(|strategy| AgentConfig::builtin(strategy.builtin()))
        .to_vec();
    Ok(experiment)
}

/// What the strategies' experiment starts from; windows, masks and agents are filled in.
const TEMPLATE: &str = r#"
name = "curve"
parallel_cells = 2
modes = ["open-research"]
seeds = [1]
agents = [{ id = "hold", builtin = "hold" }]
windows = [{ id = "W1" }]
"#;
