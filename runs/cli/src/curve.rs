//! `ktd curve CONFIG`.

use super::probe::SetArgs;
use super::study;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_certify::CurveStudy;

const EXAMPLE: &str = "\
Examples:
  ktd curve runs/configs/certify.toml                # every way to show numbers
  ktd curve certify_real.toml --out results/curve    # index.html, curve.svg

The file is that of `ktd probe`; its mask is left aside. Run it again to continue; `ktd replay DIR --deep` makes all of it again.";

/// Show what each rung of the numeric ladder leaks to attackers, and what it costs two fixed strategies.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct CurveArgs {
    #[command(flatten)]
    set: SetArgs,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for bad input, and when an episode stops.
pub(super) fn run(args: &CurveArgs, console: Console) -> Result<(), CliError> {
    let done = args.set.finish::<CurveStudy>(|_| Ok(()), console)?;
    study::show(&done, args.set.tables || console.wide, console)
}
