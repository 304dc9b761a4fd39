//! What planted programs are judged by: their logs of the long run and of distorted bars go the way of a submission.

use super::likeness::Planted;
use crate::bars::StrategyBars;
use crate::book::INITIAL_CAPITAL;
use crate::candidate::{CandidateLogs, CandidateTable, LogCell};
use crate::contract::StrategyContract;
use crate::document::StrategyDocument;
use crate::gates::GateResults;
use crate::logs::StrategyLogs;
use crate::parameters::Parameters;
use crate::reference::{DocumentId, run_reference};
use crate::repetition::repetition_difference;
use crate::scenario::scenarios;
use crate::stress::Stress;
use crate::submission_report::{RunEvidence, StressOutcome, SubmissionReport};
use crate::version_drift::{StrategyTraces, TraceDistances};
use std::fmt::Debug;

/// The seed of the bars.
pub(super) const SEED: u64 = 11;

/// A document with the bars that its programs are judged on.
pub(super) struct Bench {
    pub(super) id: DocumentId,
    pub(super) document: StrategyDocument,
    parameters: Parameters,
    pub(super) long: StrategyBars,
}

/// What a program logs on some bars, in its nth run.
pub(super) type Program<'p> = &'p dyn Fn(Planted<'_>, &StrategyLogs, f64) -> CandidateLogs;

impl Bench {
    pub(super) fn all() -> Vec<Self> {
        let bench = |id| {
            let document = StrategyDocument::built_in(id).unwrap();
            let parameters = document.default_parameters();
            let long = scenarios(id, &parameters, SEED).unwrap().pop().unwrap().market;
            Self {
                id,
                document,
                parameters,
                long,
            }
        };
        DocumentId::ALL.into_iter().map(bench).collect()
    }

    pub(super) fn reference(&self, market: &StrategyBars) -> StrategyLogs {
        run_reference(self.id, &self.parameters, market, INITIAL_CAPITAL).unwrap()
    }

    pub(super) const fn planted<'a>(&'a self, market: &'a StrategyBars) -> Planted<'a> {
        Planted {
            id: self.id,
            document: &self.document,
            parameters: &self.parameters,
            market,
        }
    }

    const fn on<'a>(
        &'a self,
        market: &'a StrategyBars,
    ) -> (&'a StrategyBars, &'a StrategyDocument, &'a Parameters) {
        (market, &self.document, &self.parameters)
    }

    fn logs(&self, program: Program<'_>, market: &StrategyBars, draw: f64) -> CandidateLogs {
        program(self.planted(market), &self.reference(market), draw)
    }

    /// The report on a program of which some distorted runs end otherwise, and which may look ahead.
    pub(super) fn report(
        &self,
        program: Program<'_>,
        distorted: impl Fn(usize, CandidateLogs) -> Result<CandidateLogs, String>,
        leak: Option<String>,
    ) -> SubmissionReport {
        let stress = Stress::ALL.into_iter().enumerate().map(|(place, stress)| {
            let market = stress.apply(&self.long);
            let logs = distorted(place, self.logs(program, &market, 1.0));
            StressOutcome::of(stress, &logs, self.on(&market))
        });
        let whole = self.logs(program, &self.long, 1.0);
        let again = self.logs(program, &self.long, 2.0);
        let repetition = repetition_difference(&whole, &again).map(|difference| difference.to_string());
        let run = RunEvidence::of(
            &whole,
            self.on(&self.long),
            stress.collect(),
            StrategyContract::Run,
        );
        let audit = run.audit_problem();
        SubmissionReport {
            gates: GateResults::new([None, None, None, repetition, leak, audit]),
            checks: Vec::new(),
            facts: None,
            class_name: String::new(),
            run: Some(run),
            traces: StrategyTraces::new(),
            markets: Vec::new(),
            likeness: Vec::new(),
            distances: TraceDistances::new(),
        }
    }
}

/// A log with some of its columns and rows, and cells that are empty.
pub(super) fn table(
    log: &CandidateTable,
    is_column: impl Fn(&str) -> bool,
    is_row: impl Fn(usize) -> bool,
    is_empty: impl Fn(&str, usize) -> bool,
) -> CandidateTable {
    let columns = log.names().filter(|name| is_column(name)).map(|name| {
        let rows = (0..log.len()).filter(|row| is_row(*row));
        let cells = rows.map(|row| {
            if is_empty(name, row) {
                LogCell::Missing
            } else {
                log.cell(name, row).clone()
            }
        });
        (name.to_owned(), cells.collect())
    });
    CandidateTable::new(columns.collect()).unwrap()
}

/// One row of a table: the scores at the four sizes, over all documents of a kind.
pub(super) fn shown(kind: &dyn Debug, rows: &[[f64; 4]]) {
    let falling = |row: &&[f64; 4]| row.windows(2).all(|pair| pair[1] < pair[0]);
    let cells = (0..4).map(|place| {
        let own = rows.iter().map(|row| row[place]);
        let (least, most) = (
            own.clone().fold(f64::INFINITY, f64::min),
            own.fold(f64::NEG_INFINITY, f64::max),
        );
        format!(" {least:.3} to {most:.3} |")
    });
    println!(
        "| {kind:?} | {} |{} {} |",
        rows.len(),
        cells.collect::<String>(),
        rows.iter().filter(falling).count()
    );
}
