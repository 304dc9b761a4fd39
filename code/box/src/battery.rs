//! A battery of programs that try to get out, run in one box after the other.

use crate::code_box::{CodeBox, CodeRunner as _, JobOutcome};
use crate::error::BoxError;
use crate::launcher::BoxLauncher;
use ktd_sandbox::{
    BatteryCase, BatteryFinding, BatteryRun, BoxJob, BoxLimits, Expectation, JobResult, JobStatus,
    SourceText, judge_case,
};

/// What the job after a case runs, and what it prints.
const NEXT: &str = "print('alive')";
const NEXT_PRINTS: &[u8] = b"alive\n";

/// Runs every case in one box, with a job of our own after each; each finding is shown as it comes.
///
/// # Errors
/// Where the box itself fails.
pub fn run_battery(
    launcher: &BoxLauncher,
    cases: &[BatteryCase],
    mut show: impl FnMut(&BatteryFinding),
) -> Result<Vec<BatteryFinding>, BoxError> {
    let limits = launcher.header().limits;
    let mut opened = launcher.open(source(NEXT)?, 0)?;
    let mut findings = Vec::new();
    for case in cases {
        let mut runs = Vec::new();
        for text in &case.sources {
            let outcome = run(&mut opened, case, text, case.limits(&limits))?;
            runs.push(BatteryRun {
                status: outcome.status,
                output: output(&outcome),
            });
        }
        let next = run(&mut opened, case, NEXT, limits)?;
        let answers = next.status == JobStatus::Ok && next.diagnostics == NEXT_PRINTS;
        let finding = judge_case(case, &runs, answers);
        show(&finding);
        findings.push(finding);
    }
    Ok(findings)
}

fn source(text: &str) -> Result<SourceText, BoxError> {
    SourceText::read(text.as_bytes(), 256).map_err(BoxError::from)
}

fn run(
    opened: &mut CodeBox<'_>,
    case: &BatteryCase,
    text: &str,
    limits: BoxLimits,
) -> Result<JobOutcome, BoxError> {
    opened.replace_source(source(text)?, limits);
    let is_pair = case.expect == Expectation::Pair;
    let purpose = if is_pair {
        "battery, one of a pair"
    } else {
        "battery"
    };
    opened.run(&BoxJob::script(format!("{purpose}: {}", case.name)))
}

/// What a job printed, and after it what its exception says.
fn output(outcome: &JobOutcome) -> String {
    let mut text = String::from_utf8_lossy(&outcome.diagnostics).into_owned();
    if let Some(JobResult::Error { class, message, .. }) = &outcome.result {
        text = format!("{text}{class}: {message}");
    }
    text
}
