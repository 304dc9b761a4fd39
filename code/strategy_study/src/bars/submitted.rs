//! Submitted programs on real bars.

use super::series::{RealSource, SeriesKind};
use crate::box_runs::{PlannedRun, Program, ProgramBox};
use crate::error::StrategyError;
use crate::task::StrategyTask;
use ktd_boxed::BoxLauncher;
use ktd_sandbox::{BoxLimits, SourceText};
use ktd_strategy_code::{RealMarket, RealVersion, StrategyCard, StrategySubmission, with_session_end};

/// Seed of all runs.
const SEED: u32 = 42;

/// The real bars that programs of one strategy run on.
#[derive(Debug)]
pub(crate) struct RealTask {
    /// Its series, or why it has none.
    series: Result<Vec<RealMarket>, String>,
    session_end: String,
    /// SHA-256 over everything that programs are given.
    pub(crate) bars_sha256: String,
}

impl RealTask {
    pub(crate) fn of(source: &RealSource, task: &StrategyTask) -> Result<Self, StrategyError> {
        let series = match SeriesKind::of(task).and_then(|kind| source.has(kind).map(|()| kind)) {
            Ok(kind) => some(series_of(source, (kind, task))?),
            Err(reason) => Err(reason),
        };
        Ok(Self {
            bars_sha256: RealMarket::hash_of(series.as_deref().unwrap_or_default()),
            session_end: source.keys.session_end.clone(),
            series,
        })
    }

    /// What a submission of the task that runs at all and the reference earn on every series.
    pub(crate) fn judge(
        &self,
        (launcher, task): (&BoxLauncher, &StrategyTask),
        iteration: usize,
        submission: Option<&StrategySubmission>,
    ) -> Result<RealVersion, StrategyError> {
        let markets = match &self.series {
            Ok(markets) => markets,
            Err(reason) => return Ok(RealVersion::without(iteration, Some(reason.clone()))),
        };
        let none = RealVersion::without(iteration, None);
        let Some(submission) = submission else {
            return Ok(none);
        };
        let source = SourceText::read(submission.source.as_bytes(), BoxLimits::STRATEGIES.source_kb);
        let (Ok(card), Ok(source)) = (StrategyCard::parse(&submission.card), source) else {
            return Ok(none);
        };
        let parameters = with_session_end(&card.parameters(), &self.session_end);
        let program = Program {
            source: &source,
            class: card.class_name(),
            configuration: &task.document.configuration(&parameters),
            key: task.id.label(),
            contract: task.contract,
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
        let reference = task.real_reference(launcher, &parameters, markets)?;
        RealVersion::of(iteration, (markets, outcomes.collect()), (reference, &parameters))
            .map_err(StrategyError::invalid)
    }
}

/// The series of a strategy on both splits.
fn series_of(
    source: &RealSource,
    (kind, task): (SeriesKind, &StrategyTask),
) -> Result<Vec<RealMarket>, StrategyError> {
    let mut markets = Vec::new();
    for split in source.keys.splits()? {
        for series in source.plan((kind, &task.document), &split)? {
            let bars = source.market(&task.document, &series, &split)?;
            markets.push(RealMarket::new(split.name, series.symbols, bars));
        }
    }
    Ok(markets)
}

/// Series, or that there is none.
fn some(markets: Vec<RealMarket>) -> Result<Vec<RealMarket>, String> {
    if markets.is_empty() {
        Err("no series of the real bars is long enough for its warm-up".to_owned())
    } else {
        Ok(markets)
    }
}
