//! The benchmark of factor functions as a kind of study: a unit a model, style and seed, and one for what they are judged on.

use crate::report::factor_code_report;
use crate::run::{
    BENCHMARK, CellRun, FactorCodeCell, FactorCodeConfig, FactorCodeEvent, FactorCodeFound, FactorCodeReport,
    FactorCodeUnit, FactorCodeWorld,
};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_asking::AskingSettings;
use ktd_experiment::agent::AgentConfig;
use ktd_study::{
    Hands, Opening, Planned, Report, StudyError, StudyKind, UnitId, UnitRequests, read_study_file,
};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Reads the file of an experiment.
///
/// # Errors
/// [`StudyError`] for unknown keys, and keys that do not go together.
pub fn read_factor_code_config(path: &Path) -> Result<FactorCodeConfig, StudyError> {
    read_study_file::<FactorCodeStudy>(path)
}

/// The benchmark of factor functions.
#[derive(Debug, Clone, Copy)]
pub struct FactorCodeStudy;

impl StudyKind for FactorCodeStudy {
    const NAME: &'static str = BENCHMARK;
    const COMMAND: &'static str = "ktd factor-code run";
    const FORMAT: u32 = 4;
    const STEPS: &'static str = "rounds";
    const REPORTS_PARTS: bool = true;
    const ASKS: bool = true;
    const FIGURES_APART: Option<f64> = Some(1e-9);
    const PANEL_HASH: Option<&'static str> = Some("/panels_sha256");
    const PLACES: &'static [&'static str] = &["/real/panel"];

    type Keys = FactorCodeConfig;
    type World = FactorCodeWorld;
    type Unit = FactorCodeUnit;
    type Event = FactorCodeEvent;
    type Found = FactorCodeFound;
    type Summary = FactorCodeReport;

    fn name(keys: &FactorCodeConfig) -> &str {
        &keys.name
    }

    fn panel(keys: &mut FactorCodeConfig) -> Option<&mut PathBuf> {
        keys.real.as_mut().map(|real| &mut real.panel)
    }

    fn output(keys: &FactorCodeConfig) -> Option<&Path> {
        keys.output.as_deref()
    }

    fn check(keys: &FactorCodeConfig) -> Result<(), StudyError> {
        keys.check()
    }

    fn asking(keys: &FactorCodeConfig) -> Option<AskingSettings<'_>> {
        Some(keys.asking())
    }

    /// One model after the other: what it answers is judged in all boxes that there may be.
    fn at_once(_keys: &FactorCodeConfig) -> Option<usize> {
        Some(1)
    }

    fn open(keys: &FactorCodeConfig, at: &Opening<'_>) -> Result<FactorCodeWorld, StudyError> {
        FactorCodeWorld::open(keys, at)
    }

    fn open_recorded(
        keys: &FactorCodeConfig,
        at: &Opening<'_>,
        recorded: &Value,
    ) -> Result<FactorCodeWorld, StudyError> {
        FactorCodeWorld::recorded(keys, at, recorded)
    }

    fn open_planned(
        keys: &FactorCodeConfig,
        at: &Opening<'_>,
        recorded: Option<&Value>,
    ) -> Result<FactorCodeWorld, StudyError> {
        match recorded {
            Some(recorded) => Self::open_recorded(keys, at, recorded),
            None => FactorCodeWorld::planned(keys, at),
        }
    }

    fn decides(world: &FactorCodeWorld) -> Value {
        world.decides()
    }

    fn units(
        keys: &FactorCodeConfig,
        world: &FactorCodeWorld,
    ) -> Result<Vec<Planned<FactorCodeUnit>>, StudyError> {
        let mut plan = vec![Planned::line("tasks".to_owned(), FactorCodeUnit::Tasks).steps(0)];
        for (place, cell) in FactorCodeCell::all(keys).into_iter().enumerate() {
            let planned = Planned::folder(cell.id(), FactorCodeUnit::Cell(cell));
            plan.push(planned.asking(place).steps(world.rounds()));
        }
        if 0 < keys.controls {
            // the secret is opened with the results, when nobody is asked any more
            let cells = plan.iter().map(|unit| unit.id.clone()).collect();
            plan.push(
                Planned::line("gates".to_owned(), FactorCodeUnit::Gates)
                    .after(cells)
                    .steps(0),
            );
        }
        Ok(plan)
    }

    fn requests(world: &FactorCodeWorld, unit: &FactorCodeUnit, agent: &AgentConfig) -> Option<UnitRequests> {
        Some(world.requests(unit, agent))
    }

    fn run<'a>(
        world: &'a FactorCodeWorld,
        unit: &'a FactorCodeUnit,
        hands: &'a mut Hands<'_, FactorCodeEvent>,
    ) -> LocalBoxFuture<'a, Result<FactorCodeFound, StudyError>> {
        async move {
            Ok(match unit {
                FactorCodeUnit::Tasks => FactorCodeFound::Tasks(world.facts()?),
                FactorCodeUnit::Gates => FactorCodeFound::Gates(world.gates()?),
                FactorCodeUnit::Cell(cell) => {
                    let answers = CellRun { world, cell, hands }.hold().await?;
                    FactorCodeFound::Cell(Box::new(world.found(cell, answers, hands)?))
                }
            })
        }
        .boxed_local()
    }

    fn conclude(
        keys: &FactorCodeConfig,
        found: Vec<(UnitId, FactorCodeFound)>,
    ) -> Result<FactorCodeReport, StudyError> {
        let (mut world, mut cells, mut gates) = (None, Vec::new(), None);
        for (_, found) in found {
            match found {
                FactorCodeFound::Tasks(facts) => world = Some(facts),
                FactorCodeFound::Cell(cell) => cells.push(*cell),
                FactorCodeFound::Gates(found) => gates = Some(found),
            }
        }
        let world = world.ok_or_else(|| {
            StudyError::difference(
                "the study has no record of its tasks",
                "run the study again: it continues",
            )
        })?;
        cells.sort_by_key(|cell| cell.cell.id());
        Ok(FactorCodeReport {
            name: keys.name.clone(),
            world,
            cells,
            gates,
        })
    }

    fn report(keys: &FactorCodeConfig, summary: &FactorCodeReport) -> Result<Report, StudyError> {
        factor_code_report(keys, summary)
    }
}
