//! What a model said in an episode, step by step.

use crate::ReasonsError;
use ktd_bundle::BundlePaths;
use ktd_bundle::bundle_ref::Found;
use ktd_bundle::chain::Lines;
use ktd_bundle::event::{OrderRecord, ReadEvent, StepOutcome};
use ktd_bundle::open::read_private;
use ktd_bundle::summary_file::{check_summary, read_summary};

/// The reasons of one finished episode.
#[derive(Debug, Clone)]
pub struct Spoken {
    /// Which episode.
    pub found: Found,
    /// Its steps, in order.
    pub steps: Vec<SpokenStep>,
}

/// The reasons of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct SpokenStep {
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

impl SpokenStep {
    /// The texts of the step with the 0-based order of each; `None` is the reason for the whole.
    pub fn texts(&self) -> impl Iterator<Item = (Option<usize>, &str)> {
        let orders = self.orders.iter().enumerate();
        let orders = orders.map(|(place, order)| (Some(place), order.reason.as_str()));
        orders.chain(self.overall.as_deref().map(|overall| (None, overall)))
    }
}

impl Spoken {
    /// Reads an episode and checks its files against its summary.
    ///
    /// # Errors
    /// [`ReasonsError`] when a part is missing or damaged.
    pub fn read(found: Found) -> Result<Self, ReasonsError> {
        let paths = BundlePaths::new(&found.root);
        let key = paths
            .episode()
            .exists()
            .then(|| read_private(&paths, &found.header))
            .transpose()?
            .map(|(_, key)| key);
        check_summary(&paths, &read_summary(&paths)?, key.as_ref())?;
        let events: Vec<ReadEvent> = Lines::read(&paths.events())?.bodies(&paths.events())?;
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
                } => steps.push(SpokenStep {
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
        Ok(Self { found, steps })
    }

    /// A step by its number.
    #[must_use]
    pub fn step(&self, step: usize) -> Option<&SpokenStep> {
        self.steps.iter().find(|own| own.step == step)
    }
}
