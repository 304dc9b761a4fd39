//! `ktd strategy-code`: trading strategies that models wrote.

use crate::CliError;
use crate::output::Console;
use crate::strategy_code_args::{
    DriftArgs, GateArgs, LintArgs, ListArgs, PatchArgs, ScenarioArgs, ScoreArgs, ShowArgs, here,
};
use crate::strategy_code_run::{self, MarksArgs, RunArgs};
use clap::Subcommand;
use ktd_boxed::BoxLauncher;
use ktd_io::whole_file::read_input;
use ktd_strategy_study::{
    DescribedStrategy, DocumentId, DriftDocument, GateDocument, GateSecret, OwnStrategy, PATCH_LINES_MAX,
    PatchDocument, PatchSize, SCENARIO_SEED, ScoredStrategy, StrategyCard, StrategyDocument, StrategyError,
    StrategyReplies, StrategySource, StrategySubmission, StrategyVersion, VersionDrift, document_table,
    drift_table, gate_tables, judge_submission, own_findings, published_table, recorded_scores,
    scenario_strip, static_scores, strategy_boxes, trace_program, version_table,
};
use ktd_view::draw::TableData;
use ktd_view::report_table::{ReportTable, TableDocument};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Work on trading strategies.
#[derive(Debug, Subcommand)]
pub(super) enum StrategyCodeCommand {
    /// List the documents.
    List(ListArgs),
    /// Show a document as a model gets it.
    Show(ShowArgs),
    /// Check a strategy of one's own: every rule must fire in some scenario.
    Lint(LintArgs),
    /// Show what the reference does in a scenario, and where a program does otherwise.
    Scenario(ScenarioArgs),
    /// Take one submission through the six gates, in the box, without a model.
    Gate(GateArgs),
    /// Compare two versions: did the strategy change?
    Drift(DriftArgs),
    /// Count the lines that a patch changes.
    Patch(PatchArgs),
    /// Show the scores of recorded submissions by part, of one source, or of a file of replies that is judged in the box.
    Score(ScoreArgs),
    /// Ask models for strategies, patches and reviews, judge them in the box; the same command again continues.
    Run(RunArgs),
    /// Show marks that people gave the ranked versions beside what was measured.
    Marks(MarksArgs),
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd strategy-code show S07
  ktd strategy-code gate strategy.py --card card.json --strategy S01
  ktd strategy-code score results/first
  ktd strategy-code run strategies.toml";

/// Works on trading strategies.
pub(super) fn run(command: &StrategyCodeCommand, console: Console) -> Result<(), CliError> {
    match command {
        StrategyCodeCommand::List(ListArgs {}) => list(console),
        StrategyCodeCommand::Show(args) => show(args, console),
        StrategyCodeCommand::Lint(args) => lint(args, console),
        StrategyCodeCommand::Scenario(args) => scenario(args, console),
        StrategyCodeCommand::Gate(args) => gate(args, console),
        StrategyCodeCommand::Drift(args) => drift(args, console),
        StrategyCodeCommand::Patch(args) => patch(args, console),
        StrategyCodeCommand::Score(args) => score(args, console),
        StrategyCodeCommand::Run(args) => strategy_code_run::run(args, console),
        StrategyCodeCommand::Marks(args) => strategy_code_run::marks(args, console),
    }
}

/// Tables below each other.
fn text_of(tables: &[TableData], console: Console) -> String {
    let texts: Vec<String> = tables
        .iter()
        .map(|table| table.text_in(console.layout()))
        .collect();
    texts.join("\n")
}

fn document(id: DocumentId) -> Result<StrategyDocument, CliError> {
    Ok(StrategyDocument::built_in(id).map_err(StrategyError::invalid)?)
}

fn list(console: Console) -> Result<(), CliError> {
    let documents: Result<Vec<_>, CliError> = DocumentId::ALL
        .into_iter()
        .map(|id| Ok((id, document(id)?)))
        .collect();
    let documents = documents?;
    let strategies = documents
        .iter()
        .map(|(_, document)| DescribedStrategy::of(document));
    console.result(
        &document_table(&documents).text_in(console.layout()),
        &Strategies {
            strategies: strategies.collect(),
        },
    )
}

fn show(args: &ShowArgs, console: Console) -> Result<(), CliError> {
    let strategy = StrategySource::find(&args.id, &here())?;
    let document = strategy.document()?;
    let value = ShownStrategy {
        strategy: DescribedStrategy::of(&document),
        text: strategy.text(),
    };
    let text = crate::output::visible_lines(strategy.text());
    console.unbroken().result(&text, &value)
}

/// Documents of the benchmark.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Strategies<'s> {
    strategies: Vec<DescribedStrategy<'s>>,
}

/// A document whole.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ShownStrategy<'s> {
    #[serde(flatten)]
    strategy: DescribedStrategy<'s>,
    /// As a model gets it.
    text: &'s str,
}

/// A strategy of one's own.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Linted<'s> {
    strategy: &'s str,
    scenarios: usize,
    text_sha256: &'s str,
    /// Whether it has one.
    reference: bool,
    findings: &'s [String],
}

/// What a scenario makes of a strategy.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ShownScenario<'s> {
    strategy: &'s str,
    scenario: &'s str,
    /// What the reference does, bar by bar.
    reference: &'s [String],
    /// The same of the program that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<&'s [String]>,
}

/// What the gates found of a submission.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Gated<'s> {
    #[serde(flatten)]
    report: GateDocument<'s>,
    /// Makes it again.
    gate_secret: &'s str,
}

/// Submissions that were judged.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ScoredSubmissions {
    submissions: Vec<ScoredStrategy>,
    /// Makes them again.
    gate_secret: String,
}

/// Scores of records.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ScoreTables<'s> {
    tables: Vec<TableDocument<'s>>,
}

fn lint(args: &LintArgs, console: Console) -> Result<(), CliError> {
    let own = OwnStrategy::read(&args.folder, &here())?;
    let task = StrategySource::Own(Box::new(own.clone())).task(SCENARIO_SEED)?;
    let findings: Vec<String> = if own.has_reference() {
        let launcher = BoxLauncher::prove(strategy_boxes(args.boxes.setup()))?;
        let findings = own_findings(&own, &launcher, &task)?;
        findings.into_iter().map(|finding| finding.to_string()).collect()
    } else {
        Vec::new()
    };
    let state = match (own.has_reference(), findings.len()) {
        (false, _) => "behavioural layer off: there is no reference.py",
        (true, 0) => "every rule fires, and one scenario is quiet",
        (true, _) => "",
    };
    let mut lines = vec![
        format!("{} {}", own.document.id, own.document.name),
        format!("scenarios  {}", own.scenarios.len()),
        format!("text       SHA-256 {}", own.text_sha256),
    ];
    lines.extend(findings.iter().map(|finding| format!("finding    {finding}")));
    if !state.is_empty() {
        lines.push(format!("lint       {state}"));
    }
    let value = Linted {
        strategy: &own.document.id,
        scenarios: own.scenarios.len(),
        text_sha256: &own.text_sha256,
        reference: own.has_reference(),
        findings: &findings,
    };
    console.result(
        &format!("{}\n", crate::output::visible_lines(&lines.join("\n"))),
        &value,
    )?;
    if findings.is_empty() {
        Ok(())
    } else {
        Err(CliError::difference(format!(
            "{}: the lint has findings",
            args.folder.display()
        )))
    }
}

/// A file as a source, and the card where the file is a whole reply.
fn version_of(path: &Path) -> Result<(Option<String>, String), CliError> {
    let text = read_input(path)?;
    Ok(match StrategySubmission::of_reply(&text, Some("")) {
        Ok(reply) if reply.card.is_empty() => (None, reply.source),
        Ok(reply) => (Some(reply.card), reply.source),
        Err(_) => (None, text),
    })
}

fn card_of(text: Option<&String>, path: &Path) -> Result<Option<StrategyCard>, CliError> {
    let card = text.map(|text| StrategyCard::parse(text)).transpose();
    card.map_err(|problem| {
        CliError::input(
            format_args!("{}: the card: {problem}", path.display()),
            "give a reply whose card is strict JSON, or a source alone",
        )
    })
}

fn scenario(args: &ScenarioArgs, console: Console) -> Result<(), CliError> {
    let task = args.bars.task(&args.id)?;
    if !task.has_reference() {
        return Err(CliError::input(
            format_args!("{} has no reference to show", task.id),
            "add reference.py to its folder",
        ));
    }
    let needs_box = args.source.is_some() || task.has_boxed_reference();
    let launcher = needs_box.then(|| BoxLauncher::prove(strategy_boxes(args.boxes.setup())));
    let launcher = launcher.transpose()?;
    let parameters = task.document.default_parameters();
    let mut reference = task.reference_traces(launcher.as_ref(), &parameters)?;
    let Some(tokens) = reference.remove(&args.name) else {
        let names: Vec<&str> = task.markets().map(|(name, _)| name).collect();
        return Err(CliError::input(
            format_args!("unknown scenario {:?} of {}", args.name, task.id),
            format_args!("choose one of {}", names.join(", ")),
        ));
    };
    let program = match args.source.as_ref().zip(launcher.as_ref()) {
        Some((path, launcher)) => {
            let (card, source) = version_of(path)?;
            let card = card_of(card.as_ref(), path)?;
            let class = card.as_ref().map_or("Strategy", StrategyCard::class_name);
            let mut traces = trace_program(launcher, &task, class, &parameters, &source)?;
            Some(traces.remove(&args.name).unwrap_or_default())
        }
        None => None,
    };
    let is_same = program.as_ref().is_none_or(|program| *program == tokens);
    console.result(
        &scenario_strip(&tokens, program.as_deref()),
        &ShownScenario {
            strategy: task.id.label(),
            scenario: &args.name,
            reference: &tokens,
            program: program.as_deref(),
        },
    )?;
    if is_same {
        Ok(())
    } else {
        Err(CliError::difference(
            "the program does otherwise than the reference",
        ))
    }
}

fn gate(args: &GateArgs, console: Console) -> Result<(), CliError> {
    let task = args.bars.task(&args.strategy)?;
    let text = read_input(&args.file)?;
    let submission = match &args.card {
        Some(card) => StrategySubmission {
            card: read_input(card)?,
            source: text,
        },
        None => StrategySubmission::of_reply(&text, None).map_err(|problem| {
            CliError::input(
                format_args!("{}: {problem}", args.file.display()),
                "give a whole reply with both blocks, or the card with --card",
            )
        })?,
    };
    let launcher = BoxLauncher::prove(strategy_boxes(args.boxes.setup()))?;
    let secret = args.secret.secret()?;
    let (told, secret) = (secret.reveal(), GateSecret::of(&secret.bytes()));
    let report = judge_submission(&launcher, (&task, &secret), &submission)?;
    let mut tables = gate_tables(&report, &submission, &task);
    if let Some(gates) = tables.first_mut() {
        gates.notes.push(format!("made again with --gate-secret {told}"));
    }
    let value = Gated {
        report: GateDocument::of(&report, &submission, &task),
        gate_secret: &told,
    };
    console.result(&text_of(&tables, console), &value)?;
    match report.gates.first_failed() {
        None => Ok(()),
        Some(gate) => Err(CliError::difference(format!(
            "{}: the gate {} is not passed",
            args.file.display(),
            gate.label()
        ))),
    }
}

fn drift(args: &DriftArgs, console: Console) -> Result<(), CliError> {
    let task = args.bars.task(&args.strategy)?;
    let (old_card, old) = version_of(&args.old)?;
    let (new_card, new) = version_of(&args.new)?;
    let old_card = card_of(old_card.as_ref(), &args.old)?;
    let new_card = card_of(new_card.as_ref(), &args.new)?;
    let parameters = old_card
        .as_ref()
        .map_or_else(|| task.document.default_parameters(), StrategyCard::parameters);
    let launcher = BoxLauncher::prove(strategy_boxes(args.boxes.setup()))?;
    let reference = task.reference_traces(Some(&launcher), &parameters)?;
    let class = |card: &Option<StrategyCard>| {
        let class = card.as_ref().map_or("Strategy", StrategyCard::class_name);
        class.to_owned()
    };
    let old_traces = trace_program(&launcher, &task, &class(&old_card), &parameters, &old)?;
    let new_traces = trace_program(&launcher, &task, &class(&new_card), &parameters, &new)?;
    let found = VersionDrift::between(
        StrategyVersion {
            card: old_card.as_ref(),
            source: &old,
            traces: &old_traces,
        },
        StrategyVersion {
            card: new_card.as_ref(),
            source: &new,
            traces: &new_traces,
        },
        &reference,
    );
    console.result(
        &text_of(&[drift_table(&found)], console),
        &DriftDocument::of(&found),
    )?;
    if found.is_drift() {
        return Err(CliError::difference(format!(
            "{}: it drifted",
            args.new.display()
        )));
    }
    Ok(())
}

fn patch(args: &PatchArgs, console: Console) -> Result<(), CliError> {
    let ((_, old), (_, new)) = (version_of(&args.old)?, version_of(&args.new)?);
    let size = PatchSize::between(&old, &new);
    let text = format!(
        "{} lines changed ({} removed, {} added), at most {PATCH_LINES_MAX}; similarity {:.4}\n",
        size.changed(),
        size.removed,
        size.added,
        size.similarity
    );
    console.result(&text, &PatchDocument::of(size))?;
    if size.is_within_budget() {
        return Ok(());
    }
    Err(CliError::difference(format!(
        "{}: the patch changes {} lines",
        args.new.display(),
        size.changed()
    )))
}

fn score(args: &ScoreArgs, console: Console) -> Result<(), CliError> {
    match (&args.replies, args.bundles.as_slice()) {
        (Some(replies), _) => score_replies(replies, args, console),
        (None, [file]) if file.is_file() => score_source(file, args, console),
        (None, bundles) => score_records(bundles, console),
    }
}

fn score_replies(replies: &Path, args: &ScoreArgs, console: Console) -> Result<(), CliError> {
    let own = args
        .strategy
        .iter()
        .map(|word| StrategySource::find(word, &here()));
    let own = own.collect::<Result<Vec<_>, StrategyError>>()?;
    let replies = StrategyReplies::parse(&read_input(replies)?, own)?;
    let tasks = replies.tasks(args.bars.scenario_seed, args.bars.contract())?;
    let launcher = BoxLauncher::prove(strategy_boxes(args.boxes.setup()))?;
    let secret = args.secret.secret()?;
    let (told, secret) = (secret.reveal(), GateSecret::of(&secret.bytes()));
    let scored = replies.score(&launcher, (&tasks, &secret), args.drift.rule())?;
    let mut table = version_table(scored.iter().map(|scored| &scored.rows));
    table.notes.push(format!("made again with --gate-secret {told}"));
    console.result(
        &table.text_in(console.layout()),
        &ScoredSubmissions {
            submissions: scored,
            gate_secret: told,
        },
    )
}

/// The scores of records, without a box.
fn score_records(bundles: &[PathBuf], console: Console) -> Result<(), CliError> {
    let mut tables = Vec::new();
    for bundle in bundles {
        tables.extend(recorded_scores(bundle)?);
    }
    let shown: Vec<TableData> = tables.iter().map(|table| table.data.clone()).collect();
    let tables = tables.iter().map(ReportTable::document).collect();
    console.result(&text_of(&shown, console), &ScoreTables { tables })
}

/// The published static scores of a source.
fn score_source(file: &Path, args: &ScoreArgs, console: Console) -> Result<(), CliError> {
    let [strategy] = args.strategy.as_slice() else {
        return Err(CliError::input(
            format_args!("{}: a program is scored by one document", file.display()),
            "name it with --strategy, such as --strategy S01",
        ));
    };
    let task = args.bars.task(strategy)?;
    let source = read_input(file)?;
    let launcher = BoxLauncher::prove(strategy_boxes(args.boxes.setup()))?;
    let scores = static_scores(&launcher, &task, &source)?;
    console.result(&text_of(&[published_table(scores)], console), &scores)
}
