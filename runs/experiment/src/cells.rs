//! The grid: agents x windows x masks x modes x seeds.

use super::config::{AgentConfig, ExperimentConfig};
use super::provider::Provider;
use super::prune::Uninformative;
use crate::ExperimentError;
use crate::branch::{BranchChange, BranchRecord, changes_at, numeric_at};
use crate::drawn_windows::{DrawSecret, DrawnWindow, drawn};
use crate::mask_arm::{MaskArm, MaskInstruction};
use crate::price_table::TokenPricing;
use crate::window_config::{WindowConfig, Windows};
use ktd_env::{DateSpan, DayIndex, Market, TradeDate};
use ktd_masking::{FormulaReader, MaskSettings, Mode};
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

/// A window on a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Its name.
    pub id: String,
    /// Its trading days; the first has a day before it.
    pub days: Vec<DayIndex>,
    /// How it was drawn; `None` for one that the file names.
    pub drawn: Option<DrawnWindow>,
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

/// The windows of an experiment on a panel, in its order.
///
/// # Errors
/// [`ExperimentError::Input`] for a window outside the panel, and for one that begins too soon after the panel for formulas.
pub fn windows(
    config: &ExperimentConfig,
    market: &Market,
    secret: Option<&DrawSecret>,
) -> Result<Vec<Window>, ExperimentError> {
    let shows_days = |arm: &MaskArm| !arm.settings.level.hides_days();
    let windows: Vec<Window> = match &config.windows {
        Windows::Drawn(draw) => drawn(draw, secret, config.masks.iter().any(shows_days), market)?,
        Windows::Listed(windows) => windows
            .iter()
            .map(|window| resolve_window(window, market))
            .collect::<Result<_, _>>()?,
    };
    match windows
        .iter()
        .find_map(|window| Some((&window.id, sessions_before(window)?)))
        .filter(|_| config.tools.expressions)
    {
        None => Ok(windows),
        Some((id, have)) => Err(ExperimentError::input(
            format!(
                "window {id}: `tools.expressions` is on and the panel has {have} trading days before the window, but a formula \
                 may read {} of them",
                FormulaReader::most_rows()
            ),
            "let the window start later, import a panel that starts earlier, or remove `tools.expressions`",
        )),
    }
}

/// Trading days that the panel has before a window, where they are fewer than a formula may read: then no stock has a value.
fn sessions_before(window: &Window) -> Option<usize> {
    let have = window.days.first()?.index();
    (have < FormulaReader::most_rows()).then_some(have)
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

/// The days of a window on a panel.
///
/// # Errors
/// [`ExperimentError::Input`] for a window outside the panel.
pub fn resolve_window(window: &WindowConfig, market: &Market) -> Result<Window, ExperimentError> {
    let days = match window.last_days {
        Some(count) => last_days(count, market, &window.id)?,
        None => dated_days(window, market)?,
    };
    Ok(Window {
        id: window.id.clone(),
        days,
        drawn: None,
    })
}

fn last_days(count: usize, market: &Market, id: &str) -> Result<Vec<DayIndex>, ExperimentError> {
    let all = market.calendar().len();
    let first = all
        .checked_sub(count)
        .filter(|first| 0 < *first && count > 0)
        .ok_or_else(|| {
            let what = format!("window {id}: last_days = {count}, but the panel has {all} trading days");
            ExperimentError::input(
                what,
                "choose fewer days: the day before the window must be in the panel",
            )
        })?;
    Ok((first..all).filter_map(|place| market.day_at(place)).collect())
}

fn dated_days(window: &WindowConfig, market: &Market) -> Result<Vec<DayIndex>, ExperimentError> {
    let id = &window.id;
    let dates = window.dates().ok_or_else(|| {
        let what = format!("window {id} has no dates and is no preset");
        ExperimentError::input(
            what,
            "give `start` and `end`, `last_days`, or an id of W1 .. W10 or long",
        )
    })?;
    let date = |text: &str| {
        TradeDate::parse(text).map_err(|error| {
            ExperimentError::input(format!("window {id}: {error}"), "write dates as 2024-04-01")
        })
    };
    days_between(id, date(&dates.first)?, date(&dates.last)?, market)
}

/// The trading days between two inclusive dates, which the panel must cover, with a day before the first.
///
/// # Errors
/// [`ExperimentError::Input`] naming what the panel covers.
pub fn days_between(
    id: &str,
    start: TradeDate,
    end: TradeDate,
    market: &Market,
) -> Result<Vec<DayIndex>, ExperimentError> {
    if end < start {
        let what = format!(
            "window {id} ends on {}, before its start on {}",
            end.reveal(),
            start.reveal()
        );
        return Err(ExperimentError::input(
            what,
            "exchange `start` and `end`, or fix one of them",
        ));
    }
    let days = market.days_within(DateSpan { start, end });
    let calendar = market.calendar();
    let covered = calendar.first().is_some_and(|first| *first < start)
        && calendar.last().is_some_and(|last| end <= *last);
    let has_as_of = days.first().is_some_and(|first| first.before().is_some());
    if covered && has_as_of {
        return Ok(days);
    }
    let edge = |date: Option<&TradeDate>| date.map(|date| date.reveal()).unwrap_or_default();
    let what = format!(
        "window {id} ({}..{}) is not inside the panel ({}..{})",
        start.reveal(),
        end.reveal(),
        edge(calendar.first()),
        edge(calendar.last())
    );
    Err(ExperimentError::input(
        what,
        "import a longer panel or choose another window; the panel must start before it",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
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
