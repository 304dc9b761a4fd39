//! Eigenvalues of a symmetric matrix: Householder's reduction to three diagonals, then implicit QL steps. Every step is a
//! sum, a product, a quotient or a root, so that bits are the same on all machines.

/// Steps after which a value that does not settle is taken as it is; three are usual.
const MAX_STEPS: usize = 60;

/// The eigenvalues of a symmetric matrix, ascending, from the rows of its lower triangle.
pub(crate) fn eigenvalues(rows: Vec<Vec<f64>>) -> Vec<f64> {
    let (mut diagonal, mut beside) = three_diagonals(rows);
    settle(&mut diagonal, &mut beside);
    diagonal.sort_by(f64::total_cmp);
    diagonal
}

/// The diagonal of the reduced matrix, and the cell to the right of each of its cells (0 for the last).
fn three_diagonals(mut rows: Vec<Vec<f64>>) -> (Vec<f64>, Vec<f64>) {
    let size = rows.len();
    let (mut diagonal, mut beside) = (vec![0.0; size], vec![0.0; size]);
    while let Some(mut row) = rows.pop() {
        let place = rows.len();
        if let Some(slot) = diagonal.get_mut(place) {
            *slot = row.pop().unwrap_or(0.0);
        }
        if let Some(slot) = place.checked_sub(1).and_then(|left| beside.get_mut(left)) {
            *slot = mirrored(&mut rows, row);
        }
    }
    (diagonal, beside)
}

/// Mirrors the rest of a matrix so that all cells of its last row but one become 0, and gives that one.
fn mirrored(rest: &mut [Vec<f64>], mut row: Vec<f64>) -> f64 {
    let last = row.last().copied().unwrap_or(0.0);
    let scale: f64 = row.iter().map(|cell| cell.abs()).sum();
    if row.len() < 2 || scale <= 0.0 {
        return last;
    }
    for cell in &mut row {
        *cell /= scale;
    }
    let squares: f64 = row.iter().map(|cell| cell * cell).sum();
    let own = last / scale;
    let length = if 0.0 <= own {
        -squares.sqrt()
    } else {
        squares.sqrt()
    };
    let half = squares - own * length;
    if let Some(cell) = row.last_mut() {
        *cell = own - length;
    }
    let mut image = vec![0.0; row.len()];
    for (place, (cells, of_row)) in rest.iter().zip(&row).enumerate() {
        let mut sum = 0.0;
        for ((cell, mirror), image) in cells.iter().zip(&row).zip(&mut image).take(place) {
            sum += cell * mirror;
            *image += cell * of_row;
        }
        sum += cells.last().unwrap_or(&0.0) * of_row;
        if let Some(image) = image.get_mut(place) {
            *image += sum;
        }
    }
    for cell in &mut image {
        *cell /= half;
    }
    let along: f64 = image.iter().zip(&row).map(|(image, mirror)| image * mirror).sum();
    let share = along / (half + half);
    for (image, mirror) in image.iter_mut().zip(&row) {
        *image -= share * mirror;
    }
    for (cells, (left, left_image)) in rest.iter_mut().zip(row.iter().zip(&image)) {
        for (cell, (right, right_image)) in cells.iter_mut().zip(row.iter().zip(&image)) {
            *cell -= left * right_image + left_image * right;
        }
    }
    scale * length
}

/// QL steps with implicit shifts until nothing stands beside the diagonal.
fn settle(diagonal: &mut [f64], beside: &mut [f64]) {
    for first in 0..diagonal.len() {
        for _ in 0..MAX_STEPS {
            let block = block_from(diagonal, beside, first);
            if block == first || step(diagonal, beside, first..block).is_none() {
                break;
            }
        }
    }
}

/// The last row of the block that begins with a row: the next cell beside the diagonal is nothing next to it.
fn block_from(diagonal: &[f64], beside: &[f64], first: usize) -> usize {
    let pairs = diagonal.iter().zip(diagonal.iter().skip(1)).zip(beside);
    let split = pairs
        .enumerate()
        .skip(first)
        .find(|(_, ((left, right), beside))| {
            let size = left.abs() + right.abs();
            (size + beside.abs()).to_bits() == size.to_bits()
        });
    split.map_or(diagonal.len() - 1, |(place, _)| place)
}

fn step(diagonal: &mut [f64], beside: &mut [f64], block: std::ops::Range<usize>) -> Option<()> {
    let (first, last) = (block.start, block.end);
    let (top, next, cell) = (
        *diagonal.get(first)?,
        *diagonal.get(first + 1)?,
        *beside.get(first)?,
    );
    let ratio = (next - top) / (2.0 * cell);
    let root = libm::hypot(ratio, 1.0);
    let towards = if ratio < 0.0 { -root } else { root };
    let mut shifted = diagonal.get(last)? - top + cell / (ratio + towards);
    let (mut sine, mut cosine, mut moved) = (1.0, 1.0, 0.0);
    for place in block.rev() {
        let (across, along) = (sine * beside.get(place)?, cosine * beside.get(place)?);
        let length = libm::hypot(across, shifted);
        *beside.get_mut(place + 1)? = length;
        if length <= 0.0 {
            *diagonal.get_mut(place + 1)? -= moved;
            *beside.get_mut(last)? = 0.0;
            return Some(());
        }
        (sine, cosine) = (across / length, shifted / length);
        let base = diagonal.get(place + 1)? - moved;
        let turned = (diagonal.get(place)? - base) * sine + 2.0 * cosine * along;
        moved = sine * turned;
        *diagonal.get_mut(place + 1)? = base + moved;
        shifted = cosine * turned - along;
    }
    *diagonal.get_mut(first)? -= moved;
    *beside.get_mut(first)? = shifted;
    *beside.get_mut(last)? = 0.0;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::eigenvalues;
    use ktd_env::KeyedStream;

    fn near(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        let by = found
            .iter()
            .zip(wanted)
            .map(|(found, wanted)| (found - wanted).abs());
        assert!(by.fold(0.0, f64::max) < 1e-12, "{found:?}, not {wanted:?}");
    }

    #[test]
    fn known_matrices_have_known_eigenvalues() {
        near(&eigenvalues(vec![vec![2.0], vec![1.0, 2.0]]), &[1.0, 3.0]);
        near(
            &eigenvalues(vec![vec![1.0], vec![1.0; 2], vec![1.0; 3]]),
            &[0.0, 0.0, 3.0],
        );
        near(
            &eigenvalues(vec![vec![0.0], vec![0.0; 2], vec![0.0, 0.0, 5.0]]),
            &[0.0, 0.0, 5.0],
        );
        near(&eigenvalues(vec![vec![4.0]]), &[4.0]);
        near(&eigenvalues(Vec::new()), &[]);
    }

    /// A path of n points with 2 on its diagonal and -1 beside has the eigenvalues 2 - 2 cos(k pi / (n + 1)); mirrored by a
    /// random vector it has the same.
    #[test]
    fn a_mirrored_path_keeps_its_eigenvalues() {
        let size = 40_u32;
        let mut stream = KeyedStream::for_purpose(1, "mirror");
        let mirror: Vec<f64> = (0..size).map(|_| stream.normal()).collect();
        let length: f64 = mirror.iter().map(|cell| cell * cell).sum();
        let path = |row: u32, column: u32| match row.abs_diff(column) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        let image: Vec<f64> = (0..size)
            .map(|row| {
                (0..size)
                    .map(|column| path(row, column) * mirror[column as usize])
                    .sum::<f64>()
            })
            .collect();
        let along: f64 = image
            .iter()
            .zip(&mirror)
            .map(|(image, mirror)| image * mirror)
            .sum();
        let rows = (0..size).map(|row| {
            let cells = (0..=row).map(|column| {
                let (left, right) = (row as usize, column as usize);
                path(row, column) - 2.0 / length * (mirror[left] * image[right] + image[left] * mirror[right])
                    + 4.0 / length / length * along * mirror[left] * mirror[right]
            });
            cells.collect()
        });
        let wanted: Vec<f64> = (1..=size)
            .map(|place| 2.0 - 2.0 * libm::cos(f64::from(place) * std::f64::consts::PI / f64::from(size + 1)))
            .collect();
        near(&eigenvalues(rows.collect()), &wanted);
    }
}
