//! The bar of a study: a line for all and one an agent; and what is said when a signal ends it.

use crate::on_event::OnEvent;
use crate::output::Console;
use crate::progress::Progress;
use crate::typed_command::this_command;
use ktd_experiment::amount::Picodollars;
use ktd_study::{RunSoFar, StudyProgress, StudyStatus};
use ktd_view::draw::fitted_parts;
use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

/// Between two looks at what was sent while a terminal shows it.
const EVERY: Duration = Duration::from_secs(1);
/// Between two lines where standard error is no terminal.
const EVERY_LINE: Duration = Duration::from_mins(1);
/// Columns under which there is no line an agent.
const NARROW: usize = 60;

/// Bar that appears when a study says how much there is to do.
pub(crate) struct StudyBar {
    what: &'static str,
    console: Console,
    /// Of whom a notice was given: a run that waits would otherwise look like one that hangs.
    noticed: Mutex<BTreeSet<String>>,
    /// Told what is new, too.
    on_event: Option<OnEvent>,
    interruption: Arc<Interruption>,
}

struct Shown {
    bar: Progress,
    unit: &'static str,
    looked: Instant,
}

/// What is said once when a signal ends a run: what is done, what was spent, and how to go on.
#[derive(Default)]
pub(crate) struct Interruption {
    /// What is on the screen.
    shown: Mutex<Option<Shown>>,
    folder: OnceLock<PathBuf>,
    is_told: AtomicBool,
}

impl StudyBar {
    pub(crate) fn new(what: &'static str, console: Console, on_event: Option<OnEvent>) -> Self {
        Self {
            what,
            console,
            noticed: Mutex::default(),
            on_event,
            interruption: Arc::default(),
        }
    }

    pub(crate) fn interruption(&self) -> Arc<Interruption> {
        Arc::clone(&self.interruption)
    }

    pub(crate) fn tell(&self, event: &str) {
        if let Some(command) = &self.on_event {
            command.tell(event);
        }
    }

    /// Takes the bar away, and waits for who is told.
    pub(crate) fn finish(self) {
        self.interruption.take_bar();
        if let Some(command) = self.on_event {
            command.finish();
        }
    }
}

impl Shown {
    /// Whether it is time to look, on a terminal or for a line where there is none.
    fn is_due(&self, console: Console) -> bool {
        let since = self.looked.elapsed();
        if std::io::stderr().is_terminal() {
            EVERY <= since && self.bar.is_due()
        } else {
            EVERY_LINE <= since && !console.json && !console.quiet
        }
    }

    fn show(&mut self, what: &str, run: &RunSoFar) {
        if !std::io::stderr().is_terminal() {
            Console::warning(&format!("{what}: {}", run.line(self.unit)));
            return;
        }
        let (rows, columns) = console::Term::stderr().size();
        self.bar
            .say(lines(run, self.unit, (rows.into(), columns.into())).join("\n"));
    }
}

/// A line for all, shortened by what stands before it, and one an agent as far as there is room.
fn lines(run: &RunSoFar, unit: &str, (rows, columns): (usize, usize)) -> Vec<String> {
    /// What stands before the first line.
    const BAR: usize = 30;
    let mut lines = vec![fitted_parts(&run.line(unit), columns.saturating_sub(BAR).max(20))];
    if NARROW <= columns && 1 < run.agents.len() {
        let mut agents: Vec<_> = run.agents.iter().zip(run.agent_lines(unit)).collect();
        let room = rows.saturating_sub(4).max(1);
        let more = agents.len().saturating_sub(room);
        if 0 < more {
            // Whoever is in trouble is looked at first, and whoever is done last.
            agents.sort_by_key(|(agent, _)| {
                let is_calm = agent.waiting_seconds.is_none() && agent.faults == 0;
                (agent.finished == agent.units, is_calm)
            });
        }
        let indented = agents.iter().take(room).map(|(_, line)| format!("  {line}"));
        lines.extend(indented.map(|line| fitted_parts(&line, columns.saturating_sub(1))));
        if 0 < more {
            lines.push(format!("  and {more} more"));
        }
    }
    lines
}

impl StudyBar {
    fn is_first_of(&self, who: &str) -> bool {
        let is_first = |mut noticed: MutexGuard<'_, BTreeSet<String>>| noticed.insert(who.to_owned());
        self.noticed.lock().is_ok_and(is_first)
    }
}

impl StudyProgress for StudyBar {
    fn begin(&self, steps: u64, unit: &'static str) {
        if let Ok(mut shown) = self.interruption.shown.lock() {
            *shown = Some(Shown {
                bar: Progress::new(self.console, self.what, steps, unit),
                unit,
                looked: Instant::now(),
            });
        }
    }

    fn advance(&self, steps: u64) {
        if let Ok(mut shown) = self.interruption.shown.lock()
            && let Some(shown) = shown.as_mut()
        {
            shown.bar.advance(steps);
        }
    }

    fn notice(&self, who: &str, what: &str) {
        if self.is_first_of(who) {
            self.news(&format!("{who}: {what}"));
        }
    }

    fn failed(&self, who: &str, what: &str) {
        if !self.console.json {
            self.notice(who, what);
        } else if self.is_first_of(who) {
            // Standard error is one document, at the end.
            self.tell(&format!("{who}: {what}"));
        }
    }

    fn news(&self, what: &str) {
        self.tell(what);
        if let Ok(shown) = self.interruption.shown.lock() {
            let tell = || Console::warning(what);
            match shown.as_ref() {
                Some(shown) => shown.bar.suspend(tell),
                None => tell(),
            }
        }
    }

    fn so_far(&self, folder: &Path, look: &dyn Fn() -> RunSoFar) {
        self.interruption.folder.get_or_init(|| folder.to_owned());
        // Who is told at the same time need not wait: somebody looks.
        if let Ok(mut shown) = self.interruption.shown.try_lock()
            && let Some(shown) = shown.as_mut()
            && shown.is_due(self.console)
        {
            shown.show(self.what, &look());
            shown.looked = Instant::now();
        }
    }
}

impl Interruption {
    /// Takes the bar off the screen, for good.
    fn take_bar(&self) {
        if let Ok(mut shown) = self.shown.lock() {
            drop(shown.take());
        }
    }

    /// Says it on standard error, where nobody has yet. Programs read the failure alone.
    pub(crate) fn tell(&self, console: Console, status_of: fn(&Path) -> Option<StudyStatus>) {
        let Some(folder) = self.folder.get().filter(|_| !console.json && !console.quiet) else {
            return;
        };
        if self.is_told.swap(true, Ordering::Relaxed) {
            return;
        }
        self.take_bar();
        let command = this_command();
        let told = status_of(folder).map(|status| told(&status, &command));
        Console::warning(&told.unwrap_or_else(|| format!("to go on: {command}")));
    }
}

fn told(status: &StudyStatus, command: &str) -> String {
    let run = status.so_far();
    let steps = if run.agents.is_empty() {
        String::new()
    } else {
        format!("; {} of {} steps", run.steps_done, run.steps)
    };
    let done = format!(
        "{}: {} of {} units are finished, {} open{steps}",
        status.study,
        status.finished,
        status.units,
        status.open.len()
    );
    let mut lines = vec![done];
    if 0 < status.requests.asked {
        let spent = status.spent.map_or_else(
            || "unknown: a price is missing".to_owned(),
            |spent| {
                let [paid, most] = [spent.paid_picodollars, spent.at_most_picodollars].map(Picodollars);
                let cap = run.cap.map_or_else(String::new, |cap| format!(", of {cap}"));
                format!("{paid} paid, {most} at most{cap}")
            },
        );
        lines.push(format!("spent: {spent}"));
    }
    lines.push(format!("to go on: {command}"));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_study::AgentStatus;

    #[test]
    fn a_narrow_terminal_has_one_line_and_a_low_one_says_how_many_more() {
        let agent = |name: &str| AgentStatus {
            agent: name.to_owned(),
            units: 2,
            steps: 10,
            steps_done: 4,
            seconds_left: Some(90),
            ..AgentStatus::default()
        };
        let run = RunSoFar {
            agents: ["a", "long-name", "c"].map(agent).to_vec(),
            steps: 30,
            steps_done: 12,
            spent: Some(Picodollars(296_600_000_000)),
            cap: Some(Picodollars(5_000_000_000_000)),
            seconds_left: Some(90),
            ..RunSoFar::default()
        };
        let all = "12/30 steps, 90 s left, $0.2966 of $5.0000";
        assert_eq!(lines(&run, "steps", (24, 100)).len(), 4);
        assert_eq!(lines(&run, "steps", (24, 100))[0], all);
        assert_eq!(
            lines(&run, "steps", (24, 100))[1],
            "  a          4/10 steps, 90 s left"
        );
        assert_eq!(lines(&run, "steps", (24, 50)).len(), 1);
        assert_eq!(lines(&run, "steps", (6, 100))[3], "  and 1 more");
        let mut troubled = run.clone();
        troubled.agents[2].faults = 7;
        assert!(lines(&troubled, "steps", (5, 100))[1].starts_with("  c "));
        assert!(
            lines(&run, "steps", (24, 60))
                .iter()
                .all(|line| line.chars().count() < 60)
        );
    }
}
