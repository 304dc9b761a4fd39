//! `ktd leaderboard RESULTS...`.

use super::selection::Selection;
use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use clap::Args;
use ktd_board::page;
use ktd_board::sheet::{self, Kind};
use ktd_board::{Board, BoardOptions, Draws, ModelSettings, Track, collect};
use ktd_bundle::bundle_ref::Found;
use ktd_bundle::bundle_set::Findings;
use ktd_certify::mark::{mark_of, read_certificates};
use ktd_certify::signing::PublicKey;
use ktd_io::FileError;
use ktd_io::whole_file::write_whole;
use ktd_probes::judge::CertificationMark;
use ktd_view::draw::TableData;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const EXAMPLE: &str = "\
Examples:
  ktd leaderboard results/demo
  ktd leaderboard results/headline --table 4 --table 5 --basis two
  ktd leaderboard results/headline --out board          # board/index.html, leaderboard.json and tables/*.csv

Every finished episode on disk beside the named ones counts as a trial, shown or not. Bundles of different panels, rules,
prompts, tools or metrics are not ranked together.";

/// Ranks finished runs by what they selected, and says which differences are real.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct LeaderboardArgs {
    /// Results directories or bundles.
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// Tables to print: `ranking`, or KTD-Fin's 3, 4, 5, 8 or 11; `all` for every one (default: ranking and 5).
    #[arg(long)]
    pub table: Vec<String>,
    /// Rankings to print: `headline` (default), or `all` of them.
    #[arg(long, default_value = "headline", value_parser = ["headline", "all"])]
    pub tracks: String,
    /// On which weights returns are split.
    #[arg(long, default_value = "pre", value_parser = ["pre", "post", "two"])]
    pub basis: String,
    /// Directory for the page, the JSON and a CSV of each table.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Which episodes count.
    #[command(flatten)]
    pub(super) only: Selection,
    /// The panel, when it is no longer where the bundles were made.
    #[arg(long)]
    pub panel: Option<PathBuf>,
    /// Certificates of masks, from `ktd certify`: rows of runs under these masks say so.
    #[arg(long, value_name = "FILE")]
    pub certificate: Vec<PathBuf>,
    /// The public key, PEM, that must have signed these certificates.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub public_key: Option<PathBuf>,
    /// Settings of the factor model, TOML.
    #[arg(long)]
    pub settings: Option<PathBuf>,
    /// Replicates of the bootstrap.
    #[arg(long, default_value_t = 2000)]
    pub replicates: u32,
    /// Random portfolios of each luck band.
    #[arg(long, default_value_t = 500)]
    pub portfolios: u32,
    /// Seed of both.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] when there is nothing to rank, or what is there cannot be ranked together.
pub(super) fn run(args: &LeaderboardArgs, console: Console) -> Result<(), CliError> {
    let kinds = kinds(&args.table)?;
    let findings = Findings::below(&args.results)?;
    let options = options(args, &findings)?;
    let units = findings.named.len() + findings.beside.len();
    let bar = Progress::new(
        console,
        "scoring",
        u64::try_from(units).unwrap_or(u64::MAX),
        "episodes",
    );
    let bar = Mutex::new(bar);
    let board = collect(&findings, &options, &|| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(1);
        }
    })?;
    drop(bar);
    if let Some(out) = &args.out {
        write(&board, out, &args.basis)?;
        console.note(&format!("wrote {}", out.join("index.html").display()));
    }
    let document = serde_json::to_value(&board)
        .map_err(|error| CliError::invalid(format_args!("the board cannot be JSON: {error}")))?;
    console.result(&text(&board, &kinds, args), &document)
}

fn options(args: &LeaderboardArgs, findings: &Findings) -> Result<BoardOptions, CliError> {
    Ok(BoardOptions {
        panel: args.panel.clone(),
        settings: args
            .settings
            .as_deref()
            .map_or_else(|| Ok(ModelSettings::default()), ModelSettings::read)?,
        draws: Draws {
            replicates: args.replicates.max(1),
            seed: args.seed,
            null_portfolios: args.portfolios,
        },
        shown: args.only.shown(),
        marks: marks(&args.certificate, args.public_key.as_deref(), findings)?,
        threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    })
}

/// What certificates say of the mask of each named bundle.
fn marks(
    certificates: &[PathBuf],
    public_key: Option<&Path>,
    findings: &Findings,
) -> Result<BTreeMap<PathBuf, CertificationMark>, CliError> {
    let whose = public_key.map(PublicKey::read).transpose()?;
    let certificates = read_certificates(certificates, whose.as_ref())?;
    let mark = |found: &Found| (found.root.clone(), mark_of(&found.header, &certificates));
    Ok(findings.named.iter().map(mark).collect())
}

fn kinds(words: &[String]) -> Result<Vec<Kind>, CliError> {
    if words.is_empty() {
        return Ok(vec![Kind::Ranking, Kind::Split]);
    }
    if words.iter().any(|word| word == "all") {
        return Ok(Kind::ALL.to_vec());
    }
    let kind = |word: &String| {
        Kind::parse(word).ok_or_else(|| {
            CliError::input(
                format!("there is no table {word:?}"),
                "it is ranking, 3, 4, 5, 8, 11 or all",
            )
        })
    };
    words.iter().map(kind).collect()
}

fn text(board: &Board, kinds: &[Kind], args: &LeaderboardArgs) -> String {
    let shown = if args.tracks == "all" {
        board.tracks.len()
    } else {
        1
    };
    let tracks: Vec<&Track> = board.tracks.iter().take(shown).collect();
    let mut parts: Vec<String> = Vec::new();
    for kind in kinds {
        let tracks = if kind.is_per_track() {
            &tracks[..]
        } else {
            tracks.get(..1).unwrap_or_default()
        };
        parts.extend(
            tracks
                .iter()
                .map(|track| sheet::table(board, *kind, track, &args.basis).text()),
        );
    }
    let others = board.tracks.len().saturating_sub(shown);
    if 0 < others && kinds.iter().any(|kind| kind.is_per_track()) {
        parts.push(format!(
            "{others} more rankings: --tracks all, or --window, --mode and --mask to choose one\n"
        ));
    }
    let notes: Vec<String> = board.notes.iter().map(|note| format!("note: {note}")).collect();
    parts.push(notes.join("\n"));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Writes the page, `leaderboard.json` and a CSV of each table and track.
fn write(board: &Board, out: &Path, basis: &str) -> Result<(), CliError> {
    let tables = out.join("tables");
    std::fs::create_dir_all(&tables).map_err(CliError::io("make", &tables))?;
    let path = out.join("index.html");
    write_whole(&path, page::render(board).as_bytes())?;
    let path = out.join("leaderboard.json");
    // Series of days stand in it by the thousand: one number a line would double its size.
    let document = serde_json::to_vec(board).map_err(|error| FileError::damaged(&path, error.to_string()))?;
    write_whole(&path, &document)?;
    let sheets = sheets(board, basis);
    remove_other_tables(&tables, &sheets)?;
    for (name, table) in &sheets {
        write_whole(&tables.join(name), &sheet::csv(table)?)?;
    }
    Ok(())
}

/// Every table by its file's name.
fn sheets(board: &Board, basis: &str) -> BTreeMap<String, TableData> {
    let mut sheets = BTreeMap::new();
    for kind in Kind::ALL {
        let shown = if kind.is_per_track() {
            board.tracks.len()
        } else {
            1
        };
        for track in board.tracks.iter().take(shown) {
            let Track {
                window,
                level,
                numeric,
                mode,
                ..
            } = track;
            let name = if kind.is_per_track() {
                format!("{}_{window}_{level}-{numeric}_{mode}.csv", kind.label())
            } else {
                format!("{}.csv", kind.label())
            };
            sheets.insert(name, sheet::table(board, kind, track, basis));
        }
    }
    sheets
}

/// Removes tables of an earlier board, which beside this one would look like its own.
fn remove_other_tables(tables: &Path, sheets: &BTreeMap<String, TableData>) -> Result<(), CliError> {
    for entry in std::fs::read_dir(tables).map_err(CliError::io("list", tables))? {
        let path = entry.map_err(CliError::io("list", tables))?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_table = |kind: &Kind| {
            let rest = name
                .strip_suffix(".csv")
                .and_then(|stem| stem.strip_prefix(kind.label()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        if Kind::ALL.iter().any(is_table) && !sheets.contains_key(name) {
            std::fs::remove_file(&path).map_err(CliError::io("remove", &path))?;
        }
    }
    Ok(())
}
