//! What a report is made of: what all units came to.

use crate::run::{OwnDocument, StrategyExperiment, SubmissionFound};
use ktd_strategy_code::{
    ArenaRecord, DocumentId, MarketTrace, ReviewsFound, StrategyDocument, document_text,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Bars whose strips a page holds at most: some 200 versions of the documents that come with the benchmark.
const BARS_MAX: usize = 200_000;

/// What an experiment came to: `report.json`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrategyReport {
    /// All submissions, by seed, model and document; those that are lost count in no table.
    pub submissions: Vec<SubmissionFound>,
    /// What reviews came to, where models reviewed each other.
    pub arena: Option<ArenaRecord>,
    /// Why there are no reviews, where some were asked for.
    pub no_arena: Option<String>,
    /// The words of the reviewers.
    pub reviews: Vec<ReviewsFound>,
}

impl StrategyReport {
    /// What units came to.
    pub(crate) fn of(
        keys: &StrategyExperiment,
        submissions: Vec<SubmissionFound>,
        reviews: Vec<ReviewsFound>,
    ) -> Self {
        let no_arena = reviews.iter().find_map(|own| own.not_applicable.clone());
        let is_held = no_arena.is_none() && !reviews.is_empty();
        let arena = || ArenaRecord::of(models(keys, &submissions), &reviews);
        Self {
            arena: is_held.then(arena),
            no_arena,
            reviews,
            submissions: with_traces_shown(submissions),
        }
    }

    /// Submissions that were ended early by no fault of the model, and why.
    #[must_use]
    pub fn lost(&self) -> Vec<(String, &str)> {
        let lost = self.submissions.iter().filter_map(|own| {
            let rows = &own.rows;
            let name = format!("{} {} {}", rows.model, rows.strategy, rows.seed);
            Some((name, own.lost.as_deref()?))
        });
        lost.collect()
    }

    /// Submissions that are not lost.
    pub(super) fn counted(&self) -> impl Iterator<Item = &SubmissionFound> + Clone {
        self.submissions.iter().filter(|own| own.lost.is_none())
    }

    /// The text and the machine form of a submission's document; `None` for one that is unknown.
    pub(super) fn strategy(&self, id: &str) -> Option<(String, StrategyDocument)> {
        if let Some(id) = DocumentId::parse(id) {
            return Some((document_text(id).to_owned(), StrategyDocument::built_in(id).ok()?));
        }
        let mut own = self.submissions.iter().filter(|own| own.rows.strategy == id);
        let OwnDocument { spec, text } = own.find_map(|own| own.own.clone())?;
        Some((text, StrategyDocument::parse(&spec).ok()?))
    }

    /// The models, by name.
    pub(super) fn models(&self) -> BTreeSet<&str> {
        self.counted().map(|own| own.rows.model.as_str()).collect()
    }

    /// The submissions of a model.
    pub(super) fn of_model<'a>(&'a self, model: &'a str) -> impl Iterator<Item = &'a SubmissionFound> {
        self.counted().filter(move |own| own.rows.model == model)
    }
}

/// Who is compared: the models, each with who made it, or else serves it.
fn models(keys: &StrategyExperiment, all: &[SubmissionFound]) -> Vec<(String, String)> {
    let vendors: BTreeMap<&str, &String> = all
        .iter()
        .map(|own| (own.rows.model.as_str(), &own.vendor))
        .collect();
    let models = keys.agents.iter().filter_map(|agent| {
        let vendor = vendors.get(agent.id.as_str())?;
        let maker = agent.model().and_then(|model| model.maker.as_ref());
        Some((agent.id.clone(), maker.unwrap_or(vendor).clone()))
    });
    models.collect()
}

/// Submissions without the traces that no page has room for: the record of each keeps them.
fn with_traces_shown(mut submissions: Vec<SubmissionFound>) -> Vec<SubmissionFound> {
    let shown = iterations_shown(&submissions, BARS_MAX);
    for (submission, shown) in submissions.iter_mut().zip(shown) {
        for version in &mut submission.judged {
            if let Some(report) = version
                .report
                .as_mut()
                .filter(|_| !shown.contains(&version.iteration))
            {
                report.markets.clear();
            }
        }
    }
    submissions
}

/// By submission, the iterations whose strips are on the page: the ranked ones, then others, as long as their bars fit.
fn iterations_shown(submissions: &[SubmissionFound], most: usize) -> Vec<BTreeSet<usize>> {
    let mut shown = vec![BTreeSet::new(); submissions.len()];
    let mut left = most;
    for wants_ranked in [true, false] {
        for (submission, own) in submissions
            .iter()
            .zip(&mut shown)
            .filter(|(own, _)| own.lost.is_none())
        {
            for version in &submission.judged {
                let is_ranked = submission.rows.ranked == Some(version.iteration);
                let markets = submission.markets(version.iteration);
                let bars: usize = markets.iter().map(MarketTrace::bars).sum();
                if is_ranked == wants_ranked && bars <= left {
                    left -= bars;
                    own.insert(version.iteration);
                }
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::fixture::{submission, traced, version};
    use super::*;

    #[test]
    fn the_ranked_versions_come_first_where_a_page_is_full() {
        let submissions = [traced(30), traced(30)];
        let sets = |most| iterations_shown(&submissions, most);
        assert_eq!(sets(60), [BTreeSet::from([1]), BTreeSet::from([1])]);
        assert_eq!(sets(90), [BTreeSet::from([0, 1]), BTreeSet::from([1])]);
        assert_eq!(sets(0), [BTreeSet::new(), BTreeSet::new()]);
        let none = submission(("a", "S01"), vec![version(0, 6, None)], Vec::new());
        assert_eq!(iterations_shown(&[none], 60), [BTreeSet::new()]);
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use ktd_record::spending::Spending;
    use ktd_strategy_code::{
        BarTrace, BreachReport, ControlKind, Gate, GateResults, IterationState, ProgramKey, ReviewEvent,
        RunEvidence, StrategySubmission, SubmissionReport, SubmissionRows, SubmissionVersion, VersionRow,
    };

    /// A version that passes so many gates.
    pub(crate) fn version(iteration: usize, passed: usize, drift: Option<&str>) -> VersionRow {
        VersionRow {
            iteration,
            state: IterationState::Kept,
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
            measured: Some([Some(0.5), Some(1.0), Some(0.25)]),
            published_scores: Some([8.0, 9.0]),
            warnings: usize::from(passed == 4),
            changed: drift.map(|_| 3),
            drift: drift.map(str::to_owned),
            published_drift: drift.map(|_| "suspicious".to_owned()),
        }
    }

    /// A version that runs, with such trades and this source.
    pub(crate) fn judged(iteration: usize, (trade_hash, source): (&str, &str)) -> SubmissionVersion {
        let run = RunEvidence {
            trades: 13,
            trade_hash: trade_hash.to_owned(),
            completeness: 1.0,
            traced: 1.0,
            untraceable: None,
            missing_columns: Vec::new(),
            breaches: BreachReport::default(),
            stress: Vec::new(),
            contract: ktd_strategy_code::StrategyContract::Run,
            least_actions: 1,
            witness: None,
        };
        SubmissionVersion {
            iteration,
            state: IterationState::Kept,
            problem: None,
            submission: Some(StrategySubmission {
                card: String::new(),
                source: source.to_owned(),
            }),
            patch: None,
            drift: None,
            report: Some(SubmissionReport {
                gates: GateResults::new([const { None }; 6]),
                checks: Vec::new(),
                facts: None,
                class_name: "Strategy".to_owned(),
                run: Some(run),
                traces: BTreeMap::new(),
                markets: Vec::new(),
                likeness: Vec::new(),
                distances: BTreeMap::new(),
            }),
        }
    }

    /// A submission whose last version is ranked, with trades and source of each.
    pub(crate) fn submission(
        (model, strategy): (&str, &str),
        versions: Vec<VersionRow>,
        found: Vec<(&str, &str)>,
    ) -> SubmissionFound {
        SubmissionFound {
            rows: SubmissionRows {
                model: model.to_owned(),
                strategy: strategy.to_owned(),
                seed: 1,
                without_reference: false,
                contract: ktd_strategy_code::StrategyContract::Run,
                ranked: versions.len().checked_sub(1),
                versions,
            },
            lost: None,
            judged: found
                .into_iter()
                .enumerate()
                .map(|(place, found)| judged(place, found))
                .collect(),
            real: None,
            spending: Spending::nothing(),
            tokens: BTreeMap::new(),
            vendor: "v".to_owned(),
            served: "\"m\" of \"v\"".to_owned(),
            document_sha256: String::new(),
            own_sha256: None,
            own: None,
            is_continued: false,
            is_boxed: true,
        }
    }

    /// A submission of two versions with so many bars each.
    pub(crate) fn traced(bars: usize) -> SubmissionFound {
        let versions = vec![version(0, 6, None), version(1, 6, Some("same"))];
        let mut traced = submission(("writer", "S01"), versions, vec![("h", "x = 1"); 2]);
        let trace = |letter: &str| BarTrace {
            signals: letter.repeat(bars),
            positions: "_".repeat(bars),
            exposure: vec![Some(0); bars],
            equity: vec![Some(100_000); bars],
        };
        let market = MarketTrace {
            market: "long".to_owned(),
            reference: trace("."),
            version: trace("?"),
        };
        for version in &mut traced.judged {
            version.report.as_mut().unwrap().markets = vec![market.clone()];
        }
        traced
    }

    /// A report on submissions, with an arena or without.
    pub(crate) fn report(submissions: Vec<SubmissionFound>, arena: Option<ArenaRecord>) -> StrategyReport {
        StrategyReport {
            submissions,
            arena,
            no_arena: None,
            reviews: Vec::new(),
        }
    }

    /// Heads and rows of a table.
    pub(crate) fn records(table: &ktd_view::report_table::ReportTable) -> Vec<Vec<String>> {
        table.data.records().collect()
    }

    /// An arena of two models on one document: the first is sound and strict, of the second nothing is known.
    pub(crate) fn arena() -> ArenaRecord {
        let event = |(step, model, control, mark): (usize, &str, Option<ControlKind>, u8)| {
            let key = ProgramKey {
                strategy: "S01".to_owned(),
                model: control.is_none().then(|| model.to_owned()),
                seed: u64::try_from(step).unwrap(),
                iteration: 0,
                control,
                card_sha256: String::new(),
                source_sha256: String::new(),
            };
            let mut event = ReviewEvent::new(step, &key);
            if control.is_none() {
                event.seed = 1;
            }
            (event.d1, event.d2) = (Some(mark), Some(mark));
            event
        };
        let of = |reviewer: &str, own: u8, others: u8, planted: usize| {
            let mark = |model: &str| if model == reviewer { own } else { others };
            let given = ["a", "b"].map(|model| (0, model, None, mark(model)));
            let controls = [
                (ControlKind::Clean, 9),
                (ControlKind::Flipped, 3),
                (ControlKind::Plea, 3),
            ];
            let repeated =
                (1..=planted).flat_map(|step| controls.map(|(kind, mark)| (step, "", Some(kind), mark)));
            ReviewsFound {
                reviewer: reviewer.to_owned(),
                events: given.into_iter().chain(repeated).map(event).collect(),
                programs: Vec::new(),
                tokens: 0,
                not_applicable: None,
            }
        };
        let models = ["a", "b"].map(|model| (model.to_owned(), model.to_owned()));
        ArenaRecord::of(models.into(), &[of("a", 9, 4, 16), of("b", 8, 8, 0)])
    }
}
