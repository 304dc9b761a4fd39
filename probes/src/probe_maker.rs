//! What probes are made from, and where one lies.

use crate::plan::ProbePlan;
use ktd_env::exchange::Rules;
use ktd_env::{DayIndex, FactorTable, Market, NameId};
use ktd_tools::{ToolLimits, Toolbox};

/// Maker of the probes of one plan. Each hangs on the plan and its own number alone, so any thread may make any of them.
#[derive(Debug)]
pub struct ProbeMaker<'a> {
    /// The panel.
    pub market: &'a Market,
    /// Its factors over every day of the plan's stretches.
    pub factors: &'a FactorTable,
    /// The tools.
    pub toolbox: &'a Toolbox,
    /// The exchange's rules, by which an episode's account is run.
    pub rules: &'a Rules,
    /// The tools' limits.
    pub limits: &'a ToolLimits,
    /// What to make.
    pub plan: &'a ProbePlan,
}

/// Where an exhibit lies: an episode, the steps shown, and the target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene {
    pub(crate) stretch: usize,
    /// Place of the episode's first trading day.
    pub(crate) first: usize,
    /// 1-based first and last step shown.
    pub(crate) shown: (usize, usize),
    pub(crate) name: NameId,
}

impl ProbeMaker<'_> {
    /// The as-of day of a step of the episode that begins at `first`.
    pub(crate) fn as_of_day(&self, first: usize, step: usize) -> Option<DayIndex> {
        self.market.day_at((first + step).checked_sub(2)?)
    }
}
