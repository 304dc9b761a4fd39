//! The tasks: a sentence, its exact definition, and code that is right.

use crate::bars::FactorBars;
use crate::error::FactorCodeError;
use crate::fx::{FxDefinition, FxError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// The tasks of the project, one JSON object a line.
const COMPILED_IN: &str = include_str!("../tasks.jsonl");

/// What kind of factor a task asks for.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactorCategory {
    /// What was known when.
    Causal,
    /// Several factors in one.
    Composite,
    /// Transformations and statistics.
    Math,
    /// Prices that go on.
    Momentum,
    /// Shapes of bars.
    Pattern,
    /// Prices that come back.
    Reversion,
    /// Losses.
    Risk,
    /// Spreads of returns.
    Volatility,
    /// Shares traded.
    Volume,
}

impl FactorCategory {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Causal,
        Self::Composite,
        Self::Math,
        Self::Momentum,
        Self::Pattern,
        Self::Reversion,
        Self::Risk,
        Self::Volatility,
        Self::Volume,
    ];

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How hard a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum FactorLevel {
    /// A primitive.
    Primitive,
    /// A composition of primitives.
    Composition,
    /// An algorithm: state, recursion, windows within windows.
    Algorithm,
}

impl FactorLevel {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Primitive, Self::Composition, Self::Algorithm];

    /// 1, 2 or 3.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Primitive => 1,
            Self::Composition => 2,
            Self::Algorithm => 3,
        }
    }
}

impl From<FactorLevel> for u8 {
    fn from(level: FactorLevel) -> Self {
        level.number()
    }
}

impl TryFrom<u8> for FactorLevel {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|level| level.number() == number)
            .ok_or_else(|| format!("level {number} is unknown: use 1, 2 or 3"))
    }
}

/// The name of a task, such as `MOM-3-01`: category, level, number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(String);

impl TaskId {
    /// Reads a name: letters, digits, hyphens, up to 40.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=40).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        fits.then(|| Self(text.to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One task.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorTask {
    /// Its name.
    pub id: TaskId,
    /// What kind of factor it is.
    pub category: FactorCategory,
    /// How hard it is.
    pub level: FactorLevel,
    /// The name of the function to write.
    pub function: String,
    /// The sentence that a model gets.
    pub prompt: String,
    /// The definition as text.
    pub fx: String,
    /// The definition.
    pub definition: FxDefinition,
    /// The first row with a value on panel G.
    pub warm_up: usize,
    /// Vectorised pandas code that is right, where the task has any.
    pub golden: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskLine {
    id: String,
    category: FactorCategory,
    level: FactorLevel,
    name: String,
    prompt: String,
    fx: String,
    warmup: Option<usize>,
    golden: Option<String>,
}

/// Tasks in the order of their file, each name once.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorTasks(Vec<FactorTask>);

impl FactorTasks {
    /// The 108 tasks of the project.
    ///
    /// # Errors
    /// None with the text that is compiled in, as a test shows.
    pub fn compiled_in() -> Result<Self, FactorCodeError> {
        let lines = COMPILED_IN.lines().enumerate();
        let tasks = lines.map(|(line, text)| read_task(text, line + 1, None));
        tasks.collect::<Result<_, _>>().map(Self)
    }

    /// The project's tasks and a user's, whose definitions are computed once on the bars of panel G: that tells the
    /// warm-up, and finds a recursion over gaps.
    ///
    /// # Errors
    /// [`FactorCodeError::TaskLine`] with the line of what is no task, [`FactorCodeError::Definition`] for a definition
    /// that cannot be read or computed.
    pub fn with_file(text: &str, panel: &FactorBars) -> Result<Self, FactorCodeError> {
        let Self(mut tasks) = Self::compiled_in()?;
        let taken = |tasks: &[FactorTask]| -> BTreeSet<String> {
            tasks
                .iter()
                .flat_map(|task| [task.id.to_string(), task.function.clone()])
                .collect()
        };
        let mut names = taken(&tasks);
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        for (line, text) in lines {
            let task = read_task(text, line + 1, Some(panel))?;
            for name in [task.id.as_str(), &task.function] {
                if !names.insert(name.to_owned()) {
                    let problem = format!("the name {name} is taken; choose another");
                    return Err(FactorCodeError::TaskLine {
                        line: line + 1,
                        problem,
                    });
                }
            }
            tasks.push(task);
        }
        Ok(Self(tasks))
    }

    /// The tasks that names stand for: `all`, an id, or a category; in the order of the file, each once.
    ///
    /// # Errors
    /// [`FactorCodeError::UnknownTask`] for a name that stands for nothing.
    pub fn chosen(&self, names: &[&str]) -> Result<Self, FactorCodeError> {
        let fits = |task: &FactorTask, name: &str| {
            name == "all" || task.id.as_str() == name || task.category.name() == name
        };
        for name in names {
            if !self.0.iter().any(|task| fits(task, name)) {
                return Err(FactorCodeError::UnknownTask {
                    name: (*name).to_owned(),
                    known: FactorCategory::ALL.map(FactorCategory::name).join(", "),
                });
            }
        }
        let wanted = self
            .0
            .iter()
            .filter(|task| names.iter().any(|name| fits(task, name)));
        Ok(Self(wanted.cloned().collect()))
    }

    /// The tasks.
    #[must_use]
    pub fn as_slice(&self) -> &[FactorTask] {
        &self.0
    }

    /// The task of a name.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&FactorTask> {
        self.0.iter().find(|task| task.id.as_str() == id)
    }

    /// What tells who reads it an answer: definitions, and lines of the golden code. Shorter ones stand in libraries too, but each
    /// golden function has a line with its name.
    #[must_use]
    pub fn answers(&self) -> Vec<String> {
        const DEFINITION_BYTES: usize = 24;
        const LINE_BYTES: usize = 32;
        let is_plain = |text: &&str| !text.contains(['"', '\\']);
        let long = |text: &&str, bytes: usize| bytes <= text.len();
        let of_task = |task: &FactorTask| {
            let definition = Some(task.fx.as_str()).filter(|text| long(text, DEFINITION_BYTES));
            let golden = task.golden.iter().flat_map(|code| code.lines());
            let lines = golden.map(str::trim).filter(|text| long(text, LINE_BYTES));
            let texts = lines.chain(definition).filter(is_plain).map(str::to_owned);
            texts.collect::<Vec<_>>()
        };
        let texts: BTreeSet<String> = self.0.iter().flat_map(of_task).collect();
        texts.into_iter().collect()
    }

    /// The file that the compiled-in tasks were read from, byte by byte: what a record's hash of the tasks is made of.
    #[must_use]
    pub const fn compiled_in_text() -> &'static str {
        COMPILED_IN
    }
}

/// A task of a line; its warm-up is computed on a panel where the line has none.
fn read_task(text: &str, line: usize, panel: Option<&FactorBars>) -> Result<FactorTask, FactorCodeError> {
    let invalid = |problem: String| FactorCodeError::TaskLine { line, problem };
    let read: TaskLine = serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
    let Some(id) = TaskId::parse(&read.id) else {
        return Err(invalid(format!(
            "the id {:?} is no id: use letters, digits and hyphens",
            read.id
        )));
    };
    if !is_function_name(&read.name) {
        return Err(invalid(format!(
            "the name {:?} is no name of a function: it begins with `alpha_` and goes on with a-z, 0-9 and _",
            read.name
        )));
    }
    if read.prompt.trim().is_empty() {
        return Err(invalid("the prompt is empty".to_owned()));
    }
    let undefined = |error: FxError| FactorCodeError::Definition {
        id: read.id.clone(),
        error,
    };
    let definition = FxDefinition::parse(&read.fx).map_err(undefined)?;
    let computed = panel
        .map(|bars| definition.evaluate(bars))
        .transpose()
        .map_err(undefined)?;
    let first = computed.map(|cells| cells.iter().position(|cell| !cell.is_nan()));
    let warm_up = match (first, read.warmup) {
        (None, Some(rows)) | (Some(Some(rows)), _) => rows,
        (None, None) => return Err(invalid("the field `warmup` is missing".to_owned())),
        (Some(None), _) => {
            return Err(invalid(
                "the definition has no value on panel G; shorten its windows".to_owned(),
            ));
        }
    };
    Ok(FactorTask {
        id,
        category: read.category,
        level: read.level,
        function: read.name,
        prompt: read.prompt,
        fx: read.fx,
        definition,
        warm_up,
        golden: read.golden,
    })
}

fn is_function_name(name: &str) -> bool {
    name.strip_prefix("alpha_").is_some_and(|rest| {
        !rest.is_empty()
            && rest.len() <= 80
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::{FactorPanels, PanelKind};
    use std::collections::BTreeMap;

    #[test]
    fn there_are_twelve_tasks_a_category_of_which_seven_are_algorithms() {
        let tasks = FactorTasks::compiled_in().unwrap();
        let mut counts: BTreeMap<(FactorCategory, FactorLevel), usize> = BTreeMap::new();
        for task in tasks.as_slice() {
            *counts.entry((task.category, task.level)).or_default() += 1;
            assert!(task.golden.is_some());
            assert!(
                task.function
                    .starts_with(&format!("alpha_{}_", task.category.name()))
            );
        }
        for category in FactorCategory::ALL {
            assert_eq!(
                FactorLevel::ALL.map(|level| counts[&(category, level)]),
                [2, 3, 7]
            );
        }
    }

    fn line(id: &str, name: &str, fx: &str) -> String {
        format!(
            "{{\"id\":\"{id}\",\"category\":\"risk\",\"level\":3,\"name\":\"{name}\",\"prompt\":\"A factor.\",\"fx\":\"{fx}\"}}\n"
        )
    }

    fn loaded(text: &str) -> Result<FactorTasks, FactorCodeError> {
        let panels = FactorPanels::new(20_260_401, None).unwrap();
        FactorTasks::with_file(text, panels.bars(PanelKind::G))
    }

    #[test]
    fn tasks_of_a_user_follow_the_compiled_in_ones() {
        let tasks = loaded(&line("OWN-1", "alpha_own", "mean(C,7)")).unwrap();
        assert_eq!(tasks.as_slice().len(), 109);
        assert_eq!(tasks.find("OWN-1").unwrap().warm_up, 6);
        assert_eq!(tasks.chosen(&["OWN-1", "causal"]).unwrap().as_slice().len(), 13);
        assert!(matches!(
            tasks.chosen(&["causality"]),
            Err(FactorCodeError::UnknownTask { .. })
        ));
    }

    #[test]
    fn a_line_that_is_no_task_is_refused() {
        let own = |fx: &str| line("OWN-1", "alpha_own", fx);
        let cases = [
            ("{}".to_owned(), "missing field"),
            (
                own("mean(C,7)").replace("\"level\":3", "\"level\":4"),
                "level 4 is unknown",
            ),
            (own("mean(C,7)").replace("risk", "luck"), "unknown variant"),
            (own("mean(C,7)").replace("A factor.", " "), "the prompt is empty"),
            (line("OWN 1", "alpha_own", "C"), "is no id"),
            (line("OWN-1", "beta_own", "C"), "is no name of a function"),
            (line("OWN-1", "alpha_Own", "C"), "is no name of a function"),
            (line("MOM-1-01", "alpha_own", "C"), "MOM-1-01 is taken"),
            (line("OWN-1", "alpha_momentum_roc_10", "C"), "is taken"),
            (own("mean(C,7)").repeat(2), "line 2"),
            (own("X"), "unknown_name at byte 0"),
            (own("foo(C)"), "unknown_operator at byte 0"),
            (own("mean(C,0)"), "window at byte 7"),
            (own("ema(when(gt(ret(C,1),0),C,nan),5)"), "gap at byte 0"),
            (own("mean(C,501)"), "no value on panel G"),
        ];
        for (text, part) in cases {
            let problem = loaded(&text).unwrap_err().to_string();
            assert!(problem.contains(part), "{part:?} is not in {problem:?}");
        }
    }
}
