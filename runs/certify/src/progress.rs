//! How long work tells that it goes on.

/// Callback that is called as probes are made, attacked or answered.
pub type ProgressFn<'a> = &'a (dyn Fn() + Sync);
