//! Tables of what is wrong with functions, and of the rules themselves.

use super::cells::ReportedCell;
use super::layers::{INTERVAL_NOTE, bounds, missing, rate_columns};
use crate::run::{GateFound, GatesFound, JudgedOn};
use ktd_factor_code::{FactorVerdict, FailureClass, Funnel, LayersPassed, TaskRate};
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;

/// The cells with the counts of all their first answers.
fn funnels<'c, 'r>(cells: &'c [ReportedCell<'r>]) -> Vec<(&'c ReportedCell<'r>, &'c Funnel)> {
    cells.iter().map(|cell| (cell, cell.funnel())).collect()
}

/// Table 4: the first layer that is failed.
pub(super) fn classes(cells: &[ReportedCell<'_>]) -> TableData {
    let share = |passed: u64, tasks: u64| {
        let share = TaskRate { passed, tasks }.share();
        share.map_or_else(|| missing("no task"), TableCell::Percent)
    };
    let failed = |funnel: &Funnel, class| funnel.failures.get(&class).copied().unwrap_or(0);
    let funnels = funnels(cells);
    let table = RowTable::new(
        "T4. The first layer that is failed, shares of all first answers",
        &funnels,
    )
    .text("bundle", |(cell, _)| cell.name())
    .count("answers", |(_, funnel)| funnel.answers());
    let table = FailureClass::ALL.into_iter().fold(table, |table, class| {
        table.column((class.code(), Right), |(_, funnel)| {
            share(failed(funnel, class), funnel.answers())
        })
    });
    table
        .column(("all layers", Right), |(_, funnel)| {
            let all: u64 = FailureClass::ALL.map(|class| failed(funnel, class)).iter().sum();
            share(funnel.answers() - all, funnel.answers())
        })
        .table()
}

/// Reasons, near misses and flags below table 4.
pub(super) fn reasons(cells: &[ReportedCell<'_>]) -> TableData {
    let mut rows: Vec<(&str, &str, &str, u64)> = Vec::new();
    for cell in cells {
        let funnel = cell.funnel();
        let kinds = [
            ("reason", &funnel.execution_reasons),
            ("near miss", &funnel.near_misses),
            ("flag", &funnel.flags),
        ];
        for (kind, counts) in kinds {
            rows.extend(
                counts
                    .iter()
                    .map(|(code, answers)| (cell.name(), kind, *code, *answers)),
            );
        }
        let first = cell.first();
        let flagged = |is: &dyn Fn(&FactorVerdict) -> bool| {
            let flagged = first.iter().filter(|judged| judged.verdict.is_some_and(is));
            u64::try_from(flagged.count()).unwrap_or(u64::MAX)
        };
        let metamorphic = [
            (
                "date_dependent",
                flagged(&|verdict| verdict.is_date_dependent == Some(true)),
            ),
            (
                "price_memory",
                flagged(&|verdict| verdict.has_price_memory(&cell.rules)),
            ),
            (
                "scale_error",
                flagged(&|verdict| verdict.is_scale_error(&cell.rules)),
            ),
        ];
        let found = metamorphic.into_iter().filter(|(_, tasks)| 0 < *tasks);
        rows.extend(found.map(|(code, tasks)| (cell.name(), "flag", code, tasks)));
    }
    RowTable::new(
        "T4. Reasons of failures, near misses and flags, of first answers",
        rows,
    )
    .text("bundle", |(cell, ..)| cell)
    .text("kind", |(_, kind, ..)| kind)
    .text("code", |(_, _, code, _)| code)
    .count("answers", |(.., answers)| answers)
    .table()
    .with_note(
        "near miss: which wrong factor was written, of functions that are safe and not right; \
         shift: the right values, moved by rows: shifted for safety where they are late",
    )
}

/// Table 5: the share of vectorised functions.
pub(super) fn structure(cells: &[ReportedCell<'_>]) -> TableData {
    let funnels = funnels(cells);
    let layers = [
        ("of those that run", LayersPassed::Runs),
        ("of the safe", LayersPassed::Safe),
    ];
    let table = RowTable::new("T5. Vectorised functions (CSR), of first answers", &funnels)
        .text("bundle", |(cell, _)| cell.name());
    let table = layers.into_iter().fold(table, |table, (head, layer)| {
        let table = table.count("functions", |(_, funnel)| funnel.vectorised_among(layer).answers);
        rate_columns(table, head, |(_, funnel)| bounds(&funnel.vectorised_among(layer)))
    });
    table
        .count("right on degenerate bars", |(_, funnel)| funnel.robust)
        .table()
        .with_note(INTERVAL_NOTE)
}

/// Table 12: how many wrong factors each accuracy rule takes; no model has a part in it.
pub(super) fn false_accepts(world: &JudgedOn) -> TableData {
    RowTable::new(
        "T12. Wrong factors that each accuracy rule takes",
        &world.false_accepts,
    )
    .text("wrong ending", |row| &row.ending)
    .count("tasks", |row| row.tasks)
    .count("published rule takes", |row| row.published)
    .count("strict rule takes", |row| row.strict)
    .table()
    .with_note("a warm-up that has no missing value is not changed by filling it")
}

/// What planted programs say of the gates of a run.
#[must_use]
pub fn gates_table(found: Option<&GatesFound>) -> TableData {
    let gates = found.map_or(&[][..], |found| &found.gates);
    let table = RowTable::new("Planted programs in the gates of this run", gates.iter())
        .text("programs", |gate| gate.kind.name())
        .count("of them", |gate| gate.programs)
        .count("found", |gate| gate.found)
        .count("lost", |gate| gate.lost);
    let of_programs = |gate: &GateFound| {
        let rate = gate.rate();
        (rate.share(), rate.interval())
    };
    let table = rate_columns(table, "share", of_programs).table();
    let note = if gates.is_empty() {
        "not measured in this run"
    } else {
        "of leaks and loops what is found is recall, of their clean twins it is a false alarm; low and high: Wilson's 95 % bounds, \
         5 of 100 are wrong"
    };
    table.with_note(note)
}
