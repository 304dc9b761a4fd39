//! `ktd baseline`: predictors that need nothing but a panel.

use crate::CliError;
use crate::output::Console;
use crate::trading_day::read_day;
use clap::{Args, Subcommand};
use ktd_data::load_panel;
use ktd_env::TradeDate;
use ktd_env::factors::Factor;
use ktd_io::whole_file::{Durability, IfExists, check_writable, write_file};
use ktd_predict::{
    BoostedPredictor, LinearPredictor, PredictedReturn, TrainingSpans, boosted, linear, score_file,
};
use ktd_view::table::{Align, Table, grouped};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Predictors.
#[derive(Debug, Subcommand)]
pub(super) enum BaselineCommand {
    /// Train a ridge regression on the nine factors and write its scores of the days after validation.
    Linear(LinearArgs),
    /// Train gradient-boosted trees on the nine factors and write their scores of the days after validation.
    BoostedTrees(BoostedTreesArgs),
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

const BOOSTED_TREES_EXAMPLE: &str = "\
Example:
  ktd baseline boosted-trees csi300.ktdp --out trees.csv

Labels and scores are those of `ktd baseline linear`; the settings are those that Qlib publishes for LightGBM on the CSI300, and \
validation chooses how many trees are kept. Where it keeps none, nothing was learnt, and nothing is written. The same panel, days \
and seed give the same bytes.";

#[derive(Debug, Args)]
#[command(after_help = LINEAR_EXAMPLE)]
pub(super) struct LinearArgs {
    #[command(flatten)]
    training: TrainingArgs,
}

#[derive(Debug, Args)]
#[command(after_help = BOOSTED_TREES_EXAMPLE)]
pub(super) struct BoostedTreesArgs {
    #[command(flatten)]
    training: TrainingArgs,
    /// Seed of the columns that each tree may ask about.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct TrainingArgs {
    /// The panel file.
    panel: PathBuf,
    /// The score file to write: CSV `date,code,score`.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Last day to train on.
    #[arg(long, value_name = "DATE", value_parser = read_day, default_value = "2022-12-31")]
    train_until: TradeDate,
    /// Last day to validate on; what follows is scored.
    #[arg(long, value_name = "DATE", value_parser = read_day, default_value = "2023-12-31")]
    validate_until: TradeDate,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

impl TrainingArgs {
    const fn spans(&self) -> TrainingSpans {
        TrainingSpans {
            train_until: self.train_until,
            validate_until: self.validate_until,
        }
    }

    const fn overwrite(&self) -> IfExists {
        IfExists::refused_unless(self.force)
    }
}

/// Trains a predictor.
pub(super) fn run(command: &BaselineCommand, console: Console) -> Result<(), CliError> {
    let args = match command {
        BaselineCommand::Linear(args) => &args.training,
        BaselineCommand::BoostedTrees(args) => &args.training,
    };
    check_writable(&args.out, args.overwrite())?;
    let market = load_panel(&args.panel)?;
    let out = args.out.display().to_string();
    let write = |scores: &[PredictedReturn]| {
        let file = score_file(&market, scores);
        write_file(&args.out, file.as_bytes(), args.overwrite(), Durability::Synced)
    };
    let shown = |text: String| if console.quiet { String::new() } else { text };
    match command {
        BaselineCommand::Linear(_) => {
            let predictor = linear(&market, args.spans())?;
            write(&predictor.scores)?;
            let text = shown(linear_text(&predictor, &out));
            console.result(&text, &TrainedLinear::of(&predictor, &out))
        }
        BaselineCommand::BoostedTrees(trees) => {
            let predictor = boosted(&market, args.spans(), trees.seed)?;
            write(&predictor.scores)?;
            let text = shown(trees_text(&predictor, &out));
            console.result(&text, &TrainedTrees::of(&predictor, &out))
        }
    }
}

/// Boosted trees that were trained.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct TrainedTrees<'p> {
    /// The score file.
    scores: &'p str,
    rows: usize,
    trees: usize,
    /// Mean daily rank correlation on the validation days.
    validation_ic: f64,
    rows_trained: usize,
    days_validated: usize,
}

/// A linear predictor that was trained.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct TrainedLinear<'p> {
    /// The score file.
    scores: &'p str,
    rows: usize,
    /// Return a day per standard deviation, by factor.
    coefficients: BTreeMap<&'static str, f64>,
    penalty: f64,
    /// Whether no larger one was tried.
    largest_penalty: bool,
    /// Mean daily rank correlation on the validation days.
    validation_ic: f64,
    validation_r2: f64,
    rows_trained: usize,
    days_validated: usize,
}

fn trees_text(predictor: &BoostedPredictor, out: &str) -> String {
    format!(
        "{out}: {} scores; trained on {} rows, {} trees kept on {} days (mean daily IC {:.4})",
        grouped(predictor.scores.len()),
        grouped(predictor.rows_trained),
        predictor.trees,
        grouped(predictor.days_validated),
        predictor.validation_ic,
    )
}

impl<'p> TrainedTrees<'p> {
    fn of(predictor: &BoostedPredictor, scores: &'p str) -> Self {
        Self {
            scores,
            rows: predictor.scores.len(),
            trees: predictor.trees,
            validation_ic: predictor.validation_ic,
            rows_trained: predictor.rows_trained,
            days_validated: predictor.days_validated,
        }
    }
}

fn linear_text(predictor: &LinearPredictor, out: &str) -> String {
    let mut table = Table::new(&[
        ("factor", Align::Left),
        ("basis points a day per sd", Align::Right),
    ]);
    for (factor, coefficient) in Factor::ALL.into_iter().zip(predictor.coefficients) {
        table.row([factor.name().to_owned(), format!("{:.3}", 1e4 * coefficient)]);
    }
    let mut text = format!(
        "{}{out}: {} scores; trained on {} rows, penalty {} chosen on {} days (mean daily IC {:.4}, R2 {:.6})",
        table.render(),
        grouped(predictor.scores.len()),
        grouped(predictor.rows_trained),
        predictor.penalty,
        grouped(predictor.days_validated),
        predictor.validation_ic,
        predictor.validation_r2,
    );
    if predictor.validation_r2 <= 0.0 {
        text.push_str("\nnote: nothing was learnt that held in validation: the members' mean is as near to its returns as the prediction");
    }
    if predictor.largest_penalty {
        text.push_str("\nnote: the penalty is the largest that was tried, so that the scores are small beside the costs of a trade");
    }
    text
}

impl<'p> TrainedLinear<'p> {
    fn of(predictor: &LinearPredictor, scores: &'p str) -> Self {
        let named = Factor::ALL.into_iter().map(Factor::name);
        Self {
            scores,
            rows: predictor.scores.len(),
            coefficients: named.zip(predictor.coefficients).collect(),
            penalty: predictor.penalty,
            largest_penalty: predictor.largest_penalty,
            validation_ic: predictor.validation_ic,
            validation_r2: predictor.validation_r2,
            rows_trained: predictor.rows_trained,
            days_validated: predictor.days_validated,
        }
    }
}
