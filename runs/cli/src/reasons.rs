//! `ktd reasons BUNDLE_OR_DIR...`.

use super::selection::Selection;
use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use clap::Args;
use ktd_bundle::bundle_set::BundleSet;
use ktd_io::whole_file::write_whole;
use ktd_reasons::side;
use ktd_reasons::side::{SideOptions, side_by_side};
use ktd_reasons::{ReasonOptions, ReasonReport, read_reasons, table};
use std::path::PathBuf;
use std::sync::Mutex;

const EXAMPLE: &str = "\
Examples:
  ktd reasons results/anchor-depth-scan
  ktd reasons results/anchor-depth-scan --quote 3 --csv words.csv  # quotations, rates
  ktd reasons results/mine --lists my-lists             # my-lists/brand.en.txt …
  ktd reasons results/mine --side-by-side --agent anchor --window W1 --steps 1,5,9 --out W1.html
  ktd reasons results/mine --side-by-side --real        # the same stock in a row

Words that the harness told in the same step (codes and dates where they are shown, sectors) are counted apart. \
Lists and their rules: docs/reasons.md.";

/// Tells what models name in their reasons beyond what they were shown, by mask; or lays reasons side by side.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct ReasonsArgs {
    /// Results directories or bundles.
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// The panel, when it is no longer where the bundles were made.
    #[arg(long)]
    pub panel: Option<PathBuf>,
    /// Folder of word lists in place of the program's own, list by list.
    #[arg(long, value_name = "DIR")]
    pub lists: Option<PathBuf>,
    /// Quote up to N hits of each row.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "side_by_side")]
    pub quote: usize,
    /// Writes a CSV of all rates, a row a kind of words.
    #[arg(long, value_name = "FILE", conflicts_with = "side_by_side")]
    pub csv: Option<PathBuf>,
    /// Which episodes count.
    #[command(flatten)]
    pub(super) only: Selection,
    /// Lay the reasons of one agent for the same steps side by side, mask by mask.
    #[arg(long, help_heading = "Side by side")]
    pub side_by_side: bool,
    /// Steps to show (default: the three with the most hits).
    #[arg(
        long,
        value_delimiter = ',',
        requires = "side_by_side",
        help_heading = "Side by side"
    )]
    pub steps: Vec<usize>,
    /// Tell the real stocks, and put the same one in the same row (needs the bundles' private parts).
    #[arg(long, requires = "side_by_side", help_heading = "Side by side")]
    pub real: bool,
    /// Writes a page, one HTML file.
    #[arg(
        long,
        value_name = "FILE",
        requires = "side_by_side",
        help_heading = "Side by side"
    )]
    pub out: Option<PathBuf>,
    /// Width of the text, terminal cells.
    #[arg(
        long,
        value_name = "CELLS",
        default_value_t = 140,
        help_heading = "Side by side"
    )]
    pub width: usize,
}

/// How many steps are chosen by their hits.
const STEPS_WITH_MOST_HITS: usize = 3;

/// Runs the command.
///
/// # Errors
/// [`CliError`] when there is nothing to read, what is there is damaged, or a file cannot be written.
pub(super) fn run(args: &ReasonsArgs, console: Console) -> Result<(), CliError> {
    let findings = BundleSet::below(&args.results)?;
    let options = ReasonOptions {
        panel: args.panel.clone(),
        lists: args.lists.clone(),
        shown: args.only.shown(),
        threads: ktd_io::parallel::available_threads(),
    };
    let units = u64::try_from(findings.named.len()).unwrap_or(u64::MAX);
    let bar = Mutex::new(Progress::new(console, "reading", units, "episodes"));
    let reasons = read_reasons(&findings, &options, &|| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(1);
        }
    })?;
    drop(bar);
    if args.side_by_side {
        let options = SideOptions {
            steps: args.steps.clone(),
            most: STEPS_WITH_MOST_HITS,
            real: args.real,
            panel: args.panel.clone(),
        };
        let sides = side_by_side(&reasons, &options)?;
        if let Some(path) = &args.out {
            write_whole(path, side::render(&sides).as_bytes())?;
            console.note(&format!("wrote {}", path.display()));
        }
        return console.result(&side::text(&sides, args.width), &sides);
    }
    let report = ReasonReport::of(reasons)?;
    if let Some(path) = &args.csv {
        write_whole(path, &table::csv(&report)?)?;
        console.note(&format!("wrote {}", path.display()));
    }
    console.result(&table::text(&report, args.quote, console.layout()), &report)
}
