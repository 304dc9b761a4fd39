//! How many tasks pass each layer, by level and category, by both rules.

use crate::accuracy::AccuracyRules;
use crate::family_rate::FamilyRate;
use crate::task::{FactorCategory, FactorLevel, FactorTask};
use crate::verdict::{FactorVerdict, FailureClass, JudgeRule, LayersPassed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A task with the verdict on it; without one where the task was lost to a fault of the infrastructure.
#[derive(Debug, Clone, Copy)]
pub struct JudgedTask<'a> {
    /// The task's name.
    pub id: &'a str,
    /// How hard the task is.
    pub level: FactorLevel,
    /// What kind of factor it asks for.
    pub category: FactorCategory,
    /// The verdict.
    pub verdict: Option<&'a FactorVerdict>,
}

impl<'a> JudgedTask<'a> {
    /// A task with the verdict on it.
    #[must_use]
    pub fn of(task: &'a FactorTask, verdict: Option<&'a FactorVerdict>) -> Self {
        Self {
            id: task.id.as_str(),
            level: task.level,
            category: task.category,
            verdict,
        }
    }
}

/// Tasks of a part of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskGroup {
    /// All of them.
    All,
    /// Those of a level.
    Level(FactorLevel),
    /// Those of a category.
    Category(FactorCategory),
}

impl TaskGroup {
    /// The levels, then all tasks.
    #[must_use]
    pub fn levels() -> [Self; 4] {
        let [first, second, third] = FactorLevel::ALL.map(Self::Level);
        [first, second, third, Self::All]
    }

    fn holds(self, judged: &JudgedTask<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Level(level) => judged.level == level,
            Self::Category(category) => judged.category == category,
        }
    }

    /// The name in tables.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Level(level) => format!("L{}", level.number()),
            Self::Category(category) => category.name().to_owned(),
        }
    }
}

/// An answer with a verdict, and how far it came.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AnswerReached {
    family: FactorCategory,
    task: String,
    published: LayersPassed,
    strict: LayersPassed,
    is_vectorised: bool,
}

/// The counts of answers to a group of tasks: each layer's is no larger than that of the layer before. A task has as many answers as
/// there are samples.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Funnel {
    /// Tasks with a verdict.
    pub tasks: u64,
    /// Answers lost to faults of the infrastructure.
    pub uncovered: u64,
    reached: Vec<AnswerReached>,
    /// Answers that are right on degenerate bars as well.
    pub robust: u64,
    /// The first layer that failed, by the strict rules.
    pub failures: BTreeMap<FailureClass, u64>,
    /// Reasons of failures of layer 1.
    pub execution_reasons: BTreeMap<&'static str, u64>,
    /// Kinds of wrong factors among those that fail layer 3.
    pub near_misses: BTreeMap<&'static str, u64>,
    /// What is reported beside the layers.
    pub flags: BTreeMap<&'static str, u64>,
}

impl Funnel {
    /// The counts of a group.
    #[must_use]
    pub fn of(judged: &[JudgedTask<'_>], group: TaskGroup, rules: &AccuracyRules) -> Self {
        let mut funnel = Self::default();
        for class in FailureClass::ALL {
            funnel.failures.insert(class, 0);
        }
        for judged in judged.iter().filter(|judged| group.holds(judged)) {
            match judged.verdict {
                Some(verdict) => funnel.add(judged, verdict, rules),
                None => funnel.uncovered += 1,
            }
        }
        let tasks: BTreeSet<&str> = funnel.reached.iter().map(|answer| answer.task.as_str()).collect();
        funnel.tasks = u64::try_from(tasks.len()).unwrap_or(u64::MAX);
        funnel
    }

    fn add(&mut self, judged: &JudgedTask<'_>, verdict: &FactorVerdict, rules: &AccuracyRules) {
        self.reached.push(AnswerReached {
            family: judged.category,
            task: judged.id.to_owned(),
            published: verdict.passes(JudgeRule::Published, rules),
            strict: verdict.passes(JudgeRule::Strict, rules),
            is_vectorised: verdict.is_vectorised(),
        });
        self.robust += u64::from(verdict.is_robust(rules));
        if let Some(class) = verdict.failure(rules) {
            *self.failures.entry(class).or_default() += 1;
        }
        if let Some(reason) = verdict.execution_code() {
            *self.execution_reasons.entry(reason).or_default() += 1;
        }
        if let Some(miss) = verdict.near_miss {
            *self.near_misses.entry(miss.code()).or_default() += 1;
        }
        for flag in &verdict.flags {
            *self.flags.entry(flag.code()).or_default() += 1;
        }
    }

    /// All answers with a verdict.
    #[must_use]
    pub fn answers(&self) -> u64 {
        u64::try_from(self.reached.len()).unwrap_or(u64::MAX)
    }

    /// The rate of a layer by a rule.
    #[must_use]
    pub fn rate(&self, rule: JudgeRule, layer: LayersPassed) -> FamilyRate<'_> {
        self.rate_of(|answer| {
            let reached = match rule {
                JudgeRule::Published => answer.published,
                JudgeRule::Strict => answer.strict,
            };
            Some(layer <= reached)
        })
    }

    /// The share of vectorised functions among those that pass a layer by the strict rules.
    #[must_use]
    pub fn vectorised_among(&self, layer: LayersPassed) -> FamilyRate<'_> {
        self.rate_of(|answer| (layer <= answer.strict).then_some(answer.is_vectorised))
    }

    fn rate_of(&self, passes: impl Fn(&AnswerReached) -> Option<bool>) -> FamilyRate<'_> {
        let counted = self.reached.iter().filter_map(|answer| {
            let passes = passes(answer)?;
            Some((answer.family, answer.task.as_str(), passes))
        });
        FamilyRate::of(counted)
    }
}

/// Counts of a group of tasks, by names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunnelCounts {
    /// Tasks with a verdict.
    pub tasks: u64,
    /// Answers with a verdict: as many to a task as there are samples.
    pub answers: u64,
    /// Answers lost to faults of the infrastructure.
    pub uncovered: u64,
    /// Answers that pass each layer by the published rules.
    pub published: BTreeMap<String, u64>,
    /// Answers that pass each layer by the strict rules.
    pub strict: BTreeMap<String, u64>,
    /// Answers that are right on degenerate bars as well.
    pub robust: u64,
    /// The first layer that failed, by the strict rules.
    pub failures: BTreeMap<String, u64>,
    /// Reasons of failures of layer 1.
    pub reasons: BTreeMap<String, u64>,
    /// Kinds of wrong factors among those that fail layer 3.
    pub near_misses: BTreeMap<String, u64>,
    /// What is reported beside the layers.
    pub flags: BTreeMap<String, u64>,
}

impl FunnelCounts {
    /// The counts of the levels and of all tasks.
    #[must_use]
    pub fn by_group(judged: &[JudgedTask<'_>], rules: &AccuracyRules) -> BTreeMap<String, Self> {
        let counts = |group: TaskGroup| (group.name(), Self::of(&Funnel::of(judged, group, rules)));
        TaskGroup::levels().map(counts).into_iter().collect()
    }

    fn of(funnel: &Funnel) -> Self {
        let layers = |rule: JudgeRule| {
            let passed = |layer: LayersPassed| (layer.name().to_owned(), funnel.rate(rule, layer).passed);
            LayersPassed::FUNNEL.map(passed).into()
        };
        let named = |counts: &BTreeMap<&'static str, u64>| {
            let counts = counts.iter();
            counts.map(|(name, count)| ((*name).to_owned(), *count)).collect()
        };
        let failures = funnel.failures.iter();
        Self {
            tasks: funnel.tasks,
            answers: funnel.answers(),
            uncovered: funnel.uncovered,
            published: layers(JudgeRule::Published),
            strict: layers(JudgeRule::Strict),
            robust: funnel.robust,
            failures: failures
                .map(|(class, count)| (class.code().to_owned(), *count))
                .collect(),
            reasons: named(&funnel.execution_reasons),
            near_misses: named(&funnel.near_misses),
            flags: named(&funnel.flags),
        }
    }
}

/// The share of a layer with the levels weighted 0.2, 0.2 and 0.6, as the published set of tasks is made up; none where a
/// level has no task.
#[must_use]
pub fn level_weighted(
    judged: &[JudgedTask<'_>],
    rule: JudgeRule,
    layer: LayersPassed,
    rules: &AccuracyRules,
) -> Option<f64> {
    let mut sum = 0.0;
    for (level, weight) in FactorLevel::ALL.into_iter().zip([0.2, 0.2, 0.6]) {
        let funnel = Funnel::of(judged, TaskGroup::Level(level), rules);
        sum += weight * funnel.rate(rule, layer).share()?;
    }
    Some(sum)
}
