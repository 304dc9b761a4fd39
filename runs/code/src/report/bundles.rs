//! The bundles of a report, and how they compare.

use super::{failures, false_accepts, money, score_tables, sweep};
use crate::error::CodeError;
use crate::run::{FactorCodeBundle, is_factor_code, panels_of, rounds_of};
use crate::scored::ScoredRound;
use ktd_factor_code::{AccuracyRules, FactorPanels, FactorVerdict, JudgedTask};
use ktd_io::whole_file::list_if_exists;
use ktd_view::report_table::ReportTable;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A finished bundle with what tables need of it.
#[derive(Debug)]
pub(crate) struct ReportedBundle {
    pub(crate) bundle: FactorCodeBundle,
    pub(super) panels: FactorPanels,
    pub(super) rounds: Vec<ScoredRound>,
    pub(crate) rules: AccuracyRules,
}

impl ReportedBundle {
    fn new(bundle: FactorCodeBundle) -> Result<Self, CodeError> {
        Ok(Self {
            panels: panels_of(&bundle.paths, &bundle.header)?,
            rounds: rounds_of(&bundle.header, &bundle.events),
            rules: bundle.header.rules(),
            bundle,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.bundle.header.cell
    }

    /// The verdicts after a round, in the order of the tasks.
    pub(super) fn judged<'a>(&'a self, round: &'a ScoredRound) -> Vec<JudgedTask<'a>> {
        round.judged(&self.bundle.tasks)
    }

    /// The verdicts after the last round.
    pub(super) fn last(&self) -> Vec<JudgedTask<'_>> {
        self.rounds
            .last()
            .map(|round| self.judged(round))
            .unwrap_or_default()
    }

    /// The last verdict on a task.
    pub(super) fn verdict(&self, task: &str) -> Option<&FactorVerdict> {
        self.rounds.last()?.verdicts.get(task)?.as_ref()
    }

    /// Why it has no rank, if it has none.
    pub(super) fn no_rank(&self) -> Option<String> {
        if !self.bundle.header.is_boxed() {
            return Some("unsafe: run without a sandbox".to_owned());
        }
        let lost = self.bundle.summary.uncovered;
        (0 < lost).then(|| format!("{lost} of {} tasks are uncovered", self.bundle.summary.tasks))
    }

    /// What two bundles must share to be compared: all but the model, its style and seed.
    pub(super) fn protocol(&self) -> String {
        let header = &self.bundle.header;
        let parts = serde_json::json!([
            header.tasks,
            header.tasks_sha256,
            header.panels_sha256,
            header.panel_seed,
            header.rounds,
            header.feedback,
            header.csr_format,
            header.sandbox.environment,
            header.sandbox.isolation,
        ]);
        parts.to_string()
    }
}

/// Bundles that are compared: of one style and seed, under one protocol.
pub(super) fn cohorts(bundles: &[ReportedBundle]) -> Vec<Vec<&ReportedBundle>> {
    let mut cohorts: BTreeMap<_, Vec<&ReportedBundle>> = BTreeMap::new();
    for reported in bundles {
        let header = &reported.bundle.header;
        let key = (header.style, header.seed, reported.protocol());
        cohorts.entry(key).or_default().push(reported);
    }
    cohorts.into_values().collect()
}

/// The finished bundles below a folder, with the tables and the page that are made of them.
#[derive(Debug)]
pub struct FactorCodeReport {
    pub(crate) bundles: Vec<ReportedBundle>,
    /// Bundles that are not finished, or cannot be read, with why.
    pub(super) left_out: BTreeMap<String, String>,
}

impl FactorCodeReport {
    /// Reads the bundles below a folder: itself, or at most three folders down.
    ///
    /// # Errors
    /// [`CodeError`] where there is no finished one.
    pub fn read(folder: &Path) -> Result<Self, CodeError> {
        let mut found = Vec::new();
        find(folder, 3, &mut found)?;
        let mut report = Self {
            bundles: Vec::new(),
            left_out: BTreeMap::new(),
        };
        for path in found {
            let name = path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .into_owned();
            let read = FactorCodeBundle::read(&path);
            let read = read.and_then(|bundle| bundle.map(ReportedBundle::new).transpose());
            match read {
                Ok(Some(bundle)) => report.bundles.push(bundle),
                Ok(None) => {
                    report
                        .left_out
                        .insert(name, "the bundle is not finished".to_owned());
                }
                Err(error) => {
                    report.left_out.insert(name, error.to_string());
                }
            }
        }
        if report.bundles.is_empty() {
            return Err(CodeError::input(
                format!(
                    "{}: there is no finished bundle of the factor benchmark",
                    folder.display()
                ),
                "name a folder that `ktd factor-code run` has written",
            ));
        }
        report.bundles.sort_by(|one, other| one.name().cmp(other.name()));
        Ok(report)
    }

    /// All tables, in their order.
    ///
    /// # Errors
    /// [`CodeError`] where a record cannot be read or a definition not be computed.
    pub fn tables(&self) -> Result<Vec<ReportTable>, CodeError> {
        let bundles = &self.bundles;
        let mut tables = score_tables::all(bundles)?;
        tables.push(failures::classes(bundles));
        tables.push(failures::reasons(bundles));
        tables.push(failures::structure(bundles));
        tables.push(sweep::table(bundles)?);
        tables.push(score_tables::rounds(bundles));
        tables.push(score_tables::styles(bundles));
        tables.push(money::table(bundles));
        tables.push(money::rounds(bundles)?);
        tables.push(false_accepts::table(bundles)?);
        let notes = self.notes();
        for table in &mut tables {
            table.data.notes.extend(notes.iter().cloned());
        }
        Ok(tables)
    }

    /// What a reader must know of all tables.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut environments: Vec<String> = Vec::new();
        for reported in &self.bundles {
            let environment = &reported.bundle.header.sandbox.environment;
            let lock: String = environment.lock_sha256.chars().take(12).collect();
            environments.push(format!("{}, packages {lock}", environment.python));
        }
        environments.sort();
        environments.dedup();
        notes.extend(environments.into_iter().map(|text| format!("Python {text}")));
        if self
            .bundles
            .iter()
            .any(|reported| !reported.bundle.header.is_real)
        {
            notes.push("Q synthetic".to_owned());
        }
        let left_out = self.left_out.iter();
        notes.extend(left_out.map(|(name, why)| format!("{name} is left out: {why}")));
        notes
    }
}

fn find(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) -> Result<(), CodeError> {
    if is_factor_code(folder) {
        found.push(folder.to_owned());
        return Ok(());
    }
    if 0 < depth {
        for inner in list_if_exists(folder)? {
            if inner.is_dir() {
                find(&inner, depth - 1, found)?;
            }
        }
    }
    Ok(())
}
