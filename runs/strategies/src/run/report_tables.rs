//! Tables over all submissions of an experiment.

use crate::rows::{SubmissionRows, VersionRow};
use ktd_strategy_code::Gate;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use std::collections::{BTreeMap, BTreeSet};

/// The tables of an experiment: gates by model, scores by iteration, static warnings against leaks, failures by gate.
#[must_use]
pub fn experiment_tables(submissions: &[SubmissionRows]) -> Vec<TableData> {
    vec![
        gate_table(submissions),
        iteration_table(submissions),
        warning_table(submissions),
        failure_table(submissions),
    ]
}

/// The version that is ranked, of each submission of a model; none where no version stands.
fn ranked<'a>(
    submissions: &'a [SubmissionRows],
    model: &'a str,
) -> impl Iterator<Item = Option<&'a VersionRow>> {
    let own = submissions
        .iter()
        .filter(move |submission| submission.model == model);
    own.map(|submission| submission.versions.get(submission.ranked?))
}

fn models(submissions: &[SubmissionRows]) -> BTreeSet<&str> {
    submissions
        .iter()
        .map(|submission| submission.model.as_str())
        .collect()
}

fn word(text: &str) -> TableCell {
    TableCell::Text(text.to_owned())
}

/// How many ranked versions of each model pass each gate.
fn gate_table(submissions: &[SubmissionRows]) -> TableData {
    let mut heads = vec![("model", Left), ("submissions", Right)];
    heads.extend(Gate::ALL.map(|gate| (gate.label(), Right)));
    heads.push(("valid", Right));
    let rows = models(submissions).into_iter().map(|model| {
        let passed = |gate: Gate| {
            let own = ranked(submissions, model).flatten();
            own.filter(|version| version.passed.iter().any(|name| name == gate.label()))
                .count()
        };
        let valid = ranked(submissions, model)
            .flatten()
            .filter(|version| version.valid)
            .count();
        let mut row = vec![word(model), TableCell::Count(ranked(submissions, model).count())];
        row.extend(Gate::ALL.map(|gate| TableCell::Count(passed(gate))));
        row.push(TableCell::Count(valid));
        row
    });
    TableData::new("Gates that ranked versions pass", heads).with_rows(rows)
}

/// Scores, patches and drift by iteration, over all models.
fn iteration_table(submissions: &[SubmissionRows]) -> TableData {
    let heads = [
        ("iteration", Right),
        ("versions", Right),
        ("valid", Right),
        ("D1", Right),
        ("D2", Right),
        ("D3", Right),
        ("published D3", Right),
        ("changed lines", Right),
        ("drift", Left),
        ("published drift", Left),
        ("suspicious repairs", Right),
    ];
    let last = submissions
        .iter()
        .map(|submission| submission.versions.len())
        .max()
        .unwrap_or(0);
    let rows = (0..last).map(|iteration| {
        let versions: Vec<&VersionRow> = submissions
            .iter()
            .filter_map(|submission| submission.versions.get(iteration))
            .collect();
        let mean_of = |score: fn(&VersionRow) -> Option<f64>| {
            let scores: Vec<f64> = versions.iter().filter_map(|version| score(version)).collect();
            TableCell::optional(mean(&scores), TableCell::Fine)
        };
        let of = |place: fn(&[f64; 3]) -> f64| {
            let scores: Vec<f64> = versions
                .iter()
                .filter_map(|version| version.measured.as_ref().map(place))
                .collect();
            TableCell::optional(mean(&scores), TableCell::Fine)
        };
        let repairs = versions.iter().filter(|version| {
            version.drift.as_deref() == Some("towards")
                && version.published_drift.as_deref() == Some("suspicious")
        });
        vec![
            TableCell::Count(iteration),
            TableCell::Count(versions.len()),
            TableCell::Count(versions.iter().filter(|version| version.valid).count()),
            of(|[fidelity, _, _]| *fidelity),
            of(|[_, risk, _]| *risk),
            of(|[_, _, reliability]| *reliability),
            mean_of(|version| version.published_scores.map(|[reliability, _]| reliability)),
            mean_of(|version| version.changed.map(as_number)),
            word(&counted(
                versions.iter().filter_map(|version| version.drift.as_deref()),
            )),
            word(&counted(
                versions
                    .iter()
                    .filter_map(|version| version.published_drift.as_deref()),
            )),
            TableCell::Count(repairs.count()),
        ]
    });
    TableData::new("Scores by iteration", heads)
        .with_rows(rows)
        .with_note(
            "suspicious repairs: patches towards the reference that the published thresholds call suspicious",
        )
}

/// Static warnings against leaks that replaced futures found, over all versions that ran.
fn warning_table(submissions: &[SubmissionRows]) -> TableData {
    let ran = || {
        let versions = submissions.iter().flat_map(|submission| &submission.versions);
        versions.filter(|version| version.passed.iter().any(|name| name == Gate::Exec.label()))
    };
    let leaks = |version: &VersionRow| !version.passed.iter().any(|name| name == Gate::AntiLeak.label());
    let rows = [("warned", true), ("not warned", false)].map(|(name, is_warned)| {
        let own = || ran().filter(|version| (version.warnings > 0) == is_warned);
        vec![
            word(name),
            TableCell::Count(own().filter(|version| leaks(version)).count()),
            TableCell::Count(own().filter(|version| !leaks(version)).count()),
        ]
    });
    let heads = [
        ("static check", Left),
        ("looks ahead", Right),
        ("does not", Right),
    ];
    TableData::new("Static warnings against leaks", heads).with_rows(rows)
}

/// Where first versions fail, by model.
fn failure_table(submissions: &[SubmissionRows]) -> TableData {
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for submission in submissions {
        if let Some(first) = submission.versions.first() {
            *reasons.entry((&submission.model, &first.gates)).or_insert(0) += 1;
        }
    }
    let rows = reasons
        .into_iter()
        .map(|((model, gates), count)| vec![word(model), word(gates), TableCell::Count(count)]);
    let heads = [("model", Left), ("first version", Left), ("submissions", Right)];
    TableData::new("What stops first versions", heads).with_rows(rows)
}

/// Words with how often each is there, in the order of their letters.
fn counted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_insert(0) += 1;
    }
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(word, count)| format!("{word} {count}"))
        .collect();
    counts.join(", ")
}

#[expect(clippy::cast_precision_loss, reason = "counts of lines and of submissions")]
const fn as_number(count: usize) -> f64 {
    count as f64
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / as_number(values.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(iteration: usize, passed: usize, drift: Option<&str>) -> VersionRow {
        VersionRow {
            iteration,
            state: "kept".to_owned(),
            gates: Gate::ALL
                .get(passed)
                .map_or("passed", |gate| gate.label())
                .to_owned(),
            passed: Gate::ALL
                .iter()
                .take(passed)
                .map(|gate| gate.label().to_owned())
                .collect(),
            valid: passed == Gate::ALL.len(),
            measured: Some([0.5, 1.0, 0.25]),
            published_scores: Some([8.0, 9.0]),
            warnings: usize::from(passed == 4),
            changed: drift.map(|_| 3),
            drift: drift.map(str::to_owned),
            published_drift: drift.map(|_| "suspicious".to_owned()),
        }
    }

    fn submission(model: &str, versions: Vec<VersionRow>) -> SubmissionRows {
        SubmissionRows {
            model: model.to_owned(),
            strategy: "S01".to_owned(),
            seed: 1,
            ranked: versions.len().checked_sub(1),
            versions,
        }
    }

    fn records(table: &TableData) -> Vec<Vec<String>> {
        table.records().collect()
    }

    #[test]
    fn counts_by_gate_are_monotone_and_a_submission_without_a_version_passes_none() {
        let all = [
            submission("a", vec![version(0, 2, None), version(1, 6, Some("towards"))]),
            submission("a", vec![version(0, 4, None)]),
            submission("a", Vec::new()),
            submission("b", vec![version(0, 1, None)]),
        ];
        let tables = experiment_tables(&all);
        let gates = records(&tables[0]);
        assert_eq!(gates[1], ["a", "3", "2", "2", "2", "2", "1", "1", "1"]);
        assert_eq!(gates[2], ["b", "1", "1", "0", "0", "0", "0", "0", "0"]);
        let iterations = records(&tables[1]);
        assert_eq!(iterations[1][..4], ["0", "3", "0", "0.5"]);
        assert_eq!(iterations[2][7..], ["3", "towards 1", "suspicious 1", "1"]);
        let warnings = records(&tables[2]);
        assert_eq!(warnings[1..], [["warned", "1", "0"], ["not warned", "0", "1"]]);
        let failures = records(&tables[3]);
        assert_eq!(
            failures[1..],
            [["a", "anti_leak", "1"], ["a", "exec", "1"], ["b", "schema", "1"]]
        );
    }
}
