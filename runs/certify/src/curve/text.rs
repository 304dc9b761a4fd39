//! The curve as a table.

use super::record::{Curve, Rung};
use ktd_probes::{Measure, ProbeKind};
use ktd_view::draw::{Align, Table};
use std::fmt::Write;

/// What the table shows of each kind of probe.
const KINDS: [(ProbeKind, Measure); 5] = [
    (ProbeKind::Day, Measure::Top5),
    (ProbeKind::Days, Measure::Top5),
    (ProbeKind::Episode, Measure::Top5),
    (ProbeKind::Episode, Measure::Joint),
    (ProbeKind::Linked, Measure::Same),
];

/// One row a rung: what the strongest attacker recovers, beside what the strategies see and earn.
#[must_use]
pub fn table(curve: &Curve) -> String {
    let asked: Vec<(ProbeKind, Measure)> = KINDS
        .into_iter()
        .filter(|(kind, measure)| {
            curve
                .rungs
                .iter()
                .any(|rung| rung.strongest(*kind, *measure).is_some())
        })
        .collect();
    let heads: Vec<String> = asked
        .iter()
        .map(|(kind, measure)| format!("{} {}", kind.label(), measure.label()))
        .collect();
    let strategies: Vec<&str> = curve
        .rungs
        .first()
        .map(|rung| {
            rung.strategies
                .iter()
                .map(|cost| cost.strategy.builtin())
                .collect()
        })
        .unwrap_or_default();
    let costs: Vec<[String; 2]> = strategies
        .iter()
        .map(|name| [format!("{name} sees"), format!("{name} earns")])
        .collect();
    let mut columns = vec![("numbers", Align::Left)];
    columns.extend(heads.iter().map(|head| (head.as_str(), Align::Left)));
    columns.extend(costs.iter().flatten().map(|head| (head.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for rung in &curve.rungs {
        table.row(row(rung, &asked));
    }
    let mut text = table.render();
    // Writing to a string cannot fail.
    writeln!(
        text,
        "\nRecovered: the strongest attacker's share in percent, with chance in brackets. Sees: rank correlation with the \
         order under exact numbers. Earns: mean total return in percent, with its difference to exact numbers and the \
         difference's standard error."
    )
    .ok();
    text
}

fn row(rung: &Rung, asked: &[(ProbeKind, Measure)]) -> Vec<String> {
    let mut row = vec![rung.numeric.label().to_owned()];
    row.extend(asked.iter().map(|(kind, measure)| {
        rung.strongest(*kind, *measure).map_or_else(String::new, |found| {
            let (share, chance) = (found.share * 100.0, found.chance * 100.0);
            format!("{share:.1} ({chance:.1}) {}", found.attacker)
        })
    }));
    for cost in &rung.strategies {
        row.push(
            cost.rank_correlation
                .map_or_else(|| "n/a".to_owned(), |seen| format!("{seen:.3}")),
        );
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
