//! A set of places that a window fills and empties.

/// The places of a window's cells, in their order.
pub(crate) trait OrderedPlaces {
    /// The number of places.
    fn count(&self) -> usize;
    /// Removes a place that is there, and adds one that is not.
    fn exchange(&mut self, leaves: Option<u32>, enters: Option<u32>);
    /// The number of places below one.
    fn below(&self, place: u32) -> usize;
    /// The place that has so many below it, and the next one.
    fn at(&self, rank: usize) -> (u32, Option<u32>);
}
