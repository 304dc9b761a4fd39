//! The curve as a report.

use super::leakage::ClassLeakage;
use super::picture::{picture, render};
use super::record::{Curve, Rung, StrategyCost};
use ktd_probes::{AttackerClass, Measure, ProbeKind};
use ktd_study::{Report, Section, Shown};
use ktd_view::draw::{Align, Column, RowCells, TableCell, TableData, joined};

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

/// Leakage beside what is left to see, what the strongest attacker recovers of each kind of probe, and what the strategies earn:
/// a row a rung.
pub(super) fn curve_report(curve: &Curve) -> Report {
    Report {
        title: format!(
            "{}: what each rung of numbers leaks, and what it leaves to see",
            curve.name
        ),
        verdict: verdict(curve),
        sections: vec![
            Section::new("Leakage and sight").picture(picture(curve)).table(
                "leakage",
                frontier(curve),
                Shown::Everywhere,
            ),
            Section::new("What is recovered").table("recovered", recovered(curve), Shown::Everywhere),
            Section::new("What strategies earn").table("earned", earned(curve), Shown::Everywhere),
        ],
        files: vec![("curve.svg".to_owned(), render(curve).into_bytes())],
        styles: vec![include_str!("page.css")],
        ..Report::default()
    }
}

/// The rung that leaks least to a price database and what it leaves, or those that the bounds do not tell apart.
fn verdict(curve: &Curve) -> String {
    let leaked = |rung| Some((rung, Rung::leaked(rung, AttackerClass::Database)?));
    let bounds: Vec<(&Rung, &ClassLeakage)> = curve.rungs.iter().filter_map(leaked).collect();
    let least = bounds
        .iter()
        .map(|(_, leaked)| leaked.bits_at_most)
        .fold(f64::INFINITY, f64::min);
    let (open, others): (Vec<_>, Vec<_>) = bounds
        .iter()
        .partition(|(_, leaked)| leaked.bits_at_least <= least);
    match open.as_slice() {
        [] => "no probe of a rung was put to a price database".to_owned(),
        [(rung, leaked)] => format!(
            "{} leaks least to a price database: {}; the order of the nine factors that it leaves has a rank correlation of {} \
             with exact numbers",
            rung.numeric.label(),
            between(leaked),
            seen(rung.sight.mean)
        ),
        several => {
            let names = several
                .iter()
                .map(|(rung, leaked)| format!("{} ({})", rung.numeric.label(), between(leaked)));
            let names: Vec<String> = names.collect();
            let rest = if others.is_empty() {
                ""
            } else {
                "; the others leak more"
            };
            format!(
                "these probes do not show which of {} leaks least to a price database: more probes narrow the bounds{rest}",
                joined(&names)
            )
        }
    }
}

fn between(leaked: &ClassLeakage) -> String {
    format!("{:.2} to {:.2} bits", leaked.bits_at_least, leaked.bits_at_most)
}

fn table(
    title: &str,
    curve: &Curve,
    heads: impl IntoIterator<Item = String>,
    row: impl Fn(&Rung) -> Vec<TableCell>,
) -> TableData {
    let heads: Vec<String> = std::iter::once("numbers".to_owned()).chain(heads).collect();
    let rows = curve.rungs.iter().map(|rung| {
        let name = rung.numeric.label().to_owned();
        std::iter::once(TableCell::Text(name)).chain(row(rung)).collect()
    });
    // The first names a rung; the others are numbers in words.
    let cells = std::iter::once(RowCells::Text).chain(std::iter::repeat(RowCells::Number));
    let columns = heads.iter().zip(cells);
    TableData::new(
        title,
        columns.map(|(head, cells)| Column::new(head, Align::Left).of(cells)),
    )
    .with_rows(rows)
}

fn frontier(curve: &Curve) -> TableData {
    let classes: Vec<AttackerClass> = AttackerClass::ALL
        .into_iter()
        .filter(|class| curve.rungs.iter().any(|rung| rung.leaked(*class).is_some()))
        .collect();
    let heads = classes.iter().map(|class| format!("bits: {}", class.label()));
    let heads = heads.chain(["factors", "forecast"].map(str::to_owned));
    let row = |rung: &Rung| -> Vec<TableCell> {
        let leaked = classes.iter().map(|class| bits(rung.leaked(*class)));
        let sight = [rung.sight.mean, rung.sight.forecast].map(correlation);
        let strategies = rung
            .strategies
            .iter()
            .map(|cost| correlation(cost.rank_correlation));
        leaked.chain(sight).chain(strategies).collect()
    };
    table("Leakage", curve, heads.chain(strategies(curve)), row)
        .with_note(
            "bits: how many times more often than the best blind guess an attacker's first guess is the stock, as a binary \
             logarithm: at least, and in brackets at most, for all attackers together",
        )
        .with_note(
            "others: rank correlation with the order under exact numbers (its square is the share of the variance), of the nine factors (mean), of a forecast of the next \
             day's return, and of what two strategies rank by",
        )
}

fn strategies(curve: &Curve) -> Vec<String> {
    let first = curve.rungs.first().into_iter();
    let costs = first.flat_map(|rung| &rung.strategies);
    costs.map(|cost| cost.strategy.builtin().to_owned()).collect()
}

fn bits(leakage: Option<&ClassLeakage>) -> TableCell {
    leakage.map_or_else(
        || TableCell::Missing("no attacker of the class was asked".to_owned()),
        |leakage| {
            let shown = format!("{:.2} ({:.2})", leakage.bits_at_least, leakage.bits_at_most);
            TableCell::Worded(leakage.bits_at_least, shown)
        },
    )
}

fn correlation(seen: Option<f64>) -> TableCell {
    let missing = || TableCell::Missing("no day has both orders".to_owned());
    seen.map_or_else(missing, TableCell::Fine)
}

fn seen(correlation: Option<f64>) -> String {
    correlation.map_or_else(|| "n/a".to_owned(), |seen| format!("{seen:.3}"))
}

fn recovered(curve: &Curve) -> TableData {
    let is_asked = |(kind, measure): &(ProbeKind, Measure)| {
        let mut rungs = curve.rungs.iter();
        rungs.any(|rung| rung.strongest(*kind, *measure).is_some())
    };
    let asked: Vec<(ProbeKind, Measure)> = KINDS.into_iter().filter(is_asked).collect();
    let heads = asked
        .iter()
        .map(|(kind, measure)| format!("{} {}", kind.label(), measure.label()));
    let cell = |rung: &Rung, kind, measure| {
        rung.strongest(kind, measure).map_or(TableCell::Empty, |found| {
            let (share, chance) = (found.share * 100.0, found.chance * 100.0);
            let shown = format!("{share:.1} ({chance:.1}) {}", found.attacker);
            TableCell::Worded(found.share, shown)
        })
    };
    let row = |rung: &Rung| {
        asked
            .iter()
            .map(|(kind, measure)| cell(rung, *kind, *measure))
            .collect()
    };
    table("Recovered", curve, heads, row).with_note(
        "the strongest attacker's share in percent, with chance in brackets, by kind of probe and measure",
    )
}

fn earned(curve: &Curve) -> TableData {
    let cell = |cost: &StrategyCost| {
        let Some(earned) = cost.mean_return else {
            return TableCell::Missing("no episode was traded".to_owned());
        };
        let in_percent = format!("{:.2}", earned * 100.0);
        let shown = cost.difference.map_or(in_percent.clone(), |difference| {
            format!(
                "{in_percent} ({:+.2} \u{b1} {:.2})",
                difference.mean * 100.0,
                difference.standard_error * 100.0
            )
        });
        TableCell::Worded(earned, shown)
    };
    let row = |rung: &Rung| rung.strategies.iter().map(cell).collect();
    table("Earned", curve, strategies(curve), row).with_note(
        "mean total return in percent, with its difference to exact numbers and the difference's standard error",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::record::FactorSight;
    use ktd_masking::Numeric;
    use std::collections::BTreeMap;

    fn rung(numeric: Numeric, (bits_at_least, bits_at_most): (f64, f64)) -> Rung {
        let leaked = ClassLeakage {
            class: AttackerClass::Database,
            attacker: "one".to_owned(),
            share: 0.0,
            chance: 0.0,
            bits_at_least,
            bits_at_most,
        };
        let sight = FactorSight {
            factors: BTreeMap::new(),
            mean: None,
            forecast: None,
            days: 0,
        };
        Rung {
            numeric,
            recovery: Vec::new(),
            leakage: vec![leaked],
            sight,
            strategies: Vec::new(),
        }
    }

    /// A rung leaks least where its upper bound is below the lower bounds of all others, and else none is told to.
    #[test]
    fn bounds_that_overlap_name_no_least() {
        let told = |bands: (f64, f64)| {
            verdict(&Curve {
                name: "c".to_owned(),
                confidence: 0.95,
                probes: BTreeMap::new(),
                rungs: vec![
                    rung(Numeric::Exact, (5.75, 5.87)),
                    rung(Numeric::Ranked, bands),
                    rung(Numeric::Banded, (0.0, 5.46)),
                ],
            })
        };
        let tied = told((0.06, 5.46));
        assert!(
            tied.starts_with("these probes do not show which of ranked (0.06 to 5.46 bits) and banded"),
            "{tied}"
        );
        let won = told((5.5, 5.87));
        assert!(won.starts_with("banded leaks least"), "{won}");
    }
}
