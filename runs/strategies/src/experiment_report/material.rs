//! What a report is made of: submissions with their events, sources and spending, and the arena.

use super::{convergence, execution, gates, iterations, money, peers, people, real_bars, scores, strategies};
use crate::arena::{ArenaRecord, ReviewEvent, read_arena, read_reviews};
use crate::bar_traces::MarketTrace;
use crate::error::StrategyError;
use crate::human_marks::HumanMarks;
use crate::own_strategy::OwnStrategy;
use crate::rows::{SubmissionRows, VersionRow};
use crate::run::{
    BOX, RESULT, RealSubmission, StrategyResults, SubmissionResult, TRACES, VersionEvent, VersionReport,
    finished_submissions, own_strategies, read_real,
};
use crate::strategy_source::StrategySource;
use ktd_asking::{AgentFile, AskingError};
use ktd_io::line_file::LineKind;
use ktd_io::whole_file::{parse_json, read_bounded, read_if_exists};
use ktd_record::RecordPaths;
use ktd_record::exchanges::Cassette;
use ktd_record::spending::Spending;
use ktd_sandbox::BoxHeader;
use ktd_strategy_code::DocumentId;
use ktd_view::report_table::ReportTable;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The most that a file of a submission may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 26;

/// What every table of an experiment without a box says.
const UNSAFE: &str =
    "unsafe: programs ran without a sandbox, and may have done anything; no figure here counts";

/// Requests and tokens of one iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct IterationTokens {
    pub(super) requests: u64,
    pub(super) input: u64,
    pub(super) output: u64,
}

/// A finished submission with what tables need of it.
#[derive(Debug, Clone)]
pub(super) struct ReportedSubmission {
    pub(super) rows: SubmissionRows,
    /// Verdicts by iteration, as they were written.
    pub(super) events: Vec<VersionEvent>,
    /// Sources by iteration; none where the reply had none.
    pub(super) sources: Vec<Option<String>>,
    /// Traces by iteration; none of what does not run, and of records that keep none.
    pub(super) traces: Vec<Vec<MarketTrace>>,
    pub(super) spending: Option<Spending>,
    /// Tokens by iteration.
    pub(super) tokens: BTreeMap<usize, IterationTokens>,
}

impl ReportedSubmission {
    fn read(folder: &Path, result: SubmissionResult) -> Result<Self, StrategyError> {
        let paths = RecordPaths::new(folder);
        let events: Vec<VersionEvent> = LineKind::Log.open(&folder.join("events.jsonl"))?.values()?;
        check_rows(folder, &result.rows, events.len())?;
        let sources = (0..events.len()).map(|iteration| source(folder, iteration));
        let sources: Result<Vec<Option<String>>, StrategyError> = sources.collect();
        let traces = (0..events.len()).map(|iteration| traces(folder, iteration));
        let traces: Result<Vec<Vec<MarketTrace>>, StrategyError> = traces.collect();
        let path = folder.join("spending.json");
        let spending = read_if_exists(&path)?.map(|bytes| parse_json(&path, &bytes));
        Ok(Self {
            rows: result.rows,
            events,
            sources: sources?,
            traces: traces?,
            spending: spending.transpose()?,
            tokens: tokens(&paths)?,
        })
    }

    /// The version that is ranked.
    pub(super) fn ranked(&self) -> Option<&VersionRow> {
        self.rows.versions.get(self.rows.ranked?)
    }

    /// The version that is ranked, where it passes all gates: others have no scores.
    pub(super) fn valid(&self) -> Option<&VersionRow> {
        self.ranked().filter(|version| version.valid)
    }

    /// What an iteration came to; none of what was not judged.
    pub(super) fn report(&self, iteration: usize) -> Option<&VersionReport> {
        self.events.get(iteration)?.verdict.report.as_ref()
    }

    /// The iteration that stood after another, or after the last one there was.
    pub(super) fn standing_after(&self, iteration: usize) -> Option<usize> {
        let last = iteration.min(self.events.len().checked_sub(1)?);
        self.events.get(last)?.standing
    }
}

/// Whether a result has a row for each iteration, in their order: a page shows each once, and a row finds its version by its
/// number.
fn check_rows(folder: &Path, rows: &SubmissionRows, iterations: usize) -> Result<(), StrategyError> {
    let in_order = rows.versions.iter().map(|version| version.iteration);
    let has_ranked = rows.ranked.is_none_or(|ranked| ranked < iterations);
    if has_ranked && in_order.eq(0..iterations) {
        return Ok(());
    }
    Err(StrategyError::damaged(
        &folder.join(RESULT),
        format!(
            "`rows` must have the iterations of events.jsonl, which are {iterations}, each once and in order"
        ),
    ))
}

/// Whether the programs of an experiment ran without a box.
fn was_without_box(folder: &Path) -> Result<bool, StrategyError> {
    let path = folder.join(BOX);
    let Some(bytes) = read_if_exists(&path)? else {
        return Ok(false);
    };
    let header: BoxHeader = parse_json(&path, &bytes)?;
    Ok(!header.isolation.counts())
}

fn version_file(folder: &Path, iteration: usize, name: &str) -> PathBuf {
    let versions = folder.join("versions");
    versions.join(iteration.to_string()).join(name)
}

fn traces(folder: &Path, iteration: usize) -> Result<Vec<MarketTrace>, StrategyError> {
    let path = version_file(folder, iteration, TRACES);
    let bytes = LineKind::Log.bytes_if_exists(&path)?.unwrap_or_default();
    Ok(LineKind::Log.lines(&path, &bytes)?.values()?)
}

fn source(folder: &Path, iteration: usize) -> Result<Option<String>, StrategyError> {
    let bytes = read_if_exists(&version_file(folder, iteration, "strategy.py"))?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Tokens by iteration, as the exchanges have them: every iteration is a step of its own.
fn tokens(paths: &RecordPaths) -> Result<BTreeMap<usize, IterationTokens>, StrategyError> {
    let cassette = Cassette::read(&paths.exchanges()).map_err(AskingError::from)?;
    let path = paths.root().join("agent.json");
    let agent: AgentFile = parse_json(&path, &read_bounded(&path, FILE_LIMIT_BYTES)?)?;
    let tariff = agent.model("report", 0).payer.tariff;
    let mut by_iteration: BTreeMap<usize, IterationTokens> = BTreeMap::new();
    for sent in cassette.sends() {
        let mut spent = Spending::nothing();
        spent.add_charge(&tariff.charge_of(sent));
        let own = by_iteration
            .entry(sent.intent.at.step.saturating_sub(1))
            .or_default();
        own.requests += 1;
        own.input += spent.tokens.input();
        own.output += spent.tokens.all() - spent.tokens.input();
    }
    Ok(by_iteration)
}

/// The finished submissions of an experiment's folder and its arena, with the tables and the page that are made of them.
#[derive(Debug, Clone)]
pub struct StrategyReport {
    pub(super) submissions: Vec<ReportedSubmission>,
    /// What the submissions came to.
    pub results: StrategyResults,
    pub(super) arena: Option<ArenaRecord>,
    /// Whether programs ran without a box.
    pub(super) is_unsafe: bool,
    /// What iterations earn on real bars, of submissions that ran on some.
    pub(super) real: Vec<RealSubmission>,
    /// The words of the reviewers, by reviewer.
    pub(super) reviews: Vec<(String, Vec<ReviewEvent>)>,
    /// Marks that people gave, where a file of them was read.
    pub(super) human: Option<HumanMarks>,
    /// Strategies of one's own that submissions are about.
    pub(super) own: Vec<OwnStrategy>,
}

impl StrategyReport {
    /// Reads the folder of an experiment. Submissions that are not finished are left out, and those that a fault of the
    /// infrastructure ended, which are no failure of a model: `results.lost` names them.
    ///
    /// # Errors
    /// [`StrategyError`] for a folder without submissions, for a record that cannot be read, and for one that was changed.
    pub fn read(folder: &Path) -> Result<Self, StrategyError> {
        let finished = finished_submissions(folder)?;
        let own = own_strategies(folder, &finished)?;
        let results = StrategyResults::of(finished.iter().map(|own| own.result.clone()).collect());
        let whole = finished.into_iter().filter(|own| own.result.lost.is_none());
        let submissions = whole.map(|own| ReportedSubmission::read(&own.folder, own.result));
        let submissions: Result<Vec<ReportedSubmission>, StrategyError> = submissions.collect();
        let arena = read_arena(folder)?;
        let reviews = arena
            .as_ref()
            .map_or(Ok(Vec::new()), |record| read_reviews(folder, record))?;
        Ok(Self {
            submissions: submissions?,
            results,
            arena,
            is_unsafe: was_without_box(folder)?,
            real: read_real(folder)?,
            reviews,
            human: None,
            own,
        })
    }

    /// The report with marks that people gave the ranked versions, from a file.
    ///
    /// # Errors
    /// [`StrategyError`] naming the row of the file that is no mark of a submission.
    pub fn with_human_marks(self, path: &Path) -> Result<Self, StrategyError> {
        let rows: Vec<&SubmissionRows> = self.submissions.iter().map(|own| &own.rows).collect();
        let human = Some(HumanMarks::read(path, &rows)?);
        Ok(Self { human, ..self })
    }

    /// What a submission's strategy is made of; `None` for one that is unknown.
    pub(super) fn strategy(&self, id: &str) -> Option<StrategySource> {
        let own = || self.own.iter().find(|own| own.id.label() == id);
        let known = DocumentId::parse(id).map(StrategySource::BuiltIn);
        known.or_else(|| Some(StrategySource::Own(Box::new(own()?.clone()))))
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
    pub(super) fn of_model<'a>(&'a self, model: &'a str) -> impl Iterator<Item = &'a ReportedSubmission> {
        let submissions = self.submissions.iter();
        submissions.filter(move |submission| submission.rows.model == model)
    }

    /// All tables.
    #[must_use]
    pub fn tables(&self) -> Vec<ReportTable> {
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
        tables.extend(people::table(self));
        tables.extend(real_bars::tables(self));
        tables.extend([gates::warnings(self), gates::failures(self)]);
        let unsafe_note = self.is_unsafe.then(|| UNSAFE.to_owned());
        let rows = self.submissions.iter().map(|submission| &submission.rows);
        let notes = [unsafe_note, SubmissionRows::reference_note(rows)];
        for table in &mut tables {
            table.data.notes.extend(notes.iter().flatten().cloned());
        }
        tables
    }
}

#[cfg(test)]
pub(super) mod fixture {
    use super::*;
    use ktd_strategy_code::Gate;

    /// A version that passes so many gates.
    pub(in super::super) fn version(iteration: usize, passed: usize, drift: Option<&str>) -> VersionRow {
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
    pub(in super::super) fn submission(
        (model, strategy): (&str, &str),
        versions: Vec<VersionRow>,
        found: Vec<(VersionEvent, &str)>,
    ) -> ReportedSubmission {
        let (events, sources): (Vec<VersionEvent>, Vec<Option<String>>) = found
            .into_iter()
            .map(|(event, source)| (event, Some(source.to_owned())))
            .unzip();
        ReportedSubmission {
            rows: SubmissionRows {
                model: model.to_owned(),
                strategy: strategy.to_owned(),
                seed: 1,
                without_reference: false,
                ranked: versions.len().checked_sub(1),
                versions,
            },
            traces: vec![Vec::new(); events.len()],
            events,
            sources,
            spending: None,
            tokens: BTreeMap::new(),
        }
    }

    /// A report on submissions, with an arena or without.
    pub(in super::super) fn report(
        submissions: Vec<ReportedSubmission>,
        arena: Option<ArenaRecord>,
    ) -> StrategyReport {
        StrategyReport {
            submissions,
            results: StrategyResults::of(Vec::new()),
            arena,
            is_unsafe: false,
            real: Vec::new(),
            reviews: Vec::new(),
            human: None,
            own: Vec::new(),
        }
    }

    /// Heads and rows of a table.
    pub(in super::super) fn records(table: &ReportTable) -> Vec<Vec<String>> {
        table.data.records().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture::{Results, own_strategy, row};
    use ktd_io::whole_file::write_whole;

    fn error_of(results: &Results) -> String {
        match StrategyReport::read(results.root()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_report_is_made_of_a_record_that_nobody_changed() {
        let folder = tempfile::tempdir().unwrap();
        let own = own_strategy(folder.path(), "channel");
        let results = Results::of(&StrategySource::Own(Box::new(own)));
        let report = StrategyReport::read(results.root()).unwrap();
        assert_eq!((report.submissions.len(), report.own.len()), (2, 1));
        let source = results.folder("one", "channel").join("versions/0/strategy.py");
        let kept = report.submissions[0].sources[0].clone().unwrap();
        write_whole(&source, b"x = 1\n").unwrap();
        let error = error_of(&results);
        assert!(error.contains("strategy.py: it differs"), "{error}");
        write_whole(&source, kept.as_bytes()).unwrap();
        assert_eq!(error_of(&results), "");
        write_whole(&results.root().join("strategies/channel/spec.md"), b"# Other\n").unwrap();
        let error = error_of(&results);
        assert!(
            error.contains("strategies/channel: its files are not those"),
            "{error}"
        );
    }

    #[test]
    fn a_result_has_each_iteration_once() {
        let results = Results::of(&StrategySource::BuiltIn(DocumentId::S01));
        let own = results.folder("one", "S01");
        for versions in [vec![row(0); 10_000], vec![row(1)], Vec::new()] {
            Results::change_result(&own, |result| result.rows.versions = versions);
            let error = error_of(&results);
            assert!(
                error.contains("result.json")
                    && error.contains("`rows` must have the iterations of events.jsonl"),
                "{error}"
            );
        }
        Results::change_result(&own, |result| result.rows.versions = vec![row(0)]);
        assert_eq!(error_of(&results), "");
        Results::change_result(&own, |result| result.rows.ranked = Some(1));
        assert!(error_of(&results).contains("`rows` must have"));
    }
}
