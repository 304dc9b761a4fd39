//! Arguments of `ktd replay`.

use super::replay_step::StepRange;
use crate::CliError;
use clap::Args;
use clap::builder::PossibleValuesParser;
use ktd_experiment::amount::Picodollars;
use ktd_masking::Numeric;
use ktd_study::MovedFiles;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd replay results/demo/cells/momentum__short__blinded-rescaled__open-research__s1
  ktd replay BUNDLE --step 3            # what the model saw and did at step 3
  ktd replay BUNDLE --step 3..7         # steps 3 to 7
  ktd replay BUNDLE --step 3 --full     # with the prompt that is the same in every step
  ktd replay BUNDLE --step 3 --real     # with the real names beside the aliases
  ktd replay results/leak-demo          # a study: every unit from its record
  ktd replay results/leak-demo --deep   # and every computation made again
  ktd replay BUNDLE --branch 3 --out DIR --builtin hold    # steps 1 and 2 as recorded, then live
  ktd replay BUNDLE --branch 3 --out DIR --agent try.toml:gpt --budget 2.00
  ktd replay BUNDLE --branch 3 --out DIR --rule 'max_positions = 9'  # or --orders, --numeric

Running a branch again with the same --out continues it.";

/// The one thing that a branch changes.
#[derive(Debug, Clone, Args)]
#[group(id = "change", multiple = false, conflicts_with_all = ["agent", "builtin"])]
pub(super) struct ChangeArgs {
    /// With --branch: submit these orders at its first step, arguments of `submit_action` in a JSON file, and ask nobody there.
    #[arg(long, value_name = "FILE", requires = "branch")]
    pub orders: Option<PathBuf>,
    /// With --branch: answer the first step's tool call of this number as if another had been made.
    #[arg(long, value_name = "CALL=TOOL ARGUMENTS", requires = "branch")]
    pub answer: Option<String>,
    /// With --branch: show numbers at another rung from then on.
    #[arg(long, value_name = "RUNG", requires = "branch", value_parser = PossibleValuesParser::new(Numeric::ALL.map(Numeric::label)))]
    pub numeric: Option<String>,
    /// With --branch: change one key of the exchange's rules from then on.
    #[arg(long, value_name = "KEY = VALUE", requires = "branch")]
    pub rule: Option<String>,
}

/// How the record of a study is compared.
#[derive(Debug, Clone, Args)]
pub(super) struct StudyReplayArgs {
    /// Of a study: make every recorded work again, too: box runs, fits, evaluations.
    #[arg(long)]
    pub deep: bool,
    /// Of a study: where the paths of its file start, when that is no longer where they started.
    #[arg(long, value_name = "DIR")]
    pub base: Option<PathBuf>,
}

impl StudyReplayArgs {
    /// Refuses the folder of a study's files where no study was named: an episode says itself what it ran over.
    pub(super) fn check_has_study(&self, is_study_named: bool) -> Result<(), CliError> {
        if self.base.is_none() || is_study_named {
            return Ok(());
        }
        Err(CliError::input(
            "--base is of a study, and none is named",
            "name the panel of an episode with --panel, where it lies elsewhere than it did",
        ))
    }

    /// Where files of the study lie now.
    pub(super) fn moved<'f>(&'f self, panel: Option<&'f Path>) -> MovedFiles<'f> {
        MovedFiles {
            base: self.base.as_deref(),
            panel,
        }
    }
}

/// Makes an episode or a study again from its record, offline, and compares every byte; shows one step of an episode; or
/// continues it otherwise from a step.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct ReplayArgs {
    /// The directory of a bundle or of a study.
    #[arg(value_name = "DIR")]
    pub bundle: PathBuf,
    #[command(flatten)]
    pub study: StudyReplayArgs,
    /// The panel, when it is no longer where the bundle or the study was made.
    #[arg(long)]
    pub panel: Option<PathBuf>,
    /// Show this step, or these, as the model saw them, with orders, fills and NAV, instead of replaying.
    #[arg(long, value_name = "STEP or FIRST..LAST")]
    pub step: Option<StepRange>,
    /// With --step: show the text that is the same in every step, too.
    #[arg(long, requires = "step")]
    pub full: bool,
    /// With --step: show real names and dates too (needs the bundle's private part).
    #[arg(long, requires = "step")]
    pub real: bool,
    /// Make another bundle: its steps before this one come from the recorded replies, the others are asked live.
    #[arg(long, value_name = "STEP", requires = "out", conflicts_with = "step")]
    pub branch: Option<usize>,
    /// With --branch: the directory of the new bundle.
    #[arg(long, value_name = "DIR", requires = "branch")]
    pub out: Option<PathBuf>,
    /// With --branch: ask this agent of an experiment file instead of the one that answered there.
    #[arg(
        long,
        value_name = "EXPERIMENT.toml:ID",
        requires = "branch",
        conflicts_with = "builtin"
    )]
    pub agent: Option<String>,
    /// With --branch: ask this built-in agent.
    #[arg(long, value_name = "NAME", requires = "branch")]
    pub builtin: Option<String>,
    #[command(flatten)]
    pub change: ChangeArgs,
    /// With --branch: most that the new bundle may cost, US dollars such as 2.00.
    #[arg(long, value_name = "USD", requires = "branch", value_parser = Picodollars::parse)]
    pub budget: Option<Picodollars>,
}
