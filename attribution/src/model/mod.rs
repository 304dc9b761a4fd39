//! The factor model: exposures, the daily regression, the screen of its columns, its health.
//!
//! A fit depends on the panel and the configuration alone, never on who held what: it is made once and shared by every
//! trajectory.

mod beta;
mod config;
mod day_fit;
mod error;
mod factor_model;
mod health;
mod name_cells;
mod refit;
mod section;
mod sectors;
#[cfg(test)]
mod tests;
mod vif;
mod wls;

pub use config::{Centering, Exposures, ExtraStyle, ModelConfig, Residuals, Weighting};
pub use day_fit::{DayFit, DayStatus, Leg};
pub use error::ModelError;
pub use factor_model::FactorModel;
pub use health::{ColumnHealth, DayHealth, Health, VarianceSlope};
pub use name_cells::{NameFit, RecordSum};
pub(crate) use refit::ReturnLegs;
pub use vif::{VIF_THRESHOLD, VifScreen, VifStep, calibrate};
pub use wls::{Solution, Solver, WlsError, wls};
