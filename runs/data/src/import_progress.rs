//! Who watches an import.

/// An observer of long reading.
pub trait ImportProgress {
    /// Reading begins; `unit` names so many units in the plural.
    fn begin(&mut self, what: &'static str, units: u64, unit: &'static str);

    /// So many more units are read.
    fn advance(&mut self, units: u64);
}

/// No observer.
impl ImportProgress for () {
    fn begin(&mut self, _: &'static str, _: u64, _: &'static str) {}

    fn advance(&mut self, _: u64) {}
}
