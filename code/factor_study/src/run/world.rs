//! What functions are judged on: tasks, panels, boxes.

use super::cell::FactorCodeCell;
use super::config::{FactorCodeConfig, FeedbackKey};
use super::event::FactorCodeEvent;
use super::feedback::feedback_text;
use super::found::{CellFound, JudgedAnswer, JudgedOn, RoundSpending, TaskFacts};
use super::gates::{GatesFound, measured_gates, planted};
use super::real_stock::real_bars;
use super::rounds::{pass_at, round_counts, rounds_of, uncovered};
use crate::boxed_reply::{FactorJudgedBy, JudgedReply, judge_reply};
use crate::error::CodeError;
use crate::panel_files::bars_csv;
use ktd_boxed::{BoxSetup, SandboxRecord, StudyBoxes};
use ktd_factor_code::{
    AccuracyRules, FactorGateSecret, FactorPanels, FactorTask, FactorTasks, FactorVerdict, GoldenColumns,
    PanelKind, PlantedKind, curve_of, false_accepts,
};
use ktd_io::sha256::sha256_hex;
use ktd_study::{Hands, Opening, StudyError, StudySecret};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What the box says of a reply: a work of its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Judgement {
    pub(super) verdict: FactorVerdict,
    /// Its values on panel G at every eighth row.
    pub(super) curve: Vec<Option<f64>>,
    /// What its writer may get to know of it; none where it passes, or its failure ends the task.
    pub(super) feedback: Option<String>,
}

impl Judgement {
    pub(super) fn of(judged: JudgedReply, scope: FeedbackKey) -> Self {
        Self {
            verdict: judged.verdict.rounded(),
            curve: judged.curve,
            feedback: judged.feedback.and_then(|facts| feedback_text(&facts, scope)),
        }
    }
}

/// Tasks and panels of an experiment.
#[derive(Debug)]
pub(super) struct FactorCodeSources {
    pub(super) tasks: FactorTasks,
    tasks_sha256: String,
    pub(super) panels: FactorPanels,
}

impl FactorCodeSources {
    pub(super) fn read(config: &FactorCodeConfig, at: &Opening<'_>) -> Result<Self, StudyError> {
        let real = config.real.as_ref();
        let real = real.map(|real| real_bars(real, at.base)).transpose()?;
        let panels = FactorPanels::new(config.panel_seed, real.as_ref()).map_err(CodeError::from)?;
        let (names, file) = config.tasks.parts()?;
        let own_text = file.map(|file| own_tasks(Path::new(file), at)).transpose()?;
        Ok(Self::of(&names, own_text, panels)?)
    }

    fn of(names: &[&str], own_text: Option<String>, panels: FactorPanels) -> Result<Self, CodeError> {
        let known = FactorTasks::compiled_in()?;
        let all = match &own_text {
            Some(text) => FactorTasks::with_file(text, panels.bars(PanelKind::G))?,
            None => known.clone(),
        };
        let own = all
            .as_slice()
            .iter()
            .filter(|task| known.find(task.id.as_str()).is_none());
        let chosen: Vec<&str> = own
            .map(|task| task.id.as_str())
            .chain(names.iter().copied())
            .collect();
        let texts = format!(
            "{}\0{}",
            FactorTasks::compiled_in_text(),
            own_text.unwrap_or_default()
        );
        Ok(Self {
            tasks: all.chosen(&chosen)?,
            tasks_sha256: sha256_hex(texts.as_bytes()),
            panels,
        })
    }
}

/// The boxes of a run: no file of one may hold an answer to the project's tasks. Lines of a user's own may stand in any library.
fn factor_boxes(config: &FactorCodeConfig) -> Result<BoxSetup, CodeError> {
    let answers = FactorTasks::compiled_in()?.answers();
    Ok(BoxSetup {
        answers,
        ..config.boxes.clone()
    })
}

/// The text of a file of tasks, which the study keeps.
fn own_tasks(file: &Path, at: &Opening<'_>) -> Result<String, StudyError> {
    let unreadable = |what: &str| {
        let hint = "name a file of tasks, one JSON object a line";
        StudyError::input(format_args!("{}: {what}", at.base.join(file).display()), hint)
    };
    let bytes = at
        .input(file)?
        .ok_or_else(|| unreadable("there is no such file"))?;
    String::from_utf8(bytes).map_err(|_| unreadable("it is no text; save it as UTF-8"))
}

/// What functions are judged on, and the keys of their experiment.
#[derive(Debug)]
pub struct FactorCodeWorld {
    pub(super) config: FactorCodeConfig,
    pub(super) sources: FactorCodeSources,
    /// What the strict gate draws from, and what binds it.
    secret: FactorGateSecret,
    commitment: String,
    /// None where nothing will run.
    boxes: Option<StudyBoxes>,
}

impl FactorCodeWorld {
    /// The world of a run, its box tested.
    pub(crate) fn open(config: &FactorCodeConfig, at: &Opening<'_>) -> Result<Self, StudyError> {
        let sources = FactorCodeSources::read(config, at)?;
        config.asking().models(at.base)?;
        let mut setup = factor_boxes(config)?;
        if setup.side_by_side == 0 {
            setup.side_by_side = config.jobs;
        }
        let boxes = Some(StudyBoxes::prove(setup)?);
        Ok(Self::over(
            config,
            sources,
            &at.secret(config.secret_file.as_deref())?,
            boxes,
        ))
    }

    /// The world of a plan, of which nothing will run: it has no box.
    pub(crate) fn planned(config: &FactorCodeConfig, at: &Opening<'_>) -> Result<Self, StudyError> {
        let sources = FactorCodeSources::read(config, at)?;
        Ok(Self::over(
            config,
            sources,
            &at.secret(config.secret_file.as_deref())?,
            None,
        ))
    }

    pub(super) fn boxes(&self) -> Result<&StudyBoxes, StudyError> {
        self.boxes.as_ref().ok_or_else(|| {
            StudyError::input("a plan has no box", "this is a defect of the program: report it")
        })
    }

    /// The world of a record, in a box like its own.
    pub(crate) fn recorded(
        config: &FactorCodeConfig,
        at: &Opening<'_>,
        recorded: &Value,
    ) -> Result<Self, StudyError> {
        let sandbox = recorded.get("sandbox").cloned().unwrap_or_default();
        let sandbox: SandboxRecord = serde_json::from_value(sandbox).map_err(|error| {
            let what = format!("the record does not say what functions were run in: {error}");
            StudyError::difference(what, "take the record from whoever made it")
        })?;
        let sources = FactorCodeSources::read(config, at)?;
        let boxes = Some(StudyBoxes::recorded(sandbox, factor_boxes(config)?));
        Ok(Self::over(
            config,
            sources,
            &at.secret(config.secret_file.as_deref())?,
            boxes,
        ))
    }

    /// All that decides what a model's answers are worth, and what it is asked.
    pub(crate) fn decides(&self) -> Value {
        let (config, sources) = (&self.config, &self.sources);
        let tasks = sources.tasks.as_slice().iter();
        let panel = |kind: PanelKind| (kind, sha256_hex(&bars_csv(sources.panels.bars(kind))));
        json!({
            "tasks": tasks.map(|task| task.id.as_str()).collect::<Vec<_>>(),
            "tasks_sha256": sources.tasks_sha256,
            "prompts_sha256": ktd_prompts::factor_code::factor_code_hash(),
            "panel_seed": config.panel_seed,
            "gate_commitment": self.commitment,
            "controls": config.controls,
            "is_real": sources.panels.is_real(),
            "panels_sha256": PanelKind::ALL.map(panel).into_iter().collect::<BTreeMap<_, _>>(),
            "rounds": config.rounds,
            "feedback": config.feedback_key(),
            "samples": config.samples,
            "pass_at": config.pass_at,
            "csr_format": config.csr_format,
            "sandbox": self.boxes.as_ref().map(StudyBoxes::record),
        })
    }

    /// Answers of a unit in a round, those to all tasks.
    pub(super) fn answers(&self) -> u64 {
        let tasks = u64::try_from(self.sources.tasks.as_slice().len()).unwrap_or(u64::MAX);
        tasks.saturating_mul(self.config.samples)
    }

    /// Rounds of a unit at most, those of all tasks.
    pub(crate) fn rounds(&self) -> u64 {
        self.answers().saturating_mul(u64::from(self.config.rounds))
    }

    pub(crate) fn facts(&self) -> Result<JudgedOn, StudyError> {
        let (sources, sandbox) = (&self.sources, self.boxes()?.record());
        let mut columns = Vec::new();
        for task in sources.tasks.as_slice() {
            columns.push((
                task,
                GoldenColumns::of(task, &sources.panels).map_err(CodeError::from)?,
            ));
        }
        let tasks = columns.iter().map(|(task, golden)| TaskFacts {
            id: task.id.to_string(),
            category: task.category,
            level: task.level,
            function: task.function.clone(),
            prompt: task.prompt.clone(),
            fx: task.fx.clone(),
            golden: curve_of(golden.on(PanelKind::G)),
        });
        let lock: String = sandbox.environment.lock_sha256.chars().take(12).collect();
        Ok(JudgedOn {
            environment: format!("Python {}, packages {lock}", sandbox.environment.python),
            is_boxed: sandbox.isolation.counts(),
            is_real: sources.panels.is_real(),
            tasks_sha256: sources.tasks_sha256.clone(),
            prompts_sha256: ktd_prompts::factor_code::factor_code_hash(),
            tasks: tasks.collect(),
            false_accepts: false_accepts(&columns, &sources.panels, &self.config.rules()),
        })
    }

    fn over(
        config: &FactorCodeConfig,
        sources: FactorCodeSources,
        secret: &StudySecret,
        boxes: Option<StudyBoxes>,
    ) -> Self {
        Self {
            config: config.clone(),
            sources,
            secret: FactorGateSecret::from_bytes(secret.bytes()),
            commitment: secret.commitment(),
            boxes,
        }
    }

    /// On what and by what replies are judged.
    pub(super) const fn judged_by<'w>(&'w self, rules: &'w AccuracyRules) -> FactorJudgedBy<'w> {
        FactorJudgedBy {
            panels: &self.sources.panels,
            secret: &self.secret,
            rules,
        }
    }

    /// What the box says of a reply to a task.
    pub(super) fn judge(&self, task: &FactorTask, reply: &str) -> Result<Judgement, StudyError> {
        let launcher = self.boxes()?.launcher()?;
        let rules = self.config.rules();
        let judged = judge_reply(launcher, task, &self.judged_by(&rules), reply)?.ok_or_else(|| {
            StudyError::input(
                format_args!("the box failed again and again with an answer to task {}", task.id),
                "`ktd box doctor` says what is wrong; give the command again: what was answered and judged is kept",
            )
        })?;
        Ok(Judgement::of(judged, self.config.feedback_key()))
    }

    /// What planted programs say of the gates.
    pub(crate) fn gates(&self) -> Result<GatesFound, StudyError> {
        let launcher = self.boxes()?.launcher()?;
        let mut stream = self.secret.stream("planted programs");
        let programs = planted(self.config.controls, &PlantedKind::ALL, &mut stream);
        let rules = self.config.rules();
        Ok(measured_gates(launcher, &self.judged_by(&rules), &programs)?)
    }

    /// Writes what a unit made, and says what it came to.
    pub(crate) fn found(
        &self,
        cell: &FactorCodeCell,
        answers: Vec<JudgedAnswer>,
        hands: &mut Hands<'_, FactorCodeEvent>,
    ) -> Result<CellFound, StudyError> {
        for JudgedAnswer { event, source, .. } in &answers {
            hands.event(event)?;
            if let Some(source) = source {
                let name = event.source_name(self.config.samples);
                hands.file(name, source.as_bytes().to_vec());
            }
        }
        let (config, tasks) = (&self.config, &self.sources.tasks);
        let rounds = rounds_of((config.rounds, config.samples), &answers);
        let spent = hands.asked()?.spending_by_round()?.into_iter();
        Ok(CellFound {
            cell: cell.clone(),
            model: hands
                .asked()?
                .conversations()
                .model()
                .agent
                .model_name()
                .to_owned(),
            uncovered: uncovered(&rounds),
            rounds: round_counts(&rounds, tasks, &config.rules()),
            pass_at: pass_at(config, &answers)?,
            spending: hands.spending()?,
            spent_in_rounds: spent
                .map(|(round, spent)| RoundSpending::of(round, &spent))
                .collect(),
            answers,
        })
    }
}
