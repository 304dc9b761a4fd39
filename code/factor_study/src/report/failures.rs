//! Tables of what is wrong with functions.

use super::cells::ReportedCell;
use super::rates::{bounded, count, missing, text};
use ktd_factor_code::{FailureClass, Funnel, TaskGroup, TaskRate};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

fn funnel(reported: &ReportedCell<'_>) -> Funnel {
    Funnel::of(&reported.last(), TaskGroup::All, &reported.rules)
}

/// Table 4: the first layer that is failed.
pub(super) fn classes(cells: &[ReportedCell<'_>]) -> TableData {
    let mut heads = vec![("bundle", Left), ("tasks", Right)];
    heads.extend(FailureClass::ALL.map(|class| (class.code(), Right)));
    heads.push(("all layers", Right));
    let rows = cells.iter().map(|reported| {
        let funnel = funnel(reported);
        let share = |passed: u64| {
            let rate = TaskRate {
                passed,
                tasks: funnel.tasks,
            };
            rate.share()
                .map_or_else(|| missing("no task"), TableCell::Percent)
        };
        let mut row = vec![text(reported.name()), count(funnel.tasks)];
        let failed = |class| funnel.failures.get(&class).copied().unwrap_or(0);
        row.extend(FailureClass::ALL.map(|class| share(failed(class))));
        let all: u64 = FailureClass::ALL.map(failed).iter().sum();
        row.push(share(funnel.tasks - all));
        row
    });
    TableData::new("T4. The first layer that is failed, shares of all tasks", heads).with_rows(rows)
}

/// Reasons, near misses and flags below table 4.
pub(super) fn reasons(cells: &[ReportedCell<'_>]) -> TableData {
    let heads = [("bundle", Left), ("kind", Left), ("code", Left), ("tasks", Right)];
    let mut rows = Vec::new();
    for reported in cells {
        let funnel = funnel(reported);
        let kinds = [
            ("reason", &funnel.execution_reasons),
            ("near miss", &funnel.near_misses),
            ("flag", &funnel.flags),
        ];
        for (kind, counts) in kinds {
            for (code, tasks) in counts {
                rows.push(vec![text(reported.name()), text(kind), text(code), count(*tasks)]);
            }
        }
        let memory = reported.last();
        let flagged = |of: &dyn Fn(&ktd_factor_code::FactorVerdict) -> bool| {
            memory
                .iter()
                .filter(|judged| judged.verdict.is_some_and(of))
                .count()
        };
        let metamorphic = [
            (
                "date_dependent",
                flagged(&|verdict| verdict.is_date_dependent == Some(true)),
            ),
            (
                "price_memory",
                flagged(&|verdict| verdict.has_price_memory(&reported.rules)),
            ),
            (
                "scale_error",
                flagged(&|verdict| verdict.is_scale_error(&reported.rules)),
            ),
        ];
        for (code, tasks) in metamorphic.into_iter().filter(|(_, tasks)| 0 < *tasks) {
            rows.push(vec![
                text(reported.name()),
                text("flag"),
                text(code),
                TableCell::Count(tasks),
            ]);
        }
    }
    TableData::new("T4. Reasons of failures, near misses and flags", heads)
        .with_rows(rows)
        .with_note("near miss: which wrong factor was written, of functions that are safe and not right")
}

/// Table 5: the share of vectorised functions.
pub(super) fn structure(cells: &[ReportedCell<'_>]) -> TableData {
    let mut heads = vec![("bundle", Left)];
    for head in ["of those that run", "of the safe"] {
        heads.extend([
            ("functions", Right),
            (head, Right),
            ("low", Right),
            ("high", Right),
        ]);
    }
    heads.push(("right on degenerate bars", Right));
    let rows = cells.iter().map(|reported| {
        let funnel = funnel(reported);
        let mut row = vec![text(reported.name())];
        for rate in [funnel.vectorised_among_running(), funnel.vectorised_among_safe()] {
            row.push(count(rate.tasks));
            row.extend(bounded(rate));
        }
        row.push(count(funnel.robust));
        row
    });
    TableData::new("T5. Vectorised functions (CSR)", heads).with_rows(rows)
}
