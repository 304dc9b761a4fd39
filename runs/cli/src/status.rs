//! `ktd status DIR`.

use super::given::study_at;
use super::runtime::runtime;
use super::signals::told_to_end;
use super::status_view::StatusView;
use super::study;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_study::compare_invoice;
use ktd_view::draw::counted;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLE: &str = "\
Examples:
  ktd status results/factor-code
  ktd status results/factor-code --json     # every open and failed unit
  ktd status results/season --watch         # again and again, until nobody runs it any more
  ktd status results/season --invoice bill.csv    # day,model,usd: line by line beside what was sent

It reads while another process runs the study, holds up nobody, and writes nothing.";

/// Say how far a study is: finished, open and failed units, what was asked and spent, and what to type to go on.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct StatusArgs {
    /// The folder of a study's results.
    #[arg(value_name = "DIR")]
    #[cfg_attr(feature = "server", arg(required_unless_present = "server"))]
    #[cfg_attr(not(feature = "server"), arg(required = true))]
    folder: Option<PathBuf>,
    /// The queue of a server instead: waiting, running and dead units, money, workers and the limits that they obey.
    #[cfg(feature = "server")]
    #[arg(long, value_name = "URL", conflicts_with_all = ["folder", "invoice", "watch"])]
    server: Option<String>,
    /// Compare an invoice, a CSV file with the columns `day` (UTC), `model` and `usd`, with what was sent.
    #[arg(long, value_name = "FILE")]
    invoice: Option<PathBuf>,
    /// Say it again as it changes, until no process runs the study any more: on a terminal in its place, else a line a change.
    #[arg(long, conflicts_with = "invoice")]
    watch: bool,
    /// Seconds between two looks.
    #[arg(long, value_name = "SECONDS", requires = "watch", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for a folder without a study.
pub(super) fn run(args: &StatusArgs, console: Console) -> Result<(), CliError> {
    #[cfg(feature = "server")]
    if let Some(server) = &args.server {
        let status = runtime()?
            .block_on(async { ktd_server::ServerDatabase::connect(server).await?.status().await })?;
        return study::show_value(&status.report(), &status, console);
    }
    // Without it the line of arguments was refused.
    let folder = args.folder.as_deref().unwrap_or_else(|| Path::new("."));
    if let Some(invoice) = &args.invoice {
        let compared = compare_invoice(folder, invoice)?;
        study::show_value(&compared.report(), &compared, console)?;
        return agreed(compared.disagreeing());
    }
    if args.watch {
        return watch(folder, Duration::from_secs(args.every), console);
    }
    let status = study_at(folder)?.status(folder)?;
    study::show_value(&status.report(), &status, console)
}

/// An invoice that differs from what was sent is a difference, as one of any other check.
///
/// # Errors
/// [`CliError`] where lines do not agree.
fn agreed(disagreeing: usize) -> Result<(), CliError> {
    if disagreeing == 0 {
        return Ok(());
    }
    let message = format!(
        "the invoice and what was sent disagree in {}",
        counted(disagreeing, "line")
    );
    Err(CliError::difference(message).with_hint(
        "ask the vendor for its requests of these days; days are UTC, and models go by the name that was asked for",
    ))
}

/// Looks again and again until no process writes the folder, or a signal asks for the end.
///
/// # Errors
/// [`CliError`] for a folder without a study, and one that cannot be read any more.
fn watch(folder: &Path, every: Duration, console: Console) -> Result<(), CliError> {
    let mut watched = study_at(folder)?.watch(folder)?;
    let tasks = runtime()?;
    let mut told = {
        let _within = tasks.enter();
        Box::pin(told_to_end().map_err(CliError::io("wait for signals at", folder))?)
    };
    let mut view = StatusView::new(console);
    loop {
        let status = watched.look()?;
        view.show(&status)?;
        if !status.is_running {
            return Ok(());
        }
        let is_told = tasks.block_on(async {
            tokio::select! {
                () = told.as_mut() => true,
                () = tokio::time::sleep(every) => false,
            }
        });
        if is_told {
            return Ok(());
        }
    }
}
