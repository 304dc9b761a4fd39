//! Who is asked in a study.

use crate::StudyError;
use crate::kind::{Planned, StudyKind};
use crate::unit_folder::{AskedBy, UNITS};
use ktd_asking::{Answerer, OpenModels};
use std::path::Path;

/// The models of a study and who answers for them; nobody where nothing is left to be asked.
#[derive(Default)]
pub(crate) struct Asking {
    models: Option<OpenModels>,
    answerers: Vec<Answerer>,
    retries: ktd_experiment::config::RetryConfig,
}

impl Asking {
    /// Opens the models of units that are missing: all that is recorded counts as spent. A missing key or program stops
    /// everything before anybody is asked.
    pub(crate) fn open<K: StudyKind>(
        (keys, world): (&K::Keys, &K::World),
        plan: &[Planned<K::Unit>],
        missing: &[&Planned<K::Unit>],
        (base, out): (&Path, &Path),
    ) -> Result<Self, StudyError> {
        let Some(settings) = K::asking(keys).filter(|_| missing.iter().any(|unit| unit.model.is_some()))
        else {
            return Ok(Self::default());
        };
        let units = out.join(UNITS);
        let own = |place: usize| {
            let own = plan.iter().filter(|unit| unit.model == Some(place));
            own.map(|unit| units.join(unit.id.as_str())).collect()
        };
        let models = settings.open_over(base, out, &own)?;
        let answerers: Result<Vec<_>, _> = models
            .models
            .iter()
            .map(|model| K::answerer(world, model).map_or_else(|| Answerer::of(model, base), Ok))
            .collect();
        Ok(Self {
            answerers: answerers?,
            models: Some(models),
            retries: settings.retries,
        })
    }

    pub(crate) fn of(&self, place: Option<usize>) -> Result<Option<AskedBy<'_>>, StudyError> {
        let Some(place) = place else { return Ok(None) };
        let models = self.models.as_ref();
        let found = models.and_then(|models| Some((models, models.models.get(place)?)));
        let (Some((models, model)), Some(answerer)) = (found, self.answerers.get(place)) else {
            return Err(StudyError::input(
                "a unit names a model that the file lacks",
                "name it among the agents",
            ));
        };
        Ok(Some(AskedBy {
            models,
            model,
            answerer,
            retries: self.retries,
        }))
    }
}

/// The id of a unit's agent: of its own, or of the model that it asks.
pub(crate) fn agent_of<'k, K: StudyKind>(keys: &'k K::Keys, unit: &'k Planned<K::Unit>) -> Option<&'k str> {
    let asked = || {
        let agents = K::asking(keys)?.agents;
        let place = unit.model?.checked_rem(agents.len())?;
        Some(agents.get(place)?.id.as_str())
    };
    unit.agent.as_deref().or_else(asked)
}
