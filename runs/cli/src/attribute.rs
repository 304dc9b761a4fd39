//! `ktd attribute BUNDLE...`, or `--file FILE`.

use crate::CliError;
use crate::attribute_text::text;
use crate::output::Console;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ktd_board::{
    AttributionReport, AttributionSubject, EpisodeAccount, FeeRates, FittedModel, Linking, ModelSettings,
    OwnAccount, WeightBasis, play_file, report,
};
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::finished_episode::OpenedBundle;
use ktd_data::market_source::MarketSource;
use ktd_data::market_source::market_of;
use ktd_env::{Market, TradeDate};
use ktd_io::whole_file::write_whole;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd attribute results/demo/cells/momentum__short__bright-exact__open-research__s1
  ktd attribute results/headline/cells/* --linking pnl --json
  ktd attribute BUNDLE --real --daily daily.csv       # with the days that a mask hides
  ktd attribute --file weights.csv --panel csi300.ktdp --daily daily.csv

A file of your own has the columns date,symbol,weight (each date with rows lists all that is held from its open on), or \
date,symbol,shares,price[,fee] (signed shares; an empty price is the open, an empty fee is by rate).";

/// Splits returns into market, style and selection, with costs and execution apart; every day adds up.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct AttributeArgs {
    /// Finished bundles.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub bundles: Vec<PathBuf>,
    /// A file of weights or trades.
    #[arg(long, requires = "panel")]
    pub file: Option<PathBuf>,
    /// The panel; of a bundle, when it is no longer where the bundle was made.
    #[arg(long)]
    pub panel: Option<PathBuf>,
    /// How days are linked.
    #[arg(long, default_value = "carino", value_parser = PossibleValuesParser::new(Linking::ALL.map(Linking::label)).map(|word| Linking::parse(&word).unwrap_or(Linking::Carino)))]
    pub linking: Linking,
    /// Settings of the factor model, TOML.
    #[arg(long)]
    pub settings: Option<PathBuf>,
    /// Writes a CSV of one row a day; for one bundle or file.
    #[arg(long)]
    pub daily: Option<PathBuf>,
    /// Cash before the first day of a file, CNY.
    #[arg(long, default_value_t = 1_000_000.0)]
    pub cash: f64,
    /// Fee on a file's buys, basis points.
    #[arg(long, default_value_t = 5.0)]
    pub buy_bps: f64,
    /// Fee on a file's sells, basis points.
    #[arg(long, default_value_t = 15.0)]
    pub sell_bps: f64,
    /// Last day of a file's account (default: its last date).
    #[arg(long)]
    pub until: Option<String>,
    /// Name the days of bundles whose mask hides them, and not by number alone.
    #[arg(long)]
    pub real: bool,
    /// Random portfolios of the luck band.
    #[arg(long, default_value_t = 500)]
    pub portfolios: u32,
    /// Their seed.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] when a bundle or file cannot be read or split.
pub(super) fn run(args: &AttributeArgs, console: Console) -> Result<(), CliError> {
    if args.daily.is_some() && 1 < args.bundles.len() {
        return Err(
            CliError::invalid("--daily is for one bundle").with_hint("name one bundle, or use --json")
        );
    }
    let settings = args
        .settings
        .as_deref()
        .map_or_else(|| Ok(ModelSettings::default()), ModelSettings::read)?;
    let reports = match &args.file {
        Some(file) => vec![of_file(file, args, &settings)?],
        None => of_bundles(args, &settings)?,
    };
    if let (Some(path), Some(report)) = (&args.daily, reports.first()) {
        write_whole(path, &daily_csv(report)?)?;
        console.note(&format!("wrote {}", path.display()));
    }
    let text: Vec<String> = reports.iter().map(|report| text(report, args.linking)).collect();
    let attributions = Attributions {
        attributions: reports,
    };
    console.result(&text.join("\n"), &attributions)
}

/// Returns split into their parts.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Attributions {
    attributions: Vec<AttributionReport>,
}

fn of_file(
    file: &Path,
    args: &AttributeArgs,
    settings: &ModelSettings,
) -> Result<AttributionReport, CliError> {
    let panel = args.panel.as_deref().unwrap_or(Path::new(""));
    let market = MarketSource::from_file(panel)?.market;
    let rate = |key: &str, basis_points: f64| {
        if basis_points.is_finite() && (0.0..10_000.0).contains(&basis_points) {
            return Ok(basis_points / 10_000.0);
        }
        Err(CliError::input(
            format!("--{key} is {basis_points}"),
            "write basis points, such as 5",
        ))
    };
    if !(args.cash.is_finite() && 0.0 < args.cash) {
        return Err(CliError::input(
            format!("--cash is {}", args.cash),
            "write an amount above 0",
        ));
    }
    let until = args.until.as_deref().map(TradeDate::parse).transpose();
    let account = OwnAccount {
        cash_cny: args.cash,
        fees: FeeRates {
            buy_rate: rate("buy-bps", args.buy_bps)?,
            sell_rate: rate("sell-bps", args.sell_bps)?,
        },
        until: until
            .map_err(|error| CliError::input(format!("--until: {error}"), "write it as 2024-04-01"))?,
    };
    let own = play_file(file, &market, account)?;
    let first = own.days.first().map_or(0, |day| day.index());
    let last = own.days.last().map_or(0, |day| day.index());
    let fitted = FittedModel::of(&market, settings, first..last + 1)?;
    let name = file.display().to_string();
    let subject = AttributionSubject {
        name: &name,
        days: &own.days,
        books: &own.books,
    };
    Ok(report(subject, &market, &fitted, (args.portfolios, args.seed))?)
}

/// Linked selection of two bundles on the headline's basis.
///
/// # Errors
/// [`CliError`] when one of them cannot be attributed.
pub(super) fn selections(bundles: &[PathBuf; 2], panel: Option<&Path>) -> Result<[f64; 2], CliError> {
    let args = AttributeArgs {
        bundles: bundles.to_vec(),
        file: None,
        panel: panel.map(Path::to_owned),
        linking: Linking::Carino,
        settings: None,
        daily: None,
        cash: 0.0,
        buy_bps: 0.0,
        sell_bps: 0.0,
        until: None,
        // Two selections are shown, and nothing of days.
        real: true,
        portfolios: 1,
        seed: 1,
    };
    let reports = of_bundles(&args, &ModelSettings::default())?;
    let selection =
        |report: &AttributionReport| report.parts.as_ref()?.get(WeightBasis::HEADLINE).carino.selection;
    match reports.as_slice() {
        [first, second] => selection(first)
            .zip(selection(second))
            .map(|(first, second)| [first, second]),
        _ => None,
    }
    .ok_or_else(|| CliError::input("a return could not be split", "see `ktd attribute` of each"))
}

fn of_bundles(args: &AttributeArgs, settings: &ModelSettings) -> Result<Vec<AttributionReport>, CliError> {
    let mut known: Option<(String, std::sync::Arc<Market>)> = None;
    let mut accounts: Vec<EpisodeAccount> = Vec::new();
    for root in &args.bundles {
        let opened = OpenedBundle::read(BundleRef::read(root)?)?;
        check_opened(&opened.bundle, args.real)?;
        let data = &opened.bundle.header.data;
        let hash = data.panel_blake3.clone();
        let market = match &known {
            Some((own, market)) if *own == hash => std::sync::Arc::clone(market),
            Some(_) => {
                return Err(CliError::input(
                    format!(
                        "{} was made on another panel than the bundles before it",
                        root.display()
                    ),
                    "attribute bundles of one panel at a time",
                ));
            }
            None => market_of(data, opened.panel().as_deref(), args.panel.as_deref())?.market,
        };
        accounts.push(EpisodeAccount::read(opened, &market)?);
        known = Some((hash, market));
    }
    let Some((_, market)) = known else {
        return Ok(Vec::new());
    };
    let days = accounts.iter().flat_map(|account| &account.days);
    let days = days.map(|day| day.index());
    let (first, last) = days.fold((usize::MAX, 0), |(first, last), day| {
        (first.min(day), last.max(day))
    });
    let fitted = FittedModel::of(&market, settings, first..last + 1)?;
    let reports = accounts.iter().map(|account| {
        let name = account.bundle.root.display().to_string();
        let subject = AttributionSubject {
            name: &name,
            days: &account.days,
            books: &account.books,
        };
        let report = report(subject, &market, &fitted, (args.portfolios, args.seed))?;
        let is_hidden = account.bundle.header.mask.level.hides_days() && !args.real;
        Ok::<_, CliError>(if is_hidden {
            report.with_numbered_days()
        } else {
            report
        })
    });
    reports.collect()
}

/// Refuses to split the return of a window that was drawn and not opened, as a board hides it: whoever has all prices finds its
/// days by what the market did.
fn check_opened(
    BundleRef {
        header, signer, root, ..
    }: &BundleRef,
    real: bool,
) -> Result<(), CliError> {
    let draw = header.window.draw.as_ref().filter(|draw| !draw.is_shown);
    if real || draw.is_none() || !header.mask.level.hides_days() || signer.fingerprint.is_some() {
        return Ok(());
    }
    Err(CliError::input(
        format_args!(
            "{}: its window was drawn and is not opened, and the parts of its return tell its days to whoever has the prices",
            root.display()
        ),
        "--real shows them, to you alone",
    ))
}

fn daily_csv(report: &AttributionReport) -> Result<Vec<u8>, CliError> {
    let failed = |error: String| CliError::input(format!("cannot write CSV: {error}"), "report this defect");
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut heads = vec!["date".to_owned(), "return".to_owned()];
    for basis in WeightBasis::ALL.map(WeightBasis::label) {
        heads.push(format!("{basis}:common"));
        heads.extend(report.model.styles.iter().map(|style| format!("{basis}:{style}")));
        for part in [
            "selection",
            "execution",
            "slip",
            "cost",
            "rounding",
            "unattributed",
        ] {
            heads.push(format!("{basis}:{part}"));
        }
    }
    heads.extend(
        report
            .model
            .styles
            .iter()
            .map(|style| format!("exposure:{style}")),
    );
    writer
        .write_record(&heads)
        .map_err(|error| failed(error.to_string()))?;
    for day in &report.daily {
        let parts = day.parts.values().flatten();
        let numbers = std::iter::once(&day.daily_return).chain(parts);
        let exposures = (0..report.model.styles.len()).map(|style| day.exposures.as_ref()?.get(style));
        let cells = std::iter::once(day.date.clone())
            .chain(numbers.map(ToString::to_string))
            .chain(exposures.map(|known| known.map_or_else(String::new, ToString::to_string)));
        writer
            .write_record(cells)
            .map_err(|error| failed(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| failed(error.to_string()))
}
