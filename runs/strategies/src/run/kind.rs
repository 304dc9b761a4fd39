//! Strategies that models write, as a kind of study: a unit a submission, and one a reviewer.

use super::config::StrategyExperiment;
use super::found::{StrategyEvent, StrategyFound, StrategyUnit};
use super::submission::run_submission;
use super::world::StrategyWorld;
use crate::arena::{ReviewUnit, run_reviews};
use crate::experiment_report::{StrategyReport, study_report};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_asking::AskingSettings;
use ktd_prompts::strategy_code::strategy_code_hash;
use ktd_sandbox::BoxHeader;
use ktd_study::{Hands, Opening, Planned, Report, StudyError, StudyKind, UnitId};
use serde_json::{Value, json};

/// Strategies that models write and mend, and what they say of each other's.
#[derive(Debug, Clone, Copy)]
pub struct StrategyStudy;

impl StudyKind for StrategyStudy {
    const NAME: &'static str = "strategy-code";
    const COMMAND: &'static str = "ktd strategy-code run";
    const FORMAT: u32 = 4;
    const STEPS: &'static str = "answers";
    const ASKS: bool = true;

    type Keys = StrategyExperiment;
    type World = StrategyWorld;
    type Unit = StrategyUnit;
    type Event = StrategyEvent;
    type Found = StrategyFound;
    type Summary = StrategyReport;

    fn name(keys: &StrategyExperiment) -> &str {
        &keys.name
    }

    fn check(keys: &StrategyExperiment) -> Result<(), StudyError> {
        Ok(keys.check()?)
    }

    fn asking(keys: &StrategyExperiment) -> Option<AskingSettings<'_>> {
        Some(keys.asking())
    }

    fn at_once(keys: &StrategyExperiment) -> Option<usize> {
        Some(keys.parallel)
    }

    fn open(keys: &StrategyExperiment, at: &Opening<'_>) -> Result<StrategyWorld, StudyError> {
        Ok(StrategyWorld::open(keys, at.base)?)
    }

    fn decides(world: &StrategyWorld) -> Value {
        let keys = &world.experiment;
        json!({
            "iterations": keys.iterations,
            "drift": keys.drift,
            "scenario_seed": keys.scenario_seed,
            "goal": keys.goal,
            "session_end": keys.real.as_ref().map(|real| &real.session_end),
            "sandbox": keys.sandbox,
            "prompts_sha256": strategy_code_hash(),
        })
    }

    fn units(
        keys: &StrategyExperiment,
        world: &StrategyWorld,
    ) -> Result<Vec<Planned<StrategyUnit>>, StudyError> {
        let (agents, strategies) = (keys.agents.len(), world.strategies.len());
        let steps = u64::try_from(keys.iterations + 1).unwrap_or(u64::MAX);
        let mut plan = Vec::with_capacity(keys.seeds.len() * agents * strategies);
        for (role, seed) in keys.seeds.iter().enumerate() {
            for (place, agent) in keys.agents.iter().enumerate() {
                for own in &world.strategies {
                    let unit = StrategyUnit::Submission(Box::new(world.submission(own, (&agent.id, *seed))));
                    let id = submission_id(&agent.id, own.task.id.label(), *seed);
                    plan.push(
                        Planned::folder(id, unit)
                            .asking(role * agents + place)
                            .steps(steps),
                    );
                }
            }
        }
        if let Some(arena) = &keys.arena {
            // Reviewers have the last role.
            let first = keys.seeds.len() * agents;
            let reviewed = world.reviewed();
            let steps = u64::try_from(crate::arena::reviews(reviewed.len())).unwrap_or(u64::MAX);
            let reviewers = arena.reviewers(&keys.agents)?;
            for (place, agent) in keys.agents.iter().enumerate() {
                if reviewers.iter().any(|reviewer| reviewer.id == agent.id) {
                    let unit = ReviewUnit::new(&agent.id, keys.first_seed(), arena, reviewed.clone());
                    let planned =
                        Planned::folder(format!("reviews__{}", agent.id), StrategyUnit::Reviews(unit));
                    let planned = planned.asking(first + place).after(reviewed.clone());
                    plan.push(planned.steps(steps));
                }
            }
        }
        Ok(plan)
    }

    fn run<'a>(
        world: &'a StrategyWorld,
        unit: &'a StrategyUnit,
        hands: &'a mut Hands<'_, StrategyEvent>,
    ) -> LocalBoxFuture<'a, Result<StrategyFound, StudyError>> {
        async move {
            Ok(match unit {
                StrategyUnit::Submission(unit) => {
                    StrategyFound::Submission(Box::new(run_submission(world, unit, hands).await?))
                }
                StrategyUnit::Reviews(unit) => {
                    StrategyFound::Reviews(Box::new(run_reviews(world, unit, hands).await?))
                }
            })
        }
        .boxed_local()
    }

    fn conclude(
        keys: &StrategyExperiment,
        found: Vec<(UnitId, StrategyFound)>,
    ) -> Result<StrategyReport, StudyError> {
        Ok(StrategyReport::of(
            keys,
            found.into_iter().map(|(_, found)| found),
        ))
    }

    fn report(keys: &StrategyExperiment, summary: &StrategyReport) -> Result<Report, StudyError> {
        Ok(study_report(&keys.name, summary))
    }

    fn difference(recorded: &str, made: &str) -> Option<String> {
        // A record is made again in any box: what programs do there is compared, and no machine.
        let is_box = |text: &str| serde_json::from_str::<BoxHeader>(text).is_ok();
        let differs = recorded != made && !(is_box(recorded) && is_box(made));
        differs.then(|| ktd_record::chain::first_difference(recorded, made))
    }
}

/// The name of a submission.
pub(crate) fn submission_id(agent: &str, strategy: &str, seed: u64) -> String {
    format!("{agent}__{strategy}__{seed}")
}

impl StrategyWorld {
    /// All submissions, in the order in which reviewers are given them.
    fn reviewed(&self) -> Vec<UnitId> {
        let mut all = Vec::new();
        for agent in &self.experiment.agents {
            for own in &self.strategies {
                for seed in &self.experiment.seeds {
                    all.push(UnitId::from(submission_id(&agent.id, own.task.id.label(), *seed)));
                }
            }
        }
        all
    }
}
