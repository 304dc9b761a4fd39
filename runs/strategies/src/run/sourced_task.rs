//! Strategies of an experiment with the bars that programs of them are judged on.

use super::cell::SubmissionHeader;
use super::config::StrategyExperiment;
use super::own_copies::{digests, has_copy, other_files, recorded_strategy};
use crate::error::StrategyError;
use crate::own_lint::own_findings;
use crate::strategy_source::StrategySource;
use crate::task::StrategyTask;
use ktd_boxed::BoxLauncher;
use ktd_io::sha256::sha256_hex;
use std::path::Path;

/// A task with what it was made of.
pub(super) type SourcedTask = (StrategySource, StrategyTask);

/// Refuses a strategy of one's own whose lint has findings, before anybody is asked. What an earlier run was about was
/// looked at then.
pub(super) fn admit(
    tasks: &[SourcedTask],
    folder: &Path,
    launcher: &BoxLauncher,
) -> Result<(), StrategyError> {
    for (source, task) in tasks {
        let Some(own) = source.own() else { continue };
        if has_copy(folder, own)? {
            continue;
        }
        let findings: Vec<String> = own_findings(own, launcher, task)?
            .iter()
            .map(ToString::to_string)
            .collect();
        if !findings.is_empty() {
            return Err(StrategyError::input(
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

/// SHA-256 over both forms of a document: its text, and the text of its machine form.
pub(super) fn document_hash(text: &str, spec: &str) -> String {
    sha256_hex(format!("{text}\0{spec}").as_bytes())
}

/// The strategies of an experiment, whose file lies in `base`.
pub(super) fn tasks(experiment: &StrategyExperiment, base: &Path) -> Result<Vec<SourcedTask>, StrategyError> {
    let strategies = experiment.strategies(base)?.into_iter();
    let sourced = strategies.map(|source| {
        let task = source.task(experiment.scenario_seed)?;
        Ok((source, task))
    });
    sourced.collect()
}

/// The strategy that a submission was judged by.
pub(super) fn recorded_source(
    folder: &Path,
    header: &SubmissionHeader,
) -> Result<StrategySource, StrategyError> {
    let source = recorded_strategy(folder, &header.strategy)?;
    if source.own().map(digests) == header.own {
        return Ok(source);
    }
    Err(other_files(folder, &header.strategy))
}
