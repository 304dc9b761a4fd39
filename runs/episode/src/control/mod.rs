//! Controls: agents that know what no model can know. They live here, where the whole market is, and not among the agents:
//! a control has a key of its own in an experiment file, and its header says so.

mod future;
mod oracle;
mod shown_names;
mod signals;

use crate::EpisodeError;
use crate::{EpisodeInput, mask_of};
use future::Future;
use ktd_baselines::{BuiltinTransport, Cheater, Follower, Plan};
use ktd_data::scores::ScoreTable;
use ktd_env::exchange::Rules;
use ktd_env::{DayIndex, FactorTable, Market};
use ktd_experiment::agent::{Control, SignalsControl};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::read_input_bytes;
use ktd_masking::Mask;
use oracle::Oracle;
use shown_names::ShownNames;
use signals::Signals;
use std::path::Path;
use std::sync::Arc;

/// What answers for a control in an episode; `base` is the experiment file's directory.
///
/// # Errors
/// [`EpisodeError::Input`] when the episode's rules or window cannot be, or its score file is not what the header names.
pub fn transport(
    control: &Control,
    input: &EpisodeInput<'_>,
    base: &Path,
) -> Result<BuiltinTransport, EpisodeError> {
    let rules = input.shared.rules.rules()?;
    let mask = mask_of(input)
        .ok_or_else(|| EpisodeError::input("the window has no days", "name one that the panel covers"))?;
    let market = Arc::clone(&input.shared.market);
    let days = &input.cell.window.days;
    let shown = ShownNames::new(mask, &market, &input.shared.factors, days);
    let plan: Arc<dyn Plan> = match control {
        Control::Oracle => Arc::new(Oracle::new(market, shown, rules, days)),
        Control::Signals(signals) => Arc::new(Signals {
            scores: scores(signals, input, base)?,
            market,
            shown,
            rules,
            days: days.clone(),
            strategy: signals.strategy,
        }),
    };
    Ok(BuiltinTransport::new(Arc::new(Follower::new(plan))))
}

/// The plan of perfect foresight over some trading days, shown through a mask.
#[must_use]
pub fn oracle(
    market: &Arc<Market>,
    factors: &FactorTable,
    mask: Mask,
    rules: Rules,
    days: &[DayIndex],
) -> Arc<dyn Plan> {
    let shown = ShownNames::new(mask, market, factors, days);
    Arc::new(Oracle::new(Arc::clone(market), shown, rules, days))
}

/// The agent that remembers the future of a market.
#[must_use]
pub fn cheater(market: &Arc<Market>) -> Cheater {
    Cheater::new(Arc::new(Future {
        market: Arc::clone(market),
    }))
}

/// The scores of the file that the header names by its hash.
fn scores(
    signals: &SignalsControl,
    input: &EpisodeInput<'_>,
    base: &Path,
) -> Result<ScoreTable, EpisodeError> {
    let path = base.join(&signals.scores);
    let found = sha256_hex(&read_input_bytes(&path)?);
    if signals.scores_sha256.as_ref() != Some(&found) {
        return Err(EpisodeError::input(
            format!("{} has changed: its hash is now {found}", path.display()),
            "run the experiment again under another name or output directory",
        ));
    }
    Ok(ScoreTable::read(&path, &input.shared.market)?)
}
