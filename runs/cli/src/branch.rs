//! `ktd replay BUNDLE --branch STEP`.

use super::replay_args::ReplayArgs;
use super::run::stopped;
use super::runtime::runtime;
use super::signals::unless_told_to_end;
use super::step_bar::StepBar;
use crate::CliError;
use crate::output::Console;
use crate::results::{Results, results_table};
use crate::this_program::this_program;
use ktd_bundle::event::publishes_account;
use ktd_bundle::finished_episode::check_bundle;
use ktd_bundle::{BundlePaths, lies_in_private};
use ktd_client::money::{Metering, PaymentTerms};
use ktd_client::{Payer, PricedAgent};
use ktd_episode::CellResult;
use ktd_episode::EpisodeError;
use ktd_episode::open_bundle::OpenBundle;
use ktd_episode::transports::{Connection, Transports};
use ktd_episode::{branch_cell, branch_episode};
use ktd_experiment::agent::check_builtin;
use ktd_experiment::amount::Picodollars;
use ktd_experiment::branch::BranchChange;
use ktd_experiment::caps::Caps;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::{AgentConfig, ExperimentConfig, RetryConfig};
use ktd_experiment::nearest::with_nearest;
use ktd_experiment::price_table::TokenPricing;
use ktd_experiment::provider::{Provider, builtin_table};
use ktd_io::whole_file::read_input;
use ktd_masking::Numeric;
use ktd_study::StudyError;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the command.
///
/// # Errors
/// [`CliError`] when the bundle, the step or the agent does not fit, and when the branch stops before its end.
pub(super) fn run(args: &ReplayArgs, step: usize, out: &Path, console: Console) -> Result<(), CliError> {
    check_bundle(&args.bundle, true)?;
    let mut bundle = OpenBundle::open(&args.bundle, args.panel.as_deref())?;
    let successor = Successor::of(args)?;
    let base = base(args);
    bundle.shared.retries = successor.retries;
    bundle.shared.program = Some(this_program());
    let mut cell = branch_cell(
        &bundle.cell,
        &bundle.paths,
        step,
        successor.agent,
        change(args, &bundle, step)?,
    )?;
    if successor.terms.prices.is_some() {
        cell.basis = successor.terms.basis(&cell.agent, &cell.provider);
    }
    check_sealed([&bundle.cell, &cell], out)?;
    let paths = BundlePaths::new(out);
    bundle.shared.metering = Arc::new(metering(successor.terms, args.budget, &cell, &paths)?);
    let who = (&cell.agent, &cell.provider);
    let connection = Transports::default().connect(who, cell.seed, &bundle.shared.market, &base)?;
    let bar = StepBar::of_steps(console, cell.window.days.len() + 1 - step);
    let input = bundle.input();
    let result = runtime()?.block_on(unless_told_to_end(async {
        match connection {
            Connection::Model(transport) => {
                branch_episode(&input, &bundle.paths, &cell, &paths, transport.as_ref(), &bar).await
            }
            Connection::Process(agent) => {
                let bridge = agent.bridge();
                let watched = bridge.agent().watched(&bar);
                let result = branch_episode(&input, &bundle.paths, &cell, &paths, &bridge, &watched).await;
                bridge.agent().close(result.is_ok()).await;
                result
            }
            Connection::Control(_) | Connection::Formula(_) => Err(EpisodeError::input(
                format!(
                    "agent {:?} is a control or trades formulas, and plays whole episodes",
                    cell.agent.id
                ),
                "name another agent with --agent or --builtin",
            )),
            Connection::Client => Err(EpisodeError::input(
                format!("agent {:?} calls over MCP: no branch can start it", cell.agent.id),
                "name another agent with --agent or --builtin",
            )),
        }
    }))?;
    let results = [CellResult::of(
        cell,
        out.to_owned(),
        result.map_err(StudyError::from),
    )];
    let text = format!(
        "{}steps before {step} are those of {}; the branch is in {}\n",
        results_table(&results, console.layout()),
        bundle.cell.id,
        out.display()
    );
    console.result(&text, &Results::of(&results))?;
    stopped(&results)
}

/// The one thing that the branch changes, where one is named.
fn change(args: &ReplayArgs, bundle: &OpenBundle, step: usize) -> Result<Option<BranchChange>, CliError> {
    let change = &args.change;
    if let Some(path) = &change.orders {
        let submission = read_input(path)?;
        return Ok(Some(BranchChange::Orders {
            submission: submission.trim().to_owned(),
        }));
    }
    if let Some(numeric) = &change.numeric {
        let to = Numeric::of_label(numeric)
            .map_err(|what| CliError::input(with_nearest(&what), "write another label after --numeric"))?;
        let from = bundle.cell.arm_at(step).settings.numeric;
        return Ok(Some(BranchChange::numeric(from, to)?));
    }
    if let Some(rule) = &change.rule {
        let rules = bundle
            .cell
            .changes_at(step)
            .into_iter()
            .find_map(|change| match change {
                BranchChange::Rules { rules } => Some(&**rules),
                BranchChange::Answer { .. } | BranchChange::Orders { .. } | BranchChange::Numeric { .. } => {
                    None
                }
            });
        return Ok(Some(BranchChange::rule(
            rules.unwrap_or(&bundle.header.rules),
            rule,
        )?));
    }
    change.answer.as_deref().map(answer).transpose()
}

/// `CALL=TOOL ARGUMENTS`.
fn answer(text: &str) -> Result<BranchChange, CliError> {
    let invalid = || {
        CliError::input(
            format!("--answer is {text:?}: it names no call with another one"),
            "write it as CALL=TOOL ARGUMENTS, such as 1='get_market_context {}'",
        )
    };
    let (call, other) = text.split_once('=').ok_or_else(invalid)?;
    let call: usize = call
        .trim()
        .parse()
        .ok()
        .filter(|call| 0 < *call)
        .ok_or_else(invalid)?;
    let (tool, arguments) = other.trim().split_once(' ').ok_or_else(invalid)?;
    Ok(BranchChange::Answer {
        call,
        tool: tool.to_owned(),
        arguments: arguments.trim().to_owned(),
    })
}

/// The budget and the gate of a branch's calls. What its bundle holds already is spent; the bundle's own lock keeps other
/// processes away.
fn metering(
    mut terms: PaymentTerms,
    cap: Option<Picodollars>,
    cell: &Cell,
    paths: &BundlePaths,
) -> Result<Metering, CliError> {
    terms.budget = Caps::default().with_cell(terms.budget.cell).with_cell(cap);
    if terms.budget.is_any() && cell.basis == TokenPricing::Unknown {
        return Err(CliError::input(
            format!(
                "there is a budget, but no price is known of agent {:?}",
                cell.agent.id
            ),
            "name it with --agent EXPERIMENT.toml:ID, where the file has `prices` with a row for its model",
        ));
    }
    let payer = Payer::of_cell(cell);
    let agents = std::iter::once(PricedAgent::from(cell));
    Ok(terms.open(agents, |budget| payer.count_recorded(&paths.exchanges(), budget))?)
}

/// The directory that the agent's own paths start from: that of the file which names it.
fn base(args: &ReplayArgs) -> PathBuf {
    let file = args.agent.as_ref().and_then(|named| named.rsplit_once(':'));
    file.and_then(|(file, _)| Path::new(file).parent())
        .map_or_else(PathBuf::new, Path::to_owned)
}

/// Who goes on, and how.
#[derive(Default)]
struct Successor {
    /// Another agent than the one that answered before.
    agent: Option<(AgentConfig, Provider)>,
    /// Prices, caps and rates of the file that names it.
    terms: PaymentTerms,
    /// What is done about infrastructure faults.
    retries: RetryConfig,
}

impl Successor {
    fn of(args: &ReplayArgs) -> Result<Self, CliError> {
        match (&args.builtin, &args.agent) {
            (Some(name), _) => Self::builtin(name),
            (None, Some(named)) => Self::named(named),
            (None, None) => Ok(Self::default()),
        }
    }

    fn builtin(name: &str) -> Result<Self, CliError> {
        check_builtin(name)?;
        let agent = AgentConfig::builtin(name);
        let provider = Provider::of(&agent, &builtin_table()?)?;
        Ok(Self {
            agent: Some((agent, provider)),
            ..Self::default()
        })
    }

    /// An agent of an experiment file, `EXPERIMENT.toml:ID`, with that file's vendors, prices, rates and retries,
    /// and its cap for a cell.
    fn named(named: &str) -> Result<Self, CliError> {
        let Some((file, id)) = named.rsplit_once(':') else {
            let what = format!("--agent is {named:?}: it names no agent of a file");
            return Err(CliError::input(what, "write it as EXPERIMENT.toml:ID"));
        };
        let file = Path::new(file);
        let config = ExperimentConfig::read(file)?;
        let base = file.parent().unwrap_or(Path::new(""));
        let terms = PaymentTerms::of_experiment(&config, base)?;
        let table = config.dialect_table()?;
        let known: Vec<&str> = config.agents.iter().map(|agent| agent.id.as_str()).collect();
        let known = known.join(", ");
        let agent = config.agents.into_iter().find(|agent| agent.id == id);
        let agent = agent.ok_or_else(|| {
            let what = format!("{} has no agent {id:?}", file.display());
            EpisodeError::input(what, format!("it has {known}"))
        })?;
        let provider = Provider::of(&agent, &table)?;
        Ok(Self {
            terms: terms.of_one(&agent, &provider),
            agent: Some((agent, provider)),
            retries: config.retries,
        })
    }
}

/// A branch holds the steps that it left: those of an agent that decides with real codes under a mask stay private.
fn check_sealed(cells: [&Cell; 2], out: &Path) -> Result<(), CliError> {
    let is_sealed = |cell: &&Cell| cell.agent.knows_names() && !publishes_account(cell.mask.level);
    if cells.iter().any(is_sealed) && !lies_in_private(out) {
        let what = format!(
            "{}: a branch of an agent that decides with real codes under a mask would tell them by its orders",
            out.display()
        );
        return Err(CliError::input(what, "write it below a folder called `private`"));
    }
    Ok(())
}
