//! The reasons that a model stated in an episode, step by step.

use ktd_bundle::event::{OrderRecord, ReadEvent, StepOutcome};
use ktd_bundle::finished_episode::{FinishedEpisode, OpenedBundle};
use ktd_bundle::recorded_files::RecordObserver;
use ktd_record::RecordError;

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

/// What the events that were read so far state.
#[derive(Default)]
struct Stated {
    day: String,
    steps: Vec<StepReasons>,
}

impl RecordObserver for Stated {
    fn event(&mut self, event: ReadEvent) {
        match event {
            ReadEvent::StepBegin { day, .. } => {
                self.day = day.as_str().map(str::to_owned).unwrap_or_default();
            }
            ReadEvent::Decision {
                step,
                outcome,
                orders,
                overall_reason: overall,
                ..
            } => self.steps.push(StepReasons {
                step,
                day: std::mem::take(&mut self.day),
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
}

impl StatedReasons {
    /// The reasons of an episode, whose files are read and checked.
    ///
    /// # Errors
    /// [`RecordError`] when one is missing or damaged.
    pub fn read(opened: OpenedBundle) -> Result<Self, RecordError> {
        let mut stated = Stated::default();
        let FinishedEpisode { opened, .. } = FinishedEpisode::read(opened, &mut stated)?;
        let steps = stated.steps;
        Ok(Self { opened, steps })
    }

    /// A step by its number.
    #[must_use]
    pub fn step(&self, step: usize) -> Option<&StepReasons> {
        self.steps.iter().find(|own| own.step == step)
    }
}
