//! stub
use crate::{DayIndex, NameId};
/// f
#[derive(Debug, Clone, Copy)]
pub enum Factor {}
/// t
#[derive(Debug, Clone, Copy)]
pub enum Technical {}
/// t
#[derive(Debug)]
pub struct FactorTable;
impl FactorTable {
    pub(crate) fn factor(&self, _: NameId, _: DayIndex, _: Factor) -> Option<f64> {
        None
    }
    pub(crate) fn factor_z(&self, _: NameId, _: DayIndex, _: Factor) -> Option<f64> {
        None
    }
    pub(crate) fn technical(&self, _: NameId, _: DayIndex, _: Technical) -> Option<f64> {
        None
    }
}
