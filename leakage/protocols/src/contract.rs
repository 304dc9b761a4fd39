//! The contracts that a pipeline declares, and whether they keep tomorrow out.

use crate::instant::SessionInstant;
use crate::panel::BarField;
use crate::schema::{FEATURES, FeatureSpec};
use crate::switch::{FillRule, Switch};
use serde::{Deserialize, Serialize};

/// Which rows a scale is taken from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScaleRows {
    /// No scale.
    #[default]
    #[serde(rename = "none")]
    Unscaled,
    /// The names of the same day.
    #[serde(rename = "day")]
    SameDay,
    /// The rows of the fit.
    #[serde(rename = "train")]
    FitRows,
    /// All rows of the panel.
    #[serde(rename = "full")]
    AllRows,
}

/// Which sessions a graph of peers is found in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GraphScope {
    /// No graph.
    #[default]
    #[serde(rename = "none")]
    NoGraph,
    /// Sessions before its use.
    Trailing,
    /// Sessions before and after its use.
    Symmetric,
    /// All sessions of the panel.
    #[serde(rename = "full")]
    WholePanel,
}

/// Which names a back-test may trade.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UniverseRule {
    /// Those of the index or list as of each day.
    #[default]
    #[serde(rename = "as-of")]
    AsOfDay,
    /// Those of the end of the panel.
    #[serde(rename = "end")]
    AtTheEnd,
    /// Those that lived to the end of the panel.
    Survivors,
}

/// From where factors are counted: levels that look back from the end know later dividends, ratios do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AdjustedFrom {
    /// 1 on a name's first day.
    #[default]
    Start,
    /// 1 on the last day.
    End,
}

/// What is known of a feature's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureSource {
    /// An expression that a checker read.
    Expression {
        /// The latest instant of its leaves, each moved by its lag or lead.
        known_at: SessionInstant,
        /// Whether it holds an adjusted level that is no ratio, of a source whose factors look back from the end.
        has_adjusted_level: bool,
    },
    /// An expression that the checker refused, with its code.
    Refused(String),
    /// A program: what it reads is proved on cut panels alone.
    Program,
    /// Neither.
    Undeclared,
}

/// A declared feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureContract {
    /// Its name.
    pub name: String,
    /// What it is made of.
    pub source: FeatureSource,
    /// When it is declared to be known.
    pub available_at: SessionInstant,
}

/// A declared pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineContract {
    /// When scores are made.
    pub signal_at: SessionInstant,
    /// When orders are filled.
    pub fill_at: SessionInstant,
    /// The price of the label.
    pub label_price: BarField,
    /// The session of the label's first price, counted from the signal day.
    pub label_from: i64,
    /// Sessions from the label's first price to its last.
    pub horizon: i64,
    /// Sessions before the test that are left out of the fit.
    pub purge: i64,
    /// Where scales are taken from.
    pub scale: ScaleRows,
    /// Where peers are found.
    pub graph: GraphScope,
    /// Who may be traded.
    pub universe: UniverseRule,
    /// All features.
    pub features: Vec<FeatureContract>,
}

/// A rule of contracts, R1 to R12 (docs/spec/leakage.md#contracts).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr, strum::VariantNames,
)]
#[strum(serialize_all = "snake_case")]
pub enum ContractRule {
    /// R1: a feature is known later than scores are made.
    FutureFeature,
    /// R2: a feature is declared known earlier than its expression is.
    Contract,
    /// R3: a fill before the scores are made, or before a feature is known.
    FillBeforeKnowledge,
    /// R4: a fill at the very instant of the scores.
    SameInstant,
    /// R5: a label that does not begin at the fill, or has another price.
    LabelFillMismatch,
    /// R6: a purge that is shorter than the labels reach.
    LabelOverlap,
    /// R7: a scale of all rows.
    GlobalScope,
    /// R8: a graph that looks ahead.
    FutureStructure,
    /// R9: a universe of the end.
    Survivorship,
    /// R10: a feature without a source.
    Undeclared,
    /// R11: adjusted levels whose factors look back from the end.
    FutureAdjustment,
    /// R12: an expression that was refused.
    #[strum(serialize = "refused")]
    RefusedExpression,
}

impl ContractRule {
    /// All rules, R1 first.
    pub const ALL: [Self; 12] = [
        Self::FutureFeature,
        Self::Contract,
        Self::FillBeforeKnowledge,
        Self::SameInstant,
        Self::LabelFillMismatch,
        Self::LabelOverlap,
        Self::GlobalScope,
        Self::FutureStructure,
        Self::Survivorship,
        Self::Undeclared,
        Self::FutureAdjustment,
        Self::RefusedExpression,
    ];

    /// Its number, `R1` to `R12`.
    #[must_use]
    pub fn number(self) -> String {
        let place = Self::ALL.iter().position(|rule| *rule == self);
        place.map_or_else(String::new, |place| format!("R{}", place + 1))
    }

    /// The class of its findings.
    #[must_use]
    pub fn class(self) -> &'static str {
        self.into()
    }

    /// The protocol that breaks it in the benchmark, of a rule of the whole pipeline; `None` where there is none.
    const fn switch(self) -> Option<Switch> {
        match self {
            Self::SameInstant => Some(Switch::ExecClose),
            Self::LabelOverlap => Some(Switch::LabelOverlap),
            Self::GlobalScope => Some(Switch::NormGlobal),
            Self::FutureStructure => Some(Switch::StructGraph),
            Self::FutureFeature
            | Self::Contract
            | Self::FillBeforeKnowledge
            | Self::LabelFillMismatch
            | Self::Survivorship
            | Self::Undeclared
            | Self::FutureAdjustment
            | Self::RefusedExpression => None,
        }
    }

    /// Whether it is a weakness rather than a leak.
    #[must_use]
    pub const fn is_weak(self) -> bool {
        matches!(self, Self::SameInstant)
    }

    /// What to do about it.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            Self::FutureFeature => "remove the lead, or make scores when the feature is known",
            Self::Contract => "declare the instant at which the last leaf of the expression is known",
            Self::FillBeforeKnowledge => "fill after the scores, at the next open at the earliest",
            Self::SameInstant => "fill later: the close that makes the scores cannot be traded as well",
            Self::LabelFillMismatch => "begin the label at the price and session of the fill",
            Self::LabelOverlap => "leave out of the fit as many sessions as the labels reach ahead",
            Self::GlobalScope => "take mean and deviation from the rows of the fit",
            Self::FutureStructure => "find peers in sessions before their use",
            Self::Survivorship => "trade the names that were listed as of each day",
            Self::Undeclared => "declare an expression or a command",
            Self::FutureAdjustment => "use ratios of prices, or factors that look back from each day",
            Self::RefusedExpression => "fix the expression",
        }
    }
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractFinding {
    /// The rule.
    pub rule: ContractRule,
    /// The feature; `None` for a rule of the whole pipeline.
    pub feature: Option<String>,
    /// When it is known.
    pub known_at: Option<SessionInstant>,
    /// When it is used.
    pub used_at: Option<SessionInstant>,
    /// The refused expression's code.
    pub detail: Option<String>,
    /// The protocol whose gain is nearest to what it is worth; `None` where nothing comes in, and where no protocol is of its kind.
    pub priced_as: Option<Switch>,
}

impl ContractFinding {
    const fn of(rule: ContractRule) -> Self {
        Self {
            rule,
            feature: None,
            known_at: None,
            used_at: None,
            detail: None,
            priced_as: rule.switch(),
        }
    }
}

/// What is worth as much as orders of which a part is known later than they are filled: nothing before, the same price at one instant,
/// the bar that the fill begins, or sessions ahead.
const fn price_of_lead(known: SessionInstant, fill: SessionInstant) -> Option<Switch> {
    match known.count() - fill.count() {
        ..0 => None,
        0 => Some(Switch::ExecClose),
        1 => Some(Switch::ExecOpen),
        2.. => Some(Switch::TempCenter),
    }
}

/// All broken rules, those of the features first in their order.
#[must_use]
pub fn check_contract(pipeline: &PipelineContract) -> Vec<ContractFinding> {
    let mut findings: Vec<ContractFinding> = pipeline
        .features
        .iter()
        .flat_map(|feature| of_feature(feature, pipeline))
        .collect();
    let (signal, fill) = (pipeline.signal_at, pipeline.fill_at);
    let mut found = |rule: ContractRule, known_at, used_at| {
        let is_early = rule == ContractRule::FillBeforeKnowledge;
        findings.push(ContractFinding {
            known_at,
            used_at,
            // Scores of a bar that trade before it, however long: no protocol trades earlier than at the bar's own open.
            priced_as: if is_early {
                Some(Switch::ExecOpen)
            } else {
                rule.switch()
            },
            ..ContractFinding::of(rule)
        });
    };
    if fill < signal {
        found(ContractRule::FillBeforeKnowledge, Some(signal), Some(fill));
    }
    if fill == signal {
        found(ContractRule::SameInstant, Some(signal), Some(fill));
    }
    let label_from = match pipeline.label_price {
        BarField::Open => Some(SessionInstant::open(pipeline.label_from)),
        BarField::Close => Some(SessionInstant::close(pipeline.label_from)),
        BarField::High | BarField::Low | BarField::Volume => None,
    };
    if label_from != Some(fill) {
        found(ContractRule::LabelFillMismatch, label_from, Some(fill));
    }
    if pipeline.purge < pipeline.horizon + pipeline.label_from {
        found(ContractRule::LabelOverlap, None, None);
    }
    if pipeline.scale == ScaleRows::AllRows {
        found(ContractRule::GlobalScope, None, None);
    }
    if matches!(pipeline.graph, GraphScope::Symmetric | GraphScope::WholePanel) {
        found(ContractRule::FutureStructure, None, None);
    }
    if pipeline.universe != UniverseRule::AsOfDay {
        found(ContractRule::Survivorship, None, None);
    }
    findings
}

fn of_feature(feature: &FeatureContract, pipeline: &PipelineContract) -> Vec<ContractFinding> {
    let mut findings = Vec::new();
    let (declared, signal, fill) = (feature.available_at, pipeline.signal_at, pipeline.fill_at);
    let mut found = |rule: ContractRule, known_at: Option<SessionInstant>, used_at, detail| {
        let leads = matches!(
            rule,
            ContractRule::FutureFeature | ContractRule::FillBeforeKnowledge
        );
        findings.push(ContractFinding {
            feature: Some(feature.name.clone()),
            known_at,
            used_at,
            detail,
            // A wrong declaration lets nothing in by itself: where the scores or the fill come before the feature, that is found beside it.
            priced_as: known_at
                .filter(|_| leads)
                .and_then(|known| price_of_lead(known, fill)),
            ..ContractFinding::of(rule)
        });
    };
    let known = match &feature.source {
        FeatureSource::Expression {
            known_at,
            has_adjusted_level,
        } => {
            if declared < *known_at {
                found(ContractRule::Contract, Some(*known_at), Some(declared), None);
            }
            if *has_adjusted_level {
                found(ContractRule::FutureAdjustment, None, None, None);
            }
            *known_at
        }
        FeatureSource::Refused(code) => {
            found(ContractRule::RefusedExpression, None, None, Some(code.clone()));
            declared
        }
        FeatureSource::Program => declared,
        FeatureSource::Undeclared => {
            found(ContractRule::Undeclared, None, None, None);
            declared
        }
    };
    // A feature that the scores cannot know is one finding, and the fill behind them no second one.
    if signal < known {
        found(ContractRule::FutureFeature, Some(known), Some(signal), None);
    } else if signal <= fill && fill < declared {
        found(
            ContractRule::FillBeforeKnowledge,
            Some(declared),
            Some(fill),
            None,
        );
    }
    findings
}

/// The contract of a run of the benchmark: that of the reference breaks no rule, and each other one its own.
#[must_use]
pub fn switch_contract(switch: Switch, horizon: usize, future_sessions: usize) -> PipelineContract {
    let sessions = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let ahead = if switch == Switch::TempCenter {
        sessions(future_sessions)
    } else {
        0
    };
    let (label_price, label_from) = switch.fill().price();
    let label_from = sessions(label_from);
    let fill_at = match switch.fill() {
        FillRule::SameClose | FillRule::NextClose => SessionInstant::close(label_from),
        FillRule::NextOpen | FillRule::SameOpen | FillRule::OpenAfter => SessionInstant::open(label_from),
    };
    let of_schema = |feature: &FeatureSpec| FeatureContract {
        name: feature.name.to_owned(),
        source: FeatureSource::Expression {
            known_at: feature.known_at(ahead),
            has_adjusted_level: false,
        },
        available_at: feature.available_at(ahead),
    };
    PipelineContract {
        signal_at: SessionInstant::close(0),
        fill_at,
        label_price,
        label_from,
        horizon: sessions(horizon),
        purge: sessions(switch.purged_sessions(horizon)),
        scale: if switch == Switch::NormGlobal {
            ScaleRows::AllRows
        } else {
            ScaleRows::FitRows
        },
        graph: if switch == Switch::StructGraph {
            GraphScope::Symmetric
        } else {
            GraphScope::Trailing
        },
        universe: UniverseRule::AsOfDay,
        features: FEATURES.iter().map(of_schema).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(pipeline: &PipelineContract) -> Vec<ContractRule> {
        let mut rules: Vec<ContractRule> = check_contract(pipeline)
            .iter()
            .map(|finding| finding.rule)
            .collect();
        rules.dedup();
        rules
    }

    fn clean() -> PipelineContract {
        switch_contract(Switch::Clean, 5, 3)
    }

    #[test]
    fn the_reference_breaks_no_rule_and_each_switch_its_own() {
        assert!(check_contract(&clean()).is_empty());
        let expected = [
            (Switch::TempCenter, ContractRule::FutureFeature),
            (Switch::ExecOpen, ContractRule::FillBeforeKnowledge),
            (Switch::NormGlobal, ContractRule::GlobalScope),
            (Switch::StructGraph, ContractRule::FutureStructure),
            (Switch::ExecClose, ContractRule::SameInstant),
            (Switch::LabelOverlap, ContractRule::LabelOverlap),
        ];
        for (switch, rule) in expected {
            for horizon in [5, 20] {
                assert_eq!(rules(&switch_contract(switch, horizon, 3)), [rule], "{switch:?}");
            }
            let priced = check_contract(&switch_contract(switch, 5, 3));
            assert!(
                priced.iter().all(|finding| finding.priced_as == Some(switch)),
                "{priced:?}"
            );
        }
        let centred = check_contract(&switch_contract(Switch::TempCenter, 5, 3));
        // Twelve over windows, and the peers' means of two of them.
        assert_eq!(centred.len(), 14);
        assert_eq!(centred[0].known_at, Some(SessionInstant::close(3)));
    }

    fn with(change: impl Fn(&mut FeatureContract)) -> PipelineContract {
        let mut pipeline = clean();
        change(&mut pipeline.features[0]);
        pipeline
    }

    fn expression(known_at: SessionInstant, has_adjusted_level: bool) -> FeatureSource {
        FeatureSource::Expression {
            known_at,
            has_adjusted_level,
        }
    }

    #[test]
    fn rules_of_features() {
        let close = SessionInstant::close(0);
        let early = with(|feature| feature.available_at = SessionInstant::open(0));
        assert_eq!(rules(&early), [ContractRule::Contract]);
        let late = with(|feature| feature.available_at = SessionInstant::close(1));
        assert_eq!(rules(&late), [ContractRule::FillBeforeKnowledge]);
        let level = with(|feature| feature.source = expression(close, true));
        assert_eq!(rules(&level), [ContractRule::FutureAdjustment]);
        let refused = with(|feature| feature.source = FeatureSource::Refused("unknown_function".to_owned()));
        assert_eq!(rules(&refused), [ContractRule::RefusedExpression]);
        assert_eq!(
            check_contract(&refused)[0].detail.as_deref(),
            Some("unknown_function")
        );
        let none = with(|feature| feature.source = FeatureSource::Undeclared);
        assert_eq!(rules(&none), [ContractRule::Undeclared]);
        let program = with(|feature| feature.source = FeatureSource::Program);
        assert!(rules(&program).is_empty());
        let future = with(|feature| {
            feature.source = FeatureSource::Program;
            feature.available_at = SessionInstant::close(2);
        });
        assert_eq!(rules(&future), [ContractRule::FutureFeature]);
    }

    #[test]
    fn a_broken_rule_is_priced_by_what_it_lets_in() {
        let close = SessionInstant::close;
        let prices = |pipeline: &PipelineContract| -> Vec<_> {
            let findings = check_contract(pipeline);
            findings
                .iter()
                .map(|found| (found.rule, found.priced_as))
                .collect()
        };
        // Declared an instant early, and used when it is known: nothing comes in.
        let early = with(|feature| feature.available_at = SessionInstant::open(0));
        assert_eq!(prices(&early), [(ContractRule::Contract, None)]);
        // Scores at the open from the day's bar, filled at that open: the full bar trades at its own open.
        let mut open = early.clone();
        (open.signal_at, open.fill_at, open.label_from) =
            (SessionInstant::open(0), SessionInstant::open(0), 0);
        let of_bar = prices(&open)
            .into_iter()
            .find(|(rule, _)| *rule == ContractRule::FutureFeature);
        assert_eq!(
            of_bar,
            Some((ContractRule::FutureFeature, Some(Switch::ExecOpen)))
        );
        // Filled at the next open, the same scores know nothing that a fill then does not.
        (open.fill_at, open.label_from) = (SessionInstant::open(1), 1);
        assert!(prices(&open).iter().all(|(_, price)| price.is_none()));
        for (known, price) in [(close(1), Switch::ExecOpen), (close(2), Switch::TempCenter)] {
            let ahead = with(|feature| {
                (feature.source, feature.available_at) = (expression(known, false), known);
            });
            assert_eq!(prices(&ahead), [(ContractRule::FutureFeature, Some(price))]);
        }
    }

    #[test]
    fn rules_of_the_whole_pipeline() {
        let changed = |change: &dyn Fn(&mut PipelineContract)| {
            let mut pipeline = clean();
            change(&mut pipeline);
            rules(&pipeline)
        };
        assert_eq!(
            changed(&|of| of.label_price = BarField::Close),
            [ContractRule::LabelFillMismatch]
        );
        assert_eq!(
            changed(&|of| of.label_from = 0),
            [ContractRule::LabelFillMismatch]
        );
        assert_eq!(changed(&|of| of.purge = 5), [ContractRule::LabelOverlap]);
        assert_eq!(
            changed(&|of| of.universe = UniverseRule::Survivors),
            [ContractRule::Survivorship]
        );
        assert_eq!(
            changed(&|of| of.universe = UniverseRule::AtTheEnd),
            [ContractRule::Survivorship]
        );
        assert_eq!(
            changed(&|of| of.graph = GraphScope::WholePanel),
            [ContractRule::FutureStructure]
        );
        assert!(changed(&|of| of.graph = GraphScope::NoGraph).is_empty());
        assert!(changed(&|of| of.scale = ScaleRows::SameDay).is_empty());
        let open = |of: &mut PipelineContract| of.signal_at = SessionInstant::open(0);
        assert_eq!(changed(&open), [ContractRule::FutureFeature]);
    }

    #[test]
    fn every_rule_has_a_number_a_class_and_a_hint() {
        let mut classes: Vec<&str> = ContractRule::ALL.iter().map(|rule| rule.class()).collect();
        classes.sort_unstable();
        classes.dedup();
        assert_eq!(classes.len(), 12);
        assert_eq!(ContractRule::RefusedExpression.number(), "R12");
        assert!(ContractRule::ALL.iter().all(|rule| !rule.hint().is_empty()));
        assert_eq!(ContractRule::ALL.iter().filter(|rule| rule.is_weak()).count(), 1);
    }
}
