//! Judging as a kind of study: a unit a judge, and one for what all are asked about and how scores are read.

use super::config::JudgeStudy;
use super::list::JudgeList;
use super::question::{JudgeQuestion, held_questions, questions};
use super::reading::JudgeReading;
use super::record::LogicJudgement;
use super::request::JudgeRequest;
use super::scores::tool;
use super::summary::{JudgeAnswers, judgement};
use super::tables::{judge_picture, judge_table, judged_formula_table, judged_pool_table};
use crate::language::tool_sha256;
use crate::study_pool::{StudyPool, input};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_asking::AskingSettings;
use ktd_masking::Payload;
use ktd_study::{Hands, Opening, Planned, Report, Section, Shown, StudyError, StudyKind, UnitId};
use ktd_view::draw::{FIGURES_STYLE, short_hash};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Language models as judges of formulas.
#[derive(Debug, Clone, Copy)]
pub struct FormulaJudging;

/// The formulas of a study's pools, as judges are shown them, and how their scores are read.
#[derive(Debug)]
pub struct JudgeWorld {
    list: JudgeList,
    request: JudgeRequest,
    reading: JudgeReading,
    /// Questions that are put to one judge at once.
    parallel: usize,
}

/// What decides a unit beside the request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum JudgeUnit {
    /// The request, and how scores are read, which may change without it.
    Asked {
        /// All of it.
        reading: JudgeReading,
    },
    /// One judge.
    Judge {
        /// Its id.
        judge: String,
        /// How often a bad answer may be corrected.
        schema_retries: u32,
    },
}

/// What a unit came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum JudgeFound {
    /// Of [`JudgeUnit::Asked`].
    Asked {
        /// What was asked.
        request: JudgeRequest,
        /// How scores are read.
        reading: JudgeReading,
    },
    /// Of [`JudgeUnit::Judge`].
    Judge(JudgeAnswers),
}

impl JudgeWorld {
    fn questions(&self) -> Vec<JudgeQuestion> {
        let request = &self.request;
        questions(&self.list, request.seed, request.orders, request.batch)
    }
}

impl StudyKind for FormulaJudging {
    const NAME: &'static str = "alpha-judge";
    const COMMAND: &'static str = "ktd alpha judge";
    const FORMAT: u32 = 3;
    const STEPS: &'static str = "questions answered";
    const REPORTS_PARTS: bool = true;
    const ASKS: bool = true;

    type Keys = JudgeStudy;
    type World = JudgeWorld;
    type Unit = JudgeUnit;
    type Event = ();
    type Found = JudgeFound;
    type Summary = LogicJudgement;

    fn name(keys: &JudgeStudy) -> &str {
        &keys.name
    }

    fn check(keys: &JudgeStudy) -> Result<(), StudyError> {
        keys.check()
    }

    fn asking(keys: &JudgeStudy) -> Option<AskingSettings<'_>> {
        Some(keys.asking())
    }

    fn open(keys: &JudgeStudy, at: &Opening<'_>) -> Result<JudgeWorld, StudyError> {
        let fields = Payload::formula_fields().iter();
        let fields: Vec<String> = fields.map(|field| (*field).to_owned()).collect();
        let pools = keys.pools.iter();
        let pools = pools.map(|source| StudyPool::read(source, &fields, &|path| input(at, path)));
        let pools: Vec<StudyPool> = pools.collect::<Result<_, _>>()?;
        let list = JudgeList::of_pools(&pools, keys.seed);
        let judges = keys.agents.iter().map(|agent| agent.id.clone()).collect();
        let human = keys.human.as_deref();
        let human = human
            .map(|path| Ok::<_, StudyError>((path, input(at, path)?)))
            .transpose()?;
        Ok(JudgeWorld {
            reading: JudgeReading::new(judges, (&pools, &list.unshown), human)?,
            request: JudgeRequest {
                prompt: keys.prompt,
                prompts_sha256: ktd_prompts::alpha_hash(),
                tools_sha256: tool_sha256(&tool()),
                seed: keys.seed,
                orders: keys.orders,
                batch: keys.batch,
                formulas: list.lines(),
            },
            list,
            parallel: keys.parallel,
        })
    }

    fn decides(world: &JudgeWorld) -> Value {
        // Text, numbers and lists of them cannot fail to be written.
        serde_json::to_value(&world.request).unwrap_or_default()
    }

    fn units(keys: &JudgeStudy, world: &JudgeWorld) -> Result<Vec<Planned<JudgeUnit>>, StudyError> {
        let steps = u64::try_from(world.questions().len()).unwrap_or(u64::MAX);
        let reading = world.reading.clone();
        let mut plan = vec![Planned::line("asked".to_owned(), JudgeUnit::Asked { reading }).steps(0)];
        plan.extend(keys.agents.iter().enumerate().map(|(place, agent)| {
            let unit = JudgeUnit::Judge {
                judge: agent.id.clone(),
                schema_retries: keys.schema_retries,
            };
            Planned::folder(format!("judge-{}", agent.id), unit)
                .asking(place)
                .steps(steps)
        }));
        Ok(plan)
    }

    fn run<'a>(
        world: &'a JudgeWorld,
        unit: &'a JudgeUnit,
        hands: &'a mut Hands<'_, ()>,
    ) -> LocalBoxFuture<'a, Result<JudgeFound, StudyError>> {
        async move {
            Ok(match unit {
                JudgeUnit::Asked { reading } => JudgeFound::Asked {
                    request: world.request.clone(),
                    reading: reading.clone(),
                },
                JudgeUnit::Judge { schema_retries, .. } => {
                    let questions = world.questions();
                    let about = (&world.list, world.request.prompt);
                    let events =
                        held_questions(hands, (&questions, about), *schema_retries, world.parallel).await?;
                    JudgeFound::Judge(JudgeAnswers::of(hands.asked()?, events)?)
                }
            })
        }
        .boxed_local()
    }

    fn conclude(_keys: &JudgeStudy, found: Vec<(UnitId, JudgeFound)>) -> Result<LogicJudgement, StudyError> {
        let (mut asked, mut answers) = (None, Vec::new());
        for (_, found) in found {
            match found {
                JudgeFound::Asked { request, reading } => asked = Some((request, reading)),
                JudgeFound::Judge(found) => answers.push(found),
            }
        }
        let (request, reading) = asked.ok_or_else(|| {
            let what = "the study has no record of what was asked";
            StudyError::difference(what, "run the study again: it continues")
        })?;
        let list = JudgeList::of_lines(&request.formulas)?;
        Ok(judgement((&request, Self::FORMAT), &list, &reading, &answers))
    }

    fn report(keys: &JudgeStudy, summary: &LogicJudgement) -> Result<Report, StudyError> {
        let all = Shown::Everywhere;
        Ok(Report {
            title: format!("{}: the logic of its formulas", keys.name),
            verdict: summary.verdict(),
            sections: vec![
                Section::new("Judges").picture(judge_picture(summary)).table(
                    "judges",
                    judge_table(summary),
                    all,
                ),
                Section::new("Pools").table("judged_pools", judged_pool_table(summary), all),
                Section::new("Formulas").table("judged_formulas", judged_formula_table(summary), all),
            ],
            styles: vec![FIGURES_STYLE],
            footer: format!("texts {}", short_hash(&summary.prompts_sha256)),
            ..Report::default()
        })
    }
}
