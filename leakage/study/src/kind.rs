//! The one-switch benchmark as a kind of study: a unit a run, one for the panel, one for what ridge regression shows of it.

use super::config::{LeakConfig, check_config};
use super::grid::{LeakGrid, LeakSource, decided_by};
use super::manifest_text::manifest_files;
use super::noise_bands::{NoisePanel, NoisePanels, noise_bands, noise_keys};
use super::page::leak_report;
use super::proofs::LeakProofs;
use super::report::{LeakPanel, LeakReport};
use super::run::LeakRun;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_leakage::RunKey;
use ktd_study::{Hands, Opening, Planned, Report, StudyError, StudyKind, UnitId, read_study_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Reads the file of a benchmark.
///
/// # Errors
/// [`StudyError`] for unknown keys, and keys that do not go together.
pub fn read_leak_config(path: &Path) -> Result<LeakConfig, StudyError> {
    read_study_file::<LeakStudy>(path)
}

/// The one-switch benchmark.
#[derive(Debug, Clone, Copy)]
pub struct LeakStudy;

/// The panel of a benchmark, prepared, and those without a signal that its weak protocols are run on.
#[derive(Debug)]
pub struct LeakWorld {
    config: LeakConfig,
    source: LeakSource,
    noise: NoisePanels,
}

/// What decides a unit beside the panel and its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum LeakUnit {
    /// What is to be known of the panel.
    Panel {
        /// Years that are tested.
        years: Vec<i32>,
        /// Sessions of a window of the peers' graph.
        graph_days: usize,
    },
    /// One model under one protocol for a horizon, a year and a seed.
    Run {
        /// The panel without a signal that it runs on; none for the panel itself.
        #[serde(flatten)]
        noise: Option<NoisePanel>,
        /// The run.
        #[serde(flatten)]
        key: RunName,
    },
    /// Interventions, profile and fill ladder of ridge regression.
    Proofs {
        /// Sessions of the label.
        horizon: usize,
        /// The test year.
        year: i32,
    },
}

/// A run by its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RunName {
    model: &'static str,
    protocol: &'static str,
    horizon: usize,
    year: i32,
    seed: u64,
    #[serde(skip)]
    key: RunKey,
}

impl From<RunKey> for RunName {
    fn from(key: RunKey) -> Self {
        Self {
            model: key.family.name(),
            protocol: key.switch.name(),
            horizon: key.horizon,
            year: key.year,
            seed: key.seed,
            key,
        }
    }
}

/// What a unit came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum LeakFound {
    /// Of [`LeakUnit::Panel`].
    Panel(LeakPanel),
    /// Of [`LeakUnit::Run`].
    Run(LeakRun),
    /// Of [`LeakUnit::Proofs`].
    Proofs(LeakProofs),
}

impl StudyKind for LeakStudy {
    const NAME: &'static str = "leakage";
    const COMMAND: &'static str = "ktd leak run";
    const FORMAT: u32 = 1;
    const STEPS: &'static str = "runs";

    type Keys = LeakConfig;
    type World = LeakWorld;
    type Unit = LeakUnit;
    type Event = ();
    type Found = LeakFound;
    type Summary = LeakReport;

    fn name(keys: &LeakConfig) -> &str {
        &keys.name
    }

    fn check(keys: &LeakConfig) -> Result<(), StudyError> {
        check_config(keys)
    }

    fn open(keys: &LeakConfig, at: &Opening<'_>) -> Result<LeakWorld, StudyError> {
        Ok(LeakWorld {
            source: LeakSource::read(keys, at.base)?,
            config: keys.clone(),
            noise: NoisePanels::default(),
        })
    }

    fn decides(world: &LeakWorld) -> Value {
        decided_by(&world.config, &world.source.panel)
    }

    fn units(keys: &LeakConfig, world: &LeakWorld) -> Result<Vec<Planned<LeakUnit>>, StudyError> {
        let years = &world.source.years;
        let panel = LeakUnit::Panel {
            years: years.clone(),
            graph_days: keys.graph.days,
        };
        let mut plan = vec![Planned::line("panel".to_owned(), panel).steps(0)];
        plan.extend(
            LeakGrid::of(keys, years)?
                .keys
                .into_iter()
                .map(|key| planned_run(key, None)),
        );
        let noise = noise_keys(keys, years)?;
        for place in 0..keys.noise_panels {
            plan.extend(noise.iter().map(|key| planned_run(*key, Some(place))));
        }
        if let (Some(horizon), Some(year)) = (keys.horizons.first(), years.last()) {
            let (horizon, year) = (*horizon, *year);
            plan.push(Planned::line("proofs".to_owned(), LeakUnit::Proofs { horizon, year }).steps(0));
        }
        Ok(plan)
    }

    fn run<'a>(
        world: &'a LeakWorld,
        unit: &'a LeakUnit,
        _hands: &'a mut Hands<'_, ()>,
    ) -> LocalBoxFuture<'a, Result<LeakFound, StudyError>> {
        async move {
            let LeakWorld {
                config,
                source,
                noise,
            } = world;
            Ok(match unit {
                LeakUnit::Panel { graph_days, .. } => LeakFound::Panel(LeakPanel::of(source, *graph_days)),
                LeakUnit::Run { noise: None, key } => LeakFound::Run(LeakRun::of(&key.key, &source.bench)),
                LeakUnit::Run {
                    noise: Some(panel),
                    key,
                } => {
                    let bench = noise.bench(panel, config, source)?;
                    LeakFound::Run(LeakRun::of(&key.key, &bench))
                }
                LeakUnit::Proofs { .. } => LeakFound::Proofs(LeakProofs::of(config, source)),
            })
        }
        .boxed_local()
    }

    fn conclude(keys: &LeakConfig, found: Vec<(UnitId, LeakFound)>) -> Result<LeakReport, StudyError> {
        let (mut facts, mut proofs) = (None, LeakProofs::default());
        let (mut runs, mut noise) = (Vec::new(), Vec::<(String, LeakRun)>::new());
        for (id, found) in found {
            match found {
                LeakFound::Panel(found) => facts = Some(found),
                LeakFound::Proofs(found) => proofs = found,
                LeakFound::Run(run) => match noise_place(&id) {
                    Some(place) => noise.push((place.to_owned(), run)),
                    None => runs.push(run),
                },
            }
        }
        let facts = facts.ok_or_else(|| {
            StudyError::difference(
                "the study has no record of its panel",
                "run the study again: it continues",
            )
        })?;
        let bands = noise_bands(&noise, &facts.months());
        Ok(LeakReport::of(keys, facts, (&runs, &bands), proofs))
    }

    fn report(keys: &LeakConfig, summary: &LeakReport) -> Result<Report, StudyError> {
        let mut report = leak_report(summary)?;
        report.files = manifest_files(keys)?;
        Ok(report)
    }
}

/// The plan of a run, on a panel without a signal where one is named.
fn planned_run(key: RunKey, noise: Option<usize>) -> Planned<LeakUnit> {
    let name = format!(
        "{}__{}__h{}__{}__s{}",
        key.family.name(),
        key.switch.name(),
        key.horizon,
        key.year,
        key.seed
    );
    let id = noise.map_or_else(|| name.clone(), |place| format!("{NOISE}{place:03}__{name}"));
    let noise = noise.map(NoisePanel::at);
    Planned::line(
        id,
        LeakUnit::Run {
            noise,
            key: key.into(),
        },
    )
}

const NOISE: &str = "noise_";

/// The panel without a signal that a unit ran on, by its name.
fn noise_place(id: &UnitId) -> Option<&str> {
    id.as_str()
        .strip_prefix(NOISE)?
        .split_once("__")
        .map(|(place, _)| place)
}
