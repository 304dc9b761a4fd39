//! `ktd windows FILE`: windows that an experiment draws, what is committed to, and numbers for another lab's draw.

use super::run::plan;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_data::market_source::MarketSource;
use ktd_env::{DayIndex, Market, TradeDate};
use ktd_episode::grid::{RunPlan, draw_secret, experiment_key};
use ktd_experiment::drawn_windows::{DrawConfig, DrawSecret, window_key};
use ktd_experiment::panel_windows::{Window, windows};
use ktd_experiment::window_config::Windows;
use ktd_io::whole_file::{Durability, IfExists, json_bytes, write_file};
use ktd_masking::MaskKey;
use ktd_record::draw_number::DrawCommitment;
use ktd_record::signing::{Signature, SigningKey};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd certify --new-mask-key season.key               # once: the `mask_key_file`
  ktd windows season.toml --commit commitment.json    # before anybody knows the windows
  ktd windows --number-for commitment.json --key b.pem --out number.json    # another lab
  ktd run season.toml                                 # with `nonce = \"number.json\"` in `windows`
  ktd windows season.toml --real                      # the owner alone: which days they are

Labs that share file, key and number play the same windows. Without a number boards say `drawn by
its operator`.";

/// Shows what an experiment that draws its windows commits to; with `--real`, the days. With `--number-for`, gives the number on which
/// another lab's windows shall hang: your signature of its commitment.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct WindowsArgs {
    /// The experiment file.
    #[arg(required_unless_present = "number_for", conflicts_with = "number_for")]
    experiment: Option<PathBuf>,
    /// Results directory (default: the file's `output`, else `results/NAME`): the mask key may be kept there.
    #[arg(long, value_name = "DIR", conflicts_with = "number_for")]
    results: Option<PathBuf>,
    /// Writes what another lab draws a number for.
    #[arg(long, value_name = "FILE", conflicts_with = "number_for")]
    commit: Option<PathBuf>,
    /// Names the days, which nobody else may see before the windows are opened.
    #[arg(long, conflicts_with = "number_for")]
    real: bool,
    /// Gives your number for this commitment of another lab.
    #[arg(long, value_name = "FILE", requires = "key", requires = "out")]
    number_for: Option<PathBuf>,
    /// Your private key, PEM, which signs the number.
    #[arg(long, value_name = "FILE", requires = "number_for")]
    key: Option<PathBuf>,
    /// Where the number is written.
    #[arg(long, value_name = "FILE", requires = "number_for")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for an experiment that names its windows, and for files that cannot be read or written.
pub(super) fn run(args: &WindowsArgs, console: Console) -> Result<(), CliError> {
    match args {
        WindowsArgs {
            number_for: Some(commitment),
            key: Some(key),
            out: Some(out),
            ..
        } => number(commitment, key, out, console),
        WindowsArgs {
            experiment: Some(experiment),
            ..
        } => shown(args, &plan(experiment, args.results.as_deref())?, console),
        WindowsArgs { .. } => Err(CliError::input(
            "there is neither an experiment file nor a commitment",
            "see `ktd windows --help`",
        )),
    }
}

fn number(commitment: &Path, key: &Path, out: &Path, console: Console) -> Result<(), CliError> {
    let number = DrawCommitment::read(commitment)?.number(&SigningKey::read(key)?)?;
    keep(out, &json_bytes(out, &number).map_err(CliError::invalid)?)?;
    let text = format!(
        "wrote the number of {} to {}: give it to whoever made the commitment\n",
        number.signature.fingerprint,
        out.display()
    );
    console.result(&text, &number)
}

fn keep(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    if path.exists() {
        let what = format!("{} exists", path.display());
        return Err(CliError::input(
            what,
            "a commitment or number that was given away is not replaced: name a new file",
        ));
    }
    Ok(write_file(path, bytes, IfExists::Keep, Durability::Buffered)?)
}

fn shown(args: &WindowsArgs, plan: &RunPlan, console: Console) -> Result<(), CliError> {
    let Windows::Drawn(draw) = plan.config.windows.clone() else {
        return Err(CliError::input(
            "this experiment names its windows: everybody who reads it knows them",
            "write windows = { draw = 10, days = 43, from = \"2022-01-05\", until = \"2026-04-10\" }",
        ));
    };
    let key = experiment_key(plan)?;
    let commitment = DrawCommitment::of(&draw, &window_key(&key).commitment());
    let source = MarketSource::of(&plan.config, &plan.base)?;
    // A commitment that was given away is not taken back: what the span cannot hold is told before. No number changes how many fit.
    let without_number = DrawSecret {
        key: window_key(&key),
        nonce: None,
    };
    windows(&plan.config, &source.market, Some(&without_number))?;
    if let Some(path) = &args.commit {
        keep(path, &json_bytes(path, &commitment).map_err(CliError::invalid)?)?;
    }
    let number = Number::of(args, plan, &key, &draw)?;
    let days = if args.real {
        days(plan, &key, &source.market)?
    } else {
        Vec::new()
    };
    let head = format!(
        "{} windows of {} trading days, drawn between {} and {}\ncommitment {}\n{}\n",
        draw.draw,
        draw.days,
        draw.from,
        draw.until,
        commitment.commitment,
        number.text()
    );
    let lines = days
        .iter()
        .map(|of| format!("{}  {} to {}\n", of.window, of.first, of.last));
    let text: String = std::iter::once(head).chain(lines).collect();
    let document = ShownWindows {
        draw: &draw,
        commitment: &commitment.commitment,
        windows: &days,
    };
    console.result(&text, &document)
}

/// The number of another lab on which windows hang.
enum Number {
    None,
    /// It is not given yet, or a new one is asked for.
    Awaited,
    /// That of the key with this fingerprint.
    Of(String),
}

impl Number {
    /// # Errors
    /// [`CliError`] where it is of another draw, or its signature does not fit, as a run says.
    fn of(args: &WindowsArgs, plan: &RunPlan, key: &MaskKey, draw: &DrawConfig) -> Result<Self, CliError> {
        let Some(file) = &draw.nonce else {
            return Ok(Self::None);
        };
        if args.commit.is_some() || !plan.base.join(file).exists() {
            return Ok(Self::Awaited);
        }
        let nonce = draw_secret(plan, key)?.and_then(|secret| secret.nonce);
        Ok(nonce.map_or(Self::Awaited, |nonce| {
            Self::Of(Signature::of_parts(&nonce.public_key, &nonce.number).fingerprint)
        }))
    }

    fn text(&self) -> String {
        match self {
            Self::None => {
                "nobody else had a say in their days: boards say `drawn by its operator`".to_owned()
            }
            Self::Awaited => {
                "their days hang on a number of another lab too, which is still to be given".to_owned()
            }
            Self::Of(fingerprint) => format!("their days hang on the number of {fingerprint} too"),
        }
    }
}

/// What is drawn.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ShownWindows<'w> {
    draw: &'w DrawConfig,
    commitment: &'w str,
    /// Windows with their days; none without `--real`.
    windows: &'w [WindowDays],
}

/// A window and its days.
#[derive(Debug, JsonSchema, Serialize)]
struct WindowDays {
    window: String,
    first: String,
    last: String,
}

/// Name, first and last day of each window, in the order of the draw.
fn days(plan: &RunPlan, key: &MaskKey, market: &Market) -> Result<Vec<WindowDays>, CliError> {
    let secret = draw_secret(plan, key)?;
    let windows = windows(&plan.config, market, secret.as_ref())?;
    let date = |day: Option<&DayIndex>| {
        let date = day.and_then(|day| market.date(*day));
        date.map_or_else(String::new, TradeDate::reveal)
    };
    let named = |window: &Window| WindowDays {
        window: window.id.clone(),
        first: date(window.days.first()),
        last: date(window.days.last()),
    };
    Ok(windows.iter().map(named).collect())
}
