//! `ktd verify BUNDLE...`.

use super::run::runtime;
use crate::bundle::verify::verify;
use crate::failure::Failure;
use crate::output::Console;
use clap::Args;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Example:
  ktd verify results/demo/cells/*

Exit code 0 when every bundle is as it says, 1 when one differs.";

/// Checks bundles: hashes, fills, NAV and metrics; names what differs first.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct VerifyArgs {
    /// The bundles' directories.
    #[arg(required = true)]
    pub bundles: Vec<PathBuf>,
    /// The panel, when it is no longer where the bundles were made.
    #[arg(long)]
    pub panel: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when a bundle differs; all are checked first.
pub(super) fn run(args: &VerifyArgs, console: Console) -> Result<(), Failure> {
    let runtime = runtime()?;
    let mut text = String::new();
    let mut documents = Vec::new();
    let mut first_failure = None;
    for bundle in &args.bundles {
        let shown = bundle.display().to_string();
        match runtime.block_on(verify(bundle, args.panel.as_deref())) {
            Ok(verified) => {
                // Writing to a string cannot fail.
                writeln!(text, "{shown}: ok").ok();
                verified.checks.iter().for_each(|check| {
                    writeln!(text, "  checked    {check}").ok();
                });
                verified.unchecked.iter().for_each(|check| {
                    writeln!(text, "  UNCHECKED  {check}").ok();
                });
                documents.push(json!({
                    "bundle": shown, "ok": true, "checked": verified.checks, "unchecked": verified.unchecked,
                }));
            }
            Err(error) => {
                writeln!(text, "{shown}: DIFFERS\n  {error}").ok();
                documents.push(json!({ "bundle": shown, "ok": false, "difference": error.to_string() }));
                first_failure.get_or_insert_with(|| Failure::from(error));
            }
        }
    }
    console.result(&text, &json!({ "bundles": documents }))?;
    first_failure.map_or(Ok(()), Err)
}
