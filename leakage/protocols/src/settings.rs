//! What of the benchmark may be chosen.

use crate::error::LeakageError;

/// Settings of a benchmark; every figure depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeakageSettings {
    /// Names that a session needs to be traded and judged.
    pub min_names: usize,
    /// Sessions by which a centred window reads ahead.
    pub future_days: usize,
    /// Sessions of a graph's window.
    pub graph_days: usize,
    /// Peers of a name.
    pub graph_peers: usize,
}

impl LeakageSettings {
    /// The benchmark's own.
    pub const BENCHMARK: Self = Self {
        min_names: 10,
        future_days: 3,
        graph_days: 252,
        graph_peers: 5,
    };

    pub(crate) fn check(&self) -> Result<(), LeakageError> {
        let invalid = |name, rule| Err(LeakageError::Setting { name, rule });
        if self.min_names < 2 {
            return invalid("min_names", "at least 2");
        }
        if self.future_days == 0 {
            return invalid("future_days", "at least 1");
        }
        if self.graph_days < crate::graph::GraphWindow::LEAST_SESSIONS {
            return invalid("graph_days", "at least 60");
        }
        if self.graph_peers == 0 {
            return invalid("graph_peers", "at least 1");
        }
        Ok(())
    }
}

impl Default for LeakageSettings {
    fn default() -> Self {
        Self::BENCHMARK
    }
}
