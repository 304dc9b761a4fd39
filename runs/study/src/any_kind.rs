//! A kind of study whose types are forgotten: what a command needs of every kind.

use crate::study_file::read_study_file;
use crate::{
    Depth, Replayed, Report, StudyError, StudyKind, StudyRun, UnitId, replay_study, report_study, run_study,
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

    /// Runs the study of a file into a folder, by default `results/NAME`; see [`run_study`].
    ///
    /// # Errors
    /// [`StudyError`] as [`run_study`], and for a file that cannot be read.
    fn run(&self, file: &Path, out: Option<&Path>, run: &StudyRun<'_>) -> Result<AnyEnd, StudyError>;

    /// Writes the report of a finished study again; see [`report_study`].
    ///
    /// # Errors
    /// [`StudyError`] as [`report_study`].
    fn report(&self, folder: &Path) -> Result<ReportOf, StudyError>;

    /// Makes a finished study again from its record; see [`replay_study`].
    ///
    /// # Errors
    /// [`StudyError`] as [`replay_study`].
    fn replay(
        &self,
        folder: &Path,
        base: Option<&Path>,
        depth: Depth,
        run: &StudyRun<'_>,
    ) -> Result<Replayed, StudyError>;

    /// The JSON Schema of its `report.json`.
    fn schema(&self) -> Value;
}

/// A report, and what it is made of for programs.
#[derive(Debug)]
pub struct ReportOf {
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

fn report_of((summary, report): (impl Serialize, Report)) -> Result<ReportOf, StudyError> {
    let summary = serde_json::to_value(summary)
        .map_err(|error| StudyError::input(format_args!("the report cannot be written: {error}"), ""))?;
    Ok(ReportOf { summary, report })
}

/// The folder of a study: `out`, or where its keys say.
#[must_use]
pub fn folder_of<K: StudyKind>(keys: &K::Keys, (base, out): (&Path, Option<&Path>)) -> PathBuf {
    let own = || {
        K::output(keys).map_or_else(
            || Path::new("results").join(K::name(keys)),
            |output| base.join(output),
        )
    };
    out.map_or_else(own, Path::to_owned)
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
    let folder = folder_of::<K>(&keys, (base, out));
    let end = run_study::<K>(keys, (base, &folder), run)?;
    Ok(AnyEnd {
        folder,
        finished: end.finished.map(report_of).transpose()?,
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

    fn report(&self, folder: &Path) -> Result<ReportOf, StudyError> {
        report_of(report_study::<K>(folder)?)
    }

    fn replay(
        &self,
        folder: &Path,
        base: Option<&Path>,
        depth: Depth,
        run: &StudyRun<'_>,
    ) -> Result<Replayed, StudyError> {
        replay_study::<K>(folder, base, depth, run)
    }

    fn schema(&self) -> Value {
        schemars::schema_for!(K::Summary).to_value()
    }
}
