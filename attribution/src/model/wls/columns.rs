//! Weighted columns side by side, and the products of all of them.
//!
//! This is the hot loop of a fit. Sums run in [`LANES`] partial sums, joined in a fixed order: an order that is part of
//! the result's bits, the same on every machine, and wide enough for a compiler to use vectors.

/// Partial sums kept side by side.
const LANES: usize = 4;

/// Consecutive rows of one column.
type Rows = [f64; LANES];

/// Columns whose products with one other column are summed in one pass over it.
const BLOCK: usize = 4;

/// Columns of one length, padded with rows of zero to whole lanes.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    /// Lanes a column takes.
    height: usize,
    cells: Vec<Rows>,
}

impl Columns {
    /// Forgets all columns; the next ones have `rows` rows.
    pub(super) fn reset(&mut self, rows: usize) {
        self.height = rows.div_ceil(LANES);
        self.cells.clear();
    }

    /// Adds `values * roots`, row by row; a row whose root is 0 becomes 0, whatever its value.
    pub(super) fn push(&mut self, values: &[f64], roots: &[f64]) {
        let (value_rows, value_rest) = values.as_chunks::<LANES>();
        let (root_rows, root_rest) = roots.as_chunks::<LANES>();
        let whole = value_rows.iter().zip(root_rows);
        self.cells
            .extend(whole.map(|(values, roots)| weighted(*values, *roots)));
        if !value_rest.is_empty() {
            self.cells.push(weighted(padded(value_rest), padded(root_rest)));
        }
    }

    /// Adds a column of these lanes times other ones, row by row.
    pub(super) fn push_product(&mut self, left: &[Rows], right: &[Rows]) {
        let products = left.iter().zip(right).map(|(left, right)| {
            let mut product = *left;
            for (product, right) in product.iter_mut().zip(right) {
                *product *= right;
            }
            product
        });
        self.cells.extend(products);
    }

    /// The lanes of a column; none of a column that is not there.
    pub(super) fn column(&self, place: usize) -> &[Rows] {
        let start = place * self.height;
        self.cells.get(start..start + self.height).unwrap_or(&[])
    }

    /// Products of all pairs of the first `columns` columns, a lower triangle: row `i` of the table holds those of
    /// column `i` with columns `0..=i`.
    pub(super) fn products(&self, columns: usize, table: &mut Triangle) {
        table.reset(columns);
        if self.height == 0 {
            return;
        }
        for (place, row) in table.rows_mut().enumerate() {
            let left = self.column(place);
            let mut right = self.cells.chunks_exact(self.height);
            for cells in row.chunks_exact_mut(BLOCK).take(place / BLOCK + 1) {
                let block: [&[Rows]; BLOCK] = std::array::from_fn(|_| right.next().unwrap_or(&[]));
                let sums = block_products(left, block);
                cells.copy_from_slice(&sums);
            }
        }
    }
}

/// A table of rows that are padded to whole blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Triangle {
    width: usize,
    cells: Vec<f64>,
}

impl Triangle {
    fn reset(&mut self, size: usize) {
        self.width = size.next_multiple_of(BLOCK);
        self.cells.clear();
        self.cells.resize(size * self.width, 0.0);
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.cells.chunks_exact_mut(self.width.max(1))
    }

    /// The rows; in row `i` only the first `i + 1` cells count.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks_exact(self.width.max(1))
    }
}

fn padded(rest: &[f64]) -> Rows {
    let mut rows = [0.0; LANES];
    for (row, value) in rows.iter_mut().zip(rest) {
        *row = *value;
    }
    rows
}

fn weighted(values: Rows, roots: Rows) -> Rows {
    let mut rows = values;
    for (row, root) in rows.iter_mut().zip(roots) {
        // A row that is not in the regression may hold anything.
        *row = if 0.0 < root { *row * root } else { 0.0 };
    }
    rows
}

fn add_product(sums: &mut Rows, left: &Rows, right: &Rows) {
    for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
        *sum += left * right;
    }
}

fn join(sums: Rows) -> f64 {
    let [first, second, third, fourth] = sums;
    (first + second) + (third + fourth)
}

/// Sums of the products of one column with each of a block; a column that is not there counts as zeros.
fn block_products(left: &[Rows], block: [&[Rows]; BLOCK]) -> [f64; BLOCK] {
    let [first, second, third, fourth] = block;
    let full = block.iter().all(|column| column.len() == left.len());
    if !full {
        return block.map(|column| product(left, column));
    }
    let mut sums = [[0.0; LANES]; BLOCK];
    let [a, b, c, d] = &mut sums;
    let rows = left.iter().zip(first).zip(second).zip(third).zip(fourth);
    for ((((left, first), second), third), fourth) in rows {
        add_product(a, left, first);
        add_product(b, left, second);
        add_product(c, left, third);
        add_product(d, left, fourth);
    }
    sums.map(join)
}

/// Sum of the products of two columns.
pub(super) fn product(left: &[Rows], right: &[Rows]) -> f64 {
    let mut sums = [0.0; LANES];
    for (left, right) in left.iter().zip(right) {
        add_product(&mut sums, left, right);
    }
    join(sums)
}

/// Takes `scale` times a direction off a column.
pub(super) fn take_off(column: &mut [Rows], direction: &[Rows], scale: f64) {
    for (rows, direction) in column.iter_mut().zip(direction) {
        for (value, direction) in rows.iter_mut().zip(direction) {
            *value -= scale * direction;
        }
    }
}

/// A copy of a column that may be changed.
pub(super) fn copy(column: &[Rows]) -> Vec<Rows> {
    column.to_vec()
}

/// `values * roots` row by row, as [`Columns::push`] has it.
pub(super) fn weigh(values: &[f64], roots: &[f64]) -> Vec<Rows> {
    let mut columns = Columns::default();
    columns.push(values, roots);
    columns.cells
}
