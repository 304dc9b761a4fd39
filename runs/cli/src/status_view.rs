//! A status that changes: drawn over itself on a terminal, else a line a change.

use crate::CliError;
use crate::output::{Console, visible_lines};
use ktd_study::StudyStatus;
use ktd_view::draw::{counted, fitted_parts, wrapped};
use serde_json::json;
use std::io::IsTerminal as _;

/// Rows that are kept free: how many agents are not shown, and one below.
const ROWS: usize = 2;

/// Place where a status is shown again and again.
#[derive(Debug)]
pub(crate) struct StatusView {
    console: Console,
    is_terminal: bool,
    /// What was shown last, but for times that pass by themselves.
    last: Option<String>,
    /// Lines of it on the terminal.
    drawn: usize,
}

impl StatusView {
    pub(crate) fn new(console: Console) -> Self {
        Self {
            console,
            is_terminal: std::io::stdout().is_terminal() && !console.json,
            last: None,
            drawn: 0,
        }
    }

    /// Shows a status, where it is another one.
    ///
    /// # Errors
    /// [`CliError`] when standard output cannot be written.
    pub(crate) fn show(&mut self, status: &StudyStatus) -> Result<(), CliError> {
        if self.is_terminal {
            return self.draw(status);
        }
        let key = what_changed(status);
        if self.last.as_ref() == Some(&key) {
            return Ok(());
        }
        self.last = Some(key);
        let line = if self.console.json {
            json!(status).to_string()
        } else {
            visible_lines(&line(status))
        };
        Console::say(&line)
    }

    fn draw(&mut self, status: &StudyStatus) -> Result<(), CliError> {
        let terminal = console::Term::stdout();
        let (rows, columns) = terminal.size();
        let lines = frame(status, (rows.into(), columns.into()));
        if 0 < self.drawn {
            terminal
                .clear_last_lines(self.drawn)
                .map_err(CliError::io("write to", "standard output".as_ref()))?;
        }
        self.drawn = lines.len();
        Console::say(&visible_lines(&lines.join("\n")))
    }
}

/// What a change is: nothing that changes while nothing happens.
fn what_changed(status: &StudyStatus) -> String {
    let run = status.so_far();
    let waits = status.agents.iter().map(|agent| agent.waiting_seconds.is_some());
    json!([
        status.finished,
        status.open,
        status.failed.len(),
        status.requests,
        run.steps_done,
        run.spent.map(|spent| spent.0),
        waits.collect::<Vec<_>>(),
        status.is_running,
        status.is_reported,
    ])
    .to_string()
}

/// What a step of the agents is called, or a unit of a study without them.
fn unit_of(status: &StudyStatus) -> &'static str {
    if status.agents.is_empty() {
        "units"
    } else {
        "steps"
    }
}

/// What ended units without a result, the first such thing; then how it ended, where nobody runs it any more.
fn end(status: &StudyStatus) -> Vec<String> {
    let failures = status.failures();
    let failed = failures.first().map(|(names, failed)| {
        let fix = if failed.hint.is_empty() { "" } else { "; fix: " };
        format!(
            "ended without a result: {names}: {}{fix}{}",
            failed.error, failed.hint
        )
    });
    let others = failures.len().saturating_sub(1);
    let others = (0 < others).then(|| format!("and {} of other units", counted(others, "reason")));
    let end = (!status.is_running).then(|| format!("nobody runs it; to go on: {}", status.next));
    failed.into_iter().chain(others).chain(end).collect()
}

fn line(status: &StudyStatus) -> String {
    let mut parts = vec![format!(
        "{}: {} of {} units finished, {} open, {} failed",
        status.study,
        status.finished,
        status.units,
        status.open.len(),
        status.failed.len()
    )];
    parts.push(status.so_far().line(unit_of(status)));
    parts.extend(end(status));
    parts.join("; ")
}

fn frame(status: &StudyStatus, (rows, columns): (usize, usize)) -> Vec<String> {
    let (run, unit) = (status.so_far(), unit_of(status));
    let columns = columns.saturating_sub(1);
    let whole = |text: &str| wrapped(text, columns);
    let mut lines: Vec<String> = [status.verdict(), run.line(unit)]
        .iter()
        .flat_map(|text| whole(text))
        .collect();
    let end: Vec<String> = end(status).iter().flat_map(|text| whole(text)).collect();
    let agents = run.agent_lines(unit);
    let room = rows.saturating_sub(lines.len() + end.len() + ROWS).max(1);
    let more = agents.len().saturating_sub(room);
    let shown = agents.iter().take(room);
    lines.extend(shown.map(|line| fitted_parts(&format!("  {line}"), columns)));
    if 0 < more {
        lines.push(format!("  and {more} more"));
    }
    lines.extend(end);
    lines
}
