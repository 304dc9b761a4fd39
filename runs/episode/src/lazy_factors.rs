//! Factor values that are computed when a cell first asks for them: what is finished needs none.

use crate::EpisodeError;
use ktd_env::factors::FactorConfig;
use ktd_env::{DayIndex, FactorTable, Market};
use ktd_experiment::cells::Cell;
use std::sync::{Arc, OnceLock};

/// Factor table over the as-of days of some cells.
#[derive(Debug)]
pub struct LazyFactors {
    market: Arc<Market>,
    days: (DayIndex, DayIndex),
    table: OnceLock<FactorTable>,
}

impl LazyFactors {
    /// The table over the as-of days of all cells.
    ///
    /// # Errors
    /// [`EpisodeError::Input`] where no cell has a day.
    pub fn over(market: &Arc<Market>, cells: &[Cell]) -> Result<Self, EpisodeError> {
        let as_of_days = cells
            .iter()
            .flat_map(|cell| &cell.window.days)
            .filter_map(|day| day.before());
        let days = as_of_days.clone().min().zip(as_of_days.max());
        let days =
            days.ok_or_else(|| EpisodeError::input("no window has a trading day", "choose other dates"))?;
        Ok(Self {
            market: Arc::clone(market),
            days,
            table: OnceLock::new(),
        })
    }

    /// The table.
    ///
    /// # Errors
    /// [`EpisodeError::Input`] when the panel is too short for the factors.
    pub fn get(&self) -> Result<&FactorTable, EpisodeError> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let (first, last) = self.days;
        let table = FactorTable::new(&self.market, &FactorConfig::KTD, first, last)
            .map_err(|error| EpisodeError::input(error.to_string(), error.hint()))?;
        Ok(self.table.get_or_init(|| table))
    }
}
