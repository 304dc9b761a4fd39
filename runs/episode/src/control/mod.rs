//! Controls: agents that know what no model can know. They live here, where the whole market is, and not among the agents:
//! a control has a key of its own in an experiment file, its header says so, and no leaderboard ranks it.

mod oracle;

use crate::EpisodeError;
use crate::{EpisodeInput, mask_of};
use ktd_baselines::{BuiltinTransport, Follower};
use ktd_experiment::config::Control;
use oracle::Oracle;
use std::sync::Arc;

/// What answers for a control in an episode.
///
/// # Errors
/// [`EpisodeError::Input`] when the episode's rules or window cannot be.
pub fn transport(control: Control, input: &EpisodeInput<'_>) -> Result<BuiltinTransport, EpisodeError> {
    let Control::Oracle = control;
    let rules = input.shared.rules.rules()?;
    let mask = mask_of(input)
        .ok_or_else(|| EpisodeError::input("the window has no days", "name one that the panel covers"))?;
    let oracle = Oracle::new(
        Arc::clone(&input.shared.market),
        &input.shared.factors,
        mask,
        rules,
        &input.cell.window.days,
    );
    Ok(BuiltinTransport::new(Arc::new(Follower::new(Arc::new(oracle)))))
}
