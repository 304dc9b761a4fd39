//! Edit distances of sequences.

/// Levenshtein distance: the fewest insertions, deletions and replacements that turn one sequence into the other.
pub(crate) fn edit_distance<T: PartialEq>(first: &[T], second: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=second.len()).collect();
    for (place, item) in first.iter().enumerate() {
        let mut corner = place;
        let mut left = place + 1;
        if let Some(start) = row.first_mut() {
            *start = left;
        }
        for (cell, other) in row.iter_mut().skip(1).zip(second) {
            let replaced = corner + usize::from(item != other);
            corner = *cell;
            left = replaced.min(corner + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// Length of the longest common subsequence.
pub(crate) fn common_subsequence<T: PartialEq>(first: &[T], second: &[T]) -> usize {
    let mut row = vec![0_usize; second.len() + 1];
    for item in first {
        let (mut corner, mut left) = (0, 0);
        for (cell, other) in row.iter_mut().skip(1).zip(second) {
            let longest = if item == other {
                corner + 1
            } else {
                left.max(*cell)
            };
            corner = *cell;
            left = longest;
            *cell = longest;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_distances() {
        let distance = |first: &str, second: &str| edit_distance(first.as_bytes(), second.as_bytes());
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abcdef", "bcdefa"), 2);
        let common = |first: &str, second: &str| common_subsequence(first.as_bytes(), second.as_bytes());
        assert_eq!(common("abcd", "dcba"), 1);
        assert_eq!(common("abcbdab", "bdcaba"), 4);
        assert_eq!(common("", "x"), 0);
    }
}
