//! How far a study is.

/// Listener that is told how far a study is.
pub trait StudyProgress: Sync {
    /// So many steps are to be done, those of an earlier run among them; `unit` names them in the plural.
    fn begin(&self, steps: u64, unit: &'static str);

    /// So many more are done.
    fn advance(&self, steps: u64);

    /// What whoever waits should know at once, such as an endpoint of `who` that does not answer.
    /// The first of `who` is enough.
    fn notice(&self, _who: &str, _what: &str) {}

    /// What has just changed for all that wait: each is told.
    fn news(&self, _what: &str) {}

    /// Which key waits now, and how long; empty where none does. It is told over and over.
    fn waits(&self, _what: &str) {}
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unheard;

impl StudyProgress for Unheard {
    fn begin(&self, _steps: u64, _unit: &'static str) {}

    fn advance(&self, _steps: u64) {}
}
