//! `ktd export DIR --parquet`.

use super::given::kind_in;
use crate::CliError;
use crate::output::{Console, visible_lines};
use crate::progress::TickBar;
use clap::Args;
use ktd_board::{read_board, write_exposures};
use ktd_episode::{EXPORTED_FILES, EpisodesStudy, ExportedTable, export_rows};
use ktd_io::whole_file::{IfExists, check_writable, remove_if_exists};
use ktd_study::StudyKind;
use ktd_view::draw::counted;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd export results/season --parquet
  ktd export results/season/cells/CELL --parquet --out one-cell
  ktd export results/season --parquet --board board   # exposures, too

Writes steps, calls (a row a request), orders and scores (a row an episode) of finished episodes: names and days as the \
models saw them. In Python: pandas.read_parquet(\"results/season-parquet/orders.parquet\"), or polars.scan_parquet(...). A \
study of another kind has its tables in DIR/parquet.";

/// Write the records of finished episodes as tables for pandas and polars.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct ExportArgs {
    /// The results of an experiment, a folder above some, or one episode.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// As Parquet files.
    #[arg(long, required = true)]
    parquet: bool,
    /// A board of these episodes, as `ktd leaderboard --out` wrote it: `exposures` has a row a day and style of each of its rows.
    #[arg(long, value_name = "BOARD")]
    board: Option<PathBuf>,
    /// The folder of the tables (default: `DIR-parquet`, beside DIR).
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Replace the tables of an earlier export.
    #[arg(long)]
    force: bool,
}

/// The table of `--board`.
const EXPOSURES: &str = "exposures.parquet";

/// Runs the command.
///
/// # Errors
/// [`CliError`] for a folder without episodes, a record that was changed, and a table that cannot be written.
pub(super) fn run(args: &ExportArgs, console: Console) -> Result<(), CliError> {
    let folder = &args.folder;
    if let Some(kind) = kind_in(folder)?
        && kind.name() != EpisodesStudy::NAME
    {
        let what = format!(
            "{} holds a study of kind {:?}: only episodes have steps and orders",
            folder.display(),
            kind.name()
        );
        let hint = format!(
            "`ktd report {0}` writes its tables into {0}/parquet",
            folder.display()
        );
        return Err(CliError::input(what, hint));
    }
    // A board that cannot be read is told before thousands of rows are written.
    let board = args.board.as_deref().map(read_board).transpose()?;
    let out = args.out.clone().map_or_else(|| beside(folder), Ok)?;
    let overwrite = IfExists::refused_unless(args.force);
    for file in EXPORTED_FILES.into_iter().chain([EXPOSURES]) {
        let path = out.join(file);
        if path.exists() {
            check_writable(&path, overwrite)?;
        }
    }
    let bar = TickBar::new(console, "exporting", "episodes");
    let mut exported = export_rows(folder, &out, &|done, of| bar.tell(done, of))?;
    drop(bar);
    let exposures = out.join(EXPOSURES);
    match &board {
        Some(board) => exported.tables.push(ExportedTable {
            rows: write_exposures(board, &exposures)?,
            file: EXPOSURES.to_owned(),
        }),
        // Those of an earlier board are not these episodes'.
        None => remove_if_exists(&exposures)?,
    }
    let mut lines = Vec::new();
    for table in &exported.tables {
        let rows = counted(usize::try_from(table.rows).unwrap_or(usize::MAX), "row");
        lines.push(format!("{}: {rows}", out.join(&table.file).display()));
    }
    for (count, what) in [
        (exported.unfinished, "not ended yet"),
        (exported.sealed, "sealed"),
    ] {
        if 0 < count {
            lines.push(format!("note: {} left out: {what}", counted(count, "episode")));
        }
    }
    if !exported.unnamed.is_empty() {
        lines.push(format!(
            "note: no unit of its study names {}: left out, unless it is the folder that was exported",
            exported.unnamed.join(", ")
        ));
    }
    console.result(&visible_lines(&lines.join("\n")), &exported)
}

/// `DIR-parquet`, beside the folder.
///
/// # Errors
/// [`CliError`] for a folder that is not there.
fn beside(folder: &Path) -> Result<PathBuf, CliError> {
    let name = |path: &Path| {
        let name = path.file_name()?.to_string_lossy();
        Some(path.with_file_name(format!("{name}-parquet")))
    };
    if let Some(out) = name(folder) {
        return Ok(out);
    }
    let whole = folder.canonicalize().map_err(CliError::io("read", folder))?;
    name(&whole).ok_or_else(|| CliError::input("the tables have no folder", "name one with --out"))
}
