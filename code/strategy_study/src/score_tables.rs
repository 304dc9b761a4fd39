//! Scores with their parts, as tables and for programs.

use crate::score_evidence::MeasuredEvidence;
use crate::study::{RecordedScores, VersionParts};
use ktd_strategy_code::{PaperScores, ReliabilityEvidence, RiskEvidence};
use ktd_view::draw::Align::{self, Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde_json::{Value, json};

/// Columns that name a version.
const WHICH: [(&str, Align); 5] = [
    ("model", Left),
    ("strategy", Left),
    ("seed", Right),
    ("iteration", Right),
    ("state", Left),
];
/// D1, D2 and D3, each before its parts.
const MEASURED: [&str; 12] = [
    "D1", "card", "near", "D2", "kept", "stress", "logged", "D3", "determ", "no leak", "logs", "ended",
];
/// The published D3 and D4, each before its parts.
const PUBLISHED: [&str; 9] = [
    "D3", "det", "leak", "log", "qual", "D4", "logic", "overfit", "gen",
];

/// The measured scores of recorded iterations with their parts, and the published static ones.
#[must_use]
pub fn score_tables(submissions: &[RecordedScores]) -> [TableData; 2] {
    let measured = table("Measured scores, of 1", &MEASURED, submissions, |version| {
        let evidence = version.evidence.as_ref()?;
        Some(measured_cells(version.measured?, &evidence.measured))
    });
    let published = table(
        "Published static scores, of 10",
        &PUBLISHED,
        submissions,
        |version| version.published.map(|scores| published_cells(&scores)),
    );
    [
        measured.with_note(
            "D1 = 0.4 card + 0.6 near, and 0 after drift: checks of the card that hold, nearness to the reference; \
             D2 = 0.5 kept + 0.3 stress + 0.2 logged: constraints kept an action, runs on distorted bars passed, breaches \
             logged; D3 = 0.30 determ + 0.30 no leak + 0.25 logs + 0.15 ended: logs that are complete and can be traced, runs \
             on distorted bars that end; D2 and D3 of a program that does not run are 0",
        ),
        published.with_note(
            "D3 = 0.30 det + 0.30 leak + 0.25 log + 0.15 qual; D4 = 0.40 logic + 0.30 overfit + 0.30 gen; points are taken \
             off for what the source's text shows, and they rank nothing",
        ),
    ]
}

fn table(
    title: &str,
    heads: &[&str],
    submissions: &[RecordedScores],
    cells: impl Fn(&VersionParts) -> Option<Vec<TableCell>>,
) -> TableData {
    let rows = submissions.iter().flat_map(|own| {
        own.versions.iter().map(|version| {
            let missing = || vec![TableCell::Missing("not judged".to_owned()); heads.len()];
            let mut row = vec![
                TableCell::Text(own.model.clone()),
                TableCell::Text(own.strategy.clone()),
                TableCell::Text(own.seed.to_string()),
                TableCell::Count(version.iteration),
                TableCell::Text(version.state.label().to_owned()),
            ];
            row.extend(cells(version).unwrap_or_else(missing));
            row
        })
    });
    let columns = WHICH.into_iter().chain(heads.iter().map(|head| (*head, Right)));
    let rows: Vec<Vec<TableCell>> = rows.collect();
    TableData::new(title, columns).with_rows(rows)
}

fn measured_cells([first, second, third]: [f64; 3], evidence: &MeasuredEvidence) -> Vec<TableCell> {
    let unrun = |cell: Option<f64>| {
        cell.map_or_else(|| TableCell::Missing("does not run".to_owned()), TableCell::Fine)
    };
    let risk = evidence.risk.map(RiskEvidence::parts);
    let reliability = evidence.reliability.map(ReliabilityEvidence::parts);
    let mut cells = vec![TableCell::Fine(first)];
    let (card, near) = evidence.fidelity.parts();
    cells.push(TableCell::Fine(card));
    cells.push(near.map_or_else(
        || TableCell::Missing("there is no reference".to_owned()),
        TableCell::Fine,
    ));
    cells.push(TableCell::Fine(second));
    cells.extend((0..3).map(|place| unrun(risk.and_then(|parts| parts.get(place).copied()))));
    cells.push(TableCell::Fine(third));
    cells.extend((0..4).map(|place| unrun(reliability.and_then(|parts| parts.get(place).copied()))));
    cells
}

fn published_cells(scores: &PaperScores) -> Vec<TableCell> {
    let figures = [
        scores.d3,
        scores.determinism,
        scores.no_leak,
        scores.logs,
        scores.quality,
        scores.d4,
        scores.logic,
        scores.no_overfit,
        scores.generality,
    ];
    figures.map(TableCell::Fine).into()
}

/// The scores of recorded iterations with their parts, for programs.
#[must_use]
pub fn score_value(submissions: &[RecordedScores]) -> Value {
    let of = |own: &RecordedScores| {
        json!({
            "model": own.model, "strategy": own.strategy, "seed": own.seed, "ranked": own.ranked,
            "versions": own.versions.iter().map(version_value).collect::<Vec<_>>(),
        })
    };
    json!({"submissions": submissions.iter().map(of).collect::<Vec<_>>()})
}

fn version_value(version: &VersionParts) -> Value {
    let evidence = version.evidence.as_ref().map(|evidence| &evidence.measured);
    let measured = version
        .measured
        .zip(evidence)
        .map(|([first, second, third], evidence)| {
            let (card, near) = evidence.fidelity.parts();
            let risk = evidence.risk.map(RiskEvidence::parts);
            let reliability = evidence.reliability.map(ReliabilityEvidence::parts);
            json!({
                "D1": {"score": first, "card": card, "near": near},
                "D2": {"score": second, "parts": risk.map(|[kept, stress, logged]| {
                    json!({"kept": kept, "stress": stress, "logged": logged})
                })},
                "D3": {"score": third, "parts": reliability.map(|[determinism, no_leak, logs, ended]| {
                    json!({"determinism": determinism, "no_leak": no_leak, "logs": logs, "ended": ended})
                })},
            })
        });
    json!({
        "iteration": version.iteration,
        "state": version.state,
        "measured": measured,
        "published": version.published,
    })
}
