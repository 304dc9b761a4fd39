//! `ktd baseline`: predictors that need nothing but a panel.

use crate::CliError;
use crate::output::Console;
use crate::trading_day::read_day;
use clap::{Args, Subcommand};
use ktd_data::load_panel;
use ktd_env::TradeDate;
use ktd_env::factors::Factor;
use ktd_io::whole_file::{Durability, IfExists, check_writable, write_file};
use ktd_predict::{LinearPredictor, TrainingSpans, linear};
use ktd_view::table::{Align, Table, grouped};
use serde_json::json;
use std::path::PathBuf;

/// Predictors.
#[derive(Debug, Subcommand)]
pub(super) enum BaselineCommand {
    /// Train a ridge regression on the nine factors and write its scores of the days after validation.
    Linear(LinearArgs),
}

pub(super) const EXAMPLES: &str = "\
Example:
  ktd baseline linear csi300.ktdp --out linear.csv
  # then, in an experiment file:
  # agents = [{ id = \"linear\", control = \"signals\", scores = \"linear.csv\", strategy = \"top20\" }]";

const LINEAR_EXAMPLE: &str = "\
Example:
  ktd baseline linear csi300.ktdp --out linear.csv \\
    --train-until 2022-12-31 --validate-until 2023-12-31

A score is the predicted return from the next open to the open after it, above the mean of the index's members. No price of the \
days that are scored is trained or validated on. The same panel and days give the same bytes.";

#[derive(Debug, Args)]
#[command(after_help = LINEAR_EXAMPLE)]
pub(super) struct LinearArgs {
    /// The panel file.
    panel: PathBuf,
    /// The score file to write: CSV `date,code,score`.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Last day to train on.
    #[arg(long, value_name = "DATE", value_parser = read_day, default_value = "2022-12-31")]
    train_until: TradeDate,
    /// Last day to validate on, which chooses the penalty; what follows is scored.
    #[arg(long, value_name = "DATE", value_parser = read_day, default_value = "2023-12-31")]
    validate_until: TradeDate,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

/// Trains a predictor.
pub(super) fn run(command: &BaselineCommand, console: Console) -> Result<(), CliError> {
    let BaselineCommand::Linear(args) = command;
    let overwrite = if args.force {
        IfExists::Replace
    } else {
        IfExists::Refuse
    };
    check_writable(&args.out, overwrite)?;
    let market = load_panel(&args.panel)?;
    let spans = TrainingSpans {
        train_until: args.train_until,
        validate_until: args.validate_until,
    };
    let predictor = linear(&market, spans)?;
    let file = predictor.score_file(&market);
    write_file(&args.out, file.as_bytes(), overwrite, Durability::Synced)?;
    let out = args.out.display().to_string();
    let text = text(&predictor, &out);
    console.result(
        if console.quiet { "" } else { &text },
        &document(&predictor, &out),
    )
}

fn text(predictor: &LinearPredictor, out: &str) -> String {
    let mut table = Table::new(&[
        ("factor", Align::Left),
        ("basis points a day per sd", Align::Right),
    ]);
    for (factor, coefficient) in Factor::ALL.into_iter().zip(predictor.coefficients) {
        table.row([factor.name().to_owned(), format!("{:.3}", 1e4 * coefficient)]);
    }
    format!(
        "{}{out}: {} scores; trained on {} rows, penalty {} chosen on {} days (mean daily IC {:.4})",
        table.render(),
        grouped(predictor.scores.len()),
        grouped(predictor.rows_trained),
        predictor.penalty,
        grouped(predictor.days_validated),
        predictor.validation_ic,
    )
}

fn document(predictor: &LinearPredictor, out: &str) -> serde_json::Value {
    let named = Factor::ALL.into_iter().zip(predictor.coefficients);
    let coefficients: serde_json::Map<_, _> = named
        .map(|(factor, coefficient)| (factor.name().to_owned(), json!(coefficient)))
        .collect();
    json!({
        "scores": out,
        "rows": predictor.scores.len(),
        "coefficients": coefficients,
        "penalty": predictor.penalty,
        "validation_ic": predictor.validation_ic,
        "rows_trained": predictor.rows_trained,
        "days_validated": predictor.days_validated,
    })
}
