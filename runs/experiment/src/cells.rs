//! The grid: agents x windows x masks x modes x seeds.

use super::config::{AgentConfig, ExperimentConfig};
use super::provider::Provider;
use super::prune::Uninformative;
use crate::ExperimentError;
use crate::branch::{BranchChange, BranchRecord, changes_at, numeric_at};
use crate::drawn_windows::DrawSecret;
use crate::mask_arm::{MaskArm, MaskInstruction};
use crate::panel_windows::{Window, windows};
use crate::price_table::TokenPricing;
use ktd_env::Market;
use ktd_masking::{MaskSettings, Mode};
use std::collections::BTreeSet;

/// One episode of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its identity and directory name.
    pub id: String,
    /// Who trades.
    pub agent: AgentConfig,
    /// How its model is spoken to.
    pub provider: Provider,
    /// What its tokens cost.
    pub basis: TokenPricing,
    /// When.
    pub window: Window,
    /// What is hidden.
    pub mask: MaskSettings,
    /// Whose text explains identifiers, if the episode is a prompt-only control.
    pub instruction: Option<MaskInstruction>,
    /// How it decides.
    pub mode: Mode,
    /// The published seed.
    pub seed: u64,
    /// Where it left another episode, if it is a branch.
    pub branch: Option<BranchRecord>,
}

impl Cell {
    /// Who answers in a step, 1-based: in a branch another agent may have answered before.
    #[must_use]
    pub fn agent_at(&self, step: usize) -> &AgentConfig {
        self.left_after(step).map_or(&self.agent, |left| &left.agent)
    }

    /// How its model is spoken to in a step.
    #[must_use]
    pub fn provider_at(&self, step: usize) -> &Provider {
        self.left_after(step)
            .map_or(&self.provider, |left| &left.provider)
    }

    /// The episode that a step is of, if it is not this one.
    fn left_after(&self, step: usize) -> Option<&BranchRecord> {
        let (mut found, mut branch) = (None, self.branch.as_ref());
        while let Some(left) = branch.filter(|left| step < left.step) {
            found = Some(left);
            branch = left.branch.as_deref();
        }
        found
    }

    /// What an episode's mask key is drawn for: window, mask, mode and seed. All agents have the same aliases there, so that
    /// they are compared on the same screens.
    #[must_use]
    pub fn mask_draw(&self) -> String {
        mask_draw(&self.window, self.arm(), self.mode, self.seed)
    }

    /// What is hidden, and whose text explains it.
    #[must_use]
    pub const fn arm(&self) -> MaskArm {
        MaskArm {
            settings: self.mask,
            instruction: self.instruction,
        }
    }

    /// The same in a step, 1-based: a branch may have changed how numbers are shown.
    #[must_use]
    pub fn arm_at(&self, step: usize) -> MaskArm {
        let settings = MaskSettings {
            numeric: numeric_at(self.branch.as_ref(), self.mask.numeric, step),
            ..self.mask
        };
        MaskArm {
            settings,
            ..self.arm()
        }
    }

    /// What branches changed in a step, the latest change first.
    #[must_use]
    pub fn changes_at(&self, step: usize) -> Vec<&BranchChange> {
        changes_at(self.branch.as_ref(), step)
    }

    /// The 1-based first step that is the episode's own; those before it are another one's.
    #[must_use]
    pub fn first_own_step(&self) -> usize {
        self.branch.as_ref().map_or(1, |branch| branch.step)
    }
}

/// All cells, in a fixed order, less those that `prune` leaves out. Drawn windows without their secret are stand-ins.
///
/// # Errors
/// [`ExperimentError::Input`] for a window outside the panel, and a grid of which nothing is left.
pub fn cells(
    config: &ExperimentConfig,
    market: &Market,
    secret: Option<&DrawSecret>,
) -> Result<Vec<Cell>, ExperimentError> {
    let windows = windows(config, market, secret)?;
    let settings = settings(config)?;
    let mut cells = Vec::new();
    let table = config.dialect_table()?;
    for agent in &config.agents {
        let provider = Provider::of(agent, &table)?;
        let who = (agent, &provider);
        for window in &windows {
            for (mask, mode) in &settings {
                let seeds = config.seeds.iter();
                cells.extend(seeds.map(|seed| cell(who, window, *mask, *mode, *seed)));
            }
        }
    }
    let mut ids = BTreeSet::new();
    match cells.iter().find(|cell| !ids.insert(&cell.id)) {
        None => Ok(cells),
        Some(twice) => Err(ExperimentError::input(
            format!("two cells are called {}", twice.id),
            "name each seed, mask and mode once, and keep `__` out of ids",
        )),
    }
}

/// Masks x modes, less what is left out.
fn settings(config: &ExperimentConfig) -> Result<Vec<(MaskArm, Mode)>, ExperimentError> {
    let is_run = |(mask, mode): &(MaskArm, Mode)| {
        !config.prune || Uninformative::of(*mode, *mask, &config.masks).is_none()
    };
    let pairs = config
        .masks
        .iter()
        .flat_map(|mask| config.modes.iter().map(|mode| (*mask, *mode)));
    let left: Vec<_> = pairs.filter(is_run).collect();
    if left.is_empty() {
        return Err(ExperimentError::input(
            "`prune` leaves no cell: memory-only without names tells nothing",
            "add a mask that shows names or another mode, or take `prune` out",
        ));
    }
    Ok(left)
}

fn mask_draw(window: &Window, arm: MaskArm, mode: Mode, seed: u64) -> String {
    format!(
        "{}__{}-{}__{}__s{seed}",
        window.id,
        arm.label(),
        arm.settings.numeric.label(),
        mode.label()
    )
}

fn cell(
    (agent, provider): (&AgentConfig, &Provider),
    window: &Window,
    arm: MaskArm,
    mode: Mode,
    seed: u64,
) -> Cell {
    Cell {
        id: format!("{}__{}", agent.id, mask_draw(window, arm, mode, seed)),
        agent: agent.clone(),
        provider: provider.clone(),
        basis: TokenPricing::of(agent.is_ours(), None),
        window: window.clone(),
        mask: arm.settings,
        instruction: arm.instruction,
        mode,
        seed,
        branch: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel_windows::days_between;
    use ktd_env::TradeDate;
    use ktd_env::synth::{SynthConfig, generate};

    #[test]
    fn the_agents_of_a_branch_of_a_branch_follow_each_other() {
        let market = generate(&SynthConfig {
            seed: 1,
            names: 5,
            days: 20,
        })
        .unwrap();
        let text = "name = \"x\"\nwindows = [{ id = \"w\", last_days = 9 }]\n\
                    agents = [{ id = \"c\", builtin = \"hold\" }]\n";
        let mut cell = cells(&ExperimentConfig::parse(text).unwrap(), &market, None)
            .unwrap()
            .remove(0);
        assert_eq!((cell.first_own_step(), cell.agent_at(1).id.as_str()), (1, "c"));
        let left = |id: &str, step, branch| BranchRecord {
            cell: "left".to_owned(),
            events_sha256: String::new(),
            step,
            agent: AgentConfig {
                id: id.to_owned(),
                ..cell.agent.clone()
            },
            provider: cell.provider.clone(),
            change: None,
            branch,
            copied_requests: 0,
        };
        let ids = |cell: &Cell| -> String { (1..=9).map(|step| cell.agent_at(step).id.clone()).collect() };
        let nested = left("b", 6, Some(Box::new(left("a", 3, None))));
        let early = left("b", 3, Some(Box::new(left("a", 6, None))));
        cell.branch = Some(nested);
        assert_eq!((cell.first_own_step(), ids(&cell).as_str()), (6, "aabbbcccc"));
        // Left before its own first step, nothing of the branch between is in it.
        cell.branch = Some(early);
        assert_eq!((cell.first_own_step(), ids(&cell).as_str()), (3, "aaccccccc"));
    }

    #[test]
    fn a_window_that_ends_before_it_starts_is_said_to() {
        let market = generate(&SynthConfig {
            seed: 1,
            names: 5,
            days: 20,
        })
        .unwrap();
        let (first, last) = (market.calendar()[5], market.calendar()[9]);
        assert_eq!(days_between("w", first, last, &market).unwrap().len(), 5);
        let error = days_between("w", last, first, &market).unwrap_err();
        let told = error.to_string();
        assert!(
            told.starts_with("window w ends on ") && told.contains(", before its start on "),
            "{told}"
        );
        let far = TradeDate::parse("2099-01-05").unwrap();
        let error = days_between("w", first, far, &market).unwrap_err();
        assert!(error.to_string().contains("is not inside the panel"), "{error}");
    }

    #[test]
    fn formulas_need_a_panel_that_is_longer_than_what_they_may_read() {
        let market = generate(&SynthConfig {
            seed: 1,
            names: 5,
            days: 250,
        })
        .unwrap();
        let windows = |days: usize, more: &str| {
            let text = format!(
                "name = \"x\"\nwindows = [{{ id = \"a\", last_days = 2 }}, {{ id = \"b\", last_days = {days} }}]\n\
                 agents = [{{ id = \"h\", builtin = \"hold\" }}]\n{more}"
            );
            windows(&ExperimentConfig::parse(&text).unwrap(), &market, None)
                .map_err(|error| error.to_string())
        };
        let on = "[tools]\nexpressions = true\n";
        assert_eq!(windows(10, on).unwrap().len(), 2);
        assert_eq!(windows(100, "").unwrap().len(), 2);
        let error = windows(11, on).unwrap_err();
        assert!(
            error.contains("window b") && error.contains("has 239 trading days") && error.contains("240"),
            "{error}"
        );
    }

    #[test]
    fn no_two_cells_share_a_name() {
        let market = generate(&SynthConfig {
            seed: 1,
            names: 5,
            days: 20,
        })
        .unwrap();
        let grid = |more: &str| {
            let text = format!(
                "name = \"x\"\nwindows = [{{ id = \"w\", last_days = 2 }}]\nagents = [{{ id = \"h\", builtin = \"hold\" }}]\n{more}"
            );
            cells(&ExperimentConfig::parse(&text).unwrap(), &market, None)
        };
        assert_eq!(grid("seeds = [1, 2]").unwrap().len(), 4);
        for twice in ["seeds = [1, 1]", "modes = [\"memory-only\", \"memory-only\"]"] {
            let error = grid(twice).unwrap_err();
            assert!(error.to_string().contains("two cells are called"), "{error}");
        }
    }
}
