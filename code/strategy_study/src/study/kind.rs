//! Strategies that models write, as a kind of study: a unit a submission, and one a reviewer.

use super::continued::starting_versions;
use super::unit::{StrategyEvent, StrategyFound, StrategyUnit};
use crate::arena::{ReviewUnit, reviews, run_reviews};
use crate::experiment_report::{StrategyReport, study_report};
use crate::run::{KIND, StrategyExperiment, StrategyWorld, run_submission};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_asking::AskingSettings;
use ktd_experiment::agent::AgentConfig;
use ktd_prompts::strategy_code::strategy_code_hash;
use ktd_sandbox::BoxHeader;
use ktd_study::{
    Hands, Opening, Planned, Report, StudyError, StudyKind, UnitId, UnitRequests, read_study_file,
};
use serde_json::{Value, json};
use std::path::Path;

/// Strategies that models write and mend, and what they say of each other's.
#[derive(Debug, Clone, Copy)]
pub struct StrategyStudy;

impl StudyKind for StrategyStudy {
    const NAME: &'static str = KIND;
    const COMMAND: &'static str = "ktd strategy-code run";
    const FORMAT: u32 = 4;
    const STEPS: &'static str = "answers";
    const REPORTS_PARTS: bool = true;
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
        let starts = starting_versions(keys, at.base)?;
        Ok(StrategyWorld::open(keys, at.base, starts)?)
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
            let reviewed = reviewed(world);
            let steps = u64::try_from(reviews(reviewed.len())).unwrap_or(u64::MAX);
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

    fn requests(world: &StrategyWorld, unit: &StrategyUnit, agent: &AgentConfig) -> Option<UnitRequests> {
        Some(world.requests(unit, agent))
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
                    let mut submissions = Vec::with_capacity(unit.of.len());
                    for id in &unit.of {
                        if let StrategyFound::Submission(found) = hands.found(id)? {
                            submissions.push(*found);
                        }
                    }
                    let found = run_reviews(world, (unit, &submissions), hands).await?;
                    StrategyFound::Reviews(Box::new(found))
                }
            })
        }
        .boxed_local()
    }

    fn conclude(
        keys: &StrategyExperiment,
        found: Vec<(UnitId, StrategyFound)>,
    ) -> Result<StrategyReport, StudyError> {
        let (mut submissions, mut reviewers) = (Vec::new(), Vec::new());
        for (_, found) in found {
            match found {
                StrategyFound::Submission(found) => submissions.push(*found),
                StrategyFound::Reviews(found) => reviewers.push(*found),
            }
        }
        Ok(StrategyReport::of(keys, submissions, reviewers))
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
fn submission_id(agent: &str, strategy: &str, seed: u64) -> String {
    format!("{agent}__{strategy}__{seed}")
}

/// All submissions, in the order in which reviewers are given them.
fn reviewed(world: &StrategyWorld) -> Vec<UnitId> {
    let keys = &world.experiment;
    let mut all = Vec::new();
    for agent in &keys.agents {
        for own in &world.strategies {
            for seed in &keys.seeds {
                all.push(submission_id(&agent.id, own.task.id.label(), *seed).into());
            }
        }
    }
    all
}

impl StrategyExperiment {
    /// The experiment of a file.
    ///
    /// # Errors
    /// [`StudyError`] naming the key.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        read_study_file::<StrategyStudy>(path)
    }
}
