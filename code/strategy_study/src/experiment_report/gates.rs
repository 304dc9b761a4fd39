//! T1, T10, T11: which gates ranked versions pass, what static warnings are worth, and what stops first versions.

use super::material::StrategyReport;
use crate::cells::share;
use crate::run::SubmissionFound;
use ktd_strategy_code::{Gate, VersionRow};
use ktd_view::draw::TableCell;
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use std::collections::BTreeMap;

/// Ranked versions of some submissions that pass a test.
fn ranked(submissions: &[&SubmissionFound], is: impl Fn(&VersionRow) -> bool) -> usize {
    let ranked = submissions.iter().filter_map(|own| own.rows.ranked());
    ranked.filter(|version| is(version)).count()
}

/// T1: how many ranked versions of each model pass each gate.
pub(super) fn by_model(report: &StrategyReport) -> ReportTable {
    let models = report.models().into_iter();
    let mut rows: Vec<(&str, Vec<&SubmissionFound>)> = models
        .map(|model| (model, report.of_model(model).collect()))
        .collect();
    rows.push(("all models", report.counted().collect()));
    let table = RowTable::new("T1. Gates that ranked versions pass", &rows)
        .text("model", |(name, _)| name)
        .count("submissions", |(_, own)| own.len())
        .count("ranked", |(_, own)| ranked(own, |_| true));
    let table = Gate::ALL.into_iter().fold(table, |table, gate| {
        table.count(gate.label(), |(_, own)| {
            ranked(own, |version| version.passes(gate))
        })
    });
    let is_unwarned = |version: &VersionRow| version.passes(Gate::Exec) && version.warnings == 0;
    let data = table
        .count("no warning", |(_, own)| ranked(own, is_unwarned))
        .count("valid", |(_, own)| ranked(own, |version| version.valid))
        .figure(
            "valid share",
            |(_, own)| share(ranked(own, |version| version.valid), own.len()),
            (TableCell::Percent, "no submission"),
        )
        .table()
        .with_note(
            "a gate after one that makes it impossible is not reached, so that parse, schema and exec never increase; no \
             warning: of those that run, how many the published static search for look-ahead lets through, which decides \
             nothing here",
        );
    ReportTable::new("T1_gates", data)
}

/// T10: static warnings against leaks that replaced futures found, over all versions that ran.
pub(super) fn warnings(report: &StrategyReport) -> ReportTable {
    let count = |is_warned: bool| {
        let versions = report.counted().flat_map(|own| &own.rows.versions);
        let ran = versions.filter(|version| version.passes(Gate::Exec));
        let own: Vec<&VersionRow> = ran
            .filter(|version| (version.warnings > 0) == is_warned)
            .collect();
        let leaks = own
            .iter()
            .filter(|version| !version.passes(Gate::AntiLeak))
            .count();
        (leaks, own.len())
    };
    let [warned, unwarned] = [true, false].map(count);
    let data = RowTable::new(
        "T10. Static warnings against leaks",
        [("warned", warned), ("not warned", unwarned)],
    )
    .text("static check", |(name, _)| name)
    .count("looks ahead", |(_, (leaks, _))| leaks)
    .count("does not", |(_, (leaks, all))| all - leaks)
    .figure(
        "leaks",
        |(_, (leaks, all))| share(leaks, all),
        (TableCell::Percent, "no version that runs"),
    )
    .table()
    .with_note(format!(
        "of {} leaks that changed futures found, {} were warned of",
        warned.0 + unwarned.0,
        warned.0
    ));
    ReportTable::new("T10_warnings", data)
}

/// T11: where first versions fail, by model.
pub(super) fn failures(report: &StrategyReport) -> ReportTable {
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for own in report.counted() {
        if let Some(first) = own.rows.versions.first() {
            *reasons.entry((&own.rows.model, &first.gates)).or_insert(0) += 1;
        }
    }
    let data = RowTable::new("T11. What stops first versions", reasons)
        .text("model", |((model, _), _)| model)
        .text("first version", |((_, gates), _)| gates)
        .count("submissions", |(_, count)| count)
        .table();
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
