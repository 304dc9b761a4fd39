//! A set of places as bits with a tree of counts over their words: in, out, rank and selection in a few steps each.

use crate::ordered_places::OrderedPlaces;

/// A set of places: bits, and a tree of counts over their words.
#[derive(Debug, Default)]
pub(crate) struct PlaceSet {
    words: Vec<u64>,
    /// At one-based place `i` the bits of the words `i - lowest bit of i .. i`.
    tree: Vec<u32>,
    count: usize,
}

const WORD: usize = 64;

impl PlaceSet {
    pub(crate) fn reset(&mut self, places: usize) {
        let words = places.div_ceil(WORD);
        self.words.clear();
        self.words.resize(words, 0);
        self.tree.clear();
        self.tree.resize(words + 1, 0);
        self.count = 0;
    }

    fn toggle(&mut self, place: usize) {
        let Some(word) = self.words.get_mut(place / WORD) else {
            return;
        };
        let bit = 1_u64 << (place % WORD);
        *word ^= bit;
        let enters = *word & bit != 0;
        self.count = if enters { self.count + 1 } else { self.count - 1 };
        let mut node = place / WORD + 1;
        while let Some(sum) = self.tree.get_mut(node) {
            *sum = if enters { *sum + 1 } else { *sum - 1 };
            node += node & node.wrapping_neg();
        }
    }
}

impl OrderedPlaces for PlaceSet {
    fn count(&self) -> usize {
        self.count
    }

    fn exchange(&mut self, leaves: Option<u32>, enters: Option<u32>) {
        for place in [leaves, enters].into_iter().flatten() {
            self.toggle(place as usize);
        }
    }

    fn below(&self, place: u32) -> usize {
        let (word, bit) = (place as usize / WORD, place as usize % WORD);
        let mut node = word;
        let mut count = 0;
        while 0 < node {
            count += self.tree.get(node).copied().unwrap_or(0);
            node &= node - 1;
        }
        let word = self.words.get(word).copied().unwrap_or(0);
        let lower = word & ((1_u64 << bit) - 1);
        (count + lower.count_ones()) as usize
    }

    fn at(&self, rank: usize) -> (u32, Option<u32>) {
        let mut left = u32::try_from(rank).unwrap_or(u32::MAX);
        let mut node = 0;
        let mut step = self.tree.len().next_power_of_two() / 2;
        while 0 < step {
            if let Some(sum) = self.tree.get(node + step)
                && *sum <= left
            {
                left -= sum;
                node += step;
            }
            step /= 2;
        }
        let mut word = self.words.get(node).copied().unwrap_or(0);
        for _ in 0..left {
            word &= word.wrapping_sub(1);
        }
        let place = lowest(node, word);
        word &= word.wrapping_sub(1);
        while word == 0 {
            node += 1;
            match self.words.get(node) {
                Some(next) => word = *next,
                None => return (place, None),
            }
        }
        (place, Some(lowest(node, word)))
    }
}

/// The place of a word's lowest bit.
fn lowest(word: usize, bits: u64) -> u32 {
    u32::try_from(word * WORD)
        .unwrap_or(u32::MAX)
        .saturating_add(bits.trailing_zeros())
}
