//! A kind of study that exists in the tests alone: models answer questions, are asked whether they are sure, and each last answer
//! is scored.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_asking::{AskingRole, AskingSettings, TextAnswer, TextOpening, TextRounds};
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::caps::Caps;
use ktd_experiment::config::RetryConfig;
use ktd_study::{
    DataRows, Hands, Opening, Planned, Report, RowCells, Section, Shown, StudyError, StudyKind, UnitId,
};
use ktd_unmasked::OpenPrompt;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Questions to models.
pub(super) struct Questionnaire;

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    #[serde(default, skip_serializing)]
    #[expect(dead_code, reason = "the file names it; the reader compares it")]
    kind: Option<String>,
    name: String,
    questions: Vec<String>,
    #[serde(default)]
    agents: Vec<AgentConfig>,
    /// How often each agent is asked all questions, each time as another unit.
    #[serde(default = "once")]
    repeats: usize,
    /// Units of a line that ask nobody.
    #[serde(default)]
    lines: usize,
    #[serde(default, skip_serializing)]
    prices: Option<PathBuf>,
    #[serde(default, skip_serializing)]
    budget: Caps,
    #[serde(skip)]
    rates: BTreeMap<String, ktd_experiment::rate_limits::RateLimits>,
}

const fn once() -> usize {
    1
}

#[derive(Debug, Serialize)]
pub(super) enum Unit {
    Agent(String, usize),
    Line(usize),
}

#[derive(Debug, Serialize)]
pub(super) struct Answer {
    question: String,
    words: Option<String>,
    score: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct Row {
    who: String,
    score: f64,
}

/// A third of the letters: a number that needs all of its digits.
fn score(answer: &str) -> f64 {
    answer.bytes().map(f64::from).sum::<f64>() / 3.0
}

impl StudyKind for Questionnaire {
    const NAME: &'static str = "questionnaire";
    const COMMAND: &'static str = "the questionnaire";
    const FORMAT: u32 = 1;
    const STEPS: &'static str = "answers";
    const REPORTS_PARTS: bool = true;
    const ASKS: bool = true;
    type Keys = Keys;
    type World = Keys;
    type Unit = Unit;
    type Event = Answer;
    type Found = f64;
    type Summary = Vec<Row>;

    fn name(keys: &Keys) -> &str {
        &keys.name
    }

    fn check(keys: &Keys) -> Result<(), StudyError> {
        let is_empty = keys.questions.is_empty();
        let empty = || StudyError::input("`questions` is empty", "write questions = [\"Why?\"]");
        if is_empty { Err(empty()) } else { Ok(()) }
    }

    fn asking(keys: &Keys) -> Option<AskingSettings<'_>> {
        Some(AskingSettings {
            roles: AskingRole::one("questions", 1),
            table: "",
            agents: &keys.agents,
            takes_programs: false,
            builtin: None,
            dialects: &[],
            retries: RetryConfig::default(),
            prices: keys.prices.as_deref(),
            budget: &keys.budget,
            rates: &keys.rates,
            temperature: None,
        })
    }

    fn open(keys: &Keys, _at: &Opening<'_>) -> Result<Keys, StudyError> {
        Ok(keys.clone())
    }

    fn decides(world: &Keys) -> Value {
        json!({ "questions": world.questions })
    }

    fn units(keys: &Keys, _world: &Keys) -> Result<Vec<Planned<Unit>>, StudyError> {
        let asked = (0..keys.repeats)
            .flat_map(|repeat| keys.agents.iter().enumerate().map(move |agent| (repeat, agent)));
        let agents = asked.map(|(repeat, (place, agent))| {
            let unit = Unit::Agent(agent.id.clone(), repeat);
            Planned::folder(format!("{}-{repeat}", agent.id), unit).asking(place)
        });
        let lines = (0..keys.lines).map(|line| Planned::line(format!("line{line}"), Unit::Line(line)));
        Ok(agents.chain(lines).collect())
    }

    fn run<'a>(
        world: &'a Keys,
        unit: &'a Unit,
        hands: &'a mut Hands<'_, Answer>,
    ) -> LocalBoxFuture<'a, Result<f64, StudyError>> {
        async move {
            let Unit::Agent(agent, _) = unit else {
                return Ok(1.0 / 3.0);
            };
            let mut sum = 0.0;
            for (place, question) in world.questions.iter().enumerate() {
                let record = hands.asked()?;
                let opening = TextOpening {
                    step: place + 1,
                    what: format!("question {}", place + 1),
                    seed: 1,
                    cache_key: None,
                    system: OpenPrompt::new().text("Answer."),
                    user: OpenPrompt::new().outside(question),
                };
                let mut rounds = TextRounds::open(record, opening);
                rounds.ask(record).await?;
                rounds.reply(OpenPrompt::new().text("Are you sure?"));
                let answer = match rounds.ask(record).await? {
                    TextAnswer::Text(text) => Some(text),
                    TextAnswer::Mistake(_) | TextAnswer::Lost(_) | TextAnswer::Stopped => None,
                };
                let words = answer.clone().unwrap_or_default();
                let found = hands.work("score", &words, || Ok(score(&words)))?;
                sum += found;
                let question = question.clone();
                let name = format!("answers/{}.txt", place + 1);
                hands.event(&Answer {
                    question,
                    words: answer,
                    score: found,
                })?;
                hands.file(name, format!("{agent}: {words}\n").into_bytes());
            }
            Ok(sum)
        }
        .boxed_local()
    }

    fn conclude(_keys: &Keys, found: Vec<(UnitId, f64)>) -> Result<Vec<Row>, StudyError> {
        Ok(found
            .into_iter()
            .map(|(id, score)| Row {
                who: id.to_string(),
                score,
            })
            .collect())
    }

    fn report(keys: &Keys, summary: &Vec<Row>) -> Result<Report, StudyError> {
        let rows = summary
            .iter()
            .map(|row| vec![TableCell::Text(row.who.clone()), TableCell::Ratio(row.score)]);
        let table = TableData::new("Scores", [("who", Left), ("score", Right)]).with_rows(rows);
        Ok(Report {
            title: keys.name.clone(),
            verdict: format!("{} were asked.", summary.len()),
            sections: vec![Section::new("Scores").table("scores", table, Shown::Everywhere)],
            rows: vec![DataRows::of(
                "rows",
                &[("who", RowCells::Text), ("score", RowCells::Number)],
                summary,
            )?],
            ..Report::default()
        })
    }
}
