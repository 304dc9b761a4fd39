//! Submitted programs on real bars.

use super::series::RealSource;
use crate::box_runs::{PlannedRun, Program, ProgramBox};
use crate::error::StrategyError;
use crate::task::StrategyTask;
use ktd_boxed::BoxLauncher;
use ktd_sandbox::{BoxLimits, SourceText};
use ktd_strategy_code::{
    DocumentId, RealMarket, RealVersion, StrategyCard, StrategyContract, StrategyDocument,
    StrategySubmission, with_session_end,
};

/// Seed of all runs.
const SEED: u32 = 42;

/// The real bars that programs of one document run on.
#[derive(Debug)]
pub(crate) struct RealTask {
    document: StrategyDocument,
    /// Its series; none for a strategy of one's own: those of a panel are chosen for the documents of the benchmark.
    series: Option<(DocumentId, Vec<RealMarket>)>,
    session_end: String,
    contract: StrategyContract,
    /// SHA-256 over everything that programs are given.
    pub(crate) bars_sha256: String,
}

impl RealTask {
    pub(crate) fn of(source: &RealSource, task: &StrategyTask) -> Result<Self, StrategyError> {
        let document = &task.document;
        let mut markets = Vec::new();
        let id = task.id.document();
        for split in source.keys.splits()? {
            for series in id.map_or_else(|| Ok(Vec::new()), |id| source.plan((id, document), &split))? {
                let bars = source.market(document, &series, &split)?;
                markets.push(RealMarket::new(split.name, series.symbols, bars));
            }
        }
        Ok(Self {
            document: document.clone(),
            bars_sha256: RealMarket::hash_of(&markets),
            session_end: source.keys.session_end.clone(),
            contract: task.contract,
            series: id.map(|id| (id, markets)),
        })
    }

    /// What a submission that runs at all and the reference earn on every series.
    pub(crate) fn judge(
        &self,
        launcher: &BoxLauncher,
        iteration: usize,
        submission: Option<&StrategySubmission>,
    ) -> Result<RealVersion, StrategyError> {
        let none = RealVersion {
            iteration,
            rows: Vec::new(),
            test_returns: None,
        };
        let Some((submission, (id, markets))) = submission.zip(self.series.as_ref()) else {
            return Ok(none);
        };
        let source = SourceText::read(submission.source.as_bytes(), BoxLimits::STRATEGIES.source_kb);
        let (Ok(card), Ok(source), false) =
            (StrategyCard::parse(&submission.card), source, markets.is_empty())
        else {
            return Ok(none);
        };
        let parameters = with_session_end(&card.parameters(), &self.session_end);
        let program = Program {
            source: &source,
            class: card.class_name(),
            configuration: &self.document.configuration(&parameters),
            key: id.label(),
            contract: self.contract,
        };
        let runs = markets.iter().map(|own| PlannedRun {
            market: own.bars().clone(),
            seed: SEED,
            purpose: "real",
            is_scored: true,
        });
        let outcomes = ProgramBox::open(launcher, program, 0)?.run_all(&runs.collect::<Vec<_>>())?;
        let outcomes = outcomes
            .into_iter()
            .map(|outcome| outcome.map_err(|fault| fault.to_string()));
        RealVersion::of(iteration, (markets, outcomes.collect()), (*id, &parameters))
            .map_err(StrategyError::invalid)
    }
}
