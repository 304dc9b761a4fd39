//! One cell: what its agent's connection needs, and its episode.

use crate::control;
use crate::transports::{Connection, Transports};
use crate::{EpisodeError, EpisodeInput, Shared, finished_episode, run_episode};
use ktd_bundle::BundlePaths;
use ktd_bundle::mask_key::cell_token;
use ktd_bundle::summary::Summary;
use ktd_client::progress::Progress;
use ktd_env::factors::FactorConfig;
use ktd_env::{FactorTable, Market};
use ktd_experiment::cells::Cell;
use ktd_masking::MaskKey;
use std::path::{Path, PathBuf};

/// The factor table over the as-of days of all cells.
///
/// # Errors
/// [`EpisodeError::Input`] when the panel is too short for the factors.
pub fn factor_table(market: &Market, cells: &[Cell]) -> Result<FactorTable, EpisodeError> {
    let as_of_days = cells
        .iter()
        .flat_map(|cell| &cell.window.days)
        .filter_map(|day| day.before());
    let first = as_of_days.clone().min();
    let last = as_of_days.max();
    let (Some(first), Some(last)) = (first, last) else {
        return Err(EpisodeError::input(
            "no window has a trading day",
            "choose other dates",
        ));
    };
    FactorTable::new(market, &FactorConfig::KTD, first, last)
        .map_err(|error| EpisodeError::input(error.to_string(), error.hint()))
}

/// Runs a cell into its bundle, or continues it.
///
/// # Errors
/// [`EpisodeError`]; what was written stands.
pub(crate) async fn run_cell(
    shared: &Shared,
    (transports, base): &(Transports, PathBuf),
    (cell, key): (&Cell, MaskKey),
    bundle: &Path,
    progress: &dyn Progress,
) -> Result<Summary, EpisodeError> {
    let input = EpisodeInput { shared, cell, key };
    let paths = BundlePaths::new(bundle);
    let who = (&cell.agent, &cell.provider);
    match transports.connect(who, cell.seed, &shared.market, base)? {
        Connection::Model(transport) => run_episode(&input, &paths, transport.as_ref(), progress).await,
        Connection::Control(control) => {
            let transport = control::transport(&control, &input, base)?;
            run_episode(&input, &paths, &transport, progress).await
        }
        Connection::Formula(pool) => {
            let transport = control::formula_transport(&pool, &input, base)?;
            run_episode(&input, &paths, &transport, progress).await
        }
        Connection::Process(agent) => {
            let bridge = agent.bridge();
            let watched = bridge.agent().watched(progress);
            let result = run_episode(&input, &paths, &bridge, &watched).await;
            bridge.agent().close(result.is_ok()).await;
            result
        }
        Connection::Client => finished_episode(&input, &paths)?.ok_or_else(|| {
            EpisodeError::input(
                format!(
                    "agent {:?} calls over MCP, and this cell has not been played",
                    cell.agent.id
                ),
                format!(
                    "let its client start `ktd mcp` with this file and `--cell {}`, which tells it no window",
                    cell_token(&input.key, &cell.agent.id)
                ),
            )
        }),
    }
}
