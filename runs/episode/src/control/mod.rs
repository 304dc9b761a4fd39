//! Agents that know what no model is shown: controls, and the built-in agent that trades a pool of formulas. They live here,
//! where the whole market is, and not among the agents; headers say what they are.

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
use ktd_experiment::agent::{Control, PoolFile, SignalsControl};
use ktd_formulas::TradedPool;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::read_input_bytes;
use ktd_masking::Mask;
use oracle::Oracle;
use shown_names::ShownNames;
use signals::{Choice, Signals};
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
    let market = Arc::clone(&input.shared.market);
    let days = &input.cell.window.days;
    let shown = shown_names(input)?;
    let plan: Arc<dyn Plan> = match control {
        Control::Oracle => Arc::new(Oracle::new(market, shown, rules, days)),
        Control::Signals(signals) => Arc::new(Signals {
            scores: scores(signals, input, base)?,
            market,
            shown,
            rules,
            days: days.clone(),
            strategy: Choice::Named(signals.strategy),
        }),
    };
    Ok(BuiltinTransport::new(Arc::new(Follower::new(plan))))
}

/// What answers for the built-in agent that holds the highest scores of a pool of formulas; `base` is the experiment file's
/// directory.
///
/// # Errors
/// [`EpisodeError`] when the pool is not the one that the header names, or days of the window have made it.
pub fn formula_transport(
    pool: &PoolFile,
    input: &EpisodeInput<'_>,
    base: &Path,
) -> Result<BuiltinTransport, EpisodeError> {
    let path = pool.path(base);
    let bytes = named_bytes(&path, pool.sha256.as_ref())?;
    let market = &input.shared.market;
    let days = &input.cell.window.days;
    let traded = TradedPool::parse(&path, &bytes)?;
    if let Some(first) = days.first().and_then(|day| market.date(*day)) {
        traded.is_made_before(first)?;
    }
    let as_of: Vec<DayIndex> = days.iter().filter_map(|day| day.before()).collect();
    let plan: Arc<dyn Plan> = Arc::new(Signals {
        scores: traded.scores(market, &as_of)?,
        market: Arc::clone(market),
        shown: shown_names(input)?,
        rules: input.shared.rules.rules()?,
        days: days.clone(),
        strategy: Choice::Highest,
    });
    Ok(BuiltinTransport::new(Arc::new(Follower::new(plan))))
}

fn shown_names(input: &EpisodeInput<'_>) -> Result<ShownNames, EpisodeError> {
    let mask = mask_of(input)
        .ok_or_else(|| EpisodeError::input("the window has no days", "name one that the panel covers"))?;
    let (market, days) = (&input.shared.market, &input.cell.window.days);
    Ok(ShownNames::new(mask, market, input.shared.factors.get()?, days))
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
    named_bytes(&path, signals.scores_sha256.as_ref())?;
    Ok(ScoreTable::read(&path, &input.shared.market)?)
}

/// The bytes of the file that the header names by its hash.
fn named_bytes(path: &Path, named: Option<&String>) -> Result<Vec<u8>, EpisodeError> {
    let bytes = read_input_bytes(path)?;
    let found = sha256_hex(&bytes);
    if named == Some(&found) {
        return Ok(bytes);
    }
    Err(EpisodeError::input(
        format!("{} has changed: its hash is now {found}", path.display()),
        "run the experiment again under another name or output directory",
    ))
}
