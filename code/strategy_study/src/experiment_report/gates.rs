//! T1, T10, T11: which gates ranked versions pass, what static warnings are worth, and what stops first versions.

use super::material::StrategyReport;
use crate::cells::share;
use crate::run::SubmissionFound;
use ktd_stats::{Confidence, Interval, TrialCluster, clustered_share};
use ktd_strategy_code::{Gate, VersionRow};
use ktd_view::draw::{HeatCell, HeatMap, ShareMark, ShareRow, TableCell, captioned, decimals, share_rows};
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use maud::Markup;
use std::collections::BTreeMap;

/// Ranked versions of some submissions that pass a test.
fn ranked(submissions: &[&SubmissionFound], is: impl Fn(&VersionRow) -> bool) -> usize {
    let ranked = submissions.iter().filter_map(|own| own.rows.ranked());
    ranked.filter(|version| is(version)).count()
}

/// A gate, or all of them where there is none.
type Step = Option<Gate>;

/// The gates, then all of them.
fn steps() -> impl Iterator<Item = (&'static str, Step)> {
    let gates = Gate::ALL.into_iter().map(|gate| (gate.label(), Some(gate)));
    gates.chain([("valid", None)])
}

fn passes(version: &VersionRow, step: Step) -> bool {
    step.map_or(version.valid, |gate| version.passes(gate))
}

/// Which gates all submissions pass, as they were built and as they were mended.
pub(super) fn steps_picture(report: &StrategyReport) -> Markup {
    let all: Vec<&SubmissionFound> = report.counted().collect();
    let rows = steps().map(|(name, step)| {
        let first = all.iter().filter_map(|own| own.rows.versions.first());
        let built = first.filter(|version| passes(version, step)).count();
        let mended = ranked(&all, |version| passes(version, step));
        let dots = [(0, built, BUILT), (1, mended, MENDED)]
            .map(|(colour, passed, of)| ShareMark::dot(colour, share(passed, all.len()), of));
        ShareRow {
            name: name.to_owned(),
            marks: dots.into_iter().flatten().collect(),
        }
    });
    share_rows(
        "Build, test, patch: submissions that pass each gate, as they were built and as they are ranked (T11_failures.csv, T1_gates.csv)",
        &[BUILT, MENDED],
        &rows.collect::<Vec<_>>(),
    )
}

const BUILT: &str = "first version";
const MENDED: &str = "ranked version";

/// The share of each model's submissions whose ranked version passes each gate.
pub(super) fn models_picture(report: &StrategyReport) -> Markup {
    let rows = report.models().into_iter().map(|model| {
        let own: Vec<&SubmissionFound> = report.of_model(model).collect();
        let cell = |(name, step): (&str, Step)| {
            let passed = ranked(&own, |version| passes(version, step));
            let words = format!("{model}, {name}: {passed} of {}", own.len());
            share(passed, own.len()).map_or_else(
                || HeatCell::none(words.clone()),
                |share| HeatCell::of_share(share, decimals(share, 2), words.clone()),
            )
        };
        (model.to_owned(), steps().map(cell).collect())
    });
    let map = HeatMap {
        columns: steps().map(|(name, _)| name.to_owned()).collect(),
        rows: rows.collect(),
    };
    let caption = "Share of each model's submissions whose ranked version passes each gate; stronger from .2, .4, .6 and .8 on \
                   (T1_gates.csv)";
    captioned(
        caption,
        [],
        &map.figure(caption, "a row a model, a column a gate"),
    )
}

/// The 95 % interval of the share of valid submissions, for documents like these.
fn valid_bounds(submissions: &[&SubmissionFound]) -> Option<Interval> {
    let mut documents: BTreeMap<&str, TrialCluster> = BTreeMap::new();
    for own in submissions {
        let cluster = documents.entry(&own.rows.strategy).or_default();
        cluster.trials += 1;
        cluster.successes += u32::from(own.rows.valid().is_some());
    }
    let count = documents.len();
    let clusters: Vec<TrialCluster> = documents.into_values().collect();
    clustered_share(&clusters, count, Confidence::P95).ok().flatten()
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
    let bounds: (fn(f64) -> TableCell, _) = (TableCell::Percent, "below two documents");
    let is_unwarned = |version: &VersionRow| version.passes(Gate::Exec) && version.warnings == 0;
    let data = table
        .count("no warning", |(_, own)| ranked(own, is_unwarned))
        .count("valid", |(_, own)| ranked(own, |version| version.valid))
        .figure(
            "valid share",
            |(_, own)| share(ranked(own, |version| version.valid), own.len()),
            (TableCell::Percent, "no submission"),
        )
        .figure("low", |(_, own)| Some(valid_bounds(own)?.lower), bounds)
        .figure("high", |(_, own)| Some(valid_bounds(own)?.upper), bounds)
        .table()
        .with_note(
            "low, high: 95 % of the valid share for documents like these, of which 5 of 100 are wrong; a gate after one that makes it \
             impossible is not reached, so that parse, schema and exec never increase; no \
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
    ))
    .with_note(
        "what the search by changed futures is worth: of 36 planted peeks it found 36 (95 %: 90 to 100 %), of nine programs without one it \
         refused none (0 to 30 %)",
    );
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

    #[test]
    fn pictures_have_first_and_ranked_versions_and_every_model() {
        let report = four();
        let steps = steps_picture(&report).into_string();
        // Of four submissions one runs as it was built, two as they are ranked; one is valid then.
        for title in [
            "first version: 25.00",
            "ranked version: 50.00",
            "ranked version: 25.00",
        ] {
            assert!(
                steps.contains(&format!("<title>{title}\u{a0}%</title>")),
                "{title}: {steps}"
            );
        }
        let models = models_picture(&report).into_string();
        assert!(models.contains("<title>a, exec: 2 of 3</title>"), "{models}");
        assert!(
            models.contains("<title>b, valid: 0 of 1</title><rect class=\"cell h0\""),
            "{models}"
        );
    }

    #[test]
    fn the_valid_share_has_bounds_over_documents() {
        let of =
            |strategy: &str, passed| submission(("a", strategy), vec![version(0, passed, None)], Vec::new());
        let both = report(vec![of("S01", 6), of("S02", 3)], None);
        let row = records(&by_model(&both))[1].clone();
        let [share, low, high] = [11, 12, 13].map(|place| row[place].parse::<f64>().unwrap());
        assert!(low < share && share < high, "{row:?}");
        let one = records(&by_model(&report(vec![of("S01", 6)], None)));
        assert_eq!(one[1][12..], ["", ""]);
    }
}
