//! One cell: what its agent's connection needs, and its episode.

use crate::control;
use crate::transports::{Connection, Transports};
use crate::{EpisodeError, EpisodeInput, finished_episode, run_episode};
use ktd_bundle::BundlePaths;
use ktd_bundle::mask_key::cell_token;
use ktd_bundle::summary::Summary;
use ktd_client::progress::Progress;
use std::path::Path;

/// Runs a cell into its bundle, or continues it.
///
/// # Errors
/// [`EpisodeError`]; what was written stands.
pub async fn run_cell(
    input: &EpisodeInput<'_>,
    (transports, base): (&Transports, &Path),
    paths: &BundlePaths,
    progress: &dyn Progress,
) -> Result<Summary, EpisodeError> {
    let (cell, market) = (input.cell, &input.shared.market);
    let who = (&cell.agent, &cell.provider);
    match transports.connect(who, cell.seed, market, base)? {
        Connection::Model(transport) => run_episode(input, paths, transport.as_ref(), progress).await,
        Connection::Control(control) => {
            let transport = control::transport(&control, input, base)?;
            run_episode(input, paths, &transport, progress).await
        }
        Connection::Formula(pool) => {
            let transport = control::formula_transport(&pool, input, base)?;
            run_episode(input, paths, &transport, progress).await
        }
        Connection::Process(agent) => {
            let bridge = agent.bridge();
            let watched = bridge.agent().watched(progress);
            let result = run_episode(input, paths, &bridge, &watched).await;
            bridge.agent().close(result.is_ok()).await;
            result
        }
        Connection::Client => finished_episode(input, paths)?.ok_or_else(|| {
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
