//! Metrics against the golden set of attribution, made by an independent implementation.

use crate::golden::attribution::set::{Table, folders, json, over_every_set};
use ktd_attribution::metric::{
    Abstention, NavPath, StepKind, Undefined, WeightPath, cash_ratio, excess_return, hhi, hhi_invested,
    information_ratio, max_drawdown, sharpe_ratio, total_return, turnover, weight_change,
};
use ktd_kit::golden::{self, numbers};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

over_every_set! {
    folders();
    portfolios => portfolios_of,
    edge_cases => edge_cases_of,
}

type Row = BTreeMap<String, String>;
type Outcome = (&'static str, Result<f64, Undefined>);

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap()
}

/// Equal within 1e-10 of the value where the golden set has one; a reason where it has `null`.
fn compare(place: &str, golden: &Value, outcomes: &[Outcome]) -> usize {
    for (metric, outcome) in outcomes {
        let place = format!("metrics.json {place} {metric}");
        let expected = golden.get(metric).unwrap_or_else(|| panic!("{place} is absent"));
        match (outcome, expected.as_f64()) {
            (Ok(value), Some(expected)) => assert!(
                (value - expected).abs() <= 1e-10 * expected.abs(),
                "{place}: {value:e}, expected {expected:e}"
            ),
            (Err(reason), None) => assert!(expected.is_null() && !reason.to_string().is_empty(), "{place}"),
            (outcome, _) => panic!("{place}: {outcome:?}, expected {expected}"),
        }
    }
    outcomes.len()
}

/// The last close of each name up to each day.
struct Marks(BTreeMap<String, BTreeMap<usize, f64>>);

impl Marks {
    fn read(folder: &Path) -> Self {
        let mut marks: BTreeMap<String, BTreeMap<usize, f64>> = BTreeMap::new();
        for row in Table::read(folder, "panel.csv")
            .rows
            .iter()
            .filter(|row| !row["close"].is_empty())
        {
            let days = marks.entry(row["stock"].clone()).or_default();
            days.insert(row["day"].parse().unwrap(), number(row, "close"));
        }
        Self(marks)
    }

    fn at(&self, stock: &str, day: usize) -> f64 {
        self.0[stock]
            .range(..=day)
            .next_back()
            .map_or(0.0, |(_, close)| *close)
    }
}

/// One portfolio of the golden set, rebuilt from its ledger files.
#[derive(Default)]
struct Ledger {
    nav: Vec<f64>,
    cash: Vec<f64>,
    traded: Vec<f64>,
    weights: Vec<BTreeMap<String, f64>>,
}

impl Ledger {
    fn read(days: &[&Row], trades: &[&Row], marks: &Marks) -> Self {
        let mut ledger = Self::default();
        let mut held: BTreeMap<String, f64> = BTreeMap::new();
        for row in days {
            let nav = number(row, "nav");
            let mut traded = 0.0;
            for trade in trades.iter().filter(|trade| trade["day"] == row["day"]) {
                let shares = number(trade, "shares");
                *held.entry(trade["stock"].clone()).or_default() += shares;
                traded += (shares * number(trade, "price")).abs();
            }
            let day = row["day"].parse().unwrap();
            let weight =
                |(stock, shares): (&String, &f64)| (stock.clone(), shares * marks.at(stock, day) / nav);
            ledger.nav.push(nav);
            ledger.cash.push(number(row, "cash"));
            ledger.traded.push(traded);
            ledger.weights.push(held.iter().map(weight).collect());
        }
        ledger
    }

    fn outcomes(&self, initial: f64, benchmark: &[f64]) -> Vec<Outcome> {
        let path = NavPath::new(initial, &self.nav).unwrap();
        let benchmark = path.benchmark(benchmark).unwrap();
        let traded = path.daily("value traded", &self.traded).unwrap();
        let weights = WeightPath::new(&self.weights).unwrap();
        let two_way = turnover(&traded);
        vec![
            ("total_return", total_return(&path)),
            ("sharpe", sharpe_ratio(&path)),
            ("max_drawdown", max_drawdown(&path)),
            ("information_ratio", information_ratio(&benchmark)),
            ("excess_return", excess_return(&benchmark)),
            ("turnover_one_way", two_way.map(|turnover| turnover / 2.0)),
            ("turnover_two_way", two_way),
            ("turnover_weight_change", weight_change(&weights)),
            ("hhi_nav", hhi(&weights)),
            ("hhi_invested", hhi_invested(&weights)),
            ("cash_ratio", cash_ratio(&path.daily("cash", &self.cash).unwrap())),
        ]
    }

    /// The set records fills and not orders, so a step with orders that all failed looks like a hold here.
    fn check_abstention(&self, place: &str, golden: &Value) {
        let outcome = |traded: &f64| {
            if 0.0 < *traded {
                StepKind::Ordered
            } else {
                StepKind::VoluntaryHold
            }
        };
        let ours = Abstention::of(self.traded.iter().map(outcome)).rate().unwrap();
        let golden = golden::number(&golden["abstention_rate"]);
        assert!(
            golden <= ours + 1e-10,
            "{place}: abstention {ours}, golden {golden}"
        );
    }
}

fn portfolios_of(folder: &Path) {
    let golden = json(folder, "metrics.json");
    let initial = golden::number(&json(folder, "config.json")["nav0"]);
    let benchmark: Vec<f64> = Table::read(folder, "bench.csv")
        .rows
        .iter()
        .map(|row| number(row, "ret"))
        .collect();
    let (days, trades) = (
        Table::read(folder, "contrib_daily.csv").rows,
        Table::read(folder, "trades.csv").rows,
    );
    let marks = Marks::read(folder);
    let of = |rows: &'_ [Row], name: &str| -> Vec<Row> {
        rows.iter()
            .filter(|row| row["portfolio"] == name)
            .cloned()
            .collect()
    };
    let mut compared = 0;
    for (name, golden) in golden["portfolios"].as_object().unwrap() {
        let (days, trades) = (of(&days, name), of(&trades, name));
        let ledger = Ledger::read(
            &days.iter().collect::<Vec<_>>(),
            &trades.iter().collect::<Vec<_>>(),
            &marks,
        );
        compared += compare(name, golden, &ledger.outcomes(initial, &benchmark));
        ledger.check_abstention(name, golden);
    }
    println!(
        "metrics.json: {compared} metrics of portfolios at {}",
        folder.display()
    );
    assert!(0 < compared);
}

/// A case whose inputs stand in the file: NAV, and benchmark or weights where it is about them.
fn edge_outcomes(case: &str, golden: &Value) -> Vec<Outcome> {
    let nav = numbers(&golden["nav"]);
    let path = NavPath::new(nav[0], &nav[1..]).unwrap();
    let mut outcomes = vec![
        ("total_return", total_return(&path)),
        ("sharpe", sharpe_ratio(&path)),
        ("max_drawdown", max_drawdown(&path)),
    ];
    if golden["bench"].is_array() {
        // The file rounds these returns; they are the path's own, which is what the case is about.
        let own: Vec<f64> = path.returns().collect();
        for (own, rounded) in own.iter().zip(numbers(&golden["bench"])) {
            assert!((own - rounded).abs() < 1e-12, "{case}");
        }
        let benchmark = path.benchmark(&own).unwrap();
        outcomes.push(("information_ratio", information_ratio(&benchmark)));
    }
    if let Some(days) = golden["hw"].as_array() {
        let day = |weights: &Value| numbers(weights).into_iter().enumerate().collect();
        let days: Vec<BTreeMap<usize, f64>> = days.iter().map(day).collect();
        let weights = WeightPath::new(&days).unwrap();
        outcomes.push(("hhi_nav", hhi(&weights)));
        outcomes.push(("hhi_invested", hhi_invested(&weights)));
    }
    outcomes
}

fn edge_cases_of(folder: &Path) {
    let golden = json(folder, "metrics.json");
    let mut compared = 0;
    for (case, golden) in golden["edge"].as_object().unwrap() {
        compared += compare(case, &golden["out"], &edge_outcomes(case, golden));
    }
    println!("metrics.json: {compared} metrics of edge cases");
    assert!(0 < compared);
}
