//! The one-switch benchmark as a kind of study: a unit a run, one for the panel, one for what ridge regression shows of it.

use super::config::{LeakConfig, check_config};
use super::grid::{LeakSource, decided_by, run_keys};
use super::manifest::manifest_text;
use super::notes::notes;
use super::page::leak_report;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_leakage::{AskedGrid, LeakPanel, LeakProofs, LeakReport, LeakRun, RunKey, Switch};
use ktd_study::{Hands, Opening, Planned, Report, StudyError, StudyKind, UnitId, read_study_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

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

/// The panel of a benchmark, prepared.
#[derive(Debug)]
pub struct LeakWorld {
    config: LeakConfig,
    source: LeakSource,
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
        /// The run.
        #[serde(flatten)]
        key: RunKey,
    },
    /// Interventions, profile and fill ladder of ridge regression.
    Proofs {
        /// Sessions of the label.
        horizon: usize,
        /// The test year.
        year: i32,
    },
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
    const PANEL_HASH: Option<&'static str> = Some("/panel");
    const PLACES: &'static [&'static str] = &["/panel"];

    type Keys = LeakConfig;
    type World = LeakWorld;
    type Unit = LeakUnit;
    type Event = ();
    type Found = LeakFound;
    type Summary = LeakReport;

    fn name(keys: &LeakConfig) -> &str {
        &keys.name
    }

    fn panel(keys: &mut LeakConfig) -> Option<&mut PathBuf> {
        keys.panel.as_mut()
    }

    fn check(keys: &LeakConfig) -> Result<(), StudyError> {
        check_config(keys)
    }

    fn open(keys: &LeakConfig, at: &Opening<'_>) -> Result<LeakWorld, StudyError> {
        Ok(LeakWorld {
            source: LeakSource::read(keys, at.base)?,
            config: keys.clone(),
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
        plan.extend(run_keys(keys, years).into_iter().map(planned_run));
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
            let source = &world.source;
            let bench = &source.bench;
            Ok(match unit {
                LeakUnit::Panel { .. } => {
                    LeakFound::Panel(LeakPanel::of(&source.panel, &source.years, bench))
                }
                LeakUnit::Run { key } => LeakFound::Run(LeakRun::of(key, bench)),
                LeakUnit::Proofs { horizon, year } => {
                    LeakFound::Proofs(LeakProofs::of(bench, (*horizon, *year)))
                }
            })
        }
        .boxed_local()
    }

    fn conclude(keys: &LeakConfig, found: Vec<(UnitId, LeakFound)>) -> Result<LeakReport, StudyError> {
        let (mut panel, mut proofs, mut runs) = (None, LeakProofs::default(), Vec::new());
        for (_, found) in found {
            match found {
                LeakFound::Panel(found) => panel = Some(found),
                LeakFound::Proofs(found) => proofs = found,
                LeakFound::Run(run) => runs.push(run),
            }
        }
        let panel = panel.ok_or_else(|| {
            StudyError::difference(
                "the study has no record of its panel",
                "run the study again: it continues",
            )
        })?;
        let asked = AskedGrid {
            name: &keys.name,
            horizons: &keys.horizons,
            costs_bps: &keys.costs_bps,
            notes: notes(keys, panel.clipped_months),
        };
        Ok(LeakReport::of(asked, panel, &runs, proofs))
    }

    fn report(keys: &LeakConfig, summary: &LeakReport) -> Result<Report, StudyError> {
        Ok(Report {
            files: manifest_files(keys)?,
            ..leak_report(summary)?
        })
    }
}

/// What each protocol of a benchmark knows when: a manifest a protocol and horizon, and that of the reference, whose purge
/// covers all horizons.
fn manifest_files(keys: &LeakConfig) -> Result<Vec<(String, Vec<u8>)>, StudyError> {
    let names = (keys.universe.rule(), keys.adjusted_from());
    let longest = keys.horizons.iter().max().copied().unwrap_or(1);
    let mut asked = vec![("manifest.toml".to_owned(), Switch::Clean, longest)];
    for switch in keys.switches() {
        let of = |horizon: &usize| {
            let name = format!("manifests/{}_h{horizon}.toml", switch.name());
            (name, switch, *horizon)
        };
        asked.extend(keys.horizons.iter().map(of));
    }
    let files = asked.into_iter().map(|(name, switch, horizon)| {
        let text = manifest_text(switch, (horizon, keys.future_days), names)?;
        Ok((name, text.into_bytes()))
    });
    files.collect()
}

fn planned_run(key: RunKey) -> Planned<LeakUnit> {
    let name = format!(
        "{}__{}__h{}__{}__s{}",
        key.family.name(),
        key.switch.name(),
        key.horizon,
        key.year,
        key.seed
    );
    Planned::line(name, LeakUnit::Run { key })
}
