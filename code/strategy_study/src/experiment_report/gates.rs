//! T1, T10, T11: which gates ranked versions pass, what static warnings are worth, and what stops first versions.

use super::material::StrategyReport;
use crate::cells::{figure, text};
use crate::number::as_number;
use crate::rows::VersionRow;
use crate::run::SubmissionFound;
use ktd_strategy_code::Gate;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::report_table::ReportTable;
use std::collections::BTreeMap;

/// Whether a version passes a gate.
pub(super) fn passes(version: &VersionRow, gate: Gate) -> bool {
    version.passed.iter().any(|name| name == gate.label())
}

/// T1: how many ranked versions of each model pass each gate.
pub(super) fn by_model(report: &StrategyReport) -> ReportTable {
    let mut heads = vec![("model", Left), ("submissions", Right), ("ranked", Right)];
    heads.extend(Gate::ALL.map(|gate| (gate.label(), Right)));
    heads.extend([("no warning", Right), ("valid", Right), ("valid share", Right)]);
    let all: Vec<&SubmissionFound> = report.submissions.iter().collect();
    let models = report.models().into_iter();
    let rows = models
        .map(|model| gate_row(model, &report.of_model(model).collect::<Vec<_>>()))
        .chain(std::iter::once(gate_row("all models", &all)));
    let data = TableData::new("T1. Gates that ranked versions pass", heads)
        .with_rows(rows)
        .with_note(
            "a gate after one that makes it impossible is not reached, so that parse, schema and exec never increase; no \
             warning: of those that run, how many the published static search for look-ahead lets through, which decides \
             nothing here",
        );
    ReportTable::new("T1_gates", data)
}

fn gate_row(name: &str, submissions: &[&SubmissionFound]) -> Vec<TableCell> {
    let ranked: Vec<&VersionRow> = submissions.iter().filter_map(|own| own.ranked()).collect();
    let of = |is: &dyn Fn(&VersionRow) -> bool| ranked.iter().filter(|version| is(version)).count();
    let valid = of(&|version| version.valid);
    let share = (!submissions.is_empty()).then(|| as_number(valid) / as_number(submissions.len()));
    let mut row = vec![
        text(name),
        TableCell::Count(submissions.len()),
        TableCell::Count(ranked.len()),
    ];
    row.extend(Gate::ALL.map(|gate| TableCell::Count(of(&|version| passes(version, gate)))));
    row.push(TableCell::Count(of(&|version| {
        passes(version, Gate::Exec) && version.warnings == 0
    })));
    row.push(TableCell::Count(valid));
    row.push(figure(share, TableCell::Percent, "no submission"));
    row
}

/// T10: static warnings against leaks that replaced futures found, over all versions that ran.
pub(super) fn warnings(report: &StrategyReport) -> ReportTable {
    let ran = || {
        let versions = report.submissions.iter().flat_map(|own| &own.rows.versions);
        versions.filter(|version| passes(version, Gate::Exec))
    };
    let rows = [("warned", true), ("not warned", false)].map(|(name, is_warned)| {
        let own = || ran().filter(|version| (version.warnings > 0) == is_warned);
        let leaks = own().filter(|version| !passes(version, Gate::AntiLeak)).count();
        let all = own().count();
        let share = (all > 0).then(|| as_number(leaks) / as_number(all));
        vec![
            text(name),
            TableCell::Count(leaks),
            TableCell::Count(all - leaks),
            figure(share, TableCell::Percent, "no version that runs"),
        ]
    });
    let heads = [
        ("static check", Left),
        ("looks ahead", Right),
        ("does not", Right),
        ("leaks", Right),
    ];
    let found = |is_warned: bool| {
        let leaks = ran().filter(|version| !passes(version, Gate::AntiLeak));
        leaks
            .filter(|version| (version.warnings > 0) == is_warned)
            .count()
    };
    let note = format!(
        "of {} leaks that changed futures found, {} were warned of",
        found(true) + found(false),
        found(true)
    );
    let data = TableData::new("T10. Static warnings against leaks", heads)
        .with_rows(rows)
        .with_note(note);
    ReportTable::new("T10_warnings", data)
}

/// T11: where first versions fail, by model.
pub(super) fn failures(report: &StrategyReport) -> ReportTable {
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for submission in &report.submissions {
        if let Some(first) = submission.rows.versions.first() {
            *reasons.entry((&submission.rows.model, &first.gates)).or_insert(0) += 1;
        }
    }
    let rows = reasons
        .into_iter()
        .map(|((model, gates), count)| vec![text(model), text(gates), TableCell::Count(count)]);
    let heads = [("model", Left), ("first version", Left), ("submissions", Right)];
    let data = TableData::new("T11. What stops first versions", heads).with_rows(rows);
    ReportTable::new("T11_failures", data)
}

#[cfg(test)]
mod tests {
    use super::super::material::fixture::{records, report, submission, version};
    use super::*;

    fn four() -> StrategyReport {
        let plain = |model: &str, versions: Vec<VersionRow>| submission((model, "S01"), versions, Vec::new());
        report(
            vec![
                plain("a", vec![version(0, 2, None), version(1, 6, Some("towards"))]),
                plain("a", vec![version(0, 4, None)]),
                plain("a", Vec::new()),
                plain("b", vec![version(0, 1, None)]),
            ],
            None,
        )
    }

    #[test]
    fn counts_by_gate_are_monotone_and_a_submission_without_a_version_passes_none() {
        let gates = records(&by_model(&four()));
        assert_eq!(gates[1][..10], ["a", "3", "2", "2", "2", "2", "2", "1", "1", "1"]);
        assert_eq!(gates[2][..10], ["b", "1", "1", "1", "0", "0", "0", "0", "0", "0"]);
        assert_eq!(
            gates[3][..10],
            ["all models", "4", "3", "3", "2", "2", "2", "1", "1", "1"]
        );
        for row in &gates[1..] {
            let counts: Vec<usize> = row[3..6].iter().map(|cell| cell.parse().unwrap()).collect();
            assert!(counts.windows(2).all(|two| two[0] >= two[1]), "{row:?}");
        }
    }

    #[test]
    fn warnings_are_beside_leaks_and_failures_are_of_first_versions() {
        let report = four();
        let found = records(&warnings(&report));
        assert_eq!(
            found[1..],
            [["warned", "1", "0", "1"], ["not warned", "0", "1", "0"]]
        );
        let found = records(&failures(&report));
        assert_eq!(
            found[1..],
            [["a", "anti_leak", "1"], ["a", "exec", "1"], ["b", "schema", "1"]]
        );
    }
}
