//! What the four layers say of one function.

use crate::accuracy::{AccuracyFigures, AccuracyRules};
use crate::gate::{PUBLISHED_CUTS, SafetyVerdict};
use crate::job::RunFailure;
use crate::loops::LoopMeasure;
use crate::near_miss::NearMiss;
use crate::panel::PanelKind;
use crate::reply::{ReplyFlag, SourceProblem};
use crate::structure::StructureReport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Whether a function ran on the panels of layer 1.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeExecution {
    /// On all of them.
    Ran,
    /// Not on one of them, the first in order; without a panel where no run was needed to know.
    Failed {
        /// The panel.
        panel: Option<PanelKind>,
        /// How it failed.
        failure: RunFailure,
    },
    /// The reply held nothing to run.
    NoSource(SourceProblem),
}

/// Which rules decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JudgeRule {
    /// As it was published.
    Published,
    /// The union gate and the strict accuracy.
    Strict,
}

impl JudgeRule {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Published, Self::Strict];

    /// The word in tables and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Strict => "strict",
        }
    }
}

/// How many of the four layers a function passes, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayersPassed {
    /// Not the first.
    Nothing,
    /// It runs: Pass@1.
    Runs,
    /// It runs and does not look ahead: Safe.
    Safe,
    /// It is safe and right: Acc.
    Right,
    /// It is right and vectorised, all four: `VAcc`.
    Verified,
}

impl LayersPassed {
    /// The steps of the funnel.
    pub const FUNNEL: [Self; 4] = [Self::Runs, Self::Safe, Self::Right, Self::Verified];

    /// The name of a step in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Runs => "Pass@1",
            Self::Safe => "Safe",
            Self::Right => "Acc",
            Self::Verified => "VAcc",
        }
    }
}

/// The first layer that a function fails, by the strict rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum FailureClass {
    /// It does not run.
    Execution,
    /// It looks ahead.
    Leak,
    /// Two runs on the same data differ.
    Noise,
    /// It fails, or gives nothing, on a part of the data; no value was seen to change.
    History,
    /// It computes something else.
    Logic,
    /// It loops.
    Loop,
}

impl FailureClass {
    /// All of them, in order.
    pub const ALL: [Self; 6] = [
        Self::Execution,
        Self::Leak,
        Self::Noise,
        Self::History,
        Self::Logic,
        Self::Loop,
    ];

    /// The word that records hold.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
    }
}

/// What is known of a function after all its runs.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactorVerdict {
    /// Layer 1.
    pub execution: CodeExecution,
    /// Layer 2 by the published test; none where it does not run.
    pub published_safety: Option<SafetyVerdict>,
    /// The same by the published test with more prefixes, for other thresholds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub denser_safety: BTreeMap<u8, SafetyVerdict>,
    /// Layer 2 by the strict gate; none where it does not run.
    pub safety: Option<SafetyVerdict>,
    /// Layer 3: the figures of each panel that it ran on.
    pub accuracy: BTreeMap<PanelKind, AccuracyFigures>,
    /// Which wrong factor it is, where it is safe and not right.
    pub near_miss: Option<NearMiss>,
    /// Layer 4 by the published list; none where the source is no Python.
    pub structure: Option<StructureReport>,
    /// Layer 4 by measure, which decides by the strict rules; none where nothing was counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub loops: Option<LoopMeasure>,
    /// What is reported beside the layers.
    pub flags: BTreeSet<ReplyFlag>,
    /// Whether its values on G change with the dates, though the definition reads none; none where that was not run.
    pub is_date_dependent: Option<bool>,
}

/// Verdict with what follows from it, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct VerdictDocument<'v> {
    published: &'static str,
    strict: &'static str,
    failure: Option<&'static str>,
    robust: bool,
    scale_error: bool,
    price_memory: bool,
    #[serde(flatten)]
    verdict: &'v FactorVerdict,
}

impl<'v> VerdictDocument<'v> {
    /// The document of a verdict.
    #[must_use]
    pub fn of(verdict: &'v FactorVerdict, rules: &AccuracyRules) -> Self {
        Self {
            published: verdict.passes(JudgeRule::Published, rules).name(),
            strict: verdict.passes(JudgeRule::Strict, rules).name(),
            failure: verdict.failure(rules).map(FailureClass::code),
            robust: verdict.is_robust(rules),
            scale_error: verdict.is_scale_error(rules),
            price_memory: verdict.has_price_memory(rules),
            verdict,
        }
    }
}

impl FactorVerdict {
    /// The verdict on a reply without a source.
    #[must_use]
    pub const fn without_source(fault: SourceProblem) -> Self {
        Self::unrun(CodeExecution::NoSource(fault), None, BTreeSet::new())
    }

    pub(crate) const fn unrun(
        execution: CodeExecution,
        structure: Option<StructureReport>,
        flags: BTreeSet<ReplyFlag>,
    ) -> Self {
        Self {
            execution,
            published_safety: None,
            denser_safety: BTreeMap::new(),
            safety: None,
            accuracy: BTreeMap::new(),
            near_miss: None,
            structure,
            loops: None,
            flags,
            is_date_dependent: None,
        }
    }

    /// The layers that it passes.
    #[must_use]
    pub fn passes(&self, rule: JudgeRule, rules: &AccuracyRules) -> LayersPassed {
        let safety = match rule {
            JudgeRule::Published => &self.published_safety,
            JudgeRule::Strict => &self.safety,
        };
        self.passes_if(safety.as_ref(), rule, rules)
    }

    /// The layers that it passes by the published rules, with as many prefixes in the test of look-ahead; none where a
    /// function that runs was not tested so.
    #[must_use]
    pub fn passes_published(&self, cuts: u8, rules: &AccuracyRules) -> Option<LayersPassed> {
        let safety = match cuts {
            PUBLISHED_CUTS => self.published_safety.as_ref(),
            _ => self.denser_safety.get(&cuts),
        };
        if self.execution == CodeExecution::Ran && safety.is_none() {
            return None;
        }
        Some(self.passes_if(safety, JudgeRule::Published, rules))
    }

    fn passes_if(
        &self,
        safety: Option<&SafetyVerdict>,
        rule: JudgeRule,
        rules: &AccuracyRules,
    ) -> LayersPassed {
        let is_right = || {
            let mut panels = PanelKind::JUDGED.into_iter();
            panels.all(|panel| self.is_right_on(panel, rule, rules))
        };
        if self.execution != CodeExecution::Ran {
            LayersPassed::Nothing
        } else if !safety.is_some_and(SafetyVerdict::is_safe) {
            LayersPassed::Runs
        } else if !is_right() {
            LayersPassed::Safe
        } else if !self.is_vectorised_by(rule) || (rules.gates_format && self.has_another_form()) {
            LayersPassed::Right
        } else {
            LayersPassed::Verified
        }
    }

    /// Whether its source breaks no rule of structure.
    #[must_use]
    pub fn is_vectorised(&self) -> bool {
        self.structure
            .as_ref()
            .is_some_and(StructureReport::is_vectorised)
    }

    /// Whether it is free of loops: by the list of names as it was published, by what was counted as strict.
    #[must_use]
    pub fn is_vectorised_by(&self, rule: JudgeRule) -> bool {
        match (rule, &self.loops) {
            (JudgeRule::Strict, Some(loops)) => !loops.is_loop(),
            _ => self.is_vectorised(),
        }
    }

    /// Whether the reply has another form than the one that was asked for.
    fn has_another_form(&self) -> bool {
        self.flags.iter().any(|flag| *flag != ReplyFlag::Infinite)
    }

    /// The same rounded to the twelve digits that records hold.
    #[must_use]
    pub fn rounded(mut self) -> Self {
        for figures in self.accuracy.values_mut() {
            *figures = figures.rounded();
        }
        self.near_miss = self.near_miss.map(NearMiss::rounded);
        self
    }

    /// Whether its values on a panel are right.
    #[must_use]
    pub fn is_right_on(&self, panel: PanelKind, rule: JudgeRule, rules: &AccuracyRules) -> bool {
        self.accuracy.get(&panel).is_some_and(|figures| match rule {
            JudgeRule::Published => figures.is_published_right(rules),
            JudgeRule::Strict => figures.is_right(rules),
        })
    }

    /// Whether it is right on degenerate bars as well.
    #[must_use]
    pub fn is_robust(&self, rules: &AccuracyRules) -> bool {
        self.is_right_on(PanelKind::E, JudgeRule::Strict, rules)
    }

    /// Whether the published rule accepts a panel by correlation alone.
    #[must_use]
    pub fn is_scale_error(&self, rules: &AccuracyRules) -> bool {
        let judged = PanelKind::JUDGED
            .into_iter()
            .filter_map(|panel| self.accuracy.get(&panel));
        judged.into_iter().any(|figures| figures.is_scale_error(rules))
    }

    /// Whether it is right on the synthetic panels and wrong on the real stock: the source may hold real prices.
    #[must_use]
    pub fn has_price_memory(&self, rules: &AccuracyRules) -> bool {
        let right = |panel| self.is_right_on(panel, JudgeRule::Strict, rules);
        self.execution == CodeExecution::Ran
            && right(PanelKind::G)
            && right(PanelKind::R)
            && !right(PanelKind::Q)
    }

    /// The first layer that it fails, by the strict rules; none where it passes all.
    #[must_use]
    pub fn failure(&self, rules: &AccuracyRules) -> Option<FailureClass> {
        match self.passes(JudgeRule::Strict, rules) {
            LayersPassed::Nothing => Some(FailureClass::Execution),
            LayersPassed::Runs => Some(match &self.safety {
                Some(SafetyVerdict::Nondeterministic { .. }) => FailureClass::Noise,
                Some(SafetyVerdict::NeedsRows { .. } | SafetyVerdict::PrefixError { .. }) => {
                    FailureClass::History
                }
                _ => FailureClass::Leak,
            }),
            LayersPassed::Safe => Some(FailureClass::Logic),
            LayersPassed::Right => Some(FailureClass::Loop),
            LayersPassed::Verified => None,
        }
    }

    /// The word of the reason why it did not run, if it did not.
    #[must_use]
    pub fn execution_code(&self) -> Option<&'static str> {
        match &self.execution {
            CodeExecution::Ran => None,
            CodeExecution::Failed { failure, .. } => Some(failure.reason.code()),
            CodeExecution::NoSource(fault) => Some(fault.code()),
        }
    }
}
