//! `ktd view`.

use super::runtime::runtime;
use super::signals::unless_told_to_end;
use super::study;
use super::unless_ending::unless_ending;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_certify::certificate_report;
use ktd_view::draw::{counted, grouped};
use ktd_viewer::{DocumentReaders, ServerSettings, ViewerServer, export};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd view                                  # all that lies below results/
  ktd view results/headline                 # while `ktd run` writes it, too
  ktd view results/headline --no-open --port 4817
  ktd view headline-published --export site # pages of a published folder, without a server

The pages are served to this machine alone, until Ctrl-C. Nothing is asked or run, and nothing but an exported site written.";

/// The port that is tried first, so that addresses last.
const USUAL_PORT: u16 = 4817;

/// Look at experiments, episodes and steps in a browser: read only, on this machine alone.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct ViewArgs {
    /// Results directories or bundles.
    #[arg(default_value = "results", value_name = "DIR")]
    directories: Vec<PathBuf>,
    /// The port; 0 for any that is free [default: 4817, or any where that is taken].
    #[arg(long)]
    port: Option<u16>,
    /// Print the address and open no browser.
    #[arg(long)]
    no_open: bool,
    /// Write the pages of published episodes to a new folder, or one episode to one file that ends with `.html`.
    #[arg(long, value_name = "OUT", conflicts_with_all = ["port", "no_open"])]
    export: Option<PathBuf>,
    /// Export boards and certificates that lie there, too: no signature covers them.
    #[arg(long, requires = "export")]
    documents: bool,
    /// Leave private parts unread: what others would see.
    #[arg(long)]
    public: bool,
}

/// Who says what stands in certificates, and how far studies are.
const READERS: DocumentReaders = DocumentReaders {
    certificate: certificate_report,
    status: study::status_of,
};

/// Runs the command.
///
/// # Errors
/// [`CliError`] when a directory is missing or the port is taken, and when a signal ends it.
pub(super) fn run(args: &ViewArgs, console: Console) -> Result<(), CliError> {
    if let Some(out) = &args.export {
        return write_site(args, out, console);
    }
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let server = bind(args).await?;
        let url = server.url();
        console.result(
            &format!("{url}\nCtrl-C ends it"),
            &ViewerAddress { url: url.clone() },
        )?;
        if !args.no_open && std::io::stdout().is_terminal() && !open(&url) {
            console.note("note: no browser could be opened here; open the address yourself");
        }
        // A signal is how it ends: no failure.
        match unless_told_to_end(server.serve()).await {
            Ok(ended) => Ok(ended?),
            Err(_) => Ok(()),
        }
    });
    // A page that is still being made holds up nobody who wants this to end.
    runtime.shutdown_background();
    ended
}

/// Where the viewer listens.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ViewerAddress {
    url: String,
}

/// Pages that were written.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ExportedSite<'s> {
    out: &'s Path,
    episodes: usize,
    files: usize,
    bytes: u64,
    /// Boards and certificates that no signature covers.
    left_out: usize,
}

fn write_site(args: &ViewArgs, out: &Path, console: Console) -> Result<(), CliError> {
    let site = unless_ending(|| Ok(export(&args.directories, out, args.documents, READERS)?))?;
    let text = format!(
        "{}: {}, {}, {} kB",
        out.display(),
        counted(site.episodes, "episode"),
        counted(site.files, "file"),
        grouped(usize::try_from(site.bytes / 1_000).unwrap_or(usize::MAX))
    );
    if 0 < site.left_out {
        console.note(&format!(
            "note: {} boards and certificates are left out, which no signature covers; `--documents` exports them",
            site.left_out
        ));
    }
    let document = ExportedSite {
        out,
        episodes: site.episodes,
        files: site.files,
        bytes: site.bytes,
        left_out: site.left_out,
    };
    console.result(&text, &document)
}

/// The port that was asked for; else the usual one, or any.
async fn bind(args: &ViewArgs) -> Result<ViewerServer, CliError> {
    let settings = |port: u16| ServerSettings {
        directories: args.directories.clone(),
        port,
        with_private: !args.public,
        readers: READERS,
    };
    if let Some(port) = args.port {
        return Ok(ViewerServer::bind(&settings(port)).await?);
    }
    match ViewerServer::bind(&settings(USUAL_PORT)).await {
        Ok(server) => Ok(server),
        Err(_) => Ok(ViewerServer::bind(&settings(0)).await?),
    }
}

/// Asks the system for its browser; whether it was there to ask.
fn open(url: &str) -> bool {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let quiet = || std::process::Stdio::null();
    let started = std::process::Command::new(opener)
        .arg(url)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn();
    started.is_ok()
}
