//! `ktd leaderboard RESULTS...`.

use super::certify::certificate_file;
use super::selection::Selection;
use super::unless_ending::unless_ending;
use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use crate::this_program::this_program;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use ktd_board::page::verdict;
use ktd_board::sheet::{self, TableKind};
use ktd_board::{
    BoardOptions, KeptScores, Leaderboard, ModelSettings, Resampling, Track, WeightBasis, build,
    is_signed_board, write_board,
};
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::bundle_set::BundleSet;
use ktd_certify::mark::Certificates;
use ktd_client::cache_folder::cache_folder;
use ktd_probes::judge::CertificationMark;
use ktd_record::signing::{PublicKey, SigningKey};
use ktd_study::system_chance;
use ktd_view::draw::{counted, paragraph};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const EXAMPLE: &str = "\
Examples:
  ktd leaderboard results/demo
  ktd leaderboard results/headline --table 4 --table 5 --basis pre
  ktd leaderboard results/headline --out board     # a page, its JSON and CSV tables
  ktd leaderboard lab-a lab-b --signer a.pub --signer b.pub --panel p.ktdp --key mine.pem

Every finished episode on disk beside the named ones counts as a trial, shown or not. Bundles of different panels, rules, \
prompts, tools or metrics are not ranked together.";

/// Ranks finished runs by what they selected, and says which differences are real.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct LeaderboardArgs {
    /// Results directories, bundles, or folders that labs published with `ktd publish`.
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// Tables to print: `pooled`, `by-window`, `ranking`, `seeds`, `rejects`, `comparability`, `memory`, or KTD-Fin's 3, 4, 5, 8
    /// or 11; `all` for every one (default: of several windows pooled and by-window, then ranking and 5).
    #[arg(long)]
    pub table: Vec<String>,
    /// Rankings to print: `headline` (default), or `all` of them.
    #[arg(long, default_value = "headline", value_parser = ["headline", "all"])]
    pub tracks: String,
    /// On which weights returns are split.
    #[arg(long, default_value = WeightBasis::HEADLINE.label(), value_parser = PossibleValuesParser::new(WeightBasis::ALL.map(WeightBasis::label)).map(|word| WeightBasis::parse(&word).unwrap_or(WeightBasis::Pre)))]
    pub basis: WeightBasis,
    /// Directory for the page, the JSON and a CSV of each table.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Which episodes count.
    #[command(flatten)]
    pub(super) only: Selection,
    /// The panel, when it is no longer where the bundles were made.
    #[arg(long)]
    pub panel: Option<PathBuf>,
    /// Certificates of masks, from `ktd certify`, or their folders: rows of runs under these masks say so.
    #[arg(long, value_name = "FILE", value_parser = certificate_file, value_hint = ValueHint::AnyPath)]
    pub certificate: Vec<PathBuf>,
    /// The public key, PEM, that must have signed these certificates.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub public_key: Option<PathBuf>,
    /// The public key, PEM, of a lab whose published bundles are among them; once for each. Then each must be signed by one.
    #[arg(long, value_name = "FILE")]
    pub signer: Vec<PathBuf>,
    /// Your private key, PEM: signs the board in --out.
    #[arg(long, value_name = "FILE", requires = "out")]
    pub key: Option<PathBuf>,
    /// Show windows that are not opened as they are, to their owner alone: their days, series, built-in agents and references.
    #[arg(long)]
    pub real: bool,
    /// Score the agents of so many episodes anew, drawn by chance, and fail where one is not what was kept of it for the next board.
    #[arg(long, value_name = "EPISODES", default_value_t = 0)]
    pub verify_sample: usize,
    /// Settings of the factor model, TOML.
    #[arg(long)]
    pub settings: Option<PathBuf>,
    /// Replicates of the bootstrap, at least 40: with fewer, an interval of 95 % has no replicate outside.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(40..))]
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
    let signers = public_keys(&args.signer)?;
    let key = args.key.as_deref().map(SigningKey::read).transpose()?;
    let findings = BundleSet::below_signed(&args.results, &signers)?;
    let options = options(args, &findings)?;
    let units = findings.named.len() + findings.siblings.len();
    let bar = Progress::new(
        console,
        "scoring",
        u64::try_from(units).unwrap_or(u64::MAX),
        "episodes",
    );
    let bar = Mutex::new(bar);
    let board = build(&findings, &options, &|| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(1);
        }
    })?;
    drop(bar);
    if let Some(out) = &args.out {
        let was_signed = is_signed_board(out);
        let (page, signer) = unless_ending(|| Ok(write_board(&board, out, args.basis, key.as_ref())?))?;
        console.note(&format!("wrote {}", page.display()));
        if let Some(signer) = signer {
            console.note(&format!("signed with the key {signer}"));
        } else if was_signed {
            console.note("the board that it replaces was signed, and this one is not: sign it with --key");
        }
    }
    console.result(&text(&board, &kinds, args, console), &board)
}

/// The keys that a user named.
///
/// # Errors
/// [`CliError`] when a file holds none.
pub(super) fn public_keys(paths: &[PathBuf]) -> Result<Vec<PublicKey>, CliError> {
    let keys = paths.iter().map(|path| PublicKey::read(path));
    Ok(keys.collect::<Result<_, _>>()?)
}

/// Where scores of agents are kept for the next board.
fn kept_scores() -> Option<KeptScores> {
    Some(KeptScores {
        folder: cache_folder()?.join("scores"),
        program: this_program().source_sha256,
    })
}

fn options(args: &LeaderboardArgs, findings: &BundleSet) -> Result<BoardOptions, CliError> {
    Ok(BoardOptions {
        panel: args.panel.clone(),
        settings: args
            .settings
            .as_deref()
            .map_or_else(|| Ok(ModelSettings::default()), ModelSettings::read)?,
        draws: Resampling {
            replicates: args.replicates,
            seed: args.seed,
            null_portfolios: args.portfolios,
        },
        shown: args.only.shown(),
        marks: marks(&args.certificate, args.public_key.as_deref(), findings)?,
        shows_closed: args.real,
        // Who ranks what others signed relies on nothing that somebody may have written beside it.
        kept: kept_scores().filter(|_| args.signer.is_empty()),
        verify_sample: args.verify_sample,
        verify_chance: system_chance()?,
        threads: ktd_io::parallel::available_threads(),
    })
}

/// What certificates say of the mask of each named bundle.
fn marks(
    certificates: &[PathBuf],
    public_key: Option<&Path>,
    findings: &BundleSet,
) -> Result<BTreeMap<PathBuf, CertificationMark>, CliError> {
    let whose = public_key.map(PublicKey::read).transpose()?;
    let certificates = Certificates::read(certificates, whose.as_ref())?;
    Ok(marks_of(&certificates, findings))
}

/// The same of certificates that were read.
pub(super) fn marks_of(
    certificates: &Certificates,
    findings: &BundleSet,
) -> BTreeMap<PathBuf, CertificationMark> {
    let mark = |found: &BundleRef| (found.root.clone(), certificates.mark(&found.header));
    findings.named.iter().map(mark).collect()
}

fn kinds(words: &[String]) -> Result<Vec<TableKind>, CliError> {
    if words.is_empty() {
        return Ok(vec![
            TableKind::Pooled,
            TableKind::ByWindow,
            TableKind::Ranking,
            TableKind::Split,
        ]);
    }
    if words.iter().any(|word| word == "all") {
        return Ok(TableKind::ALL.to_vec());
    }
    let kind = |word: &String| {
        TableKind::parse(word).ok_or_else(|| {
            CliError::input(
                format!("there is no table {word:?}"),
                "it is ranking, pooled, by-window, profile, metrics, split, exposures, contrasts (the article's tables 3, 4, 5, 8 and 11), seeds, rejects, comparability, memory or all",
            )
        })
    };
    words.iter().map(kind).collect()
}

fn text(board: &Leaderboard, kinds: &[TableKind], args: &LeaderboardArgs, console: Console) -> String {
    let shown = if args.tracks == "all" {
        board.tracks.len()
    } else {
        1
    };
    let tracks: Vec<&Track> = board.tracks.iter().take(shown).collect();
    let mut parts: Vec<String> = Vec::new();
    if args.table.is_empty() {
        parts.push(paragraph(&verdict(board), console.layout()));
    }
    let is_named = |kind: &TableKind| args.table.iter().any(|word| word == kind.label());
    let is_pooled = |track: &&Track| sheet::pooled_ranking(board, track).is_some();
    let first_pooled: Vec<&Track> = board.tracks.iter().filter(is_pooled).take(1).collect();
    for kind in kinds {
        let tracks = if kind.is_per_track() {
            &tracks[..]
        } else if kind.is_pooled() && !(first_pooled.is_empty() && is_named(kind)) {
            // Without windows to pool there is nothing to show unless it was asked for.
            &first_pooled[..]
        } else {
            tracks.get(..1).unwrap_or_default()
        };
        parts.extend(
            tracks
                .iter()
                .map(|track| sheet::table(board, *kind, track, args.basis).text_in(console.layout())),
        );
    }
    let others = board.tracks.len().saturating_sub(shown);
    if 0 < others && kinds.iter().any(|kind| kind.is_per_track()) {
        parts.push(format!(
            "{}: --tracks all, or --window, --mode and --mask to choose one\n",
            counted(others, "more ranking")
        ));
    }
    let notes = board.notes.iter();
    let notes = notes.map(|note| paragraph(&format!("note: {note}"), console.layout()));
    parts.push(notes.collect());
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}
