//! `ktd curve CONFIG`.

use super::probe::SetArgs;
use super::run::execute;
use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use crate::this_program::this_program;
use clap::Args;
use ktd_certify::curve::plan::CurveRun;
use ktd_certify::curve::{Curve, experiment, render, table};
use ktd_certify::probe_inputs::ProbeInputs;
use ktd_episode::grid::RunPlan;
use ktd_io::file_set::replace_report;
use ktd_io::whole_file::json_bytes;
use ktd_study::StudyError;
use serde_json::json;
use std::sync::Mutex;

const EXAMPLE: &str = "\
Examples:
  ktd curve runs/configs/certify.toml                # every way to show numbers
  ktd curve certify_real.toml --out results/curve    # curve.json and curve.svg

The file is that of `ktd probe`; its mask is left aside. Rerunning keeps what is on disk.";

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
    let run = CurveRun(args.set.run()?);
    let _lock = run.0.paths.lock_for_writing()?;
    let ticks = u64::try_from(run.progress_total()).unwrap_or(u64::MAX);
    let bar = Mutex::new(Progress::new(
        console,
        "probing",
        ticks,
        "probes made, learned from or attacked",
    ));
    let recoveries = run.recoveries(&|| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(1);
        }
    })?;
    drop(bar);
    let (source, plan, key) = run.0.prepare()?;
    let stretches = plan.stretches.clone();
    let inputs = ProbeInputs::new(source, &plan, key, run.0.threads)?;
    let fidelities = run.fidelities(&inputs, (&stretches, &plan.training_stretches))?;
    let episodes = execute(
        RunPlan {
            config: experiment(&run.0.config, &inputs, &stretches)?,
            base: run.0.base.clone(),
            output: run.0.paths.root().join("strategies"),
            program: Some(this_program()),
        },
        false,
        console,
    )?;
    let traded = episodes.results.into_iter();
    let traded: Result<Vec<_>, _> = traded.map(|cell| Ok((cell.cell, cell.result?))).collect();
    let curve = run.draw(
        &inputs,
        recoveries,
        &fidelities,
        traded.map_err(|error: StudyError| CliError::from(error))?,
    )?;
    report(&run, &curve, console)
}

fn report(run: &CurveRun, curve: &Curve, console: Console) -> Result<(), CliError> {
    let root = run.0.paths.root();
    let (record, picture) = (root.join("curve.json"), root.join("curve.svg"));
    let files = [
        (record.clone(), json_bytes(&record, curve)?),
        (picture.clone(), render(curve).into_bytes()),
    ];
    replace_report(&files, &[])?;
    let text = format!(
        "{}\nrecord: {}\npicture: {}\n",
        table(curve),
        record.display(),
        picture.display()
    );
    console.result(&text, &json!(curve))
}
