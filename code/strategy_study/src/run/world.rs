//! What submissions of a study run over: strategies with their bars, real bars, versions to start with, the box.

use super::config::StrategyExperiment;
use super::found::{FileDigests, SubmissionUnit};
use super::reviewed_start::StartingVersions;
use crate::bars::{RealSource, RealTask};
use crate::error::StrategyError;
use crate::judge::strategy_boxes;
use crate::own_lint::own_findings;
use crate::own_strategy::OwnStrategy;
use crate::strategy_source::StrategySource;
use crate::task::StrategyTask;
use ktd_boxed::{BoxLauncher, BoxSetup};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::list_if_exists;
use ktd_sandbox::Isolation;
use ktd_study::StudyError;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What the units of a study run over.
#[derive(Debug)]
pub struct StrategyWorld {
    pub(crate) experiment: StrategyExperiment,
    pub(crate) strategies: Vec<SourcedTask>,
    starts: StartingVersions,
    pub(crate) boxes: ProvedBox,
}

/// A strategy with the bars that programs of it are judged on.
#[derive(Debug)]
pub(crate) struct SourcedTask {
    pub(crate) source: StrategySource,
    pub(crate) task: StrategyTask,
    /// Its real bars, where the experiment names some.
    pub(crate) real: Option<RealTask>,
}

impl StrategyWorld {
    pub(crate) fn open(
        experiment: &StrategyExperiment,
        base: &Path,
        starts: StartingVersions,
    ) -> Result<Self, StrategyError> {
        let real = experiment
            .real
            .as_ref()
            .map(|keys| RealSource::read(keys, base))
            .transpose()?;
        let sourced = experiment.strategies(base)?.into_iter().map(|source| {
            let task = source.task(experiment.scenario_seed)?;
            let real = real.as_ref().map(|real| real_task(real, &task)).transpose()?;
            Ok(SourcedTask { source, task, real })
        });
        Ok(Self {
            strategies: sourced.collect::<Result<_, StrategyError>>()?,
            starts,
            boxes: ProvedBox::new(experiment.box_setup()),
            experiment: experiment.clone(),
        })
    }

    /// The strategy of an identifier.
    pub(crate) fn strategy(&self, id: &str) -> Result<&SourcedTask, StrategyError> {
        let found = self.strategies.iter().find(|own| own.task.id.label() == id);
        found.ok_or_else(|| StrategyError::invalid(format!("{id:?} is no strategy of the experiment")))
    }

    pub(crate) fn submission(&self, own: &SourcedTask, (model, seed): (&str, u64)) -> SubmissionUnit {
        let label = own.task.id.label();
        SubmissionUnit {
            model: model.to_owned(),
            strategy: label.to_owned(),
            seed,
            document_sha256: document_hash(&own.source),
            own_sha256: own.source.own().map(digests),
            real_sha256: own.real.as_ref().map(|real| real.bars_sha256.clone()),
            start: self.starts.of((model, label, seed)).cloned(),
        }
    }
}

fn real_task(source: &RealSource, task: &StrategyTask) -> Result<RealTask, StrategyError> {
    task.id.document().map_or_else(
        || Ok(RealTask::without_series(source)),
        |id| RealTask::of(source, (id, &task.document)),
    )
}

/// SHA-256 over both forms of a document: its text, and the text of its machine form.
pub(crate) fn document_hash(source: &StrategySource) -> String {
    sha256_hex(format!("{}\0{}", source.text(), source.spec()).as_bytes())
}

/// SHA-256 of a strategy's files, by their names.
pub(crate) fn digests(own: &OwnStrategy) -> FileDigests {
    let files = own.files().into_iter();
    files
        .map(|(name, bytes)| (name.to_owned(), sha256_hex(bytes)))
        .collect()
}

/// A box that is proved when something is to run in it, once.
#[derive(Debug)]
pub(crate) struct ProvedBox {
    setup: BoxSetup,
    launcher: OnceLock<BoxLauncher>,
    proving: Mutex<()>,
}

impl ProvedBox {
    const fn new(setup: BoxSetup) -> Self {
        Self {
            setup,
            launcher: OnceLock::new(),
            proving: Mutex::new(()),
        }
    }

    /// The boxes.
    ///
    /// # Errors
    /// [`StrategyError`] for a machine on which no box holds.
    pub(crate) fn launcher(&self) -> Result<&BoxLauncher, StrategyError> {
        let _proving = self.proving.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(launcher) = self.launcher.get() {
            return Ok(launcher);
        }
        let launcher = BoxLauncher::prove(self.setup.clone())?;
        Ok(self.launcher.get_or_init(|| launcher))
    }
}

impl StrategyExperiment {
    /// How the boxes of its programs are to be. A record may come from anybody: it chooses no level at which its programs would
    /// run unboxed.
    fn box_setup(&self) -> BoxSetup {
        let recorded = || BoxSetup {
            isolation: if self.sandbox.isolation.counts() {
                self.sandbox.isolation
            } else {
                Isolation::Bwrap
            },
            set: self.sandbox.packages,
            ..BoxSetup::default()
        };
        strategy_boxes(self.boxes.clone().unwrap_or_else(recorded))
    }

    /// Refuses strategies of one's own whose lint has findings, before anybody is asked, results that would continue themselves,
    /// and those of an earlier version. What an earlier run was about was looked at then.
    ///
    /// # Errors
    /// [`StudyError`] naming the folder.
    pub fn admit(&self, base: &Path, results: &Path) -> Result<(), StudyError> {
        let other = self.continues.as_ref().map(|other| base.join(other));
        if other.is_some_and(|other| is_same_folder(&other, results)) {
            return Err(StudyError::input(
                format_args!(
                    "`continues`: {}: the folder is that of this experiment's own results",
                    results.display()
                ),
                "name the folder of results of another experiment, or give this one another `name`",
            ));
        }
        if !list_if_exists(&results.join("submissions"))?.is_empty() {
            return Err(StudyError::input(
                format_args!(
                    "{}: it holds submissions of an earlier version of ktd",
                    results.display()
                ),
                "use the version of ktd that made them, or choose another directory with --out",
            ));
        }
        let units = list_if_exists(&results.join("units"))?;
        for source in self.strategies(base)? {
            let Some(own) = source.own() else { continue };
            let asked = format!("__{}__", own.id.label());
            if units.iter().any(|unit| unit.to_string_lossy().contains(&asked)) {
                continue;
            }
            let launcher = BoxLauncher::prove(self.box_setup()).map_err(StrategyError::from)?;
            let findings = own_findings(own, &launcher, &source.task(self.scenario_seed)?)?;
            let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
            if !findings.is_empty() {
                return Err(StudyError::input(
                    format_args!(
                        "{}: the lint has findings: {}",
                        own.folder().display(),
                        findings.join("; ")
                    ),
                    "fix the folder until `ktd strategy-code lint` finds nothing; nobody was asked",
                ));
            }
        }
        Ok(())
    }
}

/// Whether two paths lead to one folder, which need not be there yet.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}
