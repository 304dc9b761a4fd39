//! What a report is made of: what all units came to.

use super::page::iterations_shown;
use super::{convergence, execution, gates, iterations, money, peers, people, real_bars, scores, strategies};
use crate::arena::{ArenaPanel, ArenaRecord, LeftOut, ModelVendor, ReviewEvent, ReviewsFound};
use crate::error::StrategyError;
use crate::human_marks::HumanMarks;
use crate::rows::SubmissionRows;
use crate::run::{OwnDocument, RealSubmission, StrategyExperiment, SubmissionFound};
use ktd_strategy_code::{DocumentId, StrategyDocument, document_text};
use ktd_view::report_table::ReportTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What every table of an experiment without a box says.
const UNSAFE: &str =
    "unsafe: programs ran without a sandbox, and may have done anything; no figure here counts";
/// What is said of submissions that cannot be compared to the last digit.
const BOXES: &str =
    "submissions were judged in different boxes, or with other packages: their records name them";

/// What an experiment came to: `report.json`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrategyReport {
    /// The iterations of all submissions, by seed, model and document.
    #[serde(rename = "submissions")]
    pub rows: Vec<SubmissionRows>,
    /// Submissions that were ended early by no fault of the model, and why: they count in no table.
    pub lost: Vec<(String, String)>,
    /// Tokens of all requests and replies of submissions.
    pub tokens: u64,
    /// What reviews came to, where models reviewed each other.
    #[schemars(with = "Option<Value>")]
    pub arena: Option<ArenaRecord>,
    /// Why there are no reviews, where some were asked for.
    pub no_arena: Option<String>,
    /// Whether programs ran without a box.
    pub is_unsafe: bool,
    /// Whether programs ran in different boxes.
    pub has_boxes: bool,
    /// What tables and page are made of: verdicts, sources, traces and tokens by iteration.
    #[serde(rename = "records")]
    #[schemars(with = "Vec<Value>")]
    pub(crate) submissions: Vec<SubmissionFound>,
    /// What iterations earn on real bars, of submissions that ran on some.
    #[schemars(with = "Vec<Value>")]
    pub(crate) real: Vec<RealSubmission>,
    /// The words of the reviewers, by reviewer.
    #[schemars(with = "Vec<Value>")]
    pub(crate) reviews: Vec<(String, Vec<ReviewEvent>)>,
}

/// A strategy as a report shows it.
pub(super) struct ShownStrategy {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) document: StrategyDocument,
}

impl StrategyReport {
    /// What units came to. Submissions that a fault of the infrastructure ended are no failure of a model: `lost` names them.
    pub(crate) fn of(
        keys: &StrategyExperiment,
        all: Vec<SubmissionFound>,
        reviewers: Vec<ReviewsFound>,
    ) -> Self {
        let lost = all.iter().filter_map(|own| {
            let rows = &own.rows;
            let name = format!("{} {} {}", rows.model, rows.strategy, rows.seed);
            Some((name, own.lost.clone()?))
        });
        let no_arena = reviewers.iter().find_map(|own| own.not_applicable.clone());
        let is_held = no_arena.is_none() && !reviewers.is_empty();
        let mut boxes = all.iter().map(|own| &own.sandbox);
        let first = boxes.next();
        Self {
            lost: lost.collect(),
            tokens: all.iter().map(|own| own.spending.tokens.all()).sum(),
            arena: is_held.then(|| ArenaRecord::of(panel(keys, &all), &reviewers)),
            no_arena,
            is_unsafe: !keys.sandbox.isolation.counts(),
            has_boxes: boxes.any(|other| Some(other) != first),
            rows: all.iter().map(|own| own.rows.clone()).collect(),
            real: all.iter().filter_map(RealSubmission::of).collect(),
            reviews: reviewers
                .into_iter()
                .map(|ReviewsFound { reviewer, events, .. }| (reviewer, events))
                .collect(),
            submissions: with_traces_shown(all.into_iter().filter(|own| own.lost.is_none()).collect()),
        }
    }

    /// What a submission's strategy is made of; `None` for one that is unknown.
    pub(super) fn strategy(&self, id: &str) -> Option<ShownStrategy> {
        let (text, document) = if let Some(id) = DocumentId::parse(id) {
            (document_text(id).to_owned(), StrategyDocument::built_in(id).ok()?)
        } else {
            let mut own = self.submissions.iter().filter(|own| own.rows.strategy == id);
            let OwnDocument { spec, text } = own.find_map(|own| own.own.clone())?;
            (text, StrategyDocument::parse(&spec).ok()?)
        };
        Some(ShownStrategy {
            id: id.to_owned(),
            text,
            document,
        })
    }

    /// The models, by name.
    pub(super) fn models(&self) -> BTreeSet<&str> {
        let models = self
            .submissions
            .iter()
            .map(|submission| submission.rows.model.as_str());
        models.collect()
    }

    /// The submissions of a model.
    pub(super) fn of_model<'a>(&'a self, model: &'a str) -> impl Iterator<Item = &'a SubmissionFound> {
        let submissions = self.submissions.iter();
        submissions.filter(move |submission| submission.rows.model == model)
    }

    /// All tables.
    pub(super) fn tables(&self) -> Vec<ReportTable> {
        let mut tables = vec![
            gates::by_model(self),
            strategies::by_strategy(self),
            strategies::correlation(self),
            scores::by_model(self),
            execution::success(self),
            execution::reasons(self),
            iterations::by_iteration(self),
            convergence::table(self),
            money::by_iteration(self),
            money::by_model(self),
        ];
        tables.extend(peers::tables(self));
        tables.extend(real_bars::tables(self));
        tables.extend([gates::warnings(self), gates::failures(self)]);
        let rows = self.submissions.iter().map(|submission| &submission.rows);
        let notes = [
            self.is_unsafe.then(|| UNSAFE.to_owned()),
            self.has_boxes.then(|| BOXES.to_owned()),
            SubmissionRows::reference_note(rows),
        ];
        for table in &mut tables {
            table.data.notes.extend(notes.iter().flatten().cloned());
        }
        tables
    }
}

/// The table of marks that people gave the ranked versions of a report, from a file.
///
/// # Errors
/// [`StrategyError`] naming the row of the file that is no mark of a submission.
pub fn people_table(report: &StrategyReport, path: &Path) -> Result<ReportTable, StrategyError> {
    let rows: Vec<&SubmissionRows> = report.submissions.iter().map(|own| &own.rows).collect();
    Ok(people::table(report, &HumanMarks::read(path, &rows)?))
}

/// Who is compared: the models with the vendors that serve them, and submissions without a program under review.
fn panel(keys: &StrategyExperiment, all: &[SubmissionFound]) -> ArenaPanel {
    let vendors: BTreeMap<&str, &str> = all
        .iter()
        .map(|own| (own.rows.model.as_str(), own.vendor.as_str()))
        .collect();
    let models = keys.agents.iter().filter_map(|agent| {
        Some(ModelVendor {
            model: agent.id.clone(),
            vendor: (*vendors.get(agent.id.as_str())?).to_owned(),
        })
    });
    let left_out = all
        .iter()
        .filter(|own| own.ranked().is_none())
        .map(|own| LeftOut {
            model: own.rows.model.clone(),
            strategy: own.rows.strategy.clone(),
            seed: own.rows.seed,
            reason: "no version stands".to_owned(),
        });
    ArenaPanel {
        seed: keys.first_seed(),
        models: models.collect(),
        left_out: left_out.collect(),
    }
}

/// Submissions without earnings, and without the traces that no page has room for: the record of each keeps them.
fn with_traces_shown(mut submissions: Vec<SubmissionFound>) -> Vec<SubmissionFound> {
    let shown = iterations_shown(&submissions);
    for (submission, shown) in submissions.iter_mut().zip(shown) {
        // These stand beside, with those of lost ones.
        submission.real = None;
        for (iteration, markets) in submission.traces.iter_mut().enumerate() {
            if !shown.contains(&iteration) {
                markets.clear();
            }
        }
    }
    submissions
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use crate::rows::VersionRow;
    use crate::run::VersionEvent;
    use crate::submission::StrategySubmission;
    use ktd_record::spending::Spending;
    use ktd_sandbox::{BoxHeader, BoxLimits, EnvironmentRecord, Isolation, PackageSet, SelfTest};
    use ktd_strategy_code::Gate;

    /// A version that passes so many gates.
    pub(crate) fn version(iteration: usize, passed: usize, drift: Option<&str>) -> VersionRow {
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

    /// A submission whose last version is ranked, with its events and sources.
    pub(crate) fn submission(
        (model, strategy): (&str, &str),
        versions_of: Vec<VersionRow>,
        found: Vec<(VersionEvent, &str)>,
    ) -> SubmissionFound {
        let (events, versions) = found
            .into_iter()
            .map(|(event, source)| {
                let submission = StrategySubmission {
                    card: String::new(),
                    source: source.to_owned(),
                };
                (event, Some(submission))
            })
            .unzip();
        let events: Vec<VersionEvent> = events;
        SubmissionFound {
            rows: SubmissionRows {
                model: model.to_owned(),
                strategy: strategy.to_owned(),
                seed: 1,
                without_reference: false,
                ranked: versions_of.len().checked_sub(1),
                versions: versions_of,
            },
            lost: None,
            traces: vec![Vec::new(); events.len()],
            events,
            versions,
            real: None,
            spending: Spending::nothing(),
            tokens: BTreeMap::new(),
            vendor: "v".to_owned(),
            served: "\"m\" of \"v\"".to_owned(),
            document_sha256: String::new(),
            own_sha256: None,
            own: None,
            is_continued: false,
            sandbox: sandbox(),
        }
    }

    /// Some box.
    fn sandbox() -> BoxHeader {
        BoxHeader {
            isolation: Isolation::Bwrap,
            bwrap_path: None,
            bwrap_version: None,
            kernel: String::new(),
            landlock_abi: 0,
            cgroup: String::new(),
            filters: None,
            runner_sha256: String::new(),
            environment: EnvironmentRecord {
                set: PackageSet::default(),
                lock_sha256: String::new(),
                python: String::new(),
                installed_sha256: String::new(),
            },
            limits: BoxLimits::STRATEGIES,
            self_test: SelfTest::default(),
        }
    }

    /// A report on submissions, with an arena or without.
    pub(crate) fn report(submissions: Vec<SubmissionFound>, arena: Option<ArenaRecord>) -> StrategyReport {
        StrategyReport {
            rows: Vec::new(),
            lost: Vec::new(),
            tokens: 0,
            submissions,
            arena,
            no_arena: None,
            is_unsafe: false,
            has_boxes: false,
            real: Vec::new(),
            reviews: Vec::new(),
        }
    }

    /// Heads and rows of a table.
    pub(crate) fn records(table: &ReportTable) -> Vec<Vec<String>> {
        table.data.records().collect()
    }
}
