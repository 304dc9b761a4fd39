//! The pool of a search as a table.

use super::pool::{MinedFormula, MinedPool};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// The pool as a table.
pub(super) fn mined_table(pool: &MinedPool) -> TableData {
    let heads = [
        ("id", Left),
        ("valid PPS", Right),
        ("train PPS", Right),
        ("formula", Left),
        ("nodes", Right),
        ("train RankIC", Right),
        ("valid RankIC", Right),
        ("RRE", Right),
        ("PFS_N", Right),
        ("correlation", Right),
    ];
    let row = |formula: &MinedFormula| {
        let number = |value: Option<f64>| TableCell::optional(value, TableCell::Fine);
        let sign = if formula.is_turned { "-" } else { "" };
        vec![
            TableCell::Text(formula.id.clone()),
            number(formula.valid.get("pps")),
            number(formula.train.get("pps")),
            TableCell::Text(format!("{sign}{}", formula.expression)),
            TableCell::Count(formula.nodes),
            number(formula.train.get("rank_ic")),
            number(formula.valid.get("rank_ic")),
            number(formula.train.get("rre")),
            number(formula.train.get("pfs_n")),
            number(formula.train.get("correlation")),
        ]
    };
    let title = format!(
        "{}: {} formulas of {} tried ({})",
        pool.name,
        pool.formulas.len(),
        pool.tried,
        pool.method
    );
    TableData::new(title, heads).with_rows(pool.formulas.iter().map(row))
}
