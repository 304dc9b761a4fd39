//! Cells that carry no information of their own, and are left out where an experiment asks for it.

use super::config::ExperimentConfig;
use crate::mask_arm::MaskArm;
use ktd_masking::{Level, Mode};
use serde::Serialize;

/// Why a cell of the grid tells nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Uninformative {
    /// `memory-only` under `blinded`: neither a memory nor a number to pick a stock by.
    AliasesAlone,
    /// `memory-only` under `stock-blind`: no memory of a stock, no number, but the real day.
    AliasesAndDays,
    /// `memory-only` under `bright`, where the same cell with finer numbers is in the grid.
    SameAsFiner,
}

impl Uninformative {
    /// Why the cell of this mode and mask adds no information to the grid's other masks; `None` when it may add some.
    ///
    /// Of a stock that is not held `memory-only` shows the identifier and the board, and nothing else. Where the
    /// identifier is an alias, there is nothing to choose it by. What the account tells of stocks held is the same
    /// under every level.
    ///
    /// Under `date-blind` they are different cells for each setting of the numbers: the prices at which orders filled help to
    /// tell the day. Under `bright` the day is told anyway.
    #[must_use]
    pub fn of(mode: Mode, arm: MaskArm, arms: &[MaskArm]) -> Option<Self> {
        if mode != Mode::MemoryOnly {
            return None;
        }
        let is_finer_there = || {
            let same = arms.iter().filter(|other| other.label() == arm.label());
            same.into_iter()
                .any(|other| other.settings.numeric < arm.settings.numeric)
        };
        match arm.settings.level {
            Level::Blinded => Some(Self::AliasesAlone),
            Level::StockBlind => Some(Self::AliasesAndDays),
            Level::Bright if is_finer_there() => Some(Self::SameAsFiner),
            Level::Bright | Level::DateBlind => None,
        }
    }

    /// The reason in words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::AliasesAlone => "aliases without a number: nothing to pick a stock by",
            Self::AliasesAndDays => {
                "aliases without a number: nothing to pick a stock by; the real day could time the market alone"
            }
            Self::SameAsFiner => {
                "names and days are told and no number is: what a stock is picked by is the same with finer numbers"
            }
        }
    }
}

/// Cells of one mode and mask that are left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pruned {
    /// The mode.
    pub mode: Mode,
    /// The mask.
    pub arm: MaskArm,
    /// How many, over all agents, windows and seeds.
    pub cells: usize,
    /// Why.
    pub why: Uninformative,
}

impl Pruned {
    /// What is left out and why, in words.
    #[must_use]
    pub fn told(&self) -> String {
        format!(
            "{} cells of {} under {}/{} are left out (prune = true): {}",
            self.cells,
            self.mode.label(),
            self.arm.label(),
            self.arm.settings.numeric.label(),
            self.why.reason()
        )
    }
}

/// What an experiment leaves out: nothing, unless it says `prune = true`.
#[must_use]
pub fn pruned(config: &ExperimentConfig) -> Vec<Pruned> {
    if !config.prune {
        return Vec::new();
    }
    let cells = config.agents.len() * config.windows.len() * config.seeds.len();
    let pairs = config
        .masks
        .iter()
        .flat_map(|mask| config.modes.iter().map(|mode| (*mask, *mode)));
    let pruned = pairs.filter_map(|(arm, mode)| {
        let why = Uninformative::of(mode, arm, &config.masks)?;
        Some(Pruned {
            mode,
            arm,
            cells,
            why,
        })
    });
    pruned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExperimentError;
    use crate::cells::cells;
    use ktd_env::synth::{SynthConfig, generate};
    use ktd_masking::MaskSettings;

    fn config(more: &str) -> ExperimentConfig {
        let text = format!(
            "name = \"x\"\nwindows = [{{ id = \"w\", last_days = 2 }}, {{ id = \"v\", last_days = 3 }}]\n\
             seeds = [1, 2, 3]\nagents = [{{ id = \"h\", builtin = \"hold\" }}]\n{more}"
        );
        ExperimentConfig::parse(&text).unwrap()
    }

    fn grid(config: &ExperimentConfig) -> Result<Vec<(Mode, MaskSettings)>, ExperimentError> {
        let market = generate(&SynthConfig {
            seed: 1,
            names: 5,
            days: 20,
        })
        .unwrap();
        let cells = cells(config, &market, None)?;
        Ok(cells.into_iter().map(|cell| (cell.mode, cell.mask)).collect())
    }

    const ALL: &str = "modes = [\"memory-only\", \"fixed-candidate\", \"open-research\"]\n\
                       masks = [{ level = \"bright\" }, { level = \"stock-blind\" }, { level = \"date-blind\" }, \
                       { level = \"blinded\" }]\n";

    #[test]
    fn nothing_is_left_out_unless_asked_for() {
        let all = config(ALL);
        assert_eq!(grid(&all).unwrap().len(), 72);
        assert_eq!(pruned(&all), []);
    }

    #[test]
    fn memory_without_names_is_left_out() {
        let config = config(&format!("prune = true\n{ALL}"));
        let (left, out) = (grid(&config).unwrap(), pruned(&config));
        assert_eq!(left.len(), 60);
        let out: Vec<_> = out
            .iter()
            .map(|one| (one.mode, one.arm.settings.level, one.cells, one.why))
            .collect();
        assert_eq!(
            out,
            [
                (
                    Mode::MemoryOnly,
                    Level::StockBlind,
                    6,
                    Uninformative::AliasesAndDays
                ),
                (Mode::MemoryOnly, Level::Blinded, 6, Uninformative::AliasesAlone),
            ]
        );
        let has_memory = |level| {
            left.iter()
                .any(|(mode, mask)| *mode == Mode::MemoryOnly && mask.level == level)
        };
        assert_eq!(Level::ALL.map(has_memory), [true, false, true, false]);
    }

    #[test]
    fn coarser_memory_is_a_copy_where_names_and_days_are_told_and_a_finer_one_is_there() {
        let out = |masks: &str| {
            let config = config(&format!(
                "prune = true\nmodes = [\"memory-only\", \"fixed-candidate\"]\nmasks = [{masks}]"
            ));
            let out = pruned(&config);
            out.into_iter().map(|one| one.why).collect::<Vec<_>>()
        };
        let rescaled = "{ level = \"bright\", numeric = \"rescaled\" }";
        assert_eq!(
            out(&format!("{rescaled}, {{ level = \"bright\" }}")),
            [Uninformative::SameAsFiner]
        );
        assert_eq!(out(rescaled), []);
        let banded = "{ level = \"bright\", numeric = \"banded\" }";
        assert_eq!(
            out(&format!("{banded}, {rescaled}")),
            [Uninformative::SameAsFiner]
        );
        assert_eq!(out(banded), []);
        let dates = "{ level = \"date-blind\" }, { level = \"date-blind\", numeric = \"rescaled\" }";
        assert_eq!(out(dates), []);
    }

    #[test]
    fn a_grid_without_a_cell_is_refused() {
        let config = config("prune = true\nmodes = [\"memory-only\"]\nmasks = [{ level = \"blinded\" }]");
        let error = grid(&config).unwrap_err();
        assert!(error.to_string().contains("`prune` leaves no cell"), "{error}");
    }
}
