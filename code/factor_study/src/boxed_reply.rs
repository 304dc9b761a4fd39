//! A reply's function through all layers, each of its runs in the box.

use crate::error::CodeError;
use ktd_boxed::{BoxError, BoxLauncher, CodeBox, CodeRunner, JobOutcome};
use ktd_factor_code::{
    AccuracyRules, BAR_COLUMNS, ChosenFunction, CountFault, FactorBars, FactorCodeError, FactorGateSecret,
    FactorJob, FactorJudge, FactorPanels, FactorTask, FactorVerdict, FailureReason, FeedbackFacts,
    FeedbackScope, GatedPanels, GoldenColumns, PanelChange, ReplySource, RunColumn, RunFailure, RunOutcome,
    SourceProblem as ReplyFault, StepCount, SyntaxFact, SyntaxFacts, without_paths,
};
use ktd_sandbox::{
    BoxJob, BoxLimits, ColumnValues, JobColumn, JobData, JobKind, JobResult, JobStatus, RunSteps, SourceText,
    SyntaxNode,
};

/// As many runs are asked for at once: a verdict may make later ones needless.
const AT_ONCE: usize = 32;

/// On what and by what replies are judged.
#[derive(Debug, Clone, Copy)]
pub struct FactorJudgedBy<'a> {
    /// The panels that everybody may know.
    pub panels: &'a FactorPanels,
    /// What the strict gate draws the others from.
    pub secret: &'a FactorGateSecret,
    /// When values are right.
    pub rules: &'a AccuracyRules,
}

impl FactorJudgedBy<'_> {
    /// The panels of a reply.
    ///
    /// # Errors
    /// [`FactorCodeError`] where the calendar ends.
    pub fn gated(&self, reply: &str) -> Result<GatedPanels, FactorCodeError> {
        self.secret.panels(self.panels, reply)
    }
}

/// A reply that was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedReply {
    /// The verdict.
    pub verdict: FactorVerdict,
    /// What its writer may get to know of it; none where it passes.
    pub feedback: Option<FeedbackFacts>,
    /// Its values on panel G, for a picture.
    pub curve: Vec<Option<f64>>,
}

impl JudgedReply {
    /// The judgement on a reply that nothing was run of.
    fn unrun(verdict: FactorVerdict, panels: &FactorPanels, rules: &AccuracyRules) -> Self {
        let feedback = FeedbackFacts::of(&verdict, FeedbackScope::Layers, panels, rules, |_| None);
        Self {
            verdict,
            feedback,
            curve: Vec::new(),
        }
    }

    /// The judgement on an answer without a reply.
    #[must_use]
    pub fn without_source(fault: ReplyFault) -> Self {
        Self {
            verdict: FactorVerdict::without_source(fault),
            feedback: Some(FeedbackFacts::NoSource(fault)),
            curve: Vec::new(),
        }
    }
}

/// The verdict on a reply; none where the box failed again and again, which is no fault of the reply.
///
/// # Errors
/// [`CodeError`] where no box can be had at all.
pub fn judge_reply(
    launcher: &BoxLauncher,
    task: &FactorTask,
    by: &FactorJudgedBy<'_>,
    reply: &str,
) -> Result<Option<JudgedReply>, CodeError> {
    match judge(launcher, task, by, reply) {
        Err(CodeError::Boxed(BoxError::Failed { .. })) => Ok(None),
        judged => judged.map(Some),
    }
}

fn judge(
    launcher: &BoxLauncher,
    task: &FactorTask,
    by: &FactorJudgedBy<'_>,
    reply: &str,
) -> Result<JudgedReply, CodeError> {
    let (panels, rules) = (&by.gated(reply)?, by.rules);
    if reply.trim().is_empty() {
        return Ok(JudgedReply::without_source(ReplyFault::NoAnswer));
    }
    let unrun = |verdict: FactorVerdict| JudgedReply::unrun(verdict, panels.panels(), rules);
    let source = ReplySource::of(reply);
    let text = match SourceText::read(source.text.as_bytes(), BoxLimits::FACTORS.source_kb) {
        Ok(text) => text,
        Err(fault) => {
            let failure = RunFailure {
                message: Some(fault.to_string()),
                ..RunFailure::of(FailureReason::Syntax)
            };
            return Ok(unrun(FactorJudge::unrun(&source, None, failure)));
        }
    };
    let golden = GoldenColumns::of(task, panels.panels())?;
    let mut opened = launcher.open(text, 0)?;
    let facts = match read_facts(&mut opened)? {
        Ok(facts) => facts,
        Err(failure) => return Ok(unrun(FactorJudge::unrun(&source, None, failure))),
    };
    let function = match ChosenFunction::of(&facts) {
        Ok(function) => function,
        Err(reason) => {
            let failure = RunFailure::of(reason);
            return Ok(unrun(FactorJudge::unrun(&source, Some(&facts), failure)));
        }
    };
    let mut judge = FactorJudge::new(task, panels, &golden, &source, &facts, &function);
    loop {
        let pending: Vec<FactorJob> = judge.pending().into_iter().take(AT_ONCE).collect();
        if pending.is_empty() {
            let verdict = judge.verdict(rules);
            let feedback = judge.feedback(&verdict, rules);
            return Ok(JudgedReply {
                verdict,
                feedback,
                curve: judge.curve(),
            });
        }
        let mut jobs = Vec::with_capacity(pending.len());
        for job in &pending {
            jobs.push(box_job(job, panels, &panels.input(job)?, &function.name));
        }
        let outcomes = opened.run_all(&jobs, &panels.order_key())?;
        for ((job, asked), outcome) in pending.into_iter().zip(&jobs).zip(outcomes) {
            judge.record(job, column_of(outcome, asked.data.rows(), &function.name));
        }
    }
}

/// The syntax tree of a box's source, or why there is none.
pub(crate) fn read_facts(opened: &mut CodeBox<'_>) -> Result<Result<SyntaxFacts, RunFailure>, CodeError> {
    let outcome = opened.run(&BoxJob::facts("facts"))?;
    Ok(match outcome.result {
        Some(JobResult::Facts(nodes)) => Ok(SyntaxFacts::new(nodes.into_iter().map(fact_of).collect())?),
        result => Err(failure_of(outcome.status, result)),
    })
}

fn fact_of(node: SyntaxNode) -> SyntaxFact {
    SyntaxFact {
        parent: node.parent,
        field: node.field,
        place: node.place,
        kind: node.kind,
        line: node.line,
        text: node.text,
        detail: node.detail,
    }
}

fn box_job(job: &FactorJob, panels: &GatedPanels, bars: &FactorBars, function: &str) -> BoxJob {
    BoxJob {
        kind: JobKind::Series,
        // numpy takes 32 bits
        seed: u32::try_from(job.chance_seed(panels) & u64::from(u32::MAX)).unwrap_or(0),
        entry: Some(function.to_owned()),
        data: JobData::Frame(frame_of(bars)),
        is_counted: matches!(job.change, PanelChange::Counted { .. }),
        ..BoxJob::script(job.purpose())
    }
}

/// Bars as the data frame that a function gets.
pub(crate) fn frame_of(bars: &FactorBars) -> Vec<JobColumn> {
    const DAY_NS: i64 = 86_400_000_000_000;
    let days = bars
        .days()
        .iter()
        .map(|day| i64::from(day.days_since_epoch()) * DAY_NS);
    let mut columns = vec![JobColumn {
        name: "date".to_owned(),
        values: ColumnValues::Time(days.collect()),
    }];
    for (name, cells) in BAR_COLUMNS.into_iter().zip(bars.columns()) {
        columns.push(JobColumn {
            name: name.to_owned(),
            values: ColumnValues::F64(cells.to_vec()),
        });
    }
    columns
}

fn column_of(outcome: JobOutcome, rows: usize, function: &str) -> RunOutcome {
    match outcome.result {
        Some(JobResult::Series { name, values, .. }) if outcome.status == JobStatus::Ok => {
            let mut column = RunColumn::new(values, rows, name.as_deref() == Some(function))?;
            column.count = outcome.steps.map(count_of);
            Ok(column)
        }
        result => Err(failure_of(outcome.status, result)),
    }
}

const fn count_of(steps: RunSteps) -> StepCount {
    StepCount {
        steps: steps.steps,
        window_steps: steps.window_steps,
        fault: if steps.has_tampered {
            Some(CountFault::Tampered)
        } else if steps.has_made_code {
            Some(CountFault::DynamicCode)
        } else {
            None
        },
    }
}

/// Why a job gave no column.
fn failure_of(status: JobStatus, result: Option<JobResult>) -> RunFailure {
    let Some(JobResult::Error {
        class,
        message,
        place,
        line,
    }) = result
    else {
        let reason = FailureReason::of_code(status.label()).unwrap_or(FailureReason::BadResult);
        return RunFailure::of(reason);
    };
    let is_import = ["ImportError", "ModuleNotFoundError"].contains(&class.as_str());
    let reason = match place.as_str() {
        "syntax" => FailureReason::Syntax,
        "result" => FailureReason::of_code(&class).unwrap_or(FailureReason::BadResult),
        _ if is_import => FailureReason::Import,
        _ => FailureReason::of_code(&class)
            .filter(|reason| *reason == FailureReason::NoFunction)
            .unwrap_or(FailureReason::Exception),
    };
    RunFailure {
        reason,
        class: Some(class),
        message: Some(without_paths(&message)),
        line: line.and_then(|line| usize::try_from(line).ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(class: &str, place: &str) -> FailureReason {
        let result = JobResult::Error {
            class: class.to_owned(),
            message: "x".to_owned(),
            place: place.to_owned(),
            line: Some(3),
        };
        failure_of(JobStatus::Error, Some(result)).reason
    }

    #[test]
    fn an_end_of_a_job_has_one_reason() {
        assert_eq!(error("SyntaxError", "syntax"), FailureReason::Syntax);
        assert_eq!(error("ModuleNotFoundError", "import"), FailureReason::Import);
        assert_eq!(error("ImportError", "call"), FailureReason::Import);
        assert_eq!(error("NameError", "import"), FailureReason::Exception);
        assert_eq!(error("no_function", "import"), FailureReason::NoFunction);
        assert_eq!(error("index", "result"), FailureReason::Index);
        assert_eq!(error("not_series", "result"), FailureReason::NotSeries);
        assert_eq!(error("dtype", "result"), FailureReason::Dtype);
        assert_eq!(failure_of(JobStatus::Memory, None).reason, FailureReason::Memory);
        assert_eq!(
            failure_of(JobStatus::RunnerLost, None).reason,
            FailureReason::RunnerLost
        );
        assert_eq!(
            failure_of(JobStatus::NoResult, None).reason,
            FailureReason::NoResult
        );
    }
}
