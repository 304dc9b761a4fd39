//! One cell and what became of it.

use crate::EpisodesStudy;
use ktd_bundle::BundlePaths;
use ktd_bundle::summary::Summary;
use ktd_bundle::summary_file::spending_of;
use ktd_experiment::cells::Cell;
use ktd_record::spending::Spending;
use ktd_study::{StudyEnd, StudyError, UnitId};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One cell's result.
#[derive(Debug)]
pub struct CellResult {
    /// The cell.
    pub cell: Cell,
    /// Its bundle.
    pub bundle: PathBuf,
    /// Its summary, or what stopped it.
    pub result: Result<Summary, StudyError>,
    /// What it has cost so far, where its bundle says so.
    pub money: Option<Spending>,
}

impl CellResult {
    /// What became of every cell of a run, in the order of the grid.
    ///
    /// # Errors
    /// [`StudyError`] for a result that cannot be read.
    pub fn all(end: &mut StudyEnd<EpisodesStudy>) -> Result<Vec<Self>, StudyError> {
        let mut failed: BTreeMap<UnitId, StudyError> = std::mem::take(&mut end.failed).into_iter().collect();
        let grid = &end.world.grid;
        let mut all = Vec::with_capacity(grid.cells.len());
        for cell in &grid.cells {
            let id = UnitId::from(cell.id.clone());
            let result = match (failed.remove(&id), end.found(&id)?) {
                (None, Some(summary)) => Ok(summary),
                (Some(error), _) => Err(error),
                (None, None) => Err(StudyError::difference(
                    "it was not run",
                    "run the same command again: it continues where it stopped",
                )),
            };
            all.push(Self::of(
                cell.clone(),
                grid.bundle(cell).root().to_owned(),
                result,
            ));
        }
        Ok(all)
    }

    /// The result of a cell whose bundle is in `bundle`.
    #[must_use]
    pub fn of(cell: Cell, bundle: PathBuf, result: Result<Summary, StudyError>) -> Self {
        let money = match &result {
            Ok(summary) => Some(summary.money.clone()),
            Err(_) => spending_of(&BundlePaths::new(&bundle)).ok(),
        };
        Self {
            cell,
            bundle,
            result,
            money,
        }
    }
}
