//! `ktd status DIR`.

use super::given::study_at;
use super::study;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_study::compare_invoice;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd status results/factor-code
  ktd status results/factor-code --json     # every open and failed unit
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
    #[arg(long, value_name = "URL", conflicts_with_all = ["folder", "invoice"])]
    server: Option<String>,
    /// Compare an invoice, a CSV file with the columns `day` (UTC), `model` and `usd`, with what was sent.
    #[arg(long, value_name = "FILE")]
    invoice: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for a folder without a study.
pub(super) fn run(args: &StatusArgs, console: Console) -> Result<(), CliError> {
    #[cfg(feature = "server")]
    if let Some(server) = &args.server {
        let status = super::runtime::runtime()?
            .block_on(async { ktd_server::ServerDatabase::connect(server).await?.status().await })?;
        return study::show_value(&status.report(), &status, console);
    }
    // Without it the line of arguments was refused.
    let folder = args.folder.as_deref().unwrap_or_else(|| Path::new("."));
    if let Some(invoice) = &args.invoice {
        let compared = compare_invoice(folder, invoice)?;
        return study::show_value(&compared.report(), &compared, console);
    }
    let status = study_at(folder)?.status(folder)?;
    study::show_value(&status.report(), &status, console)
}
