//! T3: the scores of every iteration, part by part.

use crate::cells::{FEW_DRAWS, of_submissions};
use crate::run::SubmissionFound;
use ktd_strategy_code::{
    IterationState, PaperScores, ReliabilityEvidence, RiskEvidence, SubmissionReport, VersionRow,
};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;

/// One iteration: its submission, its row, and what its scores are made of.
type Part<'f> = (
    &'f SubmissionFound,
    &'f VersionRow,
    Option<&'f SubmissionReport>,
    Option<PaperScores>,
);

/// The measured scores of all iterations with their parts, and the published static ones.
pub(crate) fn tables(submissions: &[&SubmissionFound]) -> [ReportTable; 2] {
    let parts = submissions.iter().flat_map(|own| {
        own.rows.versions.iter().map(|version| {
            let report = own.report(version.iteration);
            (*own, version, report, own.published(version.iteration))
        })
    });
    let parts: Vec<Part<'_>> = parts.collect();
    let unjudged: (fn(f64) -> TableCell, _) = (TableCell::Fine, "not judged");
    let alone: (fn(f64) -> TableCell, _) = (TableCell::Fine, "it was not run, or there is no reference");
    let drawn: (fn(f64) -> TableCell, _) = (TableCell::Fine, FEW_DRAWS);
    let unrun: (fn(f64) -> TableCell, _) = (TableCell::Fine, "it was not run, or does not run");
    let score = |part: &Part<'_>, place: usize| part.1.score(place);
    let alike = |part: &Part<'_>| part.2?.alike(None);
    let bounds = |part: &Part<'_>| part.2?.fidelity_bounds(part.1.state == IterationState::Drifted);
    let card = |part: &Part<'_>| Some(part.2?.fidelity(false).parts());
    let risk = |part: &Part<'_>, place: usize| part.2?.risk().map(RiskEvidence::parts)?.get(place).copied();
    let reliability = |part: &Part<'_>, place: usize| {
        part.2?
            .reliability()
            .map(ReliabilityEvidence::parts)?
            .get(place)
            .copied()
    };
    let measured = named(RowTable::new("T3. Measured scores by part, of 1", &parts))
        .figure("D1", |part| score(part, 0), unjudged)
        .figure("D1 low", |part| Some(bounds(part)?.0), drawn)
        .figure("D1 high", |part| Some(bounds(part)?.1), drawn)
        .count("draws", |part| part.2.map_or(0, |report| report.likeness.len()))
        .figure("acts", |part| Some(alike(part)?.acts_f1()), alone)
        .figure("exposure", |part| Some(alike(part)?.exposure_overlap()), alone)
        .figure("D1 until format 5", |part| Some(part.2?.fidelity(false).card_and_distance()), unjudged)
        .figure("card", |part| Some(card(part)?.0), unjudged)
        .figure("near", |part| card(part)?.1, alone)
        .figure("D2", |part| score(part, 1), unjudged)
        .figure("kept", |part| risk(part, 0), unrun)
        .figure("stress", |part| risk(part, 1), unrun)
        .figure("logged", |part| risk(part, 2), unrun)
        .figure("D3", |part| score(part, 2), unjudged)
        .figure("determ", |part| reliability(part, 0), unrun)
        .figure("no leak", |part| reliability(part, 1), unrun)
        .figure("logs", |part| reliability(part, 2), unrun)
        .figure("ended", |part| reliability(part, 3), unrun)
        .table()
        .with_note(
            "low, high: 95 % of D1 over so many draws of scenarios and long run, by leaving one out at a time; \
             D1 = the smaller of acts and exposure, and 0 after drift: F1 over acts, those some bars apart in part, and \
             overlap of exposure by asset and bar, against the reference; until format 5 it was 0.4 card + 0.6 near: checks of \
             the card that hold, nearness of traces; \
             D2 = 0.5 kept + 0.3 stress + 0.2 logged: bars without a breach, of those with an action or a breach, runs on \
             distorted bars passed, breaches logged; D3 = 0.30 determ + 0.30 no leak + 0.25 logs + 0.15 ended: share of cells \
             that are filled times that of bars and trades that can be traced, runs on distorted bars that end; D2 and D3 of a program that does not run are 0, and n/a for one that has less than half of the \
             reference's actions on the long run",
        );
    let published = named(RowTable::new(
        "T3. Published static scores by part, of 10",
        &parts,
    ));
    [
        ReportTable::new("T3_measured", measured),
        ReportTable::new("T3_published", published_columns(published, |part| part.3)),
    ]
}

fn named<'p, 'f: 'p>(table: RowTable<&'p Part<'f>>) -> RowTable<&'p Part<'f>> {
    of_submissions(table, |part| &part.0.rows)
        .count("iteration", |part| part.1.iteration)
        .text("state", |part| part.1.state.label())
}

/// The published static scores of one source.
#[must_use]
pub fn published_table(scores: PaperScores) -> TableData {
    published_columns(RowTable::new("Published static scores, of 10", [()]), |()| {
        Some(scores)
    })
}

/// A part of the published scores.
type ScorePart = fn(PaperScores) -> f64;

fn published_columns<R: Copy>(table: RowTable<R>, of: impl Fn(R) -> Option<PaperScores>) -> TableData {
    let columns: [(&str, ScorePart); 9] = [
        ("D3", |own| own.d3),
        ("det", |own| own.determinism),
        ("leak", |own| own.no_leak),
        ("log", |own| own.logs),
        ("qual", |own| own.quality),
        ("D4", |own| own.d4),
        ("logic", |own| own.logic),
        ("overfit", |own| own.no_overfit),
        ("gen", |own| own.generality),
    ];
    let with = |table: RowTable<R>, (head, part): (&str, ScorePart)| {
        table.figure(head, |row| of(row).map(part), (TableCell::Fine, "not judged"))
    };
    columns.into_iter().fold(table, with).table().with_note(
        "D3 = 0.30 det + 0.30 leak + 0.25 log + 0.15 qual; D4 = 0.40 logic + 0.30 overfit + 0.30 gen; points are taken \
         off for what the source's text shows, and they rank nothing",
    )
}
