//! Section 9: does the ranking hang on the settings of the factor model?

use super::{Heading, Picture, View, ranked};
use crate::SensitivityRow;
use crate::sheet::metric_cell;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, basis_points, scientific};

pub(super) const SECTION: Heading = Heading {
    id: "sensitivity",
    title: "Other settings of the model",
    lead: "Selection under other settings, and how well the ranking holds: Kendall\u{2019}s tau against the default is 1 \
           where no pair of agents changes places. Centre and scale of the z-scores move nothing, by construction; \
           weights and winsorising may.",
};

pub(super) fn body(View { board, track }: View<'_>) -> Picture {
    let rows = &board.sensitivity;
    if rows.is_empty() {
        return Err("No other setting was tried.");
    }
    let defaults: Vec<(&str, f64)> = ranked(track)
        .filter_map(|leader| Some((leader.agent.as_str(), leader.selection.as_ref()?.a_day)))
        .collect();
    Ok(table(rows, &defaults).html())
}

/// A change that may be one of rounding.
fn fine(share: f64) -> String {
    if share.abs() < 1e-6 {
        scientific(share)
    } else {
        basis_points(share)
    }
}

/// Selections by setting and agent, with the rank in brackets.
fn table(rows: &[SensitivityRow], defaults: &[(&str, f64)]) -> TableData {
    let agents = defaults.iter().map(|(agent, _)| (*agent, Right));
    let heads = [("setting", Left), ("tau", Right), ("largest daily change", Right)];
    let base: Vec<f64> = defaults.iter().map(|(_, value)| *value).collect();
    let first = [
        TableCell::Text("default".to_owned()),
        TableCell::Fine(1.0),
        TableCell::Empty,
    ];
    let default = first.into_iter().chain(with_ranks(&base)).collect();
    let others = rows.iter().map(|row| {
        let head = [
            TableCell::Text(row.setting.clone()),
            metric_cell(&row.kendall_tau, TableCell::Fine),
            TableCell::Text(fine(row.largest_daily_change)),
        ];
        head.into_iter().chain(with_ranks(&row.selection)).collect()
    });
    TableData::new(
        "Selection a day by setting, its rank in brackets",
        heads.into_iter().chain(agents),
    )
    .with_rows(std::iter::once(default).chain(others))
}

fn with_ranks(values: &[f64]) -> impl Iterator<Item = TableCell> {
    values.iter().map(|value| {
        let above = values.iter().filter(|other| value < other).count();
        TableCell::Text(format!("{} ({})", basis_points(*value), above + 1))
    })
}
