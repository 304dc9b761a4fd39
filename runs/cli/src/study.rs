//! What commands do with a study of any kind.

use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use crate::runtime::runtime;
use crate::signals;
use crate::this_program::this_program;
use ktd_certify::{CertificateStudy, CurveStudy};
use ktd_factor_study::FactorCodeStudy;
use ktd_formula_study::AlphaEvaluating;
use ktd_formula_study::judge::FormulaJudging;
use ktd_formula_study::mine::FormulaMining;
use ktd_io::ErrorClass;
use ktd_io::parallel::available_threads;
use ktd_leakage_study::LeakStudy;
use ktd_strategy_study::StrategyStudy;
use ktd_study::{
    AnyEnd, AnyKind, Depth, Replayed, Report, ReportOf, StudyError, StudyKind, StudyProgress, StudyRun,
    UnitId, any, folder_of, kind_of, kind_of_file, run_study,
};
use ktd_view::draw::paragraph;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::watch;

/// How long units may take to end in order when a signal asks for it.
const PATIENCE: Duration = Duration::from_secs(3);

const CONTINUES: &str = "run the same command again: it continues where it stopped";

/// Every kind of study.
pub(super) const KINDS: [&dyn AnyKind; 8] = [
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
        let ended = match error.class() {
            ErrorClass::InvalidInput => Self::invalid(&error),
            ErrorClass::Difference => Self::difference(&error),
            ErrorClass::Budget => Self::budget(&error),
        };
        match error.hint() {
            "" => ended,
            hint => ended.with_hint(hint),
        }
    }
}

/// The kind of the study in a folder; none where it holds no study of one of the kinds.
pub(super) fn kind_in(folder: &Path) -> Option<&'static dyn AnyKind> {
    let name = kind_of(folder)?;
    KINDS.into_iter().find(|kind| kind.name() == name)
}

/// The kind of the study that a file names; none of an experiment of episodes, which names none.
///
/// # Errors
/// [`CliError`] for a kind that there is not.
pub(super) fn kind_for(file: &Path) -> Result<Option<&'static dyn AnyKind>, CliError> {
    let Some(name) = kind_of_file(file) else {
        return Ok(None);
    };
    if let Some(kind) = KINDS.into_iter().find(|kind| kind.name() == name) {
        return Ok(Some(kind));
    }
    let kinds = KINDS.map(AnyKind::name).join(", ");
    let what = format!("{}: kind = {name:?} is unknown", file.display());
    let hint = format!("choose from {kinds}, or leave it out for episodes");
    Err(CliError::input(what, hint))
}

/// A bar that appears when the study says how much there is to do.
struct StudyBar {
    what: &'static str,
    console: Console,
    bar: Mutex<Option<Progress>>,
}

impl StudyProgress for StudyBar {
    fn begin(&self, steps: u64, unit: &'static str) {
        if let Ok(mut bar) = self.bar.lock() {
            *bar = Some(Progress::new(self.console, self.what, steps, unit));
        }
    }

    fn advance(&self, steps: u64) {
        if let Ok(mut bar) = self.bar.lock()
            && let Some(bar) = bar.as_mut()
        {
            bar.advance(steps);
        }
    }
}

pub(super) fn with_run<T>(
    (what, listens, console): (&'static str, bool, Console),
    work: impl FnOnce(&StudyRun<'_>) -> Result<T, StudyError>,
) -> Result<T, CliError> {
    let bar = StudyBar {
        what,
        console,
        bar: Mutex::new(None),
    };
    let (tasks, program) = (runtime()?, this_program());
    let (tell, told_to_end) = watch::channel(false);
    if listens {
        let _within = tasks.enter();
        let told = signals::told_to_end()
            .map_err(|error| CliError::invalid(format_args!("cannot wait for signals: {error}")))?;
        tasks.spawn(async move {
            told.await;
            // Nobody listens any more where the study has just ended.
            tell.send(true).ok();
            // A computation listens to nobody: what is recorded stands, and the same command continues.
            tokio::time::sleep(PATIENCE).await;
            console.failure(&CliError::difference("ended by a signal").with_hint(CONTINUES));
            #[expect(clippy::exit, reason = "nothing else ends a computation that is under way")]
            std::process::exit(1);
        });
    }
    let run = StudyRun {
        program: &program,
        threads: available_threads(),
        tasks: tasks.handle(),
        progress: &bar,
        told_to_end: &told_to_end,
    };
    let done = work(&run);
    drop(bar);
    Ok(done?)
}

/// Runs the study of a file, or continues it, and shows its report.
pub(super) fn run(
    kind: &dyn AnyKind,
    (file, out): (&Path, Option<&Path>),
    shown: (bool, Console),
) -> Result<(), CliError> {
    run_by(kind.asks(), shown, |run| kind.run(file, out, run))
}

/// The same by a command that has read the file itself; whether its units are told when the process is to end.
pub(super) fn run_by(
    listens: bool,
    (all, console): (bool, Console),
    work: impl FnOnce(&StudyRun<'_>) -> Result<AnyEnd, StudyError>,
) -> Result<(), CliError> {
    let AnyEnd {
        folder,
        finished,
        units,
        failed,
    } = with_run(("running", listens, console), work)?;
    let finished = finished.ok_or_else(|| unfinished((&folder, units), failed))?;
    show(&finished, (&folder, all), console)
}

/// A finished study whose keys are more than its file says.
pub(super) struct Finished<S> {
    pub(super) folder: PathBuf,
    pub(super) summary: S,
    pub(super) report: Report,
}

/// Runs a study whose keys are more than its file says, on so many threads or one a core.
pub(super) fn finish_keys<K: StudyKind>(
    keys: K::Keys,
    (base, out): (&Path, Option<&Path>),
    (threads, console): (Option<usize>, Console),
) -> Result<Finished<K::Summary>, CliError> {
    let folder = folder_of::<K>(&keys, (base, out));
    let end = with_run(("running", K::ASKS, console), |run| {
        let threads = threads.unwrap_or(run.threads);
        run_study::<K>(keys, (base, &folder), &StudyRun { threads, ..*run })
    })?;
    match end.finished {
        Some((summary, report)) => Ok(Finished {
            folder,
            summary,
            report,
        }),
        None => Err(unfinished((&folder, end.units), end.failed)),
    }
}

/// The same, and shows its report.
pub(super) fn run_keys<K: StudyKind>(
    keys: K::Keys,
    (base, folder): (&Path, &Path),
    console: Console,
) -> Result<K::Summary, CliError> {
    let Finished {
        folder,
        summary,
        report,
    } = finish_keys::<K>(keys, (base, Some(folder)), (None, console))?;
    let shown = ReportOf {
        summary: serde_json::to_value(&summary).map_err(CliError::invalid)?,
        report,
    };
    show(&shown, (&folder, false), console)?;
    Ok(summary)
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

/// Writes the report of a finished study again, and shows it.
pub(super) fn report(
    kind: &dyn AnyKind,
    folder: &Path,
    (all, console): (bool, Console),
) -> Result<(), CliError> {
    show(&kind.report(folder)?, (folder, all), console)
}

pub(super) fn show(shown: &ReportOf, (folder, all): (&Path, bool), console: Console) -> Result<(), CliError> {
    let text = text_of(&shown.report, (folder, all), console);
    console.result(&text, &shown.summary)
}

/// A report in the terminal, with where its files lie.
pub(super) fn text_of(report: &Report, (folder, all): (&Path, bool), console: Console) -> String {
    let files = report.file_names().join(", ");
    let files = format!("{}: report.json, {files}, parquet/", folder.display());
    let layout = console.layout();
    format!("{}\n{}", report.text(layout, all), paragraph(&files, layout))
}

/// Makes the study in a folder again from its record.
pub(super) fn replayed(
    kind: &dyn AnyKind,
    (folder, base): (&Path, Option<&Path>),
    depth: Depth,
    console: Console,
) -> Result<Replayed, CliError> {
    with_run(("comparing", false, console), |run| {
        kind.replay(folder, base, depth, run)
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
    (folder, base): (&Path, Option<&Path>),
    depth: Depth,
    console: Console,
) -> Result<(), CliError> {
    let replayed = replayed(kind, (folder, base), depth, console)?;
    if let Some(other) = &replayed.another_program {
        console.note(other);
    }
    let text = format!(
        "{}: {}; every byte is the same",
        replayed.name,
        compared(&replayed)
    );
    console.result(
        &text,
        &json!({
            "study": replayed.name, "kind": kind.name(), "units": replayed.units, "made_again": replayed.made_again,
            "matches": true, "another_program": replayed.another_program,
        }),
    )
}
