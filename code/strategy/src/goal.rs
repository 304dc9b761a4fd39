//! What a model is asked to mend its strategy for, besides being right.

use crate::real_rows::{EarnedRow, RealVersion};
use ktd_stats::{Sample, median};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The total return on the train split that the goal `profit` asks for.
const RETURN: f64 = 0.1;
/// The Sharpe ratio that it asks for.
const SHARPE: f64 = 1.5;

/// What a model is asked for in patches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StrategyGoal {
    /// A program that is valid and does what the document says.
    #[default]
    None,
    /// Besides, a Sharpe ratio of 1.5 and a return of 10 % on the train split, as published.
    Profit,
}

impl StrategyGoal {
    /// Whether a version earns on the train split what is asked for, at the contract's fill and without costs. Without a
    /// series there is nothing to be asked for.
    #[must_use]
    pub fn is_reached(version: &RealVersion) -> bool {
        if version.rows.iter().all(|row| row.split != TRAIN) {
            return true;
        }
        let [total_return, sharpe] = medians(version);
        total_return.is_some_and(|value| RETURN <= value) && sharpe.is_some_and(|value| SHARPE <= value)
    }

    /// What a model is shown of a version: figures of the train split alone, without a symbol or a date.
    #[must_use]
    pub fn figures(version: &RealVersion) -> Value {
        let train = version.rows.iter().filter(|row| row.split == TRAIN);
        let rows = train.clone().map(|row| {
            let earned = row.program.as_ref();
            json!({
                "bars": row.bars,
                "fault": row.fault,
                "total_return": earned.map(free),
                "sharpe": earned.and_then(|earned| earned.own_close.sharpe),
                "max_drawdown": earned.map(|earned| earned.own_close.max_drawdown),
                "trades": earned.map(|earned| earned.own_close.trades),
            })
        });
        let [total_return, sharpe] = medians(version);
        json!({"median_total_return": total_return, "median_sharpe": sharpe, "series": rows.collect::<Vec<_>>()})
    }
}

/// The split that a model may know.
const TRAIN: &str = "train";

const fn free(earned: &EarnedRow) -> f64 {
    let [free, ..] = earned.own_close.returns;
    free
}

/// Medians of total return and Sharpe ratio over the series of the train split.
fn medians(version: &RealVersion) -> [Option<f64>; 2] {
    let earned = version.rows.iter().filter(|row| row.split == TRAIN);
    let earned: Vec<&EarnedRow> = earned.filter_map(|row| row.program.as_ref()).collect();
    let returns: Vec<f64> = earned.iter().copied().map(free).collect();
    let sharpes: Vec<f64> = earned
        .iter()
        .filter_map(|earned| earned.own_close.sharpe)
        .collect();
    [returns, sharpes].map(|values| median(&Sample::new("series", &values).ok()?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real_rows::{FillRow, RealRow};

    fn row(split: &str, total_return: f64, sharpe: f64) -> RealRow {
        let fill = FillRow {
            returns: [total_return; 6],
            sharpe: Some(sharpe),
            max_drawdown: 0.1,
            trades: 3,
            win_rate: Some(0.5),
            turnover: 1.0,
            break_even_bps: Some(2.0),
        };
        let earned = EarnedRow {
            own_close: fill.clone(),
            next_open: fill,
            pretended: 0.0,
        };
        RealRow {
            split: split.to_owned(),
            symbols: vec!["SH600000".to_owned()],
            bars: 242,
            program: Some(earned.clone()),
            fault: None,
            reference: Some(earned),
            reference_fault: None,
        }
    }

    fn version(rows: Vec<RealRow>) -> RealVersion {
        RealVersion {
            rows,
            ..RealVersion::without(0, None)
        }
    }

    #[test]
    fn the_goal_is_one_of_the_train_split() {
        let poor = version(vec![row("train", 0.05, 2.0), row("test", 0.9, 9.0)]);
        assert!(!StrategyGoal::is_reached(&poor));
        assert!(StrategyGoal::is_reached(&version(vec![
            row("train", 0.1, 1.5),
            row("test", -0.5, -2.0)
        ])));
        assert!(StrategyGoal::is_reached(&version(vec![row("test", -0.5, -2.0)])));
        let mut faulty = row("train", 0.0, 0.0);
        faulty.program = None;
        assert!(!StrategyGoal::is_reached(&version(vec![faulty])));
    }

    #[test]
    fn no_test_figure_and_no_symbol_is_shown() {
        let shown = |test: f64| {
            let version = version(vec![row("train", 0.05, 2.0), row("test", test, test)]);
            StrategyGoal::figures(&version).to_string()
        };
        assert_eq!(shown(0.9), shown(-0.3));
        assert!(!shown(0.9).contains("SH600000") && shown(0.9).contains("\"median_sharpe\":2.0"));
    }
}
