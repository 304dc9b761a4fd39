//! An attribution in words.

use ktd_board::{AttributionReport, Bounds, ByBasis, DateBounds, Linked, Linking, WeightBasis};
use ktd_view::draw::basis_points;
use ktd_view::table::{Align, Table};
use std::fmt::Write;

/// An attribution for people: a row a part, a column a basis.
pub(super) fn text(report: &AttributionReport, linking: Linking) -> String {
    let DateBounds { first, last } = &report.dates;
    let span = if first.is_empty() {
        "which the mask hides (--real names them)".to_owned()
    } else {
        format!("{first} to {last}")
    };
    format!(
        "{}\n{}{} trading days, {span}; linked: {}\n{}{}",
        report.subject,
        verdict(report),
        report.days,
        linking.label(),
        parts_table(report, linking).render(),
        remarks(report)
    )
}

fn parts_table(report: &AttributionReport, linking: Linking) -> Table {
    let bases: Vec<(&str, &Linked)> = WeightBasis::ALL
        .into_iter()
        .filter_map(|basis| Some((basis.label(), report.parts.as_ref()?.get(basis))))
        .map(|(basis, parts)| {
            let linked = match linking {
                Linking::Carino => &parts.carino,
                Linking::Pnl => &parts.pnl,
                Linking::Sum => &parts.sum,
            };
            (basis, linked)
        })
        .collect();
    let heads: Vec<(&str, Align)> = std::iter::once(("", Align::Left))
        .chain(bases.iter().map(|(basis, _)| (*basis, Align::Right)))
        .chain([("exposure", Align::Right)])
        .collect();
    let mut table = Table::new(&heads);
    let percent = |value: f64| format!("{:+.3} %", value * 100.0);
    let missing = || "n/a".to_owned();
    let mut row = |name: &str, of: &dyn Fn(&Linked) -> Option<f64>, last: String| {
        let cells = bases
            .iter()
            .map(|(_, linked)| of(linked).map_or_else(missing, percent));
        table.row(std::iter::once(name.to_owned()).chain(cells).chain([last]));
    };
    let none = String::new;
    row("common", &|linked| linked.common, none());
    row("  of which timing", &|linked| linked.market_timing, none());
    for (place, style) in report.model.styles.iter().enumerate() {
        let exposure = report.exposures.as_ref().and_then(|all| all.get(place));
        let of = |linked: &Linked| linked.styles.get(place).copied();
        let exposure = exposure.map_or_else(none, |exposure| format!("{exposure:.2}"));
        row(&format!("  {style}"), &of, exposure);
    }
    row("style", &|linked| linked.style, none());
    row("  of which timing", &|linked| linked.style_timing, none());
    row("selection", &|linked| linked.selection, none());
    row("  of which sector", &|linked| linked.selection_sector, none());
    row("  by fitted residuals", &|linked| linked.selection_fitted, none());
    row("execution", &|linked| Some(linked.execution), none());
    row("slip", &|linked| Some(linked.slip), none());
    row("cost", &|linked| Some(linked.cost), none());
    row("rounding", &|linked| Some(linked.corporate), none());
    row("unattributed", &|linked| Some(linked.unattributed), none());
    row("portfolio", &|linked| Some(linked.portfolio), none());
    table
}

/// Whether what was selected is more than luck, in a sentence; nothing of an account without holdings.
fn verdict(report: &AttributionReport) -> String {
    let (Some(Bounds { low, high }), Some(own)) = (report.luck_band, report.selection_a_day) else {
        return String::new();
    };
    let standing = match own {
        above if high < above => "more than luck gives",
        below if below < low => "less than luck gives",
        _ => "no more than luck may give",
    };
    let t = report.selection_t.value;
    let t = t.map_or_else(|| "n/a".to_owned(), |t| format!("{t:.2}"));
    format!(
        "Selection of {} a day (Newey-West t {t}) is {standing}: 95 % of random portfolios with the same count, weights and \
         holding periods lie from {} to {}.\n",
        basis_points(own),
        basis_points(low),
        basis_points(high)
    )
}

fn remarks(report: &AttributionReport) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |line: String| writeln!(text, "{line}").unwrap_or_default();
    let gauge = report
        .parts
        .iter()
        .flat_map(ByBasis::values)
        .map(|parts| parts.daily_gauge)
        .fold(0.0, f64::max);
    line(format!("every day adds up within {gauge:.0e}"));
    let percent = |value: f64| format!("{:+.2} %", value * 100.0);
    if let Some(excess) = &report.excess {
        let parts = format!(
            ": benchmark basis {}, style {}, selection {}, other {}",
            percent(excess.benchmark_basis),
            percent(excess.style),
            percent(excess.selection),
            percent(excess.other)
        );
        let mut linked = report.parts.iter().flat_map(ByBasis::values);
        let is_split = linked.all(|parts| parts.carino.selection.is_some());
        let parts = if is_split { &*parts } else { "" };
        let whole = percent(excess.total);
        line(format!("beyond {} {whole}{parts}", report.benchmark_name));
    }
    if let Some((name, change)) = report
        .price_index_name
        .as_ref()
        .zip(report.price_index_return.value)
    {
        line(format!("{name}, which leaves dividends out: {}", percent(change)));
    }
    if let Some(reason) = &report.excess_reason {
        line(format!("no excess return: {reason}"));
    }
    for (days, what) in [
        (
            report.thin_days,
            "days had too thin a cross-section to fit: their P&L is unattributed",
        ),
        (
            report.uncovered_days,
            "days held a name that the model does not cover: its P&L is unattributed",
        ),
    ] {
        if 0 < days {
            line(format!("note: {days} {what}"));
        }
    }
    text
}
