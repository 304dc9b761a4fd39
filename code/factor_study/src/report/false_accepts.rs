//! How many wrong factors each accuracy rule takes.

use super::rates::text;
use crate::run::JudgedOn;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// Table 12: no model has a part in it.
pub(super) fn table(world: &JudgedOn) -> TableData {
    let heads = [
        ("wrong ending", Left),
        ("tasks", Right),
        ("published rule takes", Right),
        ("strict rule takes", Right),
    ];
    let rows = world.false_accepts.iter().map(|row| {
        vec![
            text(&row.ending),
            TableCell::Count(row.tasks),
            TableCell::Count(row.published),
            TableCell::Count(row.strict),
        ]
    });
    TableData::new("T12. Wrong factors that each accuracy rule takes", heads)
        .with_rows(rows)
        .with_note("a warm-up that has no missing value is not changed by filling it")
}
