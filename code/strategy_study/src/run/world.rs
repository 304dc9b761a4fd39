//! What submissions of a study run over: strategies with their bars, real bars, versions to start with, the box.

use super::config::StrategyExperiment;
use super::found::SubmissionUnit;
use super::reviewed_start::ReviewedStart;
use crate::bars::{RealSource, RealTask};
use crate::error::StrategyError;
use crate::own_lint::refuse_findings;
use crate::strategy_source::StrategySource;
use crate::task::StrategyTask;
use ktd_boxed::StudyBoxes;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::list_if_exists;
use ktd_strategy_code::GateSecret;
use ktd_study::{Opening, StudyError};

/// What the units of a study run over.
#[derive(Debug)]
pub struct StrategyWorld {
    pub(crate) experiment: StrategyExperiment,
    pub(crate) strategies: Vec<SourcedTask>,
    starts: Vec<ReviewedStart>,
    pub(crate) boxes: StudyBoxes,
    /// What the gate on look-ahead draws its cuts with.
    pub(crate) secret: GateSecret,
    /// What binds it.
    pub(crate) commitment: String,
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
    /// Reads the world of a run, or of a record; strategies of a run are admitted first.
    pub(crate) fn open(
        experiment: &StrategyExperiment,
        at: &Opening<'_>,
        (starts, boxes, is_run): (Vec<ReviewedStart>, StudyBoxes, bool),
    ) -> Result<Self, StudyError> {
        let real = experiment.real.as_ref();
        let real = real.map(|keys| RealSource::read(keys, at.base)).transpose()?;
        let sourced = experiment.strategies(at)?.into_iter().map(|source| {
            let task = source
                .task(experiment.scenario_seed)?
                .with_contract(experiment.contract);
            let real = real.as_ref().map(|real| RealTask::of(real, &task)).transpose()?;
            Ok(SourcedTask { source, task, real })
        });
        let strategies: Vec<SourcedTask> = sourced.collect::<Result<_, StrategyError>>()?;
        if is_run {
            admit(&strategies, &boxes, at)?;
        }
        let secret = at.secret(experiment.secret_file.as_deref())?;
        Ok(Self {
            strategies,
            starts,
            boxes,
            secret: GateSecret::of(&secret.bytes()),
            commitment: secret.commitment(),
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
        let start = self.starts.iter().find(|start| start.is_of((model, label, seed)));
        SubmissionUnit {
            model: model.to_owned(),
            strategy: label.to_owned(),
            seed,
            document_sha256: document_hash(&own.source),
            own_sha256: own.source.own().map(|own| own.sha256.clone()),
            real_sha256: own.real.as_ref().map(|real| real.bars_sha256.clone()),
            start: start.cloned(),
        }
    }
}

/// Refuses strategies of one's own whose lint has findings, before anybody is asked. What an earlier run was about was looked
/// at then.
fn admit(strategies: &[SourcedTask], boxes: &StudyBoxes, at: &Opening<'_>) -> Result<(), StudyError> {
    let units = list_if_exists(&at.out.join("units"))?;
    for SourcedTask { source, task, .. } in strategies {
        let Some(own) = source.own() else { continue };
        let asked = format!("__{}__", own.id.label());
        if units.iter().any(|unit| unit.to_string_lossy().contains(&asked)) {
            continue;
        }
        refuse_findings(own, boxes.launcher()?, task, "nobody was asked")?;
    }
    Ok(())
}

/// SHA-256 over both forms of a document: its text, and the text of its machine form.
pub(crate) fn document_hash(source: &StrategySource) -> String {
    sha256_hex(format!("{}\0{}", source.text(), source.spec()).as_bytes())
}
