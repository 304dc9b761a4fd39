//! `ktd doctor`: what works, and how to fix what does not.

#[cfg(feature = "server")]
use super::bucket::bucket_address;
use super::doctor_file;
use super::doctor_probe::{self, ProbeArgs};
use super::doctor_repeat::{self, RepeatArgs};
use super::doctor_self_test::{self_test, writable};
use super::run::plan;
#[cfg(feature = "server")]
use super::runtime::runtime;
use super::study::kind_for;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_client::endpoint::{key_file_warning, proxy_of, proxy_of_environment};
use ktd_client::force_check::{ForceStanding, standing};
use ktd_client::opening::price_cells;
use ktd_client::outside_agent::ChildCommand;
use ktd_client::outside_agent::{check_command, check_sources};
use ktd_data::market_source::MarketSource;
use ktd_data::scores::ScoreTable;
use ktd_episode::grid::RunPlan;
use ktd_episode::{EpisodesStudy, LazyFactors};
use ktd_experiment::agent::{AgentKind, ApiKeySource, Control, ModelAgent, check_builtin};
use ktd_experiment::cells::cells;
use ktd_experiment::config::{AgentConfig, ExperimentConfig};
use ktd_experiment::price_table::TokenPricing;
use ktd_experiment::provider::Provider;
use ktd_formulas::TradedPool;
use ktd_io::whole_file::read_input_bytes;
use ktd_study::StudyKind;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd doctor                    # the program itself, and whether results can be written here
  ktd doctor try.toml           # also this experiment: panel, windows, keys, endpoints
  ktd doctor try.toml --probe gpt      # how strongly agent gpt can be made to submit
  ktd doctor try.toml --probe          # the same of every model of the file, a line each
  ktd doctor try.toml --repeat gpt --times 10      # how alike agent gpt answers the same step
  ktd doctor --probe deepseek/MODEL --api-key-env DEEPSEEK_API_KEY
  ktd doctor --file recorded.jsonl     # one line an exchange, as a run would read it";

/// Check what works here, and how to fix what does not: program, disk, and an experiment's data, keys and endpoints.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct DoctorArgs {
    /// An experiment file to look through.
    experiment: Option<PathBuf>,
    /// Where results would go (default: `results`; a probe's are kept with those of the experiment).
    #[arg(long)]
    out: Option<PathBuf>,
    /// Look at recorded exchanges: one JSON object a line, plain or gzip: `vendor`, `path`, `request`, `status`, `body`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["probe", "repeat", "out"])]
    file: Option<PathBuf>,
    /// Look at a server for workers on many machines: its version, whether it forgets, how long a statement takes.
    #[cfg(feature = "server")]
    #[arg(long, value_name = "URL", conflicts_with_all = ["probe", "repeat", "file", "experiment"])]
    server: Option<String>,
    /// Look at a bucket for workers that share no folder: whether it answers, and keeps what was written once.
    #[cfg(feature = "server")]
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["probe", "repeat", "file", "experiment", "server"])]
    bucket: Option<PathBuf>,
    #[command(flatten)]
    probe: ProbeArgs,
    #[command(flatten)]
    repeat: RepeatArgs,
}

/// One finding.
struct Finding {
    what: String,
    /// What was found, or what is wrong and how to fix it.
    result: Result<String, (String, String)>,
    /// What works, but should be fixed or known.
    warnings: Vec<String>,
}

impl Finding {
    fn of(what: impl Into<String>, result: Result<String, CliError>) -> Self {
        Self {
            what: what.into(),
            result: result.map_err(|error| {
                (
                    error.message().to_owned(),
                    error.hint().unwrap_or_default().to_owned(),
                )
            }),
            warnings: Vec::new(),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] when something does not work; everything is looked at first.
pub(super) fn run(args: &DoctorArgs, console: Console) -> Result<(), CliError> {
    let (path, out) = (args.experiment.as_deref(), args.out.as_deref());
    if let Some(file) = &args.file {
        return doctor_file::run(file, path, console);
    }
    #[cfg(feature = "server")]
    if let Some(server) = &args.server {
        let found = runtime()?
            .block_on(async { ktd_server::ServerDatabase::connect(server).await?.examine().await })?;
        let findings = found
            .into_iter()
            .map(|result| Finding::of("server", result.map_err(CliError::from)));
        return tell(&findings.collect::<Vec<_>>(), console);
    }
    #[cfg(feature = "server")]
    if let Some(bucket) = &args.bucket {
        let examined = bucket_address(bucket)
            .and_then(|address| Ok(runtime()?.block_on(ktd_bucket::examine(&address))?));
        return tell(&[Finding::of("bucket", examined)], console);
    }
    match &args.probe.probe {
        Some(Some(wanted)) => return doctor_probe::run((&args.probe, wanted), path, out, console),
        Some(None) => {
            let found = doctor_probe::run_all(&args.probe, path, out)?;
            let findings = found
                .into_iter()
                .map(|(agent, result)| Finding::of(format!("agent {agent}"), result));
            return tell(&findings.collect::<Vec<_>>(), console);
        }
        None => {}
    }
    if let (Some(wanted), Some(path)) = (&args.repeat.repeat, path) {
        return doctor_repeat::run((&args.repeat, wanted), path, out, console);
    }
    let results = out.unwrap_or_else(|| Path::new("results"));
    let mut findings = vec![
        Finding::of("results directory", writable(results)),
        Finding::of("self-test", self_test(results)),
    ];
    if let Some(path) = path {
        findings.extend(experiment(path, out));
    }
    tell(&findings, console)
}

/// Prints what was found.
///
/// # Errors
/// [`CliError`] where something does not work.
fn tell(findings: &[Finding], console: Console) -> Result<(), CliError> {
    console.result(&render(findings), &Checks::of(findings))?;
    let broken = findings.iter().filter(|finding| finding.result.is_err()).count();
    if broken == 0 {
        return Ok(());
    }
    Err(
        CliError::difference(format_args!("{broken} of {} checks failed", findings.len()))
            .with_hint("each failed line above says how to fix it"),
    )
}

fn experiment(path: &Path, out: Option<&Path>) -> Vec<Finding> {
    if let Ok(kind) = kind_for(path)
        && kind.name() != EpisodesStudy::NAME
    {
        let what = format_args!(
            "{}: it is a study of kind {:?}, and no experiment",
            path.display(),
            kind.name()
        );
        let hint = format_args!(
            "`ktd plan {}` looks through it; `ktd box doctor` through the box of foreign code",
            path.display()
        );
        return vec![Finding::of("experiment", Err(CliError::input(what, hint)))];
    }
    let plan = match plan(path, out) {
        Ok(plan) => plan,
        Err(error) => return vec![Finding::of("experiment", Err(error))],
    };
    let mut findings = vec![Finding::of(
        "experiment",
        Ok(format!("{} is well formed", path.display())),
    )];
    findings.push(Finding::of("data", data(&plan.config, &plan.base)));
    if plan.config.prices.is_some() || plan.config.budget.is_any() {
        findings.push(Finding::of("prices", prices(&plan.config, &plan.base)));
    }
    findings.extend(plan.config.agents.iter().map(|agent| Finding {
        warnings: warnings(agent, &plan),
        ..Finding::of(format!("agent {}", agent.id), look_at(agent, &plan))
    }));
    findings
}

fn data(config: &ExperimentConfig, base: &Path) -> Result<String, CliError> {
    let source = MarketSource::of(config, base)?;
    let cells = cells(config, &source.market, None)?;
    LazyFactors::over(&source.market, &cells)?.get()?;
    let steps: usize = cells.iter().map(|cell| cell.window.days.len()).sum();
    let mut text = format!(
        "{} names, {} trading days; {} cells, {steps} steps",
        source.market.names().len(),
        source.market.calendar().len(),
        cells.len()
    );
    for limitation in &source.record.limitations {
        // Writing to a string cannot fail.
        write!(text, "\n    note: {limitation}").ok();
    }
    Ok(text)
}

/// The price table, and that each cap of the budget can be kept.
fn prices(config: &ExperimentConfig, base: &Path) -> Result<String, CliError> {
    let source = MarketSource::of(config, base)?;
    let mut cells = cells(config, &source.market, None)?;
    price_cells(&mut cells, config, base)?;
    let unknown = cells
        .iter()
        .filter(|cell| cell.basis == TokenPricing::Unknown)
        .count();
    Ok(format!("of {} cells, {unknown} have no known price", cells.len()))
}

fn look_at(agent: &AgentConfig, plan: &RunPlan) -> Result<String, CliError> {
    match &agent.kind {
        AgentKind::Program(program) => {
            ChildCommand::of_agent(program, &plan.base)?;
            let path = check_command(&program.command, &plan.base)?;
            let note = check_sources(&program.command, &plan.base)?;
            let note = note.map_or_else(String::new, |note| format!("\n    note: {note}"));
            Ok(format!("{} is there (not started){note}", path.display()))
        }
        AgentKind::Client(_) => Ok("calls over MCP: its client starts `ktd mcp` with this file".to_owned()),
        AgentKind::Control(Control::Oracle) => {
            Ok("a control: it knows the future and is not ranked".to_owned())
        }
        AgentKind::Control(Control::Signals(signals)) => {
            let source = MarketSource::of(&plan.config, &plan.base)?;
            ScoreTable::read(&plan.base.join(&signals.scores), &source.market)?;
            Ok(format!(
                "a machine-learning baseline: it trades {}",
                signals.scores.display()
            ))
        }
        AgentKind::Builtin(builtin) => {
            if let Some(pool) = &builtin.pool {
                let path = pool.path(&plan.base);
                let traded = TradedPool::parse(&path, &read_input_bytes(&path)?)?;
                let (count, folder) = (traded.formulas(), pool.folder.display());
                return Ok(format!("built in: it trades the {count} formulas of {folder}"));
            }
            check_builtin(&builtin.name)?;
            Ok(format!("built in: {}", builtin.name))
        }
        AgentKind::Model(model) => look_at_endpoint(agent, model, plan),
    }
}

fn look_at_endpoint(agent: &AgentConfig, model: &ModelAgent, plan: &RunPlan) -> Result<String, CliError> {
    let provider = Provider::of(agent, &plan.config.dialect_table()?)?;
    let force = match standing(&plan.output, agent, &provider)? {
        ForceStanding::Proven(_) => "probed".to_owned(),
        ForceStanding::Refuted(record) => {
            let found = record
                .level
                .map_or_else(|| "no level".to_owned(), |level| level.to_string());
            return Err(CliError::input(
                format!(
                    "force level {} is declared, but {found} worked when probed",
                    provider.force
                ),
                "declare what works, or probe again",
            ));
        }
        ForceStanding::Unprobed => format!("not probed; see `--probe {}`", agent.id),
    };
    let key = key(model, &plan.base)?;
    let url = &provider.base_url;
    // Behind a proxy the endpoint need not be reachable directly.
    let reached = if proxy_of(model).names_one_for(url) {
        Ok("is behind a proxy (not tried)")
    } else {
        reach(url).map(|()| "answers the connection")
    };
    reached.map(|reached| {
        format!(
            "{} over {}: {url} {reached}; {key}; force level {} ({force})",
            provider.dialect.name,
            provider.wire.label(),
            provider.force
        )
    })
}

/// Where the key is; it is neither tried nor shown.
fn key(model: &ModelAgent, base: &Path) -> Result<String, CliError> {
    match &model.api_key {
        Some(ApiKeySource::File(path)) => {
            let path = &base.join(path);
            path.metadata().map_err(CliError::io("read the key file", path))?;
            Ok(format!("the key is in {} (not tried)", path.display()))
        }
        None => Ok("no key is sent".to_owned()),
        Some(ApiKeySource::Environment(variable)) if std::env::var_os(variable).is_some() => {
            Ok(format!("{variable} is set (not tried)"))
        }
        Some(ApiKeySource::Environment(variable)) => {
            let what = format!("the environment variable {variable} is not set");
            Err(CliError::input(
                what,
                format!("export {variable}=... before running"),
            ))
        }
    }
}

/// What is not wrong, but unsafe or uncertain: a key that others may read, and what no document confirms.
fn warnings(agent: &AgentConfig, plan: &RunPlan) -> Vec<String> {
    let key_file = match agent.model().and_then(|model| model.api_key.as_ref()) {
        Some(ApiKeySource::File(path)) => key_file_warning(&plan.base.join(path)),
        Some(ApiKeySource::Environment(_)) | None => None,
    };
    let table = plan.config.dialect_table().ok();
    let provider = table.and_then(|table| Provider::of(agent, &table).ok());
    let proxied = provider.as_ref().filter(|provider| {
        let is_named = proxy_of_environment().names_one_for(&provider.base_url);
        is_named && !provider.base_url.is_empty()
    });
    let proxied = proxied.map(|provider| {
        let url = &provider.base_url;
        if agent.model().is_some_and(|model| model.proxy.is_some()) {
            format!(
                "requests to {url} go through the proxy that the environment names, unless `NO_PROXY` names the host"
            )
        } else {
            format!(
                "requests to {url} go past the proxy that the environment names: write proxy = \"environment\" to use it"
            )
        }
    });
    let unverified = provider
        .filter(|provider| !provider.base_url.is_empty() && !provider.dialect.unverified.is_empty())
        .map(|provider| {
            format!(
                "unverified for {}: {}",
                provider.dialect.name,
                provider.dialect.unverified.join(", ")
            )
        });
    key_file.into_iter().chain(proxied).chain(unverified).collect()
}

/// Opens a connection and closes it: no request is sent, so nothing is billed.
fn reach(url: &str) -> Result<(), CliError> {
    ktd_agents::reach(url)
        .map_err(|error| CliError::input(error, "check `base_url`, the network, and that the server runs"))
}

fn render(findings: &[Finding]) -> String {
    findings.iter().fold(String::new(), |mut text, finding| {
        // Writing to a string cannot fail.
        match &finding.result {
            Ok(found) => writeln!(text, "ok      {}: {found}", finding.what).ok(),
            Err((wrong, hint)) => {
                writeln!(text, "BROKEN  {}: {wrong}\n        hint: {hint}", finding.what).ok()
            }
        };
        for warning in &finding.warnings {
            writeln!(text, "        note: {warning}").ok();
        }
        text
    })
}

/// What was looked at.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Checks<'f> {
    checks: Vec<CheckDocument<'f>>,
}

/// One check.
#[derive(Debug, JsonSchema, Serialize)]
struct CheckDocument<'f> {
    /// What was looked at.
    check: &'f str,
    ok: bool,
    /// What was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'f str>,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'f str>,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'f str>,
    /// What works, but should be known.
    notes: &'f [String],
}

impl<'f> Checks<'f> {
    fn of(findings: &'f [Finding]) -> Self {
        let checks = findings.iter().map(|finding| {
            let (found, wrong) = (finding.result.as_ref().ok(), finding.result.as_ref().err());
            CheckDocument {
                check: &finding.what,
                ok: found.is_some(),
                found: found.map(String::as_str),
                error: wrong.map(|(error, _)| error.as_str()),
                hint: wrong.map(|(_, hint)| hint.as_str()),
                notes: &finding.warnings,
            }
        });
        Self {
            checks: checks.collect(),
        }
    }
}
