//! Columns of cells of one name, and the buffers that they live in.

use crate::sorted::SortedCells;

/// The cells of one step, in its type.
#[derive(Debug, Default)]
pub(crate) enum Cells {
    #[default]
    Empty,
    Booleans(Vec<bool>),
    Integers(Vec<i64>),
    Singles(Vec<f32>),
    Doubles(Vec<f64>),
    Pairs(Vec<[f64; 2]>),
    Sorted(SortedCells),
}

impl Cells {
    pub(crate) fn booleans(&self) -> &[bool] {
        if let Self::Booleans(cells) = self {
            cells
        } else {
            &[]
        }
    }

    pub(crate) fn integers(&self) -> &[i64] {
        if let Self::Integers(cells) = self {
            cells
        } else {
            &[]
        }
    }

    pub(crate) fn singles(&self) -> &[f32] {
        if let Self::Singles(cells) = self {
            cells
        } else {
            &[]
        }
    }

    pub(crate) fn doubles(&self) -> &[f64] {
        if let Self::Doubles(cells) = self {
            cells
        } else {
            &[]
        }
    }

    pub(crate) fn pairs(&self) -> &[[f64; 2]] {
        if let Self::Pairs(cells) = self { cells } else { &[] }
    }
}

/// Buffers that no step uses: fresh memory would cost as much as the arithmetic.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    booleans: Vec<Vec<bool>>,
    integers: Vec<Vec<i64>>,
    singles: Vec<Vec<f32>>,
    doubles: Vec<Vec<f64>>,
    pairs: Vec<Vec<[f64; 2]>>,
    sorted: Vec<SortedCells>,
}

/// An empty buffer, one used before where there is one.
fn emptied<T>(buffers: &mut Vec<Vec<T>>) -> Vec<T> {
    let mut buffer = buffers.pop().unwrap_or_default();
    buffer.clear();
    buffer
}

impl Buffers {
    pub(crate) fn booleans(&mut self) -> Vec<bool> {
        emptied(&mut self.booleans)
    }

    pub(crate) fn integers(&mut self) -> Vec<i64> {
        emptied(&mut self.integers)
    }

    pub(crate) fn singles(&mut self) -> Vec<f32> {
        emptied(&mut self.singles)
    }

    pub(crate) fn doubles(&mut self) -> Vec<f64> {
        emptied(&mut self.doubles)
    }

    pub(crate) fn pairs(&mut self) -> Vec<[f64; 2]> {
        emptied(&mut self.pairs)
    }

    pub(crate) fn sorted(&mut self) -> SortedCells {
        self.sorted.pop().unwrap_or_default()
    }

    /// Takes back the buffer of a step that nothing reads any more.
    pub(crate) fn give_back(&mut self, cells: Cells) {
        match cells {
            Cells::Empty => {}
            Cells::Booleans(buffer) => self.booleans.push(buffer),
            Cells::Integers(buffer) => self.integers.push(buffer),
            Cells::Singles(buffer) => self.singles.push(buffer),
            Cells::Doubles(buffer) => self.doubles.push(buffer),
            Cells::Pairs(buffer) => self.pairs.push(buffer),
            Cells::Sorted(buffer) => self.sorted.push(buffer),
        }
    }
}
