//! How many boxes may be open at once.

use std::sync::{Condvar, Mutex, PoisonError};

/// Places for boxes.
#[derive(Debug)]
pub(crate) struct Places {
    working: usize,
    most: usize,
    taken: Mutex<usize>,
    freed: Condvar,
}

/// A place that is taken until it is dropped.
#[derive(Debug)]
pub(crate) struct Place<'p> {
    places: &'p Places,
}

impl Places {
    /// Places for so many boxes that work, and as many that import meanwhile.
    pub(crate) const fn new(working: usize) -> Self {
        Self {
            working,
            most: working.saturating_mul(2),
            taken: Mutex::new(0),
            freed: Condvar::new(),
        }
    }

    pub(crate) const fn working(&self) -> usize {
        self.working
    }

    /// Takes a place, once one is free.
    pub(crate) fn take(&self) -> Place<'_> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_while(taken, |taken| self.most <= *taken);
        *waited.unwrap_or_else(PoisonError::into_inner) += 1;
        Place { places: self }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.places.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.places.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_places_are_taken_than_there_are() {
        let places = Places::new(1);
        let most = Mutex::new((0_usize, 0_usize));
        let items: Vec<usize> = (0..32).collect();
        ktd_io::parallel::in_parallel(&items, 8, |_| {
            let _place = places.take();
            let now = {
                let mut most = most.lock().unwrap();
                most.0 += 1;
                most.1 = most.1.max(most.0);
                most.0
            };
            std::thread::yield_now();
            most.lock().unwrap().0 -= 1;
            now
        });
        assert!((1..=2).contains(&most.lock().unwrap().1));
        assert_eq!(*places.taken.lock().unwrap(), 0);
    }
}
