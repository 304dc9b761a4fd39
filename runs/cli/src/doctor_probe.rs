//! `ktd doctor --probe`: which level of the force ladder an endpoint honours.

use super::run::plan;
use super::runtime::runtime;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_agents::DialectTable;
use ktd_client::PricedAgent;
use ktd_client::endpoint::http;
use ktd_client::force_check::{
    Measurement, ProbeRecord, Probed, ProbedCall, measure, thinks_while_submitting,
};
use ktd_client::money::PaymentTerms;
use ktd_client::opening::open_accounts_of_one;
use ktd_episode::grid::RunPlan;
use ktd_experiment::agent::{AgentConfig, AgentKind, ApiKeySource, ModelAgent, ProxySource};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::nearest::did_you_mean;
use ktd_experiment::provider::{Provider, builtin_table};
use ktd_view::draw::counted;
use ktd_view::table::{Align, Table};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What is to be probed.
#[derive(Debug, Clone, Args)]
pub(super) struct ProbeArgs {
    /// Measure how strongly a model can be made to submit, with at most three tiny calls that the vendor bills: an
    /// agent of the experiment file, or VENDOR/MODEL. Without a name, every model of the file, a line each.
    #[arg(long, value_name = "AGENT")]
    #[expect(
        clippy::option_option,
        reason = "how `clap` says that the value of an option may be left out"
    )]
    pub probe: Option<Option<String>>,
    /// Address of a VENDOR/MODEL, where it is not the vendor's own.
    #[arg(long, requires = "probe")]
    base_url: Option<String>,
    /// Reach a VENDOR/MODEL through the proxy that the environment names.
    #[arg(long, requires = "probe")]
    proxy_from_env: bool,
    /// Environment variable that holds the key of a VENDOR/MODEL.
    #[arg(long, requires = "probe")]
    api_key_env: Option<String>,
    /// Most that all measurements of this agent may cost, US dollars such as 0.05, besides the caps of the experiment file.
    #[arg(long, requires = "probe", value_name = "USD", value_parser = Picodollars::parse)]
    budget: Option<Picodollars>,
    /// Price table, instead of the experiment file's: a budget needs one.
    #[arg(long, requires = "probe", value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// Probes one agent and keeps what was found with the results.
///
/// # Errors
/// [`CliError`] for an agent that there is not, when a cap has no room for the next call, and when the probe found less
/// than is declared, or nothing.
pub(super) fn run(
    (args, wanted): (&ProbeArgs, &str),
    experiment: Option<&Path>,
    out: Option<&Path>,
    console: Console,
) -> Result<(), CliError> {
    let subject = subject((args, wanted), experiment, out)?;
    let (record, kept) = probe(&subject, experiment)?;
    console.result(
        &render(&record, kept.as_deref()),
        &KeptProbe {
            probe: &record,
            kept: kept.as_deref(),
        },
    )?;
    judge(&record, can_stop_thinking(&subject.provider))
}

/// What a probe found.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct KeptProbe<'p> {
    probe: &'p ProbeRecord,
    /// Its file, where it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<&'p Path>,
}

/// An agent, and what was found of it.
pub(super) type AgentFinding = (String, Result<String, CliError>);

/// Probes every model of a file one after another: what was found of each, by its name.
///
/// # Errors
/// [`CliError`] for no file, a file that is none, and one without a model. What fails of one model stands with it.
pub(super) fn run_all(
    args: &ProbeArgs,
    experiment: Option<&Path>,
    out: Option<&Path>,
) -> Result<Vec<AgentFinding>, CliError> {
    let Some(file) = experiment else {
        return Err(
            CliError::invalid("there is no experiment file whose models are probed")
                .with_hint("name the experiment file before `--probe`, or write VENDOR/MODEL after it"),
        );
    };
    let agents = plan(file, out)?.config.agents;
    let models: Vec<String> = agents
        .into_iter()
        .filter(|agent| agent.model().is_some())
        .map(|agent| agent.id)
        .collect();
    if models.is_empty() {
        return Err(CliError::invalid(format_args!(
            "{} has no agent that is a model behind an endpoint",
            file.display()
        ))
        .with_hint("others need no probe"));
    }
    let found = |id: String| {
        let result = subject((args, &id), experiment, out).and_then(|subject| {
            let (record, kept) = probe(&subject, experiment)?;
            judge(&record, can_stop_thinking(&subject.provider))?;
            Ok(in_one_line(&record, kept.as_deref()))
        });
        (id, result)
    };
    Ok(models.into_iter().map(found).collect())
}

/// Asks, and keeps what was found with the results.
fn probe(subject: &Subject, experiment: Option<&Path>) -> Result<(ProbeRecord, Option<PathBuf>), CliError> {
    let Subject {
        agent,
        provider,
        results,
        terms,
    } = subject;
    let base = experiment.and_then(Path::parent).unwrap_or(Path::new(""));
    let transport = http((&agent.id, model_of(agent)?), provider, base)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let probed = Probed {
        agent,
        provider,
        at_unix_seconds: now.map_or(0, |since| since.as_secs()),
    };
    let basis = terms.basis(agent, provider);
    let priced = PricedAgent {
        agent,
        provider,
        basis: &basis,
    };
    let metering = open_accounts_of_one(terms, priced, results)?;
    let measurement = Measurement::begin(results, probed, &basis)?;
    let record = runtime()?.block_on(measure(probed, &transport, &measurement, &metering))?;
    let kept = record.keep(results)?;
    Ok((record, kept))
}

/// What is measured, on which terms, and where its results go.
struct Subject {
    agent: AgentConfig,
    provider: Provider,
    results: PathBuf,
    terms: PaymentTerms,
}

fn subject(
    (args, wanted): (&ProbeArgs, &str),
    experiment: Option<&Path>,
    out: Option<&Path>,
) -> Result<Subject, CliError> {
    let plan = experiment.map(|path| plan(path, out)).transpose()?;
    let agents = plan.iter().flat_map(|plan| &plan.config.agents);
    let named = agents.clone().find(|agent| agent.id == wanted);
    if named.is_some() && (args.base_url.is_some() || args.api_key_env.is_some()) {
        return Err(CliError::invalid(format_args!(
            "agent {wanted:?} has its address and key in the experiment file"
        ))
        .with_hint("leave `--base-url` and `--api-key-env` out"));
    }
    let agent = named
        .cloned()
        .or_else(|| of_vendor(args, wanted))
        .ok_or_else(|| unknown(wanted, agents.map(|agent| agent.id.as_str())))?;
    model_of(&agent)?;
    let table: DialectTable = match &plan {
        Some(plan) => plan.config.dialect_table()?,
        None => builtin_table()?,
    };
    let provider = Provider::of(&agent, &table)?;
    let terms = terms(args, plan.as_ref())?.of_one(&agent, &provider);
    let fallback = || out.map_or_else(|| PathBuf::from("results"), Path::to_owned);
    Ok(Subject {
        agent,
        provider,
        results: plan.map_or_else(fallback, |plan| plan.output),
        terms,
    })
}

/// The terms of the experiment file and of the command.
fn terms(args: &ProbeArgs, plan: Option<&RunPlan>) -> Result<PaymentTerms, CliError> {
    let of_file = plan.and_then(|plan| Some(plan.base.join(plan.config.prices.as_ref()?)));
    let prices = args.prices.clone().or(of_file);
    let config = plan.map(|plan| &plan.config);
    let caps = config.map(|config| config.budget.clone()).unwrap_or_default();
    let rates = config.map(|config| config.rates.clone()).unwrap_or_default();
    let caps = caps.with_cell(args.budget);
    Ok(PaymentTerms::read(prices.as_deref(), Path::new(""), caps, rates)?)
}

/// The model that an agent is; others need no probe.
fn model_of(agent: &AgentConfig) -> Result<&ModelAgent, CliError> {
    agent.model().ok_or_else(|| {
        CliError::invalid(format_args!(
            "agent {:?} is no model behind an endpoint",
            agent.id
        ))
        .with_hint("name an agent with `model`; others need no probe")
    })
}

fn of_vendor(args: &ProbeArgs, wanted: &str) -> Option<AgentConfig> {
    let (vendor, model) = wanted.split_once('/')?;
    let as_file_name = |character: char| {
        let is_plain = character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
        if is_plain { character } else { '-' }
    };
    Some(AgentConfig {
        cohort: None,
        cutoff: None,
        id: format!("{vendor}--{model}").chars().map(as_file_name).collect(),
        kind: AgentKind::Model(Box::new(ModelAgent {
            model: model.to_owned(),
            vendor: Some(vendor.to_owned()),
            base_url: args.base_url.clone(),
            api_key: args.api_key_env.clone().map(ApiKeySource::Environment),
            proxy: args.proxy_from_env.then_some(ProxySource::Environment),
            ..ModelAgent::default()
        })),
    })
}

fn unknown<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> CliError {
    let known: Vec<&str> = known.collect();
    let meant = did_you_mean(wanted, known.iter().copied());
    let hint = if known.is_empty() {
        "name the experiment file before `--probe`, or write VENDOR/MODEL".to_owned()
    } else {
        format!("it is one of {}, or VENDOR/MODEL", known.join(", "))
    };
    CliError::invalid(format_args!("there is no agent {wanted:?}{meant}")).with_hint(hint)
}

fn render(record: &ProbeRecord, kept: Option<&Path>) -> String {
    let mut table = Table::new(&[("", Align::Left); 6]);
    for call in &record.calls {
        table.row([
            call.level.to_string(),
            if call.is_asked_for { "asked" } else { "unasked" }.to_owned(),
            call.result.label().to_owned(),
            outcome(call),
            tokens(call),
            call.detail.clone(),
        ]);
    }
    let mut text = format!(
        "{} at {} over {}, declared {}\n{}",
        record.model,
        record.base_url,
        record.wire.label(),
        record.declared,
        table.render()
    );
    // Writing to a string cannot fail.
    writeln!(text, "strongest level that works: {}", strongest(record)).ok();
    writeln!(text, "{}", whether_kept(kept)).ok();
    text
}

/// What a probe found, where each of many has a line.
fn in_one_line(record: &ProbeRecord, kept: Option<&Path>) -> String {
    format!(
        "{} at {} over {}: strongest level that works: {}, declared {}, in {}; {}",
        record.model,
        record.base_url,
        record.wire.label(),
        strongest(record),
        record.declared,
        counted(record.calls.len(), "call"),
        whether_kept(kept)
    )
}

fn strongest(record: &ProbeRecord) -> String {
    record
        .level
        .map_or_else(|| "none".to_owned(), |level| level.to_string())
}

fn whether_kept(kept: Option<&Path>) -> String {
    kept.map_or_else(
        || "not kept, for it found nothing: an earlier probe stands, where there is one".to_owned(),
        |path| format!("kept in {}", path.display()),
    )
}

fn outcome(call: &ProbedCall) -> String {
    if call.kinds.is_empty() {
        call.outcome.clone()
    } else {
        format!("{} ({})", call.outcome, call.kinds.join(", "))
    }
}

fn tokens(call: &ProbedCall) -> String {
    call.usage.as_ref().map_or_else(String::new, |usage| {
        if usage.is_known() {
            format!("in={} out={}", usage.input(), usage.output())
        } else {
            "usage=unknown".to_owned()
        }
    })
}

/// Whether thinking might be what stands in the way, and can be left out of the submission.
fn can_stop_thinking(provider: &Provider) -> bool {
    thinks_while_submitting(provider) && provider.dialect.thinking.off.is_some()
}

fn judge(record: &ProbeRecord, can_stop_thinking: bool) -> Result<(), CliError> {
    let name = &record.agent;
    match record.level {
        Some(level) if level <= record.declared => Ok(()),
        Some(level) => Err(CliError::difference(format_args!(
            "{name}: force level {} is declared, but only {level} works",
            record.declared
        ))
        .with_hint(if can_stop_thinking {
            format!("write force = \"{level}\", or try thinking = \"think-then-force\"")
        } else {
            format!("write force = \"{level}\"")
        })),
        None if record.is_conclusive() => Err(CliError::difference(format_args!(
            "{name}: no level that was tried works"
        ))
        .with_hint("see what it answered (`ktd doctor FILE --probe AGENT` shows each call): it cannot be made to submit by calls")),
        None => Err(CliError::difference(format_args!(
            "{name}: the probe found nothing about the force level"
        ))
        .with_hint(format_args!(
            "`ktd doctor FILE --probe {name}` shows each call: fix what it says and probe again; the declared level stands"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(base_url: Option<&str>) -> ProbeArgs {
        ProbeArgs {
            probe: None,
            base_url: base_url.map(str::to_owned),
            proxy_from_env: false,
            api_key_env: None,
            budget: None,
            prices: None,
        }
    }

    fn refused(args: &ProbeArgs, wanted: &str, file: Option<&Path>) -> CliError {
        subject((args, wanted), file, None).err().unwrap()
    }

    #[test]
    fn a_vendor_and_a_model_need_no_file() {
        let Subject {
            agent,
            provider,
            results,
            ..
        } = subject((&args(None), "zhipu/a/glm 5"), None, None).unwrap();
        assert_eq!(
            (agent.id.as_str(), agent.model_name()),
            ("zhipu--a-glm-5", "a/glm 5")
        );
        assert_eq!(provider.dialect.id, "zhipu");
        assert_eq!(results, Path::new("results"));
        for (wanted, part) in [
            ("gpt", "no agent"),
            ("acme/x", "no vendor"),
            ("vllm/x", "no address"),
        ] {
            let failure = refused(&args(None), wanted, None);
            assert!(failure.message().contains(part), "{failure}");
        }
        let own = subject((&args(Some("http://127.0.0.1:9/v1")), "vllm/x"), None, None).unwrap();
        assert_eq!(own.provider.base_url, "http://127.0.0.1:9/v1");
    }

    #[test]
    fn an_agent_of_a_file_is_probed_as_the_file_says() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("try.toml");
        let text = "name = \"x\"\nwindows = [{ id = \"w\", last_days = 2 }]\nagents = [\n\
                    { id = \"h\", builtin = \"hold\" },\n{ id = \"q\", model = \"m\", vendor = \"qwen\" }]\n";
        ktd_io::whole_file::write_whole(&file, text.as_bytes()).unwrap();
        let found = subject((&args(None), "q"), Some(&file), None).unwrap();
        assert_eq!(found.provider.dialect.id, "qwen");
        assert_eq!(found.results, folder.path().join("results").join("x"));
        for (args, wanted, part) in [
            (args(Some("http://h")), "q", "in the experiment file"),
            (args(None), "h", "no model behind"),
            (args(None), "z", "no agent"),
        ] {
            let failure = refused(&args, wanted, Some(&file));
            assert!(failure.message().contains(part), "{failure}");
        }
    }
}
