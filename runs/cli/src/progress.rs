//! Progress bars: on a terminal only, and only for work that takes longer than two seconds.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ktd_data::import::ImportProgress;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::output::Console;
use crate::typed_command::this_command;

const PATIENCE: Duration = Duration::from_secs(2);

/// One piece of work that may take a while.
#[derive(Debug)]
pub(crate) struct Progress {
    what: &'static str,
    bar: ProgressBar,
    started: Instant,
    /// Whether the bar may still appear.
    waiting: bool,
    /// Whether it says itself how far it is.
    speaks: bool,
}

impl Progress {
    /// Work of so many units; `unit` names them in the plural.
    #[must_use]
    pub(crate) fn new(console: Console, what: &'static str, units: u64, unit: &'static str) -> Self {
        let may_show = !console.json && !console.quiet && std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(Some(units), ProgressDrawTarget::hidden());
        let template = format!("{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit}, {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.set_message(what);
        Self {
            what,
            bar,
            started: Instant::now(),
            waiting: may_show,
            speaks: false,
        }
    }

    /// Whether somebody sees it, or would as soon as it is told anything.
    #[must_use]
    pub(crate) fn is_due(&self) -> bool {
        !self.bar.is_hidden() || self.waiting && PATIENCE <= self.started.elapsed()
    }

    /// Units that are done, and all.
    fn counts(&self) -> (u64, u64) {
        (self.bar.position(), self.bar.length().unwrap_or_default())
    }

    /// Calls `write` while the bar is off the screen.
    pub(crate) fn suspend(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Says in lines of its own how far it is and how long it takes, instead of counts and a time that the bar would guess.
    pub(crate) fn say(&mut self, lines: String) {
        if !self.speaks {
            self.speaks = true;
            if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:20} {msg}") {
                self.bar.set_style(style);
            }
            self.bar.set_prefix(self.what);
        }
        self.bar.set_message(lines);
        self.appear();
    }

    /// So many more units are done.
    pub(crate) fn advance(&mut self, units: u64) {
        self.bar.inc(units);
        self.appear();
    }

    fn appear(&mut self) {
        if self.waiting && self.started.elapsed() >= PATIENCE {
            self.waiting = false;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for work that says itself how many pieces it has.
#[derive(Debug)]
pub(crate) struct TickBar {
    console: Console,
    what: &'static str,
    unit: &'static str,
    bar: Mutex<Option<Progress>>,
}

impl TickBar {
    /// A bar that appears when the number of `unit`s is told.
    #[must_use]
    pub(crate) const fn new(console: Console, what: &'static str, unit: &'static str) -> Self {
        Self {
            console,
            what,
            unit,
            bar: Mutex::new(None),
        }
    }

    /// Says how far the work was when a signal ended it. Programs read the failure alone.
    pub(crate) fn interrupted(&self) {
        let Ok(mut bar) = self.bar.lock() else { return };
        if self.console.json || self.console.quiet {
            return;
        }
        // It would stand on the screen, as it was, below what is said.
        let (done, of) = bar.take().map_or((0, 0), |bar| bar.counts());
        Console::warning(&format!(
            "{}: {done} of {of} {} are finished; nothing is kept before the end\nto go on: {}",
            self.what,
            self.unit,
            this_command()
        ));
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        if let Ok(mut bar) = self.bar.lock() {
            drop(bar.take());
        }
    }

    /// So many pieces are done: none at first, then one more each time.
    pub(crate) fn tell(&self, done: u64, of: u64) {
        if let Ok(mut bar) = self.bar.lock() {
            let bar = bar.get_or_insert_with(|| Progress::new(self.console, self.what, of, self.unit));
            if 0 < done {
                bar.advance(1);
            }
        }
    }
}

/// A bar for the reading of market data.
#[derive(Debug)]
pub(crate) struct ImportBar {
    console: Console,
    bar: Option<Progress>,
}

impl ImportBar {
    /// A bar that appears when reading begins and takes long.
    #[must_use]
    pub(crate) const fn new(console: Console) -> Self {
        Self { console, bar: None }
    }
}

impl ImportProgress for ImportBar {
    fn begin(&mut self, what: &'static str, units: u64, unit: &'static str) {
        self.bar = Some(Progress::new(self.console, what, units, unit));
    }

    fn advance(&mut self, units: u64) {
        if let Some(bar) = &mut self.bar {
            bar.advance(units);
        }
    }
}
