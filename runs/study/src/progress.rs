//! How far a study is.

use crate::agent_status::RunSoFar;
use std::path::Path;

/// Listener that is told how far a study is.
pub trait StudyProgress: Sync {
    /// So many steps are to be done, those of an earlier run among them; `unit` names them in the plural.
    fn begin(&self, steps: u64, unit: &'static str);

    /// So many more are done.
    fn advance(&self, steps: u64);

    /// So many more were done by an earlier run, or fall away: they tell no pace.
    fn found(&self, steps: u64) {
        self.advance(steps);
    }

    /// What whoever waits should know at once, such as an endpoint of `who` that does not answer.
    /// The first of `who` is enough.
    fn notice(&self, _who: &str, _what: &str) {}

    /// A unit of `who` ended without a result. The first of `who` is enough; the run's own error tells it again at its end.
    fn failed(&self, who: &str, what: &str) {
        self.notice(who, what);
    }

    /// What has just changed for all that wait: each is told.
    fn news(&self, _what: &str) {}

    /// How far the run into a folder is, agent by agent, for a listener that wants to `look` now. It is told over and over.
    fn so_far(&self, _folder: &Path, _look: &dyn Fn() -> RunSoFar) {}
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unheard;

impl StudyProgress for Unheard {
    fn begin(&self, _steps: u64, _unit: &'static str) {}

    fn advance(&self, _steps: u64) {}
}
