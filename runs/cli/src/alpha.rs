//! `ktd alpha`: formulas in Qlib's language, what they read and what they give.

use crate::CliError;
use crate::alpha_studies;
use crate::output::Console;
use crate::progress::Progress;
use crate::trading_day::read_day;
use clap::{Args, Subcommand};
use ktd_data::values_file::{InstrumentRows, ValuesFile, ValuesFormat};
use ktd_env::TradeDate;
use ktd_formulas::{
    BuiltInSet, CheckedLine, FieldPanel, FormulaLine, FormulaMarket, FormulaPrecision, FormulaRole,
    PROOF_NAMES, RefusedFormula, RefusedLine, SetOfFormulas, ValueSpan, evaluate_each, prove, read_formulas,
};
use ktd_io::parallel::available_threads;
use ktd_io::whole_file::{IfExists, check_writable};
use ktd_view::table::grouped;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Work on formulas.
#[derive(Debug, Subcommand)]
pub(super) enum AlphaCommand {
    /// Say what formulas mean and read; refuse what is no formula or reads a later day.
    Check(CheckArgs),
    /// Evaluate formulas on every instrument and day of a panel, and write the values.
    Compute(ComputeArgs),
    /// Evaluate pools of formulas on train, valid and test days: prediction, stability, robustness, diversity.
    #[command(after_help = alpha_studies::EVAL_EXAMPLE)]
    Eval(alpha_studies::EvalArgs),
    /// Have language models score the logic of formulas, with controls of length, nonsense and chance.
    #[command(after_help = alpha_studies::JUDGE_EXAMPLE)]
    Judge(alpha_studies::StudyArgs),
    /// Search for formulas by random growth or genetic programming; the pool is chosen by valid days.
    #[command(after_help = alpha_studies::MINE_EXAMPLE)]
    Mine(alpha_studies::StudyArgs),
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd alpha check 'Mean($close, 5)/$close' 'Ref($close, -1)/$close - 1'
  ktd alpha compute alpha158 --panel csi300.ktdp --out alpha158.parquet
  ktd alpha eval runs/configs/alpha_demo.toml --out demo_alphas
  ktd alpha mine runs/configs/alpha_mine_demo.toml --out mined";

const CHECK_EXAMPLE: &str = "\
Examples:
  ktd alpha check 'Corr($close, Log($volume+1), 20)'
  ktd alpha check mine.csv --panel csi300.ktdp
  ktd alpha check alpha158 --prove

A file is CSV with the columns `id,expression[,pool]`, or JSON [{\"id\": .., \"expression\": ..}]. Exit code 2 when a formula is \
refused, 1 when a proof fails, which is a defect of the program.";

const COMPUTE_EXAMPLE: &str = "\
Examples:
  ktd alpha compute alpha158 --panel csi300.ktdp --out alpha158.parquet
  ktd alpha compute mine.csv --bins ~/.qlib/qlib_data/cn_data --from 2020-01-01 --out values.csv

Values begin with each instrument's first row, whatever days are written, so that they do not depend on --from. In Python: \
pandas.read_parquet('alpha158.parquet').set_index(['date', 'symbol']).";

/// Where the columns are that formulas read.
#[derive(Debug, Args)]
struct DataArgs {
    /// A panel file [default: the synthetic market of `ktd data synthetic`].
    #[arg(long, value_name = "FILE", conflicts_with = "bins")]
    panel: Option<PathBuf>,
    /// A data directory of Qlib, whose bins are the fields.
    #[arg(long, value_name = "DIR")]
    bins: Option<PathBuf>,
    /// How columns and elements are computed: `qlib`, in float32 with windows in float64, which are Qlib's own types; `f64`,
    /// everything in float64, rounded to float32 at the end.
    #[arg(long, default_value = "qlib", value_parser = ["qlib", "f64"])]
    numeric: String,
}

impl DataArgs {
    fn read(&self) -> Result<FieldPanel, CliError> {
        Ok(FormulaMarket::read((self.panel.as_deref(), self.bins.as_deref()), false)?.panel)
    }

    fn precision(&self) -> FormulaPrecision {
        match self.numeric.as_str() {
            "f64" => FormulaPrecision::Float64,
            _ => FormulaPrecision::Qlib,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLE)]
pub(super) struct CheckArgs {
    /// Formulas, files of formulas, or the sets `alpha158`, `alpha360` and `factors`.
    #[arg(required = true, value_name = "FORMULA|FILE|SET")]
    formulas: Vec<String>,
    /// What they are for: an `alpha`, which reads no later day, or a `label`, which may read up to 260.
    #[arg(long, default_value = "alpha", value_parser = ["alpha", "label"])]
    role: String,
    /// Evaluate them on cut and replaced panels of the first 20 instruments, and compare every earlier bit.
    #[arg(long)]
    prove: bool,
    /// Seed of the bars that replace others under --prove.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Debug, Args)]
#[command(after_help = COMPUTE_EXAMPLE)]
pub(super) struct ComputeArgs {
    /// Formulas, files of formulas, or the sets `alpha158`, `alpha360` and `factors`.
    #[arg(required = true, value_name = "FORMULA|FILE|SET")]
    formulas: Vec<String>,
    /// The file to write: .parquet or .csv.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// First day to write [default: the first].
    #[arg(long, value_name = "DATE", value_parser = read_day)]
    from: Option<TradeDate>,
    /// Last day to write [default: the last].
    #[arg(long, value_name = "DATE", value_parser = read_day)]
    to: Option<TradeDate>,
    /// Codes to write, separated by commas [default: all].
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    names: Option<Vec<String>>,
    /// Stop at the first formula that is refused, and write nothing.
    #[arg(long)]
    strict: bool,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    data: DataArgs,
}

/// Works on formulas.
pub(super) fn run(command: &AlphaCommand, console: Console) -> Result<(), CliError> {
    match command {
        AlphaCommand::Check(args) => check(args, console),
        AlphaCommand::Compute(args) => compute(args, console),
        AlphaCommand::Eval(args) => alpha_studies::eval(args, console),
        AlphaCommand::Judge(args) => alpha_studies::judge(args, console),
        AlphaCommand::Mine(args) => alpha_studies::mine(args, console),
    }
}

/// The formulas of sets, files and texts, in their order; a text's id is its place.
fn lines(asked: &[String]) -> Result<Vec<FormulaLine>, CliError> {
    let mut all = Vec::new();
    for text in asked {
        let path = PathBuf::from(text);
        if let Some(set) = BuiltInSet::of(text) {
            all.extend(set.lines());
        } else if path.is_file() {
            all.extend(read_formulas(&path)?);
        } else {
            all.push(FormulaLine {
                id: format!("#{}", all.len() + 1),
                expression: text.clone(),
                pool: None,
            });
        }
    }
    Ok(all)
}

/// Formulas that were read.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct CheckedFormulas<'f> {
    formulas: Vec<CheckedLine<'f>>,
    refused: Vec<RefusedLine<'f>>,
    /// Values that moved when a later day did; of `--prove` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier_cells_moved: Option<usize>,
}

/// Values that were written.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ComputedValues<'f> {
    /// The file.
    out: String,
    rows: usize,
    about: ValuesRecord<'f>,
    refused: Vec<RefusedLine<'f>>,
}

/// What the file of values says of itself.
#[derive(Debug, JsonSchema, Serialize)]
struct ValuesRecord<'f> {
    /// Version of the program.
    ktd: &'static str,
    /// What the columns were read from.
    panel: &'f str,
    numeric: &'f str,
    notes: &'f [String],
    formulas: Vec<CanonicalFormula<'f>>,
}

/// A formula as it was evaluated.
#[derive(Debug, JsonSchema, Serialize)]
struct CanonicalFormula<'f> {
    id: &'f str,
    canonical: &'f str,
}

fn check(args: &CheckArgs, console: Console) -> Result<(), CliError> {
    let is_label = args.role == "label";
    if args.prove && is_label {
        return Err(CliError::invalid(
            "--prove shows that no later day is read, and a label reads later days",
        )
        .with_hint("leave out --prove, or --role label"));
    }
    let panel = args.data.read()?;
    let role = if is_label {
        FormulaRole::Label
    } else {
        FormulaRole::Alpha
    };
    let set = SetOfFormulas::check(lines(&args.formulas)?, &panel.fields, role);
    let leaks = if args.prove {
        Some(prove(&panel, &set.formulas(), args.data.precision(), args.seed)?)
    } else {
        None
    };
    let mut text = set.table().text_in(console.layout());
    if let Some(leaks) = &leaks {
        // Writing to a string cannot fail.
        writeln!(
            text,
            "proof: {} formulas, {} instruments on 10 cut and 5 replaced panels, {} earlier cells moved",
            set.checked.len(),
            panel.names.len().min(PROOF_NAMES),
            leaks.len()
        )
        .ok();
    }
    let value = CheckedFormulas {
        formulas: set.checked_lines(),
        refused: set.refusals(),
        earlier_cells_moved: leaks.as_ref().map(Vec::len),
    };
    console.result(&text, &value)?;
    if let Some(leak) = leaks.as_ref().and_then(|leaks| leaks.first()) {
        let id = set
            .checked
            .get(leak.formula)
            .map_or("?", |(line, _)| line.id.as_str());
        return Err(CliError::difference(format_args!(
            "{id} on {} moved at row {} when session {} and later ones changed",
            leak.code, leak.row, leak.session
        )));
    }
    refused(&set.refused)
}

/// The first refusal as an error; all of them were shown.
fn refused(refused: &[RefusedFormula]) -> Result<(), CliError> {
    let Some(first) = refused.first() else {
        return Ok(());
    };
    let more = match refused.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more are refused"),
    };
    let error = &first.error;
    Err(CliError::invalid(format_args!(
        "formula {}: {} at byte {}: found {:?}, expected {}{more}",
        first.line.id,
        error.fault.code(),
        error.at,
        error.found,
        error.expected
    ))
    .with_hint(error.hint.clone()))
}

fn compute(args: &ComputeArgs, console: Console) -> Result<(), CliError> {
    let format = ValuesFormat::of(&args.out).ok_or_else(|| {
        CliError::invalid(format_args!(
            "{}: this ending names no format",
            args.out.display()
        ))
        .with_hint("name a file that ends with .parquet or .csv")
    })?;
    let overwrite = IfExists::refused_unless(args.force);
    check_writable(&args.out, overwrite)?;
    let panel = args.data.read()?;
    let set = SetOfFormulas::check(lines(&args.formulas)?, &panel.fields, FormulaRole::Alpha);
    if args.strict || set.checked.is_empty() {
        refused(&set.refused)?;
    }
    let span = ValueSpan {
        from: args.from,
        to: args.to,
        names: args.names.clone(),
    };
    let canonical = set.checked.iter().map(|(line, checked)| CanonicalFormula {
        id: &line.id,
        canonical: checked.canonical(),
    });
    let about = ValuesRecord {
        ktd: env!("CARGO_PKG_VERSION"),
        panel: &panel.source,
        numeric: &args.data.numeric,
        notes: &panel.notes,
        formulas: canonical.collect(),
    };
    let about_text = serde_json::to_string(&about).map_err(CliError::invalid)?;
    let columns: Vec<String> = set.checked.iter().map(|(line, _)| line.id.clone()).collect();
    let mut file = ValuesFile::create(&args.out, format, &panel.calendar, &columns, &about_text)?;
    let names = u64::try_from(panel.names.len()).unwrap_or(u64::MAX);
    let mut bar = Progress::new(console, "evaluating", names, "instruments");
    let precision = args.data.precision();
    evaluate_each(
        &panel,
        &set.formulas(),
        precision,
        (&span, available_threads()),
        |name| {
            bar.advance(1);
            Ok::<(), CliError>(file.add(&InstrumentRows {
                code: &name.code,
                sessions: &name.sessions,
                columns: &name.columns,
            })?)
        },
    )?;
    let rows = file.finish()?;
    drop(bar);
    let out = args.out.display().to_string();
    let mut text = format!("{out}: {} rows x {} formulas", grouped(rows), columns.len());
    for note in &panel.notes {
        write!(text, "\nnote: {note}").ok();
    }
    for refused in &set.refused {
        write!(text, "\nrefused: {}: {}", refused.line.id, refused.error).ok();
    }
    let value = ComputedValues {
        out,
        rows,
        about,
        refused: set.refusals(),
    };
    console.result(if console.quiet { "" } else { &text }, &value)
}
