//! `ktd factor-code`: factor functions that models wrote.

use super::boxed_options::BoxArgs;
use super::factor_code_run;
use super::gate_secret_args::GateSecretArgs;
use crate::CliError;
use crate::output::{Console, visible_lines};
use clap::{Args, Subcommand};
use ktd_boxed::{BoxLauncher, BoxSetup};
use ktd_factor_study::{
    AccuracyRules, CodeError, FactorGateSecret, FactorJudgedBy, FactorPanels, FactorReplies, FactorTask,
    FactorTasks, JudgedReply, PanelKind, PlantedKind, ScoredReplies, VerdictDocument, funnel_table,
    gates_table, judge_reply, planted_gates, read_panels, score_replies, task_table, verdict_text,
    write_golden,
};
use ktd_io::whole_file::read_input;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// Work on factor functions.
#[derive(Debug, Subcommand)]
pub(super) enum FactorCodeCommand {
    /// List the tasks.
    List(ListArgs),
    /// Show a task: its prompt, its exact definition, and code that is right.
    Show(ShowArgs),
    /// Write the panels and the right values of tasks on them.
    Gold(GoldArgs),
    /// Take one function through all layers, in the box, without a model.
    Check(CheckArgs),
    /// Judge a file of replies, round by round, in the box, without a model.
    Score(ScoreArgs),
    /// Measure the gates: planted leaks, loops and their clean twins, drawn and judged in the box.
    Gates(GatesArgs),
    /// Ask models for functions and judge them; rerunning continues where it stopped.
    Run(factor_code_run::RunArgs),
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd factor-code list --category causal
  ktd factor-code show MOM-3-01
  ktd factor-code check factor.py --task MOM-3-01";

const LIST_EXAMPLE: &str = "\
Examples:
  ktd factor-code list --level 3
  ktd factor-code list --category causal --tasks mine.jsonl";
const SHOW_EXAMPLE: &str = "\
Example:
  ktd factor-code show MOM-3-01";
const GOLD_EXAMPLE: &str = "\
Example:
  ktd factor-code gold --out golden

Writes panel_G.csv, gold_G.csv and so on, for panels G, R, Q and E.";
const CHECK_EXAMPLE: &str = "\
Example:
  ktd factor-code check factor.py --task MOM-3-01

Exit code 1: the function does not pass all layers by the strict rules.";
const SCORE_EXAMPLE: &str = "\
Example:
  ktd factor-code score --replies replies.jsonl

One JSON object a line: id, round, reply. A task that passed in a round has no reply in the next.";

const GATES_EXAMPLE: &str = "\
Examples:
  ktd factor-code gates --draw 500 --kind leak
  ktd factor-code gates --draw 20

Of leaks and loops what is found is recall; of clean twins it is a false alarm. --json shows each
that is judged wrongly. Exit code 1: recall is below 99 %, or there is a false alarm.";

/// Which tasks there are, and on which panels.
#[derive(Debug, Args)]
struct SetArgs {
    /// A file of tasks besides the compiled-in ones, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
    /// A folder with `panel_G.csv`, `panel_R.csv`, `panel_Q.csv` and `panel_E.csv` [default: drawn from the seed].
    #[arg(long, value_name = "DIR")]
    panels: Option<PathBuf>,
    /// The seed of panels and perturbations.
    #[arg(long, default_value_t = 20_260_401)]
    panel_seed: u64,
}

impl SetArgs {
    fn panels(&self) -> Result<FactorPanels, CodeError> {
        match &self.panels {
            Some(folder) => read_panels(folder, self.panel_seed),
            None => Ok(FactorPanels::new(self.panel_seed, None)?),
        }
    }

    fn tasks(&self) -> Result<FactorTasks, CodeError> {
        match &self.tasks {
            Some(path) => {
                let panels = self.panels()?;
                let text = read_input(path)?;
                Ok(FactorTasks::with_file(&text, panels.bars(PanelKind::G))?)
            }
            None => Ok(FactorTasks::compiled_in()?),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLE)]
pub(super) struct ListArgs {
    /// Tasks of this level alone.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=3))]
    level: Option<u8>,
    /// Tasks of this category alone.
    #[arg(long)]
    category: Option<String>,
    #[command(flatten)]
    set: SetArgs,
}

#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLE)]
pub(super) struct ShowArgs {
    /// The task.
    id: String,
    #[command(flatten)]
    set: SetArgs,
}

#[derive(Debug, Args)]
#[command(after_help = GOLD_EXAMPLE)]
pub(super) struct GoldArgs {
    /// The folder to write into.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    set: SetArgs,
}

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLE)]
pub(super) struct CheckArgs {
    /// The Python file, or a model's whole reply.
    file: PathBuf,
    /// The task.
    #[arg(long, value_name = "ID")]
    task: String,
    #[command(flatten)]
    set: SetArgs,
    #[command(flatten)]
    secret: GateSecretArgs,
    #[command(flatten)]
    boxes: BoxArgs,
}

/// Kinds of planted programs.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum KindArg {
    Leak,
    CleanLeak,
    Loop,
    CleanLoop,
}

#[derive(Debug, Args)]
#[command(after_help = GATES_EXAMPLE)]
pub(super) struct GatesArgs {
    /// Programs of each kind.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    draw: u64,
    /// These kinds alone.
    #[arg(long, value_enum)]
    kind: Vec<KindArg>,
    /// The seed of the programs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Boxes side by side [default: one less than there are processors].
    #[arg(long)]
    jobs: Option<usize>,
    #[command(flatten)]
    secret: GateSecretArgs,
    #[command(flatten)]
    boxes: BoxArgs,
}

#[derive(Debug, Args)]
#[command(after_help = SCORE_EXAMPLE)]
pub(super) struct ScoreArgs {
    /// The replies.
    #[arg(long, value_name = "FILE")]
    replies: PathBuf,
    /// Boxes side by side [default: one less than there are processors].
    #[arg(long)]
    jobs: Option<usize>,
    #[command(flatten)]
    set: SetArgs,
    #[command(flatten)]
    secret: GateSecretArgs,
    #[command(flatten)]
    boxes: BoxArgs,
}

/// Works on factor functions.
pub(super) fn run(command: &FactorCodeCommand, console: Console) -> Result<(), CliError> {
    match command {
        FactorCodeCommand::List(args) => list(args, console),
        FactorCodeCommand::Show(args) => show(args, console),
        FactorCodeCommand::Gold(args) => gold(args, console),
        FactorCodeCommand::Check(args) => check(args, console),
        FactorCodeCommand::Score(args) => score(args, console),
        FactorCodeCommand::Gates(args) => gates(args, console),
        FactorCodeCommand::Run(args) => factor_code_run::run(args, console),
    }
}

fn list(args: &ListArgs, console: Console) -> Result<(), CliError> {
    let tasks = args.set.tasks()?;
    let tasks = match args.category.as_deref() {
        Some(category) => tasks.chosen(&[category]).map_err(CodeError::from)?,
        None => tasks,
    };
    let of_level = |level: u8| args.level.is_none_or(|wanted| wanted == level);
    let chosen: Vec<_> = tasks
        .as_slice()
        .iter()
        .filter(|task| of_level(task.level.number()))
        .collect();
    let tasks = chosen.iter().map(|task| TaskDocument::of(task)).collect();
    console.result(&task_table(&chosen).text_in(console.layout()), &Tasks { tasks })
}

fn show(args: &ShowArgs, console: Console) -> Result<(), CliError> {
    let tasks = args.set.tasks()?;
    let task = found(&tasks, &args.id)?;
    let golden = task.golden.as_deref().unwrap_or("no code is given\n");
    let text = format!(
        "{} {} (level {}, warm-up {})\n\n{}\n\n    {}\n\n{}",
        task.id,
        task.function,
        task.level.number(),
        task.warm_up,
        visible_lines(&task.prompt),
        task.fx,
        visible_lines(golden)
    );
    let document = ShownTask {
        task: TaskDocument::of(task),
        golden: task.golden.as_deref(),
    };
    console.unbroken().result(&text, &document)
}

/// Tasks of the benchmark.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Tasks<'t> {
    tasks: Vec<TaskDocument<'t>>,
}

/// A task whole.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ShownTask<'t> {
    #[serde(flatten)]
    task: TaskDocument<'t>,
    /// Code that is right, where some is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    golden: Option<&'t str>,
}

/// A task.
#[derive(Debug, JsonSchema, Serialize)]
struct TaskDocument<'t> {
    id: &'t str,
    category: &'static str,
    /// From 1, the easiest, to 3.
    level: u8,
    /// The function.
    name: &'t str,
    prompt: &'t str,
    /// The exact definition.
    fx: &'t str,
    /// Days without a value at the beginning.
    warmup: usize,
}

impl<'t> TaskDocument<'t> {
    fn of(task: &'t FactorTask) -> Self {
        Self {
            id: task.id.as_str(),
            category: task.category.name(),
            level: task.level.number(),
            name: &task.function,
            prompt: &task.prompt,
            fx: &task.fx,
            warmup: task.warm_up,
        }
    }
}

/// Files of right values.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct GoldFiles {
    files: Vec<String>,
}

fn found<'a>(tasks: &'a FactorTasks, id: &str) -> Result<&'a FactorTask, CliError> {
    tasks.find(id).ok_or_else(|| {
        CliError::input(
            format!("unknown task {id:?}"),
            "`ktd factor-code list` shows the tasks",
        )
    })
}

fn gold(args: &GoldArgs, console: Console) -> Result<(), CliError> {
    let files = write_golden(&args.out, &args.set.tasks()?, &args.set.panels()?)?;
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    console.result(&format!("{}\n", names.join("\n")), &GoldFiles { files: names })
}

fn check(args: &CheckArgs, console: Console) -> Result<(), CliError> {
    let tasks = args.set.tasks()?;
    let task = found(&tasks, &args.task)?;
    let panels = args.set.panels()?;
    let reply = read_input(&args.file)?;
    let launcher = BoxLauncher::prove(args.boxes.setup())?;
    let rules = AccuracyRules::DEFAULT;
    let by = FactorJudgedBy {
        panels: &panels,
        secret: &FactorGateSecret::from_bytes(args.secret.secret()?.bytes()),
        rules: &rules,
    };
    let Some(JudgedReply { verdict, .. }) = judge_reply(&launcher, task, &by, &reply)? else {
        return Err(CliError::input(
            "the box failed again and again",
            "try again, or see `ktd box doctor`",
        ));
    };
    console.result(
        &verdict_text(
            &verdict,
            by.gated(&reply).map_err(CodeError::from)?.panels(),
            &rules,
        ),
        &VerdictDocument::of(&verdict, &rules),
    )?;
    match verdict.failure(&rules) {
        None => Ok(()),
        Some(class) => Err(CliError::difference(format!(
            "{}: {}",
            args.file.display(),
            class.code()
        ))),
    }
}

fn score(args: &ScoreArgs, console: Console) -> Result<(), CliError> {
    let tasks = args.set.tasks()?;
    let panels = args.set.panels()?;
    let text = read_input(&args.replies)?;
    let replies = FactorReplies::parse(&text, &tasks).map_err(CodeError::from)?;
    let launcher = BoxLauncher::prove(BoxSetup {
        side_by_side: args.jobs.unwrap_or(0),
        ..args.boxes.setup()
    })?;
    let rules = AccuracyRules::DEFAULT;
    let by = FactorJudgedBy {
        panels: &panels,
        secret: &FactorGateSecret::from_bytes(args.secret.secret()?.bytes()),
        rules: &rules,
    };
    let rounds = score_replies(&launcher, &tasks, &by, &replies)?;
    let table = funnel_table(&rounds, &tasks, &rules);
    let table = if panels.is_real() {
        table
    } else {
        table.with_note("Q synthetic")
    };
    console.result(
        &table.text_in(console.layout()),
        &ScoredReplies::of(&rounds, &tasks, &rules),
    )
}

fn gates(args: &GatesArgs, console: Console) -> Result<(), CliError> {
    const LEAST_RECALL: f64 = 0.99;
    let chosen = |kind: &KindArg| match kind {
        KindArg::Leak => PlantedKind::Leak,
        KindArg::CleanLeak => PlantedKind::CleanLeak,
        KindArg::Loop => PlantedKind::Loop,
        KindArg::CleanLoop => PlantedKind::CleanLoop,
    };
    let kinds: Vec<PlantedKind> = match args.kind.as_slice() {
        [] => PlantedKind::ALL.to_vec(),
        kinds => kinds.iter().map(chosen).collect(),
    };
    let panels = FactorPanels::new(20_260_401, None).map_err(CodeError::from)?;
    let launcher = BoxLauncher::prove(BoxSetup {
        side_by_side: args.jobs.unwrap_or(0),
        ..args.boxes.setup()
    })?;
    let by = FactorJudgedBy {
        panels: &panels,
        secret: &FactorGateSecret::from_bytes(args.secret.secret()?.bytes()),
        rules: &AccuracyRules::DEFAULT,
    };
    let found = planted_gates(&launcher, &by, (args.draw, &kinds), args.seed)?;
    console.result(&gates_table(Some(&found)).text_in(console.layout()), &found)?;
    let is_good = |gate: &ktd_factor_study::GateFound| {
        let share = gate.rate().share();
        if gate.kind.is_planted() {
            share.is_some_and(|share| LEAST_RECALL <= share)
        } else {
            gate.found == 0
        }
    };
    match found.gates.iter().find(|gate| !is_good(gate)) {
        None => Ok(()),
        Some(gate) => Err(CliError::difference(format!(
            "{}: {} of {} were found",
            gate.kind.name(),
            gate.found,
            gate.programs
        ))),
    }
}
