//! Accounting and linking: six portfolios, three bases, three ways of linking.

use crate::golden::attribution::set::{Golden, TOLERANCE, Table, folders, json, over_every_set};
use ktd_attribution::account::{
    Attribution, DayBook, HeldName, Linking, Part, WeightBasis, attribute, carino_weights,
};
use ktd_attribution::model::FactorModel;
use ktd_kit::golden::{self, number, numbers, whole};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

over_every_set! {
    Golden::all();
    daily_contributions_on_three_bases => daily_contributions_on_three_bases_of,
    linked_contributions_add_up_to_the_golden_ones => linked_contributions_add_up_to_the_golden_ones_of,
    without_trades_the_three_bases_agree => without_trades_the_three_bases_agree_of,
    thin_days_leave_everything_unattributed => thin_days_leave_everything_unattributed_of,
}

over_every_set! {
    folders();
    carino_weights_at_their_limits => carino_weights_at_their_limits_of,
}

/// The golden set's ledger, played from its trades.
struct Ledger<'g> {
    golden: &'g Golden,
    marks: BTreeMap<(usize, usize), f64>,
    opens: BTreeMap<(usize, usize), f64>,
    trades: Table,
    buy_rate: f64,
    sell_rate: f64,
    least_fee: f64,
    cash: f64,
}

impl<'g> Ledger<'g> {
    fn read(golden: &'g Golden) -> Self {
        let config = json(&golden.folder, "config.json");
        let number = |key: &str| number(&config[key]);
        let panel = Table::read(&golden.folder, "panel.csv");
        let mut marks = BTreeMap::new();
        let mut opens = BTreeMap::new();
        let mut last: BTreeMap<usize, f64> = BTreeMap::new();
        for row in 0..panel.rows.len() {
            let (day, name) = (panel.count(row, "day"), golden.row(&panel.rows[row]["stock"]));
            let (close, open) = (panel.number(row, "close"), panel.number(row, "open"));
            if !close.is_nan() {
                last.insert(name, close);
                opens.insert((day, name), open);
            }
            if let Some(mark) = last.get(&name) {
                marks.insert((day, name), *mark);
            }
        }
        Self {
            golden,
            marks,
            opens,
            trades: Table::read(&golden.folder, "trades.csv"),
            buy_rate: number("buy_bps") / 1e4,
            sell_rate: number("sell_bps") / 1e4,
            least_fee: number("min_fee"),
            cash: number("nav0"),
        }
    }

    fn play(&self, portfolio: &str, days: std::ops::Range<usize>) -> Vec<DayBook> {
        let (mut cash, mut nav) = (self.cash, self.cash);
        let mut shares: BTreeMap<usize, f64> = BTreeMap::new();
        let play = |day: usize| {
            let (before, mut fees, mut slippage, mut unmarked) = (shares.clone(), 0.0, 0.0, 0.0);
            for row in 0..self.trades.rows.len() {
                if self.trades.rows[row]["portfolio"] != portfolio || self.trades.count(row, "day") != day {
                    continue;
                }
                let name = self.golden.row(&self.trades.rows[row]["stock"]);
                let (traded, price) = (
                    self.trades.number(row, "shares"),
                    self.trades.number(row, "price"),
                );
                let rate = if traded > 0.0 {
                    self.buy_rate
                } else {
                    self.sell_rate
                };
                let fee = (traded.abs() * price * rate).max(self.least_fee);
                cash -= traded * price + fee;
                fees += fee;
                slippage += traded * (price - self.opens[&(day, name)]);
                *shares.entry(name).or_insert(0.0) += traded;
            }
            let mut held = Vec::new();
            let mut value = cash;
            let names: BTreeSet<usize> = before.keys().chain(shares.keys()).copied().collect();
            for row in names {
                let (old, new) = (before.get(&row).copied().unwrap_or(0.0), shares[&row]);
                let mark = self.marks.get(&(day, row)).copied().unwrap_or(0.0);
                value += new * mark;
                match self.marks.get(&(day - 1, row)) {
                    Some(reference) => held.push(HeldName {
                        row,
                        before_cny: old * reference,
                        after_cny: new * reference,
                    }),
                    None => unmarked += new * (mark - self.opens[&(day, row)]),
                }
            }
            let book = DayBook {
                day,
                nav_before_cny: nav,
                nav_after_cny: value,
                held,
                fees_cny: fees,
                slippage_cny: slippage,
                corporate_cny: 0.0,
                unmarked_cny: unmarked,
            };
            nav = value;
            book
        };
        days.map(play).collect()
    }
}

fn near(place: &str, actual: f64, expected: f64) {
    golden::near(place, actual, expected, TOLERANCE);
}

fn split(model: &FactorModel, books: &[DayBook]) -> Attribution {
    attribute(books, model.config().styles.len(), |day| model.day(day)).unwrap()
}

fn portfolios(daily: &Table) -> BTreeSet<String> {
    daily.rows.iter().map(|row| row["portfolio"].clone()).collect()
}

/// The part of a golden column such as `pre:sel`.
const PARTS: [(&str, Part); 4] = [
    ("common", Part::Common),
    ("sel", Part::Selection),
    ("unattr", Part::Unattributed),
    ("timing", Part::Execution),
];

fn daily_contributions_on_three_bases_of(golden: &Golden) {
    let model = golden.fit(|_| {});
    let ledger = Ledger::read(golden);
    let daily = Table::read(&golden.folder, "contrib_daily.csv");
    let styles = model.config().styles.len();
    let mut compared = 0;
    for portfolio in portfolios(&daily) {
        let books = ledger.play(&portfolio, golden.days.clone());
        let own = split(&model, &books);
        for basis in WeightBasis::ALL {
            assert!(
                own.gauge(basis) < TOLERANCE,
                "{portfolio} {basis:?}: {:e}",
                own.gauge(basis)
            );
        }
        let exposures: Vec<&[f64]> = own.exposures().map(Option::unwrap_or_default).collect();
        for row in 0..daily.rows.len() {
            if daily.rows[row]["portfolio"] != portfolio {
                continue;
            }
            let place = daily.count(row, "day") - golden.days.start;
            daily.near(row, "R", Some(own.returns()[place]));
            let nav = daily.number(row, "nav");
            assert!((books[place].nav_after_cny - nav).abs() <= 1e-10 * nav);
            for basis in WeightBasis::ALL {
                let parts = own.parts(basis);
                let cells = parts.rows().nth(place).unwrap();
                for (column, part) in PARTS {
                    daily.near(
                        row,
                        &format!("{}:{column}", basis.label()),
                        Some(parts.part(cells, part)),
                    );
                }
                let style: f64 = (0..styles)
                    .map(|style| parts.part(cells, Part::Style(style)))
                    .sum();
                daily.near(row, &format!("{}:style", basis.label()), Some(style));
                daily.near(row, "cost", Some(parts.part(cells, Part::Cost)));
                daily.near(row, "slip", Some(parts.part(cells, Part::Slip)));
            }
            for (style, factor) in model.config().styles.iter().enumerate() {
                let parts = own.parts(WeightBasis::Pre);
                let cells = parts.rows().nth(place).unwrap();
                daily.near(
                    row,
                    &format!("pre:style:{}", factor.name()),
                    Some(parts.part(cells, Part::Style(style))),
                );
                daily.near(
                    row,
                    &format!("expo:{}", factor.name()),
                    Some(exposures[place].get(style).copied().unwrap_or(0.0)),
                );
            }
            compared += 1;
        }
    }
    println!("{compared} days of contributions agree");
    assert_eq!(compared, daily.rows.len());
}

fn linked_contributions_add_up_to_the_golden_ones_of(golden: &Golden) {
    let model = golden.fit(|_| {});
    let ledger = Ledger::read(golden);
    let linked = json(&golden.folder, "linked.json");
    for (portfolio, bases) in linked.as_object().unwrap() {
        let own = split(&model, &ledger.play(portfolio, golden.days.clone()));
        for basis in WeightBasis::ALL {
            let expected = &bases[basis.label()];
            near(portfolio, own.total_return(), number(&expected["total_return"]));
            for linking in Linking::ALL {
                let expected = &expected[linking.label()];
                let sums = own.linked(basis, linking);
                let part = |part| own.parts(basis).part(&sums, part);
                let place = |name: &str| format!("{portfolio} {} {} {name}", basis.label(), linking.label());
                for (name, one) in PARTS
                    .into_iter()
                    .chain([("slip", Part::Slip), ("cost", Part::Cost)])
                {
                    near(&place(name), part(one), number(&expected[name]));
                }
                for (style, factor) in model.config().styles.iter().enumerate() {
                    let name = format!("style:{}", factor.name());
                    near(&place(&name), part(Part::Style(style)), number(&expected[&name]));
                }
                near(&place("port"), sums.iter().sum(), number(&expected["port"]));
            }
            let last = own.cumulative(basis).pop().unwrap();
            for (cell, sum) in last.iter().zip(own.linked(basis, Linking::Carino)) {
                near("the last cumulative row", *cell, sum);
            }
        }
    }
    println!("{} portfolios linked", linked.as_object().unwrap().len());
}

fn without_trades_the_three_bases_agree_of(golden: &Golden) {
    let model = golden.fit(|_| {});
    let ledger = Ledger::read(golden);
    let mut days = 0;
    for portfolio in portfolios(&Table::read(&golden.folder, "contrib_daily.csv")) {
        let books = ledger.play(&portfolio, golden.days.clone());
        let own = split(&model, &books);
        for (place, book) in books.iter().enumerate() {
            if book.fees_cny > 0.0 {
                continue;
            }
            let row = |basis| own.parts(basis).rows().nth(place).unwrap().to_vec();
            for ((pre, post), two) in row(WeightBasis::Pre)
                .iter()
                .zip(row(WeightBasis::Post))
                .zip(row(WeightBasis::Two))
            {
                assert!((pre - post).abs() <= TOLERANCE && (pre - two).abs() <= TOLERANCE);
            }
            days += 1;
        }
    }
    println!("{days} days without trades");
    assert!(days > 0);
}

fn thin_days_leave_everything_unattributed_of(golden: &Golden) {
    let misc = json(&golden.folder, "misc.json");
    let least = whole(&misc["thin_min_cross_section"]);
    let model = golden.fit(|config| config.min_names = least);
    let rows = misc["thin"].as_array().unwrap();
    let days = golden.days.start..golden.days.start + rows.len();
    let own = split(&model, &Ledger::read(golden).play("bh_ew", days));
    let parts = own.parts(WeightBasis::Pre);
    for (place, row) in rows.iter().enumerate() {
        let cells = parts.rows().nth(place).unwrap();
        let number = |key: &str| number(&row[key]);
        near("thin R", own.returns()[place], number("R"));
        near(
            "thin unattributed",
            parts.part(cells, Part::Unattributed),
            number("unattr"),
        );
        near(
            "thin timing",
            parts.part(cells, Part::Execution),
            number("timing"),
        );
        near("thin cost", parts.part(cells, Part::Cost), number("cost"));
        near("thin selection", parts.part(cells, Part::Selection), 0.0);
        near("thin common", parts.part(cells, Part::Common), 0.0);
    }
}

fn carino_weights_at_their_limits_of(folder: &Path) {
    for (name, case) in json(folder, "misc.json")["carino"].as_object().unwrap() {
        let weights = carino_weights(&numbers(&case["R"]));
        for (own, expected) in weights.iter().zip(numbers(&case["weight"])) {
            assert!((own - expected).abs() <= 1e-12 * expected.abs(), "{name}");
        }
        let parts: Vec<Vec<f64>> = case["c"].as_array().unwrap().iter().map(numbers).collect();
        let linked: f64 = parts
            .iter()
            .zip(&weights)
            .map(|(row, weight)| weight * row.iter().sum::<f64>())
            .sum();
        near(name, linked, number(&case["total"]));
    }
}
