//! What commands do with a study of any kind.

use crate::CliError;
use crate::on_event::OnEvent;
use crate::output::Console;
use crate::printed_document::PrintedDocument;
use crate::runtime::runtime;
use crate::signals;
use crate::study_bar::StudyBar;
use crate::this_program::this_program;
use ktd_certify::{CertificateStudy, CurveStudy};
use ktd_client::cache_folder::cache_folder;
use ktd_episode::EpisodesStudy;
use ktd_experiment::nearest::did_you_mean;
use ktd_factor_study::FactorCodeStudy;
use ktd_formula_study::AlphaEvaluating;
use ktd_formula_study::judge::FormulaJudging;
use ktd_formula_study::mine::FormulaMining;
use ktd_io::parallel::available_threads;
use ktd_leakage_study::LeakStudy;
use ktd_strategy_study::StrategyStudy;
use ktd_study::{
    AnyEnd, AnyKind, Audited, Depth, MovedFiles, Replayed, Report, ReportOf, StudyError, StudyKind, StudyRun,
    StudyStatus, UnitId, any, kind_of, kind_of_file, told_unnamed,
};
use ktd_view::draw::paragraph;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long units may take to end in order when a signal asks for it.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// Every kind of study.
pub(super) const KINDS: [&dyn AnyKind; 9] = [
    any::<EpisodesStudy>(),
    any::<LeakStudy>(),
    any::<FactorCodeStudy>(),
    any::<StrategyStudy>(),
    any::<AlphaEvaluating>(),
    any::<FormulaMining>(),
    any::<FormulaJudging>(),
    any::<CertificateStudy>(),
    any::<CurveStudy>(),
];

impl From<StudyError> for CliError {
    fn from(error: StudyError) -> Self {
        Self::of(error.class(), &error, error.hint())
    }
}

/// The kind of the study that a file names; one that names none is a certificate's where it counts probes, else an experiment of
/// episodes.
///
/// # Errors
/// [`CliError`] for a kind that there is not.
pub(super) fn kind_for(file: &Path) -> Result<&'static dyn AnyKind, CliError> {
    let name = kind_of_file(file, &[("probes", CertificateStudy::NAME)]);
    let name = name.unwrap_or_else(|| EpisodesStudy::NAME.to_owned());
    if let Some(kind) = KINDS.into_iter().find(|kind| kind.name() == name) {
        return Ok(kind);
    }
    let kinds = KINDS.map(AnyKind::name).join(", ");
    let meant = did_you_mean(&name, KINDS.map(AnyKind::name));
    let what = format!("{}: kind = {name:?} is unknown{meant}", file.display());
    let hint = format!("choose from {kinds}");
    Err(CliError::input(what, hint))
}

/// How far the study in a folder is; none where it cannot be read.
pub(super) fn status_of(folder: &Path) -> Option<StudyStatus> {
    let name = kind_of(folder)?;
    let kind = KINDS.into_iter().find(|kind| kind.name() == name)?;
    kind.status(folder).ok()
}

/// Does something with what a study is run with: a bar, threads, and how long its units may take to end in order when a signal asks
/// for it; where nothing is said, nothing of it is to go on.
pub(super) fn with_run<T>(
    shown: (&'static str, Option<Duration>, Console),
    work: impl FnOnce(&StudyRun<'_>) -> Result<T, StudyError>,
) -> Result<T, CliError> {
    with_run_telling(shown, None, work)
}

/// The same, where a command of the shell is told what happens.
pub(super) fn with_run_telling<T>(
    (what, patience, console): (&'static str, Option<Duration>, Console),
    on_event: Option<&str>,
    work: impl FnOnce(&StudyRun<'_>) -> Result<T, StudyError>,
) -> Result<T, CliError> {
    let (tasks, program) = (runtime()?, this_program());
    let on_event = on_event.map(|command| OnEvent::new(command, tasks.handle()));
    let bar = StudyBar::new(what, console, on_event);
    let interruption = bar.interruption();
    let (tell, told_to_end) = watch::channel(false);
    if let Some(patience) = patience {
        let _within = tasks.enter();
        let told = signals::told_to_end()
            .map_err(|error| CliError::invalid(format_args!("cannot wait for signals: {error}")))?;
        let interruption = Arc::clone(&interruption);
        tasks.spawn(async move {
            told.await;
            // Nobody listens any more where the study has just ended.
            tell.send(true).ok();
            // A computation listens to nobody: what is recorded stands, and the same command continues.
            tokio::time::sleep(patience).await;
            interruption.tell(console, status_of);
            signals::end_by_signal(console, signals::CONTINUES);
        });
    }
    let counts = cache_folder().map(|cache| cache.join("counts"));
    let run = StudyRun {
        counts: counts.as_deref(),
        program: &program,
        threads: available_threads(),
        tasks: tasks.handle(),
        progress: &bar,
        told_to_end: &told_to_end,
        retries_lost: false,
        claims: None,
    };
    let done = work(&run);
    if let Err(error) = &done {
        bar.tell(&format!("the run stopped: {error}"));
    }
    bar.finish();
    if *told_to_end.borrow() {
        interruption.tell(console, status_of);
    }
    Ok(done?)
}

/// Runs the study of a file, or continues it, and shows its report.
pub(super) fn run(
    kind: &dyn AnyKind,
    (file, out): (&Path, Option<&Path>),
    console: Console,
) -> Result<(), CliError> {
    run_by(kind.asks(), console, |run| kind.run(file, out, run)).map(drop)
}

/// The same by a command that has read the file itself; whether its units ask somebody, and may end in order.
pub(super) fn run_by(
    asks: bool,
    console: Console,
    work: impl FnOnce(&StudyRun<'_>) -> Result<AnyEnd, StudyError>,
) -> Result<ReportOf, CliError> {
    let finished = finished_by(asks, console, work)?;
    show(&finished, false, console)?;
    Ok(finished)
}

/// The same, and shows nothing.
pub(super) fn finished_by(
    asks: bool,
    console: Console,
    work: impl FnOnce(&StudyRun<'_>) -> Result<AnyEnd, StudyError>,
) -> Result<ReportOf, CliError> {
    let patience = Some(if asks { PATIENCE } else { Duration::ZERO });
    let AnyEnd {
        folder,
        finished,
        units,
        failed,
    } = with_run(("running", patience, console), work)?;
    finished.ok_or_else(|| unfinished((&folder, units), failed))
}

/// Why a study has no report.
fn unfinished((folder, units): (&Path, usize), failed: Vec<(UnitId, StudyError)>) -> CliError {
    let (count, first) = (failed.len(), failed.into_iter().next());
    first.map_or_else(
        || CliError::difference(format_args!("{}: not every unit is finished", folder.display())),
        |(id, error)| match units {
            1 => error.into(),
            _ => error
                .at(format_args!(
                    "{count} of {units} units have no result; the first, {id}"
                ))
                .into(),
        },
    )
}

/// Says what the study of a file would ask and cost.
pub(super) fn plan(
    kind: &dyn AnyKind,
    (file, out): (&Path, Option<&Path>),
    console: Console,
) -> Result<(), CliError> {
    let plan = with_run(("planning", None, console), |run| kind.plan(file, out, run))?;
    show_value(&plan.report(), &plan, console)
}

/// Shows a report, and where its files lie.
pub(super) fn show(shown: &ReportOf, all: bool, console: Console) -> Result<(), CliError> {
    console.report(&text_of(shown, all, console), shown)
}

/// A report in the terminal, and where its files lie.
pub(super) fn text_of(shown: &ReportOf, all: bool, console: Console) -> String {
    let files = shown.report.file_names().join(", ");
    let files = format!("{}: report.json, {files}, parquet/", shown.folder.display());
    let layout = console.layout();
    format!(
        "{}\n{}",
        shown.report.text(layout, all),
        paragraph(&files, layout)
    )
}

/// Shows a value that has no files.
pub(super) fn show_value(
    report: &Report,
    value: &impl PrintedDocument,
    console: Console,
) -> Result<(), CliError> {
    console.result(&report.text(console.layout(), false), value)
}

/// Shows the outcome of an audit, and fails where something is wrong.
pub(super) fn show_audited(audited: Audited, console: Console) -> Result<(), CliError> {
    console.audited(&audited.report.text(console.layout(), false), &audited)?;
    audited.wrong.map_or(Ok(()), |wrong| Err(wrong.into()))
}

/// A study that was made again from its record.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ReplayedStudy {
    pub study: String,
    pub kind: &'static str,
    pub units: usize,
    /// Units whose works were made again too.
    pub made_again: usize,
    /// Whether every byte is the same.
    pub matches: bool,
    /// How the program that recorded it differs from this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub another_program: Option<String>,
    /// What lies where units leave their records, and no unit names: places in the folder of the study.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unnamed: Vec<String>,
}

/// Makes the study in a folder again from its record.
pub(super) fn replayed(
    kind: &dyn AnyKind,
    (folder, moved): (&Path, MovedFiles<'_>),
    depth: Depth,
    console: Console,
) -> Result<Replayed, CliError> {
    with_run(("comparing", None, console), |run| {
        kind.replay(folder, moved, depth, run)
    })
}

/// What was compared, in words.
pub(super) fn compared(replayed: &Replayed) -> String {
    let Replayed {
        units, made_again, ..
    } = replayed;
    match made_again {
        0 => format!("{units} units compared with their records, works taken as recorded, and the report"),
        _ if made_again == units => {
            format!("{units} units and all of their works made again, and the report")
        }
        _ => format!(
            "{units} units compared with their records, {made_again} of them with their works made again, and the report"
        ),
    }
}

/// `ktd replay` on a study.
pub(super) fn replay(
    kind: &dyn AnyKind,
    (folder, moved): (&Path, MovedFiles<'_>),
    depth: Depth,
    console: Console,
) -> Result<(), CliError> {
    let replayed = replayed(kind, (folder, moved), depth, console)?;
    let unnamed = told_unnamed(&replayed.unnamed);
    for note in replayed.another_program.iter().chain(&unnamed) {
        console.note(note);
    }
    let text = format!(
        "{}: {}; every byte is the same",
        replayed.name,
        compared(&replayed)
    );
    console.result(
        &text,
        &ReplayedStudy {
            study: replayed.name,
            kind: kind.name(),
            units: replayed.units,
            made_again: replayed.made_again,
            matches: true,
            another_program: replayed.another_program,
            unnamed: replayed.unnamed,
        },
    )
}
