//! Which of the episodes below a directory a command looks at.

use clap::Args;
use ktd_bundle::episode_filter::EpisodeFilter;

/// Each may be given several times; without one of them all are taken.
#[derive(Debug, Clone, Args)]
pub(super) struct Selection {
    /// Only these windows.
    #[arg(long)]
    window: Vec<String>,
    /// Only these agents.
    #[arg(long)]
    agent: Vec<String>,
    /// Only these decision modes.
    #[arg(long)]
    mode: Vec<String>,
    /// Only these mask levels.
    #[arg(long)]
    mask: Vec<String>,
}

impl Selection {
    pub(super) fn shown(&self) -> EpisodeFilter {
        EpisodeFilter {
            windows: self.window.clone(),
            agents: self.agent.clone(),
            modes: self.mode.clone(),
            levels: self.mask.clone(),
        }
    }
}
