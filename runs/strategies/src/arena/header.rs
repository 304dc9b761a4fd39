//! What decides an arena, as its folder keeps it.

use super::program::{ProgramKey, ReviewedProgram};
use super::record::LeftOut;
use crate::error::StrategyError;
use crate::recorded_name::{check_agent, check_strategy};
use crate::run::{ReviewText, StrategyExperiment};
use ktd_client::AskedModel;
use ktd_prompts::strategy_code::strategy_code_hash;
use ktd_record::program_record::ProgramRecord;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the files.
pub(super) const FORMAT: u32 = 1;

/// A model and the vendor that serves it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelVendor {
    pub(super) model: String,
    pub(super) vendor: String,
}

/// What decides an arena.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArenaHeader {
    pub(super) format: u32,
    /// The program that rates; absent from folders of earlier ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<ProgramRecord>,
    /// It orders programs, draws bounds, and is sent to vendors that take one.
    pub(super) seed: u64,
    pub(super) review: ReviewText,
    pub(super) prompts_sha256: String,
    /// All models of the experiment, in its order.
    pub(super) models: Vec<ModelVendor>,
    /// Those who review.
    pub(super) reviewers: Vec<String>,
    pub(super) programs: Vec<ProgramKey>,
    pub(super) left_out: Vec<LeftOut>,
}

impl ArenaHeader {
    pub(super) fn new(
        experiment: &StrategyExperiment,
        (writers, reviewers): (&[AskedModel], &[AskedModel]),
        (programs, left_out): (&[ReviewedProgram], Vec<LeftOut>),
        (review, program): (ReviewText, &ProgramRecord),
    ) -> Self {
        let seed = experiment.first_seed();
        let of_seed = writers.iter().filter(|model| model.seed == seed);
        Self {
            format: FORMAT,
            program: Some(program.clone()),
            seed,
            review,
            prompts_sha256: strategy_code_hash(),
            models: of_seed
                .map(|model| ModelVendor {
                    model: model.id().to_owned(),
                    vendor: model.payer.spender.vendor.clone(),
                })
                .collect(),
            reviewers: reviewers.iter().map(|model| model.id().to_owned()).collect(),
            programs: programs.iter().map(|program| program.key.clone()).collect(),
            left_out,
        }
    }

    /// Whether this version of ktd asks for the same.
    pub(super) fn check(&self) -> Result<(), StrategyError> {
        if (self.format, &self.prompts_sha256) == (FORMAT, &strategy_code_hash()) {
            return Ok(());
        }
        Err(StrategyError::input(
            "the arena was made with other prompts",
            "replay it with the version of ktd that made it",
        ))
    }

    /// Whether its names may be parts of folders' names: a record may be foreign. `path` is the file that holds it.
    pub(super) fn check_names(&self, path: &Path) -> Result<(), StrategyError> {
        for reviewer in &self.reviewers {
            check_agent(path, "reviewers", reviewer)?;
        }
        for program in &self.programs {
            check_strategy(path, &program.strategy)?;
            if let Some(model) = &program.model {
                check_agent(path, "programs", model)?;
            }
        }
        Ok(())
    }

    /// How many of the models have a program under review.
    pub(super) fn authors(&self) -> usize {
        let has_program = |model: &&ModelVendor| {
            let mut programs = self.programs.iter();
            programs.any(|program| program.model.as_ref() == Some(&model.model))
        };
        self.models.iter().filter(has_program).count()
    }
}
