//! A kind of study whose types are forgotten: what a command needs of every kind.

use crate::planned_study::plan_study;
use crate::queued::enqueue_study;
use crate::study_file::{folder_of, read_study_file};
use crate::unfinished::UnfinishedReport;
use crate::{
    Depth, MovedFiles, QueuedStudy, Replayed, Report, StudyDifference, StudyError, StudyKind, StudyPlan,
    StudyRun, StudyStatus, StudyWatch, UnitId, document_schema, replay_study, report_study,
    report_unfinished, run_study, study_difference, study_status,
};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// Kind of study behind one type.
pub trait AnyKind: Sync {
    /// `kind = "..."` of its file.
    fn name(&self) -> &'static str;

    /// Whether its units may ask somebody, and are told when the process is to end.
    fn asks(&self) -> bool;

    /// Runs the study of a file into a folder, by default `results/NAME` beside it; see [`run_study`].
    ///
    /// # Errors
    /// [`StudyError`] as [`run_study`], and for a file that cannot be read.
    fn run(&self, file: &Path, out: Option<&Path>, run: &StudyRun<'_>) -> Result<AnyEnd, StudyError>;

    /// Makes the folder of a file's study ready for workers, and says what they are to run.
    ///
    /// # Errors
    /// [`StudyError`] as [`Self::run`], before anything runs.
    fn enqueue(&self, file: &Path, out: Option<&Path>, run: &StudyRun<'_>)
    -> Result<QueuedStudy, StudyError>;

    /// How far the study in a folder is; see [`study_status`].
    ///
    /// # Errors
    /// [`StudyError`] as [`study_status`].
    fn status(&self, folder: &Path) -> Result<StudyStatus, StudyError>;

    /// The study in a folder, to look at again and again.
    ///
    /// # Errors
    /// [`StudyError`] as [`StudyWatch::open`].
    fn watch(&self, folder: &Path) -> Result<StudyWatch, StudyError>;

    /// What the study of a file would ask and cost; nothing is asked, run or written.
    ///
    /// # Errors
    /// [`StudyError`] as [`Self::run`], before anything runs.
    fn plan(&self, file: &Path, out: Option<&Path>, run: &StudyRun<'_>) -> Result<StudyPlan, StudyError>;

    /// Writes the report of a finished study again; see [`report_study`].
    ///
    /// # Errors
    /// [`StudyError`] as [`report_study`].
    fn report(&self, folder: &Path) -> Result<ReportOf, StudyError>;

    /// Writes a report of the finished units of an unfinished study; see [`report_unfinished`].
    ///
    /// # Errors
    /// [`StudyError`] as [`report_unfinished`].
    fn report_unfinished(&self, folder: &Path) -> Result<ReportOf, StudyError>;

    /// Makes a finished study again from its record; see [`replay_study`].
    ///
    /// # Errors
    /// [`StudyError`] as [`replay_study`].
    fn replay(
        &self,
        folder: &Path,
        moved: MovedFiles<'_>,
        depth: Depth,
        run: &StudyRun<'_>,
    ) -> Result<Replayed, StudyError>;

    /// How the studies of two folders differ, of which the first is of this kind; see [`study_difference`].
    ///
    /// # Errors
    /// [`StudyError`] as [`study_difference`].
    fn difference(&self, folders: [&Path; 2]) -> Result<StudyDifference, StudyError>;

    /// The JSON Schema of its `report.json`.
    fn schema(&self) -> Value;

    /// The JSON Schema of its report where units have no result; none of a kind that needs every unit.
    fn unfinished_schema(&self) -> Option<Value>;
}

/// A report, and what it is made of for programs.
#[derive(Debug)]
pub struct ReportOf {
    /// Where its files lie.
    pub folder: PathBuf,
    /// `report.json`.
    pub summary: Value,
    /// The report.
    pub report: Report,
}

/// How the run of a study of any kind ended.
#[derive(Debug)]
pub struct AnyEnd {
    /// Its folder.
    pub folder: PathBuf,
    /// The report; none where a unit is not finished.
    pub finished: Option<ReportOf>,
    /// Units in all.
    pub units: usize,
    /// Units that ended without a result, and why.
    pub failed: Vec<(UnitId, StudyError)>,
}

/// A kind behind [`AnyKind`].
struct Forgotten<K>(PhantomData<fn() -> K>);

impl<K: StudyKind> Forgotten<K> {
    const KIND: &'static dyn AnyKind = &Self(PhantomData);
}

/// A kind of study whose types are forgotten.
#[must_use]
pub const fn any<K: StudyKind>() -> &'static dyn AnyKind {
    Forgotten::<K>::KIND
}

impl fmt::Debug for dyn AnyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn report_of(folder: &Path, (summary, report): (impl Serialize, Report)) -> Result<ReportOf, StudyError> {
    let summary = serde_json::to_value(summary)
        .map_err(|error| StudyError::input(format_args!("the report cannot be written: {error}"), ""))?;
    Ok(ReportOf {
        folder: folder.to_owned(),
        summary,
        report,
    })
}

/// Runs the study of keys that were read from a file in `base`, into `out` or where they say; see [`AnyKind::run`].
///
/// # Errors
/// [`StudyError`] as [`run_study`].
pub fn run_any<K: StudyKind>(
    keys: K::Keys,
    (base, out): (&Path, Option<&Path>),
    run: &StudyRun<'_>,
) -> Result<AnyEnd, StudyError> {
    let folder = folder_of::<K>(&keys, base, out);
    let end = run_study::<K>(keys, (base, &folder), run)?;
    Ok(AnyEnd {
        finished: end.finished.map(|found| report_of(&folder, found)).transpose()?,
        folder,
        units: end.units,
        failed: end.failed,
    })
}

impl<K: StudyKind> AnyKind for Forgotten<K> {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn asks(&self) -> bool {
        K::ASKS
    }

    fn run(&self, file: &Path, out: Option<&Path>, run: &StudyRun<'_>) -> Result<AnyEnd, StudyError> {
        let keys = read_study_file::<K>(file)?;
        let base = file.parent().unwrap_or_else(|| Path::new(""));
        run_any::<K>(keys, (base, out), run)
    }

    fn plan(&self, file: &Path, out: Option<&Path>, run: &StudyRun<'_>) -> Result<StudyPlan, StudyError> {
        let keys = read_study_file::<K>(file)?;
        let base = file.parent().unwrap_or_else(|| Path::new(""));
        let folder = folder_of::<K>(&keys, base, out);
        plan_study::<K>(keys, (base, &folder), run)
    }

    fn enqueue(
        &self,
        file: &Path,
        out: Option<&Path>,
        run: &StudyRun<'_>,
    ) -> Result<QueuedStudy, StudyError> {
        let keys = read_study_file::<K>(file)?;
        let base = file.parent().unwrap_or_else(|| Path::new(""));
        let folder = folder_of::<K>(&keys, base, out);
        enqueue_study::<K>(keys, (base, &folder), run)
    }

    fn status(&self, folder: &Path) -> Result<StudyStatus, StudyError> {
        study_status::<K>(folder)
    }

    fn watch(&self, folder: &Path) -> Result<StudyWatch, StudyError> {
        StudyWatch::open::<K>(folder)
    }

    fn report(&self, folder: &Path) -> Result<ReportOf, StudyError> {
        report_of(folder, report_study::<K>(folder)?)
    }

    fn report_unfinished(&self, folder: &Path) -> Result<ReportOf, StudyError> {
        let (folder, summary, report) = report_unfinished::<K>(folder)?;
        report_of(&folder, (summary, report))
    }

    fn replay(
        &self,
        folder: &Path,
        moved: MovedFiles<'_>,
        depth: Depth,
        run: &StudyRun<'_>,
    ) -> Result<Replayed, StudyError> {
        replay_study::<K>(folder, moved, depth, run)
    }

    fn difference(&self, folders: [&Path; 2]) -> Result<StudyDifference, StudyError> {
        study_difference::<K>(folders)
    }

    fn schema(&self) -> Value {
        document_schema::<K::Summary>()
    }

    fn unfinished_schema(&self) -> Option<Value> {
        K::REPORTS_PARTS.then(document_schema::<UnfinishedReport<K::Summary>>)
    }
}
