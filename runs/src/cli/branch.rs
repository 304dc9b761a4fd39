//! `ktd replay BUNDLE --branch STEP`.

use super::replay::ReplayArgs;
use super::run::{Bar, runtime, stopped};
use crate::bundle::BundlePaths;
use crate::bundle::open::OpenBundle;
use crate::episode::{branch_cell, branch_episode};
use crate::error::RunError;
use crate::experiment::agents::{Transports, check_builtin};
use crate::experiment::config::{AgentConfig, ExperimentConfig, RetryConfig};
use crate::experiment::provider::{Provider, builtin_table};
use crate::experiment::run::CellResult;
use crate::failure::Failure;
use crate::output::Console;
use crate::report;
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// [`Failure`] when the bundle, the step or the agent does not fit, and when the branch stops before its end.
pub(super) fn run(args: &ReplayArgs, step: usize, out: &Path, console: Console) -> Result<(), Failure> {
    let mut bundle = OpenBundle::open(&args.bundle, args.panel.as_deref())?;
    let (agent, retries) = agent(args)?;
    bundle.shared.retries = retries;
    let cell = branch_cell(&bundle.cell, &bundle.paths, step, agent)?;
    let transport =
        Transports::default().of((&cell.agent, &cell.provider), cell.seed, &bundle.shared.market)?;
    let bar = Bar::of_steps(console, cell.window.days.len() + 1 - step);
    let paths = BundlePaths::new(out);
    let input = bundle.input();
    let branch = branch_episode(&input, &bundle.paths, &cell, &paths, transport.as_ref(), &bar);
    let result = runtime()?.block_on(branch);
    let results = [CellResult::of(cell, out.to_owned(), result)];
    let text = format!(
        "{}steps before {step} are those of {}; the branch is in {}\n",
        report::table(&results),
        bundle.cell.id,
        out.display()
    );
    console.result(&text, &report::to_json(&results))?;
    stopped(&results)
}

/// Who goes on, if it is another agent, and what is done about infrastructure faults.
fn agent(args: &ReplayArgs) -> Result<(Option<(AgentConfig, Provider)>, RetryConfig), RunError> {
    if let Some(name) = &args.builtin {
        check_builtin(name)?;
        let agent = AgentConfig::builtin(name);
        let provider = Provider::of(&agent, &builtin_table()?)?;
        return Ok((Some((agent, provider)), RetryConfig::default()));
    }
    let Some(named) = &args.agent else {
        return Ok((None, RetryConfig::default()));
    };
    let Some((file, id)) = named.rsplit_once(':') else {
        let what = format!("--agent is {named:?}: it names no agent of a file");
        return Err(RunError::input(what, "write it as EXPERIMENT.toml:ID"));
    };
    let config = ExperimentConfig::read(Path::new(file))?;
    let table = config.dialect_table()?;
    let known: Vec<&str> = config.agents.iter().map(|agent| agent.id.as_str()).collect();
    let known = known.join(", ");
    let agent = config.agents.into_iter().find(|agent| agent.id == id);
    let agent = agent.ok_or_else(|| {
        let what = format!("{file} has no agent {id:?}");
        RunError::input(what, format!("it has {known}"))
    })?;
    let provider = Provider::of(&agent, &table)?;
    Ok((Some((agent, provider)), config.retries))
}
