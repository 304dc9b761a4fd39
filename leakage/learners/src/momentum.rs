//! The score of one column.

use crate::error::LearnError;

/// One column of row-major rows as the score: without a fit it shows what a protocol gives to a strategy that learns
/// nothing.
///
/// # Errors
/// [`LearnError::Shape`] unless there are whole rows, [`LearnError::Setting`] for a column outside them.
pub fn column_scores(rows: &[f64], width: usize, column: usize) -> Result<Vec<f64>, LearnError> {
    if width <= column {
        let (name, rule) = ("column", "below the number of columns");
        return Err(LearnError::Setting { name, rule });
    }
    if !rows.len().is_multiple_of(width) {
        return Err(LearnError::Shape {
            values: rows.len(),
            rows: rows.len() / width,
            width,
        });
    }
    Ok(rows.iter().skip(column).step_by(width).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_rows() {
        assert_eq!(column_scores(&[1.0, 2.0, 3.0, 4.0], 2, 1), Ok(vec![2.0, 4.0]));
        assert!(column_scores(&[1.0, 2.0, 3.0], 2, 1).is_err() && column_scores(&[1.0], 1, 1).is_err());
    }
}
