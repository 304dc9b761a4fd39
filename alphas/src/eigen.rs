//! Eigenvalues of a symmetric matrix, by Jacobi's rotations: every step is a product or a root, so that bits are the same
//! on all machines.

/// Sweeps after which rotations end; a dozen are enough for hundreds of rows.
const MAX_SWEEPS: usize = 60;

/// The eigenvalues of a symmetric matrix, ascending.
pub(crate) fn eigenvalues(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let size = matrix.len();
    for _ in 0..MAX_SWEEPS {
        let squares = |is_wanted: fn(usize, usize) -> bool| -> f64 {
            let cells = matrix.iter().enumerate().flat_map(|(row, cells)| {
                cells
                    .iter()
                    .enumerate()
                    .map(move |(column, cell)| (row, column, cell))
            });
            cells
                .filter(|(row, column, _)| is_wanted(*row, *column))
                .map(|(_, _, cell)| cell * cell)
                .sum()
        };
        let beside = squares(|row, column| row != column);
        if beside <= 1e-32 * squares(|_, _| true) {
            break;
        }
        for first in 0..size {
            for second in first + 1..size {
                rotate(&mut matrix, first, second);
            }
        }
    }
    let diagonal = matrix
        .iter()
        .enumerate()
        .filter_map(|(row, cells)| cells.get(row).copied());
    let mut values: Vec<f64> = diagonal.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn cell(matrix: &[Vec<f64>], row: usize, column: usize) -> f64 {
    matrix
        .get(row)
        .and_then(|cells| cells.get(column))
        .copied()
        .unwrap_or(0.0)
}

/// Turns two rows and columns so that the cell between them is 0.
fn rotate(matrix: &mut [Vec<f64>], first: usize, second: usize) {
    let between = cell(matrix, first, second);
    if between.abs() <= 0.0 {
        return;
    }
    let ratio = (cell(matrix, second, second) - cell(matrix, first, first)) / (2.0 * between);
    let root = (ratio * ratio + 1.0).sqrt();
    let tangent = if ratio < 0.0 {
        1.0 / (ratio - root)
    } else {
        1.0 / (ratio + root)
    };
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    for cells in matrix.iter_mut() {
        if let Ok([left, right]) = cells.get_disjoint_mut([first, second]) {
            (*left, *right) = (cosine * *left - sine * *right, sine * *left + cosine * *right);
        }
    }
    if let Ok([upper, lower]) = matrix.get_disjoint_mut([first, second]) {
        for (left, right) in upper.iter_mut().zip(lower) {
            (*left, *right) = (cosine * *left - sine * *right, sine * *left + cosine * *right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::eigenvalues;

    #[test]
    fn known_matrices_have_known_eigenvalues() {
        let values = eigenvalues(vec![vec![2.0, 1.0], vec![1.0, 2.0]]);
        assert!(
            (values[0] - 1.0).abs() < 1e-14 && (values[1] - 3.0).abs() < 1e-14,
            "{values:?}"
        );
        let values = eigenvalues(vec![vec![1.0; 3]; 3]);
        assert!(
            values[0].abs() < 1e-14 && values[1].abs() < 1e-14 && (values[2] - 3.0).abs() < 1e-14,
            "{values:?}"
        );
    }
}
