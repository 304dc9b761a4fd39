//! `ktd mcp EXPERIMENT.toml`.

use super::run::plan;
use super::runtime::runtime;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_bundle::BundlePaths;
use ktd_bundle::mask_key::cell_token;
use ktd_client::outside_agent::{AgentMailbox, BridgeTransport, EpisodeEnd, Server, Steps, TrackedProgress};
use ktd_client::progress::Progress;
use ktd_episode::EpisodeError;
use ktd_episode::grid::Grid;
use ktd_episode::{EpisodeInput, run_episode};
use ktd_experiment::cells::Cell;
use rmcp::ServiceExt;
use std::path::PathBuf;
use std::sync::Arc;

const EXAMPLE: &str = "\
Example experiment file:

  name = \"mine\"
  masks = [{ level = \"blinded\" }]
  agents = [{ id = \"mine\", external = \"mcp\" }]
  windows = [{ id = \"short\", last_days = 20 }]

Example entry of an MCP client's configuration:

  { \"command\": \"ktd\", \"args\": [\"mcp\", \"mine.toml\"] }

The client trades with the harness's own tools; starting the same command again continues the episode.
What a client may see of this command, its arguments and standard error among it, names no window, cell or length.";

/// Let an MCP client trade one cell: a server on standard input and output, no network.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct McpArgs {
    /// The experiment file, with an agent that has `external = "mcp"`.
    pub experiment: PathBuf,
    /// Which cell, by the name that `ktd run` gives for its client, or by its id, which tells the client the window
    /// (default: the first of such an agent that is not finished).
    #[arg(long)]
    pub cell: Option<String>,
    /// Results directory (default: the file's `output`, else `results/NAME` beside the file).
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// Runs the command: ends when the client leaves.
///
/// # Errors
/// [`CliError`] when nothing can be started, or the episode stopped for a reason that is not the client's leaving.
pub(super) fn run(args: &McpArgs, console: Console) -> Result<(), CliError> {
    let mut plan = plan(&args.experiment, args.out.as_deref())?;
    // The keys and programs of other agents are not needed here.
    plan.config.agents.retain(|agent| agent.client().is_some());
    if plan.config.agents.is_empty() {
        return Err(CliError::invalid(format_args!(
            "{}: no agent calls over MCP",
            args.experiment.display()
        ))
        .with_hint("add one: agents = [{ id = \"mine\", external = \"mcp\" }]"));
    }
    let grid = Grid::open(plan)?;
    let cell = choose(&grid, args.cell.as_deref())?;
    let shared = grid.shared(grid.accounts()?);
    let (input, paths) = (grid.episode(&shared, cell), grid.bundle(cell));
    let names = Names::of(token(&grid, cell), &input, &paths);
    let played = runtime()?.block_on(play(&input, &paths, (&names, console)));
    played.map_err(|error| error.reworded(|text| names.hidden(text)))
}

/// What standard error must not say, for a client may read it: it is told the cell's token in their place.
struct Names {
    token: String,
    cell: String,
    bundle: String,
}

impl Names {
    fn of(token: String, input: &EpisodeInput<'_>, paths: &BundlePaths) -> Self {
        Self {
            token,
            cell: input.cell.id.clone(),
            bundle: paths.root().display().to_string(),
        }
    }

    /// A text without them.
    fn hidden(&self, text: &str) -> String {
        let text = text.replace(&self.bundle, &format!("the bundle of cell {}", self.token));
        text.replace(&self.cell, &self.token)
    }
}

/// What a client is told of a cell.
fn token(grid: &Grid, cell: &Cell) -> String {
    cell_token(&grid.episode_key(cell), &cell.agent.id)
}

fn choose<'a>(grid: &'a Grid, wanted: Option<&str>) -> Result<&'a Cell, CliError> {
    let is_open = |cell: &&Cell| !grid.bundle(cell).summary().exists();
    let cells = &grid.cells;
    let chosen = match wanted {
        Some(wanted) => cells
            .iter()
            .find(|cell| cell.id == wanted || token(grid, cell) == wanted),
        None => cells.iter().find(is_open).or_else(|| cells.last()),
    };
    chosen.ok_or_else(|| {
        let known: Vec<String> = cells.iter().map(|cell| token(grid, cell)).collect();
        CliError::invalid(format_args!(
            "there is no cell {:?} of such an agent",
            wanted.unwrap_or_default()
        ))
        .with_hint(format_args!("it is one of {}", known.join(", ")))
    })
}

async fn play(
    input: &EpisodeInput<'_>,
    paths: &BundlePaths,
    (names, console): (&Names, Console),
) -> Result<(), CliError> {
    let steps: Arc<Steps> = Arc::default();
    let mailbox = Arc::new(AgentMailbox::new(Arc::clone(&steps)));
    let bridge = BridgeTransport::new(Arc::clone(&mailbox));
    let notes = Notes(console);
    let watched = TrackedProgress::new(Arc::clone(&steps), &notes);
    console.note(&format!("cell {}", names.token));
    let episode = async {
        let result = run_episode(input, paths, &bridge, &watched).await;
        close(&mailbox, result.as_ref().err(), (names, console));
        result
    };
    let client = serve(&mailbox);
    tokio::pin!(episode, client);
    tokio::select! {
        result = &mut episode => {
            // The client may still ask what became of the episode.
            let served = client.await;
            result?;
            served
        }
        served = &mut client => {
            served?;
            let now = steps.now();
            console.note(&format!(
                "the client left in step {}; the same command continues there",
                now.step
            ));
            Ok(())
        }
    }
}

fn close(mailbox: &AgentMailbox, error: Option<&EpisodeError>, (names, console): (&Names, Console)) {
    match error {
        None => {
            mailbox.close(EpisodeEnd::Finished);
            console.note("the episode is over; its bundle is finished");
        }
        Some(error) => {
            mailbox.close(EpisodeEnd::Stopped);
            console.note(&names.hidden(&format!("the episode has stopped: {error}")));
        }
    }
}

/// Serves the client until it leaves. An episode that stopped before its first question has nothing to serve.
async fn serve(mailbox: &Arc<AgentMailbox>) -> Result<(), CliError> {
    let first = mailbox.question().await;
    if matches!(first, Err(EpisodeEnd::Stopped)) {
        return Ok(());
    }
    let server = Server::new(Arc::clone(mailbox), &first);
    let running = server
        .serve(rmcp::transport::io::stdio_pipes())
        .await
        .map_err(|error| {
            CliError::invalid(format_args!("the client does not speak MCP: {error}"))
                .with_hint("this command is started by an MCP client; see docs/own-agent.md")
        })?;
    running
        .waiting()
        .await
        .map(|_| ())
        .map_err(|error| CliError::difference(format_args!("the server broke off: {error}")))
}

/// One line a step on standard error: standard output belongs to the protocol. How many there are is not said.
struct Notes(Console);

impl Progress for Notes {
    fn step_ended(&self, _: &str, step: usize, _: usize) {
        self.0.note(&format!("step {step} ended"));
    }
}
