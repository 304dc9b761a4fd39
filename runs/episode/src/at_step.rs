//! Rules and mask of a step, which branches may have changed.

use crate::{EpisodeError, EpisodeInput};
use ktd_env::exchange::Rules;
use ktd_experiment::branch::BranchChange;
use ktd_masking::{EpisodeFrame, Mask};

/// The rules of a step: a branch may have changed them.
pub(super) fn rules_at(input: &EpisodeInput<'_>, step: usize) -> Result<Rules, EpisodeError> {
    let changed = input
        .cell
        .changes_at(step)
        .into_iter()
        .find_map(|change| match change {
            BranchChange::Rules { rules } => Some(rules.rules()),
            BranchChange::Answer { .. } | BranchChange::Orders { .. } | BranchChange::Numeric { .. } => None,
        });
    let rules = changed.unwrap_or_else(|| input.shared.rules.rules());
    Ok(rules?)
}

/// The rules by which the exchange deals the orders of a step: controls have a bound of volume of their own, of which no prompt
/// tells.
pub(super) fn dealt_by(input: &EpisodeInput<'_>, step: usize, rules: &Rules) -> Rules {
    let rules = rules.clone();
    if input.cell.agent_at(step).is_control() {
        rules.of_control()
    } else {
        rules
    }
}

/// The mask of a step, under the rules that the episode began with.
pub(super) fn mask_at(input: &EpisodeInput<'_>, step: usize) -> Result<Option<Mask>, EpisodeError> {
    let frame = EpisodeFrame {
        market: &input.shared.market,
        window: &input.cell.window.days,
        initial_cash: input.shared.rules.rules()?.initial_cash,
    };
    Ok(Mask::new(input.cell.arm_at(step).settings, &input.key, &frame))
}
