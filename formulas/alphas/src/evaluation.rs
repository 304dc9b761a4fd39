//! All figures of one alpha over the days of a split.

use crate::day_table::{DayTable, MemberTable, usable};
use crate::portfolio::{PortfolioTerms, PortfolioTest, Ties, portfolio_test};
use crate::predictive::{DailyCorrelations, PredictivePower, daily_correlations};
use crate::ranking::varies;
use crate::stability::{RankStability, StabilityMode, rank_stability};
use ktd_stats::Undefined;

/// Costs of the second portfolio test, in basis points of the value traded.
const COST_BPS: f64 = 10.0;

/// What alphas are compared with over the days of a split.
#[derive(Debug, Clone)]
pub struct EvaluationSplit<'t> {
    /// The returns that are predicted.
    pub labels: &'t DayTable,
    /// Those of the other kind, shown beside.
    pub other_labels: &'t DayTable,
    /// Who counts on which day.
    pub members: &'t MemberTable,
    /// All days of the split.
    pub days: Vec<usize>,
    /// Those whose labels end within it.
    pub label_days: Vec<usize>,
    /// Fewest usable names of a day.
    pub min_names: usize,
    /// The weight of values in predictive power; the rest is that of ranks.
    pub beta: f64,
    /// What trading costs where something is concluded, in basis points of the value traded.
    pub cost_bps: f64,
    /// Who is held of names with equal scores.
    pub ties: Ties,
}

impl EvaluationSplit<'_> {
    /// How portfolios are made on its days.
    #[must_use]
    pub fn portfolio_terms(&self) -> PortfolioTerms {
        PortfolioTerms {
            min_names: self.min_names,
            ties: self.ties,
            ..PortfolioTerms::default()
        }
    }
}

/// What an alpha is worth over the days of a split.
#[derive(Debug, Clone, PartialEq)]
pub struct AlphaEvaluation {
    /// Correlations with the label by day.
    pub daily: DailyCorrelations,
    /// Prediction of the label.
    pub power: Result<PredictivePower, Undefined>,
    /// Prediction of the label of the other kind.
    pub other_power: Result<PredictivePower, Undefined>,
    /// How much of its order it keeps from day to day.
    pub stability: Result<RankStability, Undefined>,
    /// The portfolio test without costs.
    pub portfolio: Result<PortfolioTest, Undefined>,
    /// The same at ten basis points of the value traded.
    pub with_costs: Result<PortfolioTest, Undefined>,
    /// The same at the costs of the study, from which is concluded.
    pub net: Result<PortfolioTest, Undefined>,
    /// Whether its values differ on no day.
    pub is_constant: bool,
}

/// Evaluates an alpha over the days of a split.
#[must_use]
pub fn evaluate_alpha(scores: &DayTable, split: &EvaluationSplit<'_>) -> AlphaEvaluation {
    let (members, days, min_names) = (split.members, split.label_days.as_slice(), split.min_names);
    let daily = daily_correlations(scores, split.labels, members, days, min_names);
    let other = daily_correlations(scores, split.other_labels, members, days, min_names);
    let portfolio = portfolio_test(scores, split.labels, members, days, split.portfolio_terms());
    let after_costs = |cost_bps| {
        let test = portfolio.as_ref().map(|test| test.after_costs(cost_bps));
        test.map_err(|reason| *reason)
    };
    AlphaEvaluation {
        power: daily.power(split.beta),
        other_power: other.power(split.beta),
        stability: rank_stability(scores, members, &split.days, min_names, StabilityMode::Common),
        with_costs: after_costs(COST_BPS),
        net: after_costs(split.cost_bps),
        portfolio,
        is_constant: !split.days.iter().any(|day| {
            let (_, [values]) = usable(members.day(*day), [scores.day(*day)]);
            varies(&values)
        }),
        daily,
    }
}

#[cfg(test)]
mod tests {
    use super::{EvaluationSplit, evaluate_alpha};
    use crate::{DayTable, MemberTable, Ties};
    use ktd_env::KeyedStream;

    #[test]
    fn a_label_predicts_itself_and_a_constant_nothing() {
        let (days, names) = (80, 30);
        let mut stream = KeyedStream::for_purpose(1, "labels");
        let mut table = || DayTable::from_days(names, (0..days * names).map(|_| stream.normal()).collect());
        let (labels, other_labels) = (table(), table());
        let members = MemberTable::from_days(names, vec![true; days * names]);
        let split = EvaluationSplit {
            labels: &labels,
            other_labels: &other_labels,
            members: &members,
            days: (0..days).collect(),
            label_days: (0..days - 2).collect(),
            min_names: 10,
            beta: 0.5,
            cost_bps: 10.0,
            ties: Ties::Shared,
        };
        let itself = evaluate_alpha(&labels, &split);
        let power = itself.power.unwrap();
        assert_eq!(power.days, days - 2);
        assert!((power.score - 1.0).abs() < 1e-12, "{power:?}");
        assert!(itself.other_power.unwrap().score.abs() < 0.1);
        assert!(!itself.is_constant);
        let constant = evaluate_alpha(&DayTable::from_days(names, vec![3.0; days * names]), &split);
        assert!(constant.is_constant && constant.power.is_err());
        assert_eq!(constant.daily.left_out, days - 2);
    }
}
