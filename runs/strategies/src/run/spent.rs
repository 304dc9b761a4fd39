//! What an experiment's models were asked before, for its budget: submissions and reviews share one.

use super::cell::folder_of;
use super::config::StrategyExperiment;
use crate::error::StrategyError;
use ktd_asking::AskingError;
use ktd_client::AskedModel;
use ktd_client::money::Budget;
use ktd_record::RecordPaths;
use std::path::{Path, PathBuf};

/// Where all that belongs to reviews lies.
pub(crate) fn arena_folder(root: &Path) -> PathBuf {
    root.join("arena")
}

/// Where what a reviewer was asked lies.
pub(crate) fn reviewer_folder(root: &Path, reviewer: &str) -> PathBuf {
    arena_folder(root).join("reviewers").join(reviewer)
}

/// Models and where their exchanges lie.
pub(crate) struct SpentBefore(Vec<(AskedModel, Vec<PathBuf>)>);

impl SpentBefore {
    /// What an experiment in a folder may have spent; its file lies in `base`.
    pub(crate) fn of(
        experiment: &StrategyExperiment,
        (base, folder): (&Path, &Path),
    ) -> Result<Self, StrategyError> {
        let strategies = experiment.strategies(base)?;
        let (writers, _) = experiment.asking().models(base)?;
        let of_writer = |model: AskedModel| {
            let own = strategies
                .iter()
                .map(|strategy| folder_of(folder, model.id(), strategy.id().label(), model.seed));
            let own = own.collect();
            (model, own)
        };
        let mut asked: Vec<(AskedModel, Vec<PathBuf>)> = writers.into_iter().map(of_writer).collect();
        if let Some(arena) = &experiment.arena {
            let reviewers = arena.reviewers(&experiment.agents)?;
            let asking = experiment.asking_reviews(&reviewers, arena.temperature);
            let (models, _) = asking.models(base)?;
            asked.extend(models.into_iter().map(|model| {
                let own = vec![reviewer_folder(folder, model.id())];
                (model, own)
            }));
        }
        Ok(Self(asked))
    }

    /// Counts it.
    pub(crate) fn count(&self, budget: &Budget) -> Result<(), AskingError> {
        for (model, folders) in &self.0 {
            for folder in folders {
                let exchanges = RecordPaths::new(folder).exchanges();
                model.payer.count_recorded(&exchanges, budget)?;
            }
        }
        Ok(())
    }
}
