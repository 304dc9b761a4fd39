//! Options of every command of `ktd strategy-code`.

use super::boxed_options::BoxArgs;
use super::gate_secret_args::GateSecretArgs;
use crate::CliError;
use clap::{Args, ValueEnum};
use ktd_strategy_study::{DriftRule, SCENARIO_SEED, StrategyContract, StrategySource, StrategyTask};
use ktd_study::Opening;
use std::path::{Path, PathBuf};

const LIST_EXAMPLE: &str = "\
Example:
  ktd strategy-code list";
const SHOW_EXAMPLE: &str = "\
Examples:
  ktd strategy-code show S07
  ktd strategy-code show my/strategies/channel

A strategy is S01 to S12, or a folder of your own, here and in every command.";
const LINT_EXAMPLE: &str = "\
Example:
  ktd strategy-code lint my-strategy

The folder holds spec.json, spec.md, scenarios.jsonl and, for the behavioural layer, reference.py.
It runs in the box: on every scenario and on the long run, and with each tunable value at its bounds.
Exit code 1: a rule fires in no scenario, the reference names a rule that the document does not, or
every scenario has a trade.";
const SCENARIO_EXAMPLE: &str = "\
Examples:
  ktd strategy-code scenario S07 roll
  ktd strategy-code scenario S07 long --source strategy.py

Exit code 1: the program does otherwise than the reference.";
const GATE_EXAMPLE: &str = "\
Examples:
  ktd strategy-code gate strategy.py --card card.json --strategy S01
  ktd strategy-code gate reply.md --strategy S01
  ktd strategy-code gate reply.md --strategy my/strategies/channel

Without --card the file is a model's whole reply. Exit code 1: a gate is not passed.";
const DRIFT_EXAMPLE: &str = "\
Examples:
  ktd strategy-code drift old.py new.py --strategy S01
  ktd strategy-code drift old.md new.md --strategy S01

Whole replies are compared with their cards, sources alone without. Exit code 1: it drifted.";
const PATCH_EXAMPLE: &str = "\
Example:
  ktd strategy-code patch old.py new.py

Exit code 1: more than 50 lines changed.";
const SCORE_EXAMPLE: &str = "\
Examples:
  ktd strategy-code score results/first
  ktd strategy-code score results/first/units/writer__S01__1
  ktd strategy-code score strategy.py --strategy S01
  ktd strategy-code score --replies replies.jsonl
  ktd strategy-code score --replies replies.jsonl --strategy my/strategies/channel

A folder of results: measured and published scores of every iteration, by part, made again from what its
record says the runs showed. No program runs. A Python file: its published static scores, after one run in the
box. Replies: one JSON object a line (model, strategy, iteration from 0, reply), judged in the box.
Exit code 1: a file or a score of a record differs from what its result says.";

/// Files lie where the command runs, and nothing keeps them.
pub(super) fn here() -> Opening<'static> {
    Opening::unkept(Path::new(""), Path::new(""), 1)
}

/// Which bars programs are judged on.
#[derive(Debug, Args)]
pub(super) struct BarArgs {
    /// The seed of scenarios and long runs.
    #[arg(long, value_name = "SEED", default_value_t = SCENARIO_SEED)]
    pub(super) scenario_seed: u64,
    /// How programs are handed their bars.
    #[arg(long, value_enum, default_value = "run")]
    contract: ContractArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ContractArg {
    /// All bars at once, to `run`.
    Run,
    /// One bar after the other, to `step`.
    Step,
}

impl BarArgs {
    /// The strategy of a word: a document, or a folder of one's own.
    pub(super) fn task(&self, word: &str) -> Result<StrategyTask, CliError> {
        let task = StrategySource::find(word, &here())?.task(self.scenario_seed)?;
        Ok(task.with_contract(self.contract()))
    }

    /// How programs are handed their bars.
    pub(super) const fn contract(&self) -> StrategyContract {
        match self.contract {
            ContractArg::Run => StrategyContract::Run,
            ContractArg::Step => StrategyContract::Step,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLE)]
pub(super) struct ListArgs {}

#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLE)]
pub(super) struct ShowArgs {
    /// The document, or a folder of your own.
    pub(super) id: String,
}

#[derive(Debug, Args)]
#[command(after_help = LINT_EXAMPLE)]
pub(super) struct LintArgs {
    /// The strategy's folder.
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
    #[command(flatten)]
    pub(super) boxes: BoxArgs,
}

#[derive(Debug, Args)]
#[command(after_help = SCENARIO_EXAMPLE)]
pub(super) struct ScenarioArgs {
    /// The document, or a folder of your own.
    pub(super) id: String,
    /// The scenario; `long` for the long run.
    pub(super) name: String,
    /// A program to run on it, in the box: a Python file, or a model's whole reply.
    #[arg(long, value_name = "FILE")]
    pub(super) source: Option<PathBuf>,
    #[command(flatten)]
    pub(super) bars: BarArgs,
    #[command(flatten)]
    pub(super) boxes: BoxArgs,
}

#[derive(Debug, Args)]
#[command(after_help = GATE_EXAMPLE)]
pub(super) struct GateArgs {
    /// The Python file; without --card a model's whole reply.
    pub(super) file: PathBuf,
    /// The card.
    #[arg(long, value_name = "FILE")]
    pub(super) card: Option<PathBuf>,
    /// The document, or a folder of your own.
    #[arg(long, value_name = "ID")]
    pub(super) strategy: String,
    #[command(flatten)]
    pub(super) bars: BarArgs,
    #[command(flatten)]
    pub(super) secret: GateSecretArgs,
    #[command(flatten)]
    pub(super) boxes: BoxArgs,
}

#[derive(Debug, Args)]
#[command(after_help = DRIFT_EXAMPLE)]
pub(super) struct DriftArgs {
    /// The earlier version: a Python file, or a model's whole reply.
    pub(super) old: PathBuf,
    /// The later version.
    pub(super) new: PathBuf,
    /// The document, or a folder of your own.
    #[arg(long, value_name = "ID")]
    pub(super) strategy: String,
    #[command(flatten)]
    pub(super) bars: BarArgs,
    #[command(flatten)]
    pub(super) boxes: BoxArgs,
}

#[derive(Debug, Args)]
#[command(after_help = PATCH_EXAMPLE)]
pub(super) struct PatchArgs {
    /// The earlier version: a Python file, or a model's whole reply.
    pub(super) old: PathBuf,
    /// The later version.
    pub(super) new: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = SCORE_EXAMPLE)]
pub(super) struct ScoreArgs {
    /// Folders of results or of submissions; or one Python file with --strategy.
    #[arg(
        value_name = "BUNDLE",
        required_unless_present = "replies",
        conflicts_with = "replies"
    )]
    pub(super) bundles: Vec<PathBuf>,
    /// A file of replies to judge.
    #[arg(long, value_name = "FILE")]
    pub(super) replies: Option<PathBuf>,
    /// The document of a Python file; of replies, a folder of your own that lines name by its `strategy_id` (again for another).
    #[arg(long, value_name = "ID")]
    pub(super) strategy: Vec<String>,
    /// What makes an iteration void.
    #[arg(long, value_enum, default_value = "reference")]
    pub(super) drift: DriftArg,
    #[command(flatten)]
    pub(super) bars: BarArgs,
    #[command(flatten)]
    pub(super) secret: GateSecretArgs,
    #[command(flatten)]
    pub(super) boxes: BoxArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum DriftArg {
    /// A version that moved away from the reference strategy.
    Reference,
    /// A distance of 0.15 or more between two versions, as published.
    Published,
}

impl DriftArg {
    pub(super) const fn rule(self) -> DriftRule {
        match self {
            Self::Reference => DriftRule::Reference,
            Self::Published => DriftRule::Published,
        }
    }
}
