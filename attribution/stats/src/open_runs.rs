//! Neighbours in an order that the data cannot tell apart.

/// The longest runs of places within which every pair is open, by `open[one][other]`. A run may overlap the next, as the letters of
/// a compact display do: not being separable does not carry over from one pair to the next. Who is separable from both
/// neighbours is a run of its own.
#[must_use]
pub fn open_runs(open: &[Vec<bool>]) -> Vec<Vec<usize>> {
    let is_open = |one: usize, other: usize| open.get(one).and_then(|row| row.get(other)) == Some(&true);
    let (mut runs, mut run_end): (Vec<Vec<usize>>, usize) = (Vec::new(), 0);
    for start in 0..open.len() {
        let fits = |end: &usize| (start..*end).all(|member| is_open(member, *end));
        let end = (start + 1..open.len()).take_while(fits).last().unwrap_or(start) + 1;
        // A run that ends where an earlier one did is part of it.
        if run_end < end {
            run_end = end;
            runs.push((start..end).collect());
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_overlap_and_cover_everybody() {
        // 0 and 2 are apart, 3 from all.
        let open = |one: usize, other: usize| one != other && one.abs_diff(other) < 2 && one.max(other) < 3;
        let rows: Vec<Vec<bool>> = (0..4)
            .map(|one| (0..4).map(|other| open(one, other)).collect())
            .collect();
        assert_eq!(open_runs(&rows), [vec![0, 1], vec![1, 2], vec![3]]);
    }
}
