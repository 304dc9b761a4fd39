//! `ktd planting`.

use crate::CliError;
use crate::output::Console;
use crate::progress::TickBar;
use crate::unless_ending::unless_interrupted;
use clap::Args;
use ktd_board::ModelSettings;
use ktd_board::planting::{PlantingOptions, plant};
use ktd_data::market_source::MarketSource;
use ktd_env::{DateSpan, TradeDate};
use ktd_experiment::data_record::SyntheticRecord;
use ktd_view::draw::paragraph;
use std::path::PathBuf;
use std::sync::Arc;

const EXAMPLE: &str = "\
Examples:
  ktd planting                                             # on a synthetic market
  ktd planting --panel csi300.ktdp --from 2024-01-02 --until 2026-04-08 --draws 200";

/// The market where no panel is named.
const SYNTHETIC: SyntheticRecord = SyntheticRecord {
    seed: 5,
    names: 120,
    days: 420,
};

/// Plants accounts of known skill, style and luck, and shows what each candidate for the headline recovers of them.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct PlantingArgs {
    /// A panel file [default: a synthetic market].
    #[arg(long)]
    panel: Option<PathBuf>,
    /// First date of the accounts [default: the last 120 trading days].
    #[arg(long, requires = "until")]
    from: Option<String>,
    /// Their last date.
    #[arg(long, requires = "from")]
    until: Option<String>,
    /// Settings of the factor model, TOML.
    #[arg(long)]
    settings: Option<PathBuf>,
    /// Draws of the specific returns.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..))]
    draws: u64,
    /// Their seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Names that each account holds.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    names: u16,
    /// Trading days from one choice of names to the next.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    hold_days: u16,
    /// Show every way to attribute and every tail, not the one that ranks alone.
    #[arg(long)]
    all: bool,
    /// Replicates of each interval.
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(40..))]
    replicates: u32,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] when the panel cannot be read or the model cannot be fitted.
pub(super) fn run(args: &PlantingArgs, console: Console) -> Result<(), CliError> {
    const LAST_DAYS: usize = 120;
    let source = match &args.panel {
        Some(panel) => MarketSource::from_file(panel)?,
        None => MarketSource::synthetic(&SYNTHETIC)?,
    };
    let market = source.market;
    let end = market.calendar().len();
    let days = match (&args.from, &args.until) {
        (Some(from), Some(until)) => {
            let span = DateSpan {
                start: date("from", from)?,
                end: date("until", until)?,
            };
            let days = market.days_within(span);
            let bounds = days.first().zip(days.last());
            let (first, last) = bounds.ok_or_else(|| {
                CliError::input(
                    "the panel has no trading day between --from and --until",
                    "name dates of the panel",
                )
            })?;
            first.index()..last.index() + 1
        }
        _ => end.saturating_sub(LAST_DAYS)..end,
    };
    let settings = args.settings.as_deref();
    let options = PlantingOptions {
        settings: settings.map_or_else(|| Ok(ModelSettings::default()), ModelSettings::read)?,
        days,
        draws: args.draws,
        seed: args.seed,
        names: usize::from(args.names),
        hold_days: usize::from(args.hold_days),
        replicates: args.replicates,
        threads: ktd_io::parallel::available_threads(),
    };
    let bar = Arc::new(TickBar::new(console, "planting", "draws"));
    let tell = |done, of| bar.tell(done, of);
    let report = unless_interrupted(&bar, console, || plant(&market, &options, &tell))??;
    let layout = console.layout();
    let table = if args.all {
        report.table()
    } else {
        report.headline_table()
    };
    let mut text = paragraph(&report.verdict(), layout);
    text.push('\n');
    text.push_str(&table.text_in(layout));
    text.push('\n');
    text.push_str(&report.timing_table().text_in(layout));
    text.push('\n');
    text.push_str(&report.hidden_table().text_in(layout));
    if let Some(sectors) = report.sector_table() {
        text.push('\n');
        text.push_str(&sectors.text_in(layout));
    }
    console.result(&text, &report)
}

fn date(key: &str, text: &str) -> Result<TradeDate, CliError> {
    TradeDate::parse(text)
        .map_err(|error| CliError::input(format!("--{key}: {error}"), "write it as 2024-04-01"))
}
