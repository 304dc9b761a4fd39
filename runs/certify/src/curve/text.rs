//! The curve as tables.

use super::leakage::ClassLeakage;
use super::record::{Curve, Rung};
use ktd_probes::{AttackerClass, Measure, ProbeKind};
use ktd_view::draw::{Align, Table};
use std::fmt::Write;

/// What the table of recoveries shows of each kind of probe.
const KINDS: [(ProbeKind, Measure); 8] = [
    (ProbeKind::Day, Measure::Top5),
    (ProbeKind::Days, Measure::Top5),
    (ProbeKind::Episode, Measure::Top5),
    (ProbeKind::Episode, Measure::Joint),
    (ProbeKind::Linked, Measure::Same),
    (ProbeKind::Asked, Measure::Top5),
    (ProbeKind::Asked, Measure::Date20),
    (ProbeKind::AskedDated, Measure::Top5),
];

/// Three tables with a row a rung: leakage beside what is left to see, what the strongest attacker recovers of each kind of
/// probe, and what the strategies earn.
#[must_use]
pub fn table(curve: &Curve) -> String {
    let mut text = frontier(curve);
    // Writing to a string cannot fail.
    writeln!(
        text,
        "\nBits: how many times more often than the best blind guess the strongest attacker's first guess is the stock, as a \
         binary logarithm, and in brackets at most. Sees: rank correlation with the order under exact numbers, of the nine \
         factors (mean), of a forecast of the next day's return, and of what two strategies rank by.\n"
    )
    .ok();
    text.push_str(&recovered(curve));
    text.push_str(
        "\nRecovered: the strongest attacker's share in percent, with chance in brackets, by kind of probe and measure.\n\n",
    );
    text.push_str(&earned(curve));
    text.push_str(
        "\nEarns: mean total return in percent, with its difference to exact numbers and the difference's standard error.\n",
    );
    text
}

fn frontier(curve: &Curve) -> String {
    let classes: Vec<AttackerClass> = AttackerClass::ALL
        .into_iter()
        .filter(|class| curve.rungs.iter().any(|rung| rung.leaked(*class).is_some()))
        .collect();
    let heads: Vec<String> = classes
        .iter()
        .map(|class| format!("bits: {}", class.label()))
        .collect();
    let mut columns = vec![("numbers", Align::Left)];
    columns.extend(heads.iter().map(|head| (head.as_str(), Align::Right)));
    columns.extend(["factors", "forecast"].map(|head| (head, Align::Right)));
    columns.extend(strategies(curve).into_iter().map(|name| (name, Align::Right)));
    let mut table = Table::new(&columns);
    for rung in &curve.rungs {
        let mut row = vec![rung.numeric.label().to_owned()];
        row.extend(classes.iter().map(|class| bits(rung.leaked(*class))));
        row.extend([seen(rung.sight.mean), seen(rung.sight.forecast)]);
        row.extend(rung.strategies.iter().map(|cost| seen(cost.rank_correlation)));
        table.row(row);
    }
    table.render()
}

fn strategies(curve: &Curve) -> Vec<&'static str> {
    let first = curve.rungs.first().into_iter();
    first
        .flat_map(|rung| rung.strategies.iter().map(|cost| cost.strategy.builtin()))
        .collect()
}

fn bits(leakage: Option<&ClassLeakage>) -> String {
    leakage.map_or_else(
        || "n/a".to_owned(),
        |leakage| format!("{:.2} ({:.2})", leakage.bits, leakage.bits_at_most),
    )
}

fn seen(correlation: Option<f64>) -> String {
    correlation.map_or_else(|| "n/a".to_owned(), |seen| format!("{seen:.3}"))
}

fn recovered(curve: &Curve) -> String {
    let is_asked = |(kind, measure): &(ProbeKind, Measure)| {
        let mut rungs = curve.rungs.iter();
        rungs.any(|rung| rung.strongest(*kind, *measure).is_some())
    };
    let asked: Vec<(ProbeKind, Measure)> = KINDS.into_iter().filter(is_asked).collect();
    let heads: Vec<String> = asked
        .iter()
        .map(|(kind, measure)| format!("{} {}", kind.label(), measure.label()))
        .collect();
    let mut columns = vec![("numbers", Align::Left)];
    columns.extend(heads.iter().map(|head| (head.as_str(), Align::Left)));
    let mut table = Table::new(&columns);
    for rung in &curve.rungs {
        let mut row = vec![rung.numeric.label().to_owned()];
        row.extend(asked.iter().map(|(kind, measure)| {
            rung.strongest(*kind, *measure).map_or_else(String::new, |found| {
                let (share, chance) = (found.share * 100.0, found.chance * 100.0);
                format!("{share:.1} ({chance:.1}) {}", found.attacker)
            })
        }));
        table.row(row);
    }
    table.render()
}

fn earned(curve: &Curve) -> String {
    let mut columns = vec![("numbers", Align::Left)];
    columns.extend(strategies(curve).into_iter().map(|name| (name, Align::Right)));
    let mut table = Table::new(&columns);
    for rung in &curve.rungs {
        table.row(returns(rung));
    }
    table.render()
}

fn returns(rung: &Rung) -> Vec<String> {
    let mut row = vec![rung.numeric.label().to_owned()];
    for cost in &rung.strategies {
        let earned = cost
            .mean_return
            .map_or_else(|| "n/a".to_owned(), |earned| format!("{:.2}", earned * 100.0));
        row.push(cost.difference.map_or(earned.clone(), |difference| {
            format!(
                "{earned} ({:+.2} \u{b1} {:.2})",
                difference.mean * 100.0,
                difference.standard_error * 100.0
            )
        }));
    }
    row
}
