//! The reasons that a model stated in an episode, step by step.

use ktd_bundle::event::{OrderRecord, ReadEvent, StepOutcome};
use ktd_bundle::finished_episode::{FinishedEpisode, OpenedBundle};

/// The reasons of one finished episode.
#[derive(Debug, Clone)]
pub struct StatedReasons {
    /// Which episode.
    pub opened: OpenedBundle,
    /// Its steps, in order.
    pub steps: Vec<StepReasons>,
}

/// The reasons of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepReasons {
    /// 1-based.
    pub step: usize,
    /// Its trading day as the model saw it.
    pub day: String,
    /// How it ended: an episode's holds, mistakes and lost steps have no order reasons, and are three things.
    pub outcome: StepOutcome,
    /// Its orders, in the model's words.
    pub orders: Vec<OrderRecord>,
    /// The model's reason for the whole.
    pub overall: Option<String>,
}

impl StepReasons {
    /// The texts of the step with the 0-based order of each; `None` is the reason for the whole.
    pub fn texts(&self) -> impl Iterator<Item = (Option<usize>, &str)> {
        let orders = self.orders.iter().enumerate();
        let orders = orders.map(|(place, order)| (Some(place), order.reason.as_str()));
        orders.chain(self.overall.as_deref().map(|overall| (None, overall)))
    }
}

impl StatedReasons {
    /// The reasons of an episode whose files were read.
    #[must_use]
    pub fn of(episode: FinishedEpisode) -> Self {
        let FinishedEpisode { opened, events, .. } = episode;
        let mut steps = Vec::new();
        let mut day = String::new();
        for event in events {
            match event {
                ReadEvent::StepBegin { day: shown, .. } => {
                    day = shown.as_str().map(str::to_owned).unwrap_or_default();
                }
                ReadEvent::Decision {
                    step,
                    outcome,
                    orders,
                    overall_reason: overall,
                    ..
                } => steps.push(StepReasons {
                    step,
                    day: std::mem::take(&mut day),
                    outcome,
                    orders,
                    overall,
                }),
                ReadEvent::EpisodeBegin { .. }
                | ReadEvent::Turn { .. }
                | ReadEvent::InfrastructureFault { .. }
                | ReadEvent::ToolCall { .. }
                | ReadEvent::ModelFault { .. }
                | ReadEvent::Fills { .. }
                | ReadEvent::StepEnd { .. }
                | ReadEvent::EpisodeEnd { .. } => {}
            }
        }
        Self { opened, steps }
    }

    /// A step by its number.
    #[must_use]
    pub fn step(&self, step: usize) -> Option<&StepReasons> {
        self.steps.iter().find(|own| own.step == step)
    }
}
