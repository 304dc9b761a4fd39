//! Judging as a kind of study: a unit a judge, one for the list that all are asked about, one for how scores are read.

use super::list::{EntryLine, JudgeList};
use super::question::{JudgeQuestion, questions};
use super::questions_held::held_questions;
use super::reading::JudgeReading;
use super::record::LogicJudgement;
use super::scores::tool;
use super::summary::{JudgeAnswers, judgement};
use super::tables::{judge_table, judged_formula_table, judged_pool_table};
use crate::alpha_study::AlphaStudy;
use crate::judge_config::{JudgeConfig, JudgeWording};
use crate::study_pool::StudyPool;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_asking::AskingSettings;
use ktd_io::sha256::sha256_hex;
use ktd_masking::Payload;
use ktd_study::{Hands, Opening, Planned, Report, Section, Shown, StudyError, StudyKind, UnitId};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// Language models as judges of formulas.
#[derive(Debug, Clone, Copy)]
pub struct FormulaJudging;

/// The file of an evaluation whose table `judge` says who scores the logic of its formulas.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct JudgeKeys(AlphaStudy);

impl Serialize for JudgeKeys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // What an evaluation hangs on leaves judges out; a judgement is theirs.
        let mut keys = serde_json::to_value(&self.0).map_err(S::Error::custom)?;
        if let (Some(keys), Some(judge)) = (keys.as_object_mut(), &self.0.judge) {
            let judge = serde_json::to_value(judge).map_err(S::Error::custom)?;
            keys.insert("judge".to_owned(), judge);
        }
        keys.serialize(serializer)
    }
}

/// What decides every request to every judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeRequest {
    pub(super) prompt: JudgeWording,
    pub(super) prompts_sha256: String,
    pub(super) tools_sha256: String,
    pub(super) seed: u64,
    pub(super) orders: usize,
    pub(super) batch: usize,
    pub(super) formulas: Vec<EntryLine>,
}

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
    /// The request itself.
    Request,
    /// How scores are read: it may change without a request.
    Reading {
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
    /// Of [`JudgeUnit::Request`].
    Request(JudgeRequest),
    /// Of [`JudgeUnit::Reading`].
    Reading(JudgeReading),
    /// Of [`JudgeUnit::Judge`].
    Judge(JudgeAnswers),
}

impl JudgeWorld {
    fn questions(&self) -> Vec<JudgeQuestion> {
        let request = &self.request;
        questions(&self.list, request.seed, request.orders, request.batch)
    }
}

fn tools_sha256() -> String {
    let tool = tool();
    let parts = (tool.name, tool.description, tool.parameters.as_value());
    // Static text and a schema made from a type cannot fail to be written.
    sha256_hex(&serde_json::to_vec(&parts).unwrap_or_default())
}

impl JudgeKeys {
    fn judge(&self) -> Result<&JudgeConfig, StudyError> {
        self.0.judge.as_ref().ok_or_else(|| {
            StudyError::input(
                format_args!("the study {:?} has no `judge`", self.0.name),
                "write a table [judge] with agents = [..]; `ktd alpha judge --help` shows one",
            )
        })
    }
}

impl StudyKind for FormulaJudging {
    const NAME: &'static str = "alpha-judge";
    const FILE_KIND: &'static str = "alpha-eval";
    const COMMAND: &'static str = "ktd alpha judge";
    const FORMAT: u32 = 2;
    const STEPS: &'static str = "questions answered";
    const REPORTS_PARTS: bool = true;
    const ASKS: bool = true;

    type Keys = JudgeKeys;
    type World = JudgeWorld;
    type Unit = JudgeUnit;
    type Event = ();
    type Found = JudgeFound;
    type Summary = LogicJudgement;

    fn name(keys: &JudgeKeys) -> &str {
        &keys.0.name
    }

    fn check(keys: &JudgeKeys) -> Result<(), StudyError> {
        keys.0.check()?;
        Ok(keys.judge()?.check()?)
    }

    fn asking(keys: &JudgeKeys) -> Option<AskingSettings<'_>> {
        keys.0.judge.as_ref().map(JudgeConfig::asking)
    }

    fn open(keys: &JudgeKeys, at: &Opening<'_>) -> Result<JudgeWorld, StudyError> {
        let (study, judge) = (keys.0.clone().based(at.base), keys.judge()?);
        let fields: Vec<String> = Payload::formula_fields()
            .iter()
            .map(|field| (*field).to_owned())
            .collect();
        let pools: Result<Vec<StudyPool>, _> = study
            .pools
            .iter()
            .map(|source| StudyPool::read(source, &fields))
            .collect();
        let pools = pools?;
        let list = JudgeList::of_pools(&pools, judge.seed);
        let judges = judge.agents.iter().map(|agent| agent.id.clone()).collect();
        let human = judge.human.as_ref().map(|path| at.base.join(path));
        Ok(JudgeWorld {
            reading: JudgeReading::new(judges, &study.pools, (&pools, &list.unshown), human.as_deref())?,
            request: JudgeRequest {
                prompt: judge.prompt,
                prompts_sha256: ktd_prompts::alpha_hash(),
                tools_sha256: tools_sha256(),
                seed: judge.seed,
                orders: judge.orders,
                batch: judge.batch,
                formulas: list.lines(),
            },
            list,
            parallel: judge.parallel,
        })
    }

    fn decides(world: &JudgeWorld) -> Value {
        // Text, numbers and lists of them cannot fail to be written.
        serde_json::to_value(&world.request).unwrap_or_default()
    }

    fn units(keys: &JudgeKeys, world: &JudgeWorld) -> Result<Vec<Planned<JudgeUnit>>, StudyError> {
        let judge = keys.judge()?;
        let questions = world.questions().len();
        let reading = world.reading.clone();
        let mut plan = vec![
            Planned::line("request".to_owned(), JudgeUnit::Request).steps(0),
            Planned::line("reading".to_owned(), JudgeUnit::Reading { reading }).steps(0),
        ];
        plan.extend(judge.agents.iter().enumerate().map(|(place, agent)| {
            let unit = JudgeUnit::Judge {
                judge: agent.id.clone(),
                schema_retries: judge.schema_retries,
            };
            let steps = u64::try_from(questions).unwrap_or(u64::MAX);
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
                JudgeUnit::Request => JudgeFound::Request(world.request.clone()),
                JudgeUnit::Reading { reading } => JudgeFound::Reading(reading.clone()),
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

    fn conclude(_keys: &JudgeKeys, found: Vec<(UnitId, JudgeFound)>) -> Result<LogicJudgement, StudyError> {
        let (mut request, mut reading, mut answers) = (None, None, Vec::new());
        for (_, found) in found {
            match found {
                JudgeFound::Request(found) => request = Some(found),
                JudgeFound::Reading(found) => reading = Some(found),
                JudgeFound::Judge(found) => answers.push(found),
            }
        }
        let (Some(request), Some(reading)) = (request, reading) else {
            let what = "the study has no record of what was asked";
            return Err(StudyError::difference(what, "run the study again: it continues"));
        };
        let list = JudgeList::of_lines(&request.formulas)?;
        Ok(judgement((&request, Self::FORMAT), &list, &reading, &answers))
    }

    fn report(keys: &JudgeKeys, summary: &LogicJudgement) -> Result<Report, StudyError> {
        Ok(Report {
            title: format!("{}: the logic of its formulas", keys.0.name),
            verdict: summary.verdict(),
            sections: vec![
                Section::new("Judges").table("judges", judge_table(summary), Shown::Everywhere),
                Section::new("Pools").table("judged_pools", judged_pool_table(summary), Shown::Everywhere),
                Section::new("Formulas").table(
                    "judged_formulas",
                    judged_formula_table(summary),
                    Shown::Everywhere,
                ),
            ],
            footer: format!("texts {}", ktd_view::draw::short_hash(&summary.prompts_sha256)),
            ..Report::default()
        })
    }
}
