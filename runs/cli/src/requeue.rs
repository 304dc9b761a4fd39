//! `ktd retry` and `ktd cancel`.

use super::enqueue::ServerArgs;
use super::runtime::runtime;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_server::ServerDatabase;
use schemars::JsonSchema;
use serde::Serialize;

const EXAMPLE: &str = "\
Examples:
  ktd retry 3 --server URL                      # all dead, capped and cancelled units of study 3
  ktd retry 3 W1-blinded-gpt-s1 --server URL
  ktd cancel 3 --server URL                     # all that wait or run; a call under way counts whole

`ktd status --server URL` names studies and units.";

/// Which units.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct RequeueArgs {
    /// The study, by its number.
    study: i64,
    /// Its units (default: all).
    units: Vec<String>,
    #[command(flatten)]
    server: ServerArgs,
}

/// Units that were moved.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Requeued {
    study: i64,
    /// How many.
    units: u64,
}

/// Runs the command: `is_retry`, or units are taken out.
///
/// # Errors
/// [`CliError`] for a server that does not answer, and where no unit is of that kind.
pub(super) fn run(args: &RequeueArgs, is_retry: bool, console: Console) -> Result<(), CliError> {
    let count = runtime()?.block_on(async {
        let database = ServerDatabase::connect(&args.server.server).await?;
        if is_retry {
            database.retry(args.study, &args.units).await
        } else {
            database.cancel(args.study, &args.units).await
        }
    })?;
    if count == 0 {
        let which = if is_retry {
            "dead, capped or cancelled"
        } else {
            "waiting, running or capped"
        };
        return Err(CliError::input(
            format_args!("study {} has no such unit that is {which}", args.study),
            "look with `ktd status --server URL`",
        ));
    }
    let what = if is_retry { "wait again" } else { "were taken out" };
    console.result(
        &format!("{count} units {what}"),
        &Requeued {
            study: args.study,
            units: count,
        },
    )
}
