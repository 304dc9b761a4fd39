//! Strategies that models write, as a kind of study: a unit a submission, and one a reviewer.

use super::continued::ReviewedRecord;
use super::unit::{StrategyEvent, StrategyFound, StrategyUnit};
use crate::arena::{ReviewUnit, run_reviews};
use crate::experiment_report::{StrategyReport, study_report};
use crate::judge::strategy_boxes;
use crate::run::{KIND, ReviewedStart, StrategyExperiment, StrategyWorld, run_submission};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_asking::AskingSettings;
use ktd_boxed::{SandboxRecord, StudyBoxes};
use ktd_experiment::agent::AgentConfig;
use ktd_prompts::strategy_code::strategy_code_hash;
use ktd_study::{
    Hands, Opening, Planned, Report, StudyError, StudyKind, UnitId, UnitRequests, read_study_file,
    recorded_study,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Strategies that models write and mend, and what they say of each other's.
#[derive(Debug, Clone, Copy)]
pub struct StrategyStudy;

impl StudyKind for StrategyStudy {
    const NAME: &'static str = KIND;
    const COMMAND: &'static str = "ktd strategy-code run";
    const FORMAT: u32 = 8;
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

    fn panel(keys: &mut StrategyExperiment) -> Option<&mut PathBuf> {
        keys.real.as_mut()?.panel.as_mut()
    }

    fn output(keys: &StrategyExperiment) -> Option<&Path> {
        keys.output.as_deref()
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
        let boxes = StudyBoxes::prove(strategy_boxes(keys.boxes.clone())).map_err(StudyError::from)?;
        StrategyWorld::open(keys, at, (Self::starts(keys, at)?, boxes, true))
    }

    fn open_recorded(
        keys: &StrategyExperiment,
        at: &Opening<'_>,
        recorded: &Value,
    ) -> Result<StrategyWorld, StudyError> {
        let sandbox = recorded.get("sandbox").map(SandboxRecord::deserialize);
        let sandbox = sandbox.and_then(Result::ok).ok_or_else(|| {
            StudyError::difference(
                "the record does not say what programs were run in",
                "take the record from whoever made it",
            )
        })?;
        let boxes = StudyBoxes::recorded(sandbox, strategy_boxes(keys.boxes.clone()));
        StrategyWorld::open(keys, at, (Self::starts(keys, at)?, boxes, false))
    }

    fn decides(world: &StrategyWorld) -> Value {
        let keys = &world.experiment;
        json!({
            "iterations": keys.iterations,
            "drift": keys.drift,
            "contract": keys.contract,
            "gate_commitment": world.commitment,
            "scenario_seed": keys.scenario_seed,
            "goal": keys.goal,
            "session_end": keys.real.as_ref().map(|real| &real.session_end),
            "sandbox": world.boxes.record(),
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
            let reviewers = arena.reviewers(&keys.agents)?;
            for (place, agent) in keys.agents.iter().enumerate() {
                if reviewers.iter().any(|reviewer| reviewer.id == agent.id) {
                    let unit = ReviewUnit::new(&agent.id, keys.first_seed(), arena, reviewed.clone());
                    let steps = unit.reviews();
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

impl StrategyStudy {
    /// The versions that submissions start with, as the study keeps them; none where it continues no other one.
    pub(super) fn starts(
        keys: &StrategyExperiment,
        at: &Opening<'_>,
    ) -> Result<Vec<ReviewedStart>, StudyError> {
        let Some(other) = &keys.continues else {
            return Ok(Vec::new());
        };
        let read = || {
            let folder = at.base.join(other);
            let real = |path: &Path| path.canonicalize().ok();
            if folder == at.out || real(&folder).is_some_and(|folder| Some(folder) == real(at.out)) {
                return Err(StudyError::input(
                    format_args!(
                        "`continues`: {}: the folder is that of this experiment's own results",
                        at.out.display()
                    ),
                    "name the folder of results of another experiment, or give this one another `name`",
                ));
            }
            let record = ReviewedRecord::of(&folder, recorded_study::<Self>(&folder)?)?;
            let starts = record.starts((&keys.writers(at.base)?, &keys.strategies(at)?))?;
            Ok(Some(json!(starts).to_string().into_bytes()))
        };
        let kept = at.kept("continues", read)?.unwrap_or_default();
        serde_json::from_slice(&kept).map_err(|error| {
            StudyError::difference(
                format_args!("the kept versions that it continues cannot be read: {error}"),
                "take the folder from whoever made it",
            )
        })
    }
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
