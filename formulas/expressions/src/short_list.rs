//! A sorted list of few places, in memory of fixed size: all comparisons are done at once, without a branch.

use crate::ordered_places::OrderedPlaces;

/// Up to `PLACES` places, ascending; free ones stand at the end as the largest number.
#[derive(Debug)]
pub(crate) struct ShortList<const PLACES: usize> {
    places: [u32; PLACES],
    count: usize,
}

impl<const PLACES: usize> Default for ShortList<PLACES> {
    fn default() -> Self {
        Self {
            places: [u32::MAX; PLACES],
            count: 0,
        }
    }
}

impl<const PLACES: usize> ShortList<PLACES> {
    /// The number of places below one.
    #[inline]
    fn rank(&self, place: u32) -> usize {
        let below: u32 = self.places.iter().map(|other| u32::from(*other < place)).sum();
        below as usize
    }

    #[inline]
    fn put(&mut self, at: usize, place: u32) {
        if let Some(slot) = self.places.get_mut(at) {
            *slot = place;
        }
    }
}

impl<const PLACES: usize> OrderedPlaces for ShortList<PLACES> {
    fn count(&self) -> usize {
        self.count
    }

    #[inline]
    fn exchange(&mut self, leaves: Option<u32>, enters: Option<u32>) {
        let end = self.count;
        match (leaves, enters) {
            (None, None) => {}
            (Some(left), None) => {
                let from = self.rank(left);
                self.places.copy_within(from + 1..end, from);
                self.count -= 1;
                self.put(end - 1, u32::MAX);
            }
            (None, Some(place)) => {
                let at = self.rank(place);
                if at < end {
                    self.places.copy_within(at..end, at + 1);
                }
                self.put(at, place);
                self.count += 1;
            }
            (Some(left), Some(place)) => {
                let (from, at) = (self.rank(left), self.rank(place));
                if left < place {
                    self.places.copy_within(from + 1..at, from);
                    self.put(at - 1, place);
                } else {
                    self.places.copy_within(at..from, at + 1);
                    self.put(at, place);
                }
            }
        }
    }

    #[inline]
    fn below(&self, place: u32) -> usize {
        self.rank(place)
    }

    #[inline]
    fn at(&self, rank: usize) -> (u32, Option<u32>) {
        let place = self.places.get(rank).copied().unwrap_or(u32::MAX);
        let next = self
            .places
            .get(rank + 1)
            .copied()
            .filter(|_| rank + 1 < self.count);
        (place, next)
    }
}
