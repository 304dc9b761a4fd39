//! `ktd strategy-code bars`: what the reference strategies earn on real bars.

use crate::CliError;
use crate::output::Console;
use crate::strategy_code_args::known;
use clap::Args;
use ktd_io::parallel::available_threads;
use ktd_strategies::{
    DocumentId, RealBars, STUDY_FILES, SeriesChoice, StrategyExperiment, reference_study, study_tables,
};
use ktd_view::draw::paragraph;
use std::path::{Path, PathBuf};

const BARS_EXAMPLE: &str = "\
Examples:
  ktd strategy-code bars --panel csi300.ktdp --out results/bars
  ktd strategy-code bars --panel csi300.ktdp --strategy S06 --pair SH600036:SH601166
  ktd strategy-code bars --bars my-daily-bars.csv --minutes my-minutes.csv
  ktd strategy-code bars strategies.toml

  [real]                                # in the experiment's file; options are the same by name
  panel = \"csi300.ktdp\"                 # or bars = \"F.csv\", a table of any market
  symbols = [\"SH600519\"]                # default \"members\" of the first day; or \"all\"
  pairs = [[\"SH600036\", \"SH601166\"]]    # default \"neighbours\" by code
  minutes = \"M.csv\"                     # minutes, for S04 and S05
  train = [\"2024-01-01\", \"2025-01-01\"]
  test = [\"2025-01-01\", \"2026-01-01\"]

Each document runs on adjusted bars of whole splits with the parameters of its text. What it earns is
shown at the close that gave the signal, as the documents have it, and at the open after, which can be
traded; at 0 to 20 basis points a side. What no bars are given for is n/a.";

#[derive(Debug, Args)]
#[command(after_help = BARS_EXAMPLE)]
pub(super) struct BarsArgs {
    /// An experiment's file with the keys `real`, instead of options.
    #[arg(value_name = "FILE", conflicts_with_all = ["panel", "bars", "minutes", "session_end", "symbols", "pairs", "baskets",
        "train", "test", "strategies"])]
    experiment: Option<PathBuf>,
    /// A panel of daily bars.
    #[arg(long, value_name = "FILE")]
    panel: Option<PathBuf>,
    /// Daily bars of any market in one table.
    #[arg(long, value_name = "FILE")]
    bars: Option<PathBuf>,
    /// Minute bars, stamped at their end.
    #[arg(long, value_name = "FILE")]
    minutes: Option<PathBuf>,
    /// The stamp of a session's last bar [default: 15:00].
    #[arg(long, value_name = "HH:MM")]
    session_end: Option<String>,
    /// Symbols, or `members` (the default), or `all`.
    #[arg(long = "symbol", value_name = "SYMBOL", value_delimiter = ',')]
    symbols: Vec<String>,
    /// A pair, as A:B.
    #[arg(long = "pair", value_name = "A:B")]
    pairs: Vec<String>,
    /// A basket, as A:B:C:D.
    #[arg(long = "basket", value_name = "A:B:C:D")]
    baskets: Vec<String>,
    /// The train split, its last day not included [default: 2024-01-01:2025-01-01].
    #[arg(long, value_name = "START:END")]
    train: Option<String>,
    /// The test split, its last day not included [default: 2025-01-01:2026-01-01].
    #[arg(long, value_name = "START:END")]
    test: Option<String>,
    /// Documents [default: all].
    #[arg(long = "strategy", value_name = "ID", value_delimiter = ',')]
    strategies: Vec<String>,
    /// A folder for study.json and CSV files.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the reference strategies on real bars.
pub(super) fn run(args: &BarsArgs, console: Console) -> Result<(), CliError> {
    let (keys, base, documents) = asked_for(args)?;
    let study = reference_study(&keys, &base, &documents, available_threads())?;
    let tables = study_tables(&study);
    let mut texts: Vec<String> = tables
        .iter()
        .map(|table| table.text_in(console.layout()))
        .collect();
    if let Some(folder) = &args.out {
        study.write(folder)?;
        let files = format!("{}: study.json, {}", folder.display(), STUDY_FILES.join(", "));
        texts.push(paragraph(&files, console.layout()));
    }
    console.result(&texts.join("\n"), &study.value())
}

/// The bars, what their paths are relative to, and the documents.
fn asked_for(args: &BarsArgs) -> Result<(RealBars, PathBuf, Vec<DocumentId>), CliError> {
    let Some(path) = &args.experiment else {
        let documents: Vec<DocumentId> = args
            .strategies
            .iter()
            .map(|id| known(id))
            .collect::<Result<_, _>>()?;
        let documents = if documents.is_empty() {
            DocumentId::ALL.to_vec()
        } else {
            documents
        };
        return Ok((keys(args)?, PathBuf::new(), documents));
    };
    let experiment = StrategyExperiment::read(path)?;
    let base = path.parent().unwrap_or_else(|| Path::new(""));
    let strategies = experiment.strategies(base)?;
    // A strategy of one's own has no reference that runs without a box.
    let documents: Vec<DocumentId> = strategies
        .iter()
        .filter_map(|strategy| strategy.id().document())
        .collect();
    if documents.is_empty() {
        return Err(CliError::input(
            format_args!("{}: `strategies` names none of S01 to S12", path.display()),
            "only strategies of the benchmark run on real bars",
        ));
    }
    let keys = experiment.real.ok_or_else(|| {
        CliError::input(
            format_args!("{}: the keys `real` are missing", path.display()),
            "add them as `ktd strategy-code bars --help` shows, or name a panel with --panel",
        )
    })?;
    Ok((keys, base.to_owned(), documents))
}

fn keys(args: &BarsArgs) -> Result<RealBars, CliError> {
    let default = RealBars::default();
    let symbols = match args.symbols.as_slice() {
        [] => default.symbols,
        [word] if word == "members" || word == "all" => SeriesChoice::Word(word.clone()),
        list => SeriesChoice::List(list.to_vec()),
    };
    Ok(RealBars {
        panel: args.panel.clone(),
        bars: args.bars.clone(),
        minutes: args.minutes.clone(),
        session_end: args.session_end.clone().unwrap_or(default.session_end),
        symbols,
        pairs: groups("--pair", &args.pairs, default.pairs)?,
        baskets: groups("--basket", &args.baskets, default.baskets)?,
        train: split("--train", args.train.as_deref(), default.train)?,
        test: split("--test", args.test.as_deref(), default.test)?,
    })
}

fn parts<const N: usize>(option: &str, text: &str) -> Result<[String; N], CliError> {
    let parts: Vec<String> = text.split(':').map(str::to_owned).collect();
    parts.try_into().map_err(|_| {
        CliError::input(
            format_args!("{option} {text:?} is invalid"),
            format_args!("write {N} parts with a colon between them"),
        )
    })
}

fn groups<const N: usize>(
    option: &str,
    texts: &[String],
    default: SeriesChoice<[String; N]>,
) -> Result<SeriesChoice<[String; N]>, CliError> {
    if texts.is_empty() {
        return Ok(default);
    }
    let groups = texts.iter().map(|text| parts(option, text));
    Ok(SeriesChoice::List(groups.collect::<Result<_, _>>()?))
}

fn split(option: &str, text: Option<&str>, default: [String; 2]) -> Result<[String; 2], CliError> {
    text.map_or(Ok(default), |text| parts(option, text))
}
