//! What the built-in agents send on the experiment's own panel: the traffic that an estimate starts from.

use crate::PlanningError;
use ktd_bundle::BundlePaths;
use ktd_client::progress::Progress;
use ktd_data::market_source::MarketSource;
use ktd_episode::grid::{Grid, RunPlan};
use ktd_episode::transports::Transports;
use ktd_episode::{LazyFactors, run_cell};
use ktd_experiment::caps::Caps;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::{AgentConfig, ExperimentConfig};
use ktd_experiment::mask_arm::MaskArm;
use ktd_masking::{MaskKey, Mode};
use ktd_record::exchanges::read_sends;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Days of the first window that are run.
pub const DAYS: usize = 5;
/// Who makes one tool call a day.
pub const BRIEF: &str = "momentum";
/// Who makes eight in five turns.
pub const THOROUGH: &str = "researcher";
/// Shorter beginnings are read from no cache: 1,024 tokens in bytes.
const READABLE_BYTES_MIN: u64 = 3_584;

/// Requests of some steps, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Steps.
    pub steps: u64,
    /// Requests.
    pub calls: u64,
    /// Bytes of all requests.
    pub request_bytes: u64,
    /// Of them, those that an earlier request of the episode began with, in the order in which vendors read a request:
    /// tools, then messages.
    pub readable_bytes: u64,
    /// Bytes of the first request of each step.
    pub first_bytes: u64,
    /// Bytes by which requests of a step grew from one to the next.
    pub growth_bytes: u64,
}

/// The traffic of one mode and mask.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The mode.
    pub mode: Mode,
    /// What is hidden, and whose text explains it.
    pub arm: MaskArm,
    /// Of an agent that looks once.
    pub brief: Traffic,
    /// Of an agent that looks at everything.
    pub thorough: Traffic,
}

/// Runs the built-in agents for some days in every mode and mask of an experiment, in a directory that is removed
/// afterwards. No network is used.
///
/// # Errors
/// [`PlanningError`] when the panel does not fit or an episode cannot be run.
pub async fn measure(
    config: &ExperimentConfig,
    source: &MarketSource,
    progress: Arc<dyn Progress>,
) -> Result<Vec<Measured>, PlanningError> {
    let folder = ktd_io::whole_file::temporary_directory()?;
    let grid = grid(config, source, folder.path())?;
    let (shared, transports) = (grid.shared(Arc::default()), Transports::default());
    let mut measured: Vec<Measured> = Vec::new();
    for cell in &grid.cells {
        let bundle = grid.bundle(cell);
        let endpoints = (&transports, Path::new(""));
        run_cell(
            &grid.episode(&shared, cell),
            endpoints,
            &bundle,
            progress.as_ref(),
        )
        .await?;
        let traffic = Traffic::of(&bundle)?;
        let place = measured
            .iter()
            .position(|one| (one.mode, one.arm) == (cell.mode, cell.arm()));
        match place.and_then(|place| measured.get_mut(place)) {
            Some(one) => one.thorough = traffic,
            None => measured.push(Measured {
                mode: cell.mode,
                arm: cell.arm(),
                brief: traffic,
                thorough: traffic,
            }),
        }
    }
    Ok(measured)
}

/// Steps that [`measure`] runs for an experiment with these cells, at most.
#[must_use]
pub fn steps_measured(cells: &[Cell]) -> usize {
    let mut settings: Vec<(Mode, MaskArm)> = Vec::new();
    for cell in cells {
        if !settings.contains(&(cell.mode, cell.arm())) {
            settings.push((cell.mode, cell.arm()));
        }
    }
    2 * DAYS * settings.len()
}

/// The built-in agents on the first days of the experiment's first window.
fn grid(config: &ExperimentConfig, source: &MarketSource, output: &Path) -> Result<Grid, PlanningError> {
    let short = ExperimentConfig {
        agents: [BRIEF, THOROUGH].map(AgentConfig::builtin).to_vec(),
        windows: config.windows.first(),
        seeds: config.seeds.iter().take(1).copied().collect(),
        budget: Caps::default(),
        prices: None,
        canary: None,
        rates: std::collections::BTreeMap::new(),
        ..config.clone()
    };
    let plan = RunPlan {
        config: short,
        base: PathBuf::new(),
        output: output.to_owned(),
        program: None,
    };
    // Aliases have the same length under every key.
    let mut grid = Grid::over(plan, source.clone(), MaskKey::from_bytes([0; 32]))?;
    for cell in &mut grid.cells {
        cell.window.days.truncate(DAYS);
    }
    grid.factors = Arc::new(LazyFactors::over(&source.market, &grid.cells)?);
    Ok(grid)
}

impl Traffic {
    fn of(bundle: &BundlePaths) -> Result<Self, PlanningError> {
        let sends = read_sends(&bundle.exchanges())?;
        let mut traffic = Self::default();
        let mut earlier: Vec<Vec<u8>> = Vec::new();
        let mut last: Option<(usize, u64)> = None;
        for sent in sends.iter().filter(|sent| sent.answer().is_some()) {
            let step = sent.intent.at.step;
            let bytes = count(sent.intent.request.len());
            if let Some((_, before)) = last.filter(|(last, _)| *last == step) {
                traffic.growth_bytes += bytes.saturating_sub(before);
            } else {
                traffic.steps += 1;
                traffic.first_bytes += bytes;
            }
            last = Some((step, bytes));
            traffic.calls += 1;
            traffic.request_bytes += bytes;
            let rendered = rendered(&sent.intent.request);
            let readable = earlier.iter().map(|one| common_prefix(one, &rendered)).max();
            let readable = readable.filter(|readable| READABLE_BYTES_MIN <= *readable);
            traffic.readable_bytes += readable.unwrap_or(0).min(bytes);
            earlier.push(rendered);
        }
        Ok(traffic)
    }
}

/// A request in the order in which vendors read it.
fn rendered(request: &str) -> Vec<u8> {
    let request: Value = serde_json::from_str(request).unwrap_or_default();
    let parts = ["tools", "messages"].map(|key| request.get(key).and_then(Value::as_array));
    let parts = parts.into_iter().flatten().flatten();
    parts.flat_map(|part| part.to_string().into_bytes()).collect()
}

fn common_prefix(left: &[u8], right: &[u8]) -> u64 {
    count(
        left.iter()
            .zip(right)
            .take_while(|(left, right)| left == right)
            .count(),
    )
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_come_before_messages() {
        let request = r#"{"messages":[{"role":"user","content":"x"}],"model":"m","tools":[{"name":"t"}]}"#;
        let text = String::from_utf8(rendered(request)).unwrap();
        assert!(text.starts_with(r#"{"name":"t"}{"#), "{text}");
        assert!(!text.contains("\"m\""));
        assert_eq!(common_prefix(b"abcd", b"abxd"), 2);
    }
}
