//! Scores that a judge gave to a list of formulas.

/// One score of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubmittedScore {
    /// The formula's place in the question, from 0.
    pub index: u64,
    /// The score.
    pub score: f64,
}

/// Why the scores of an answer are not taken, with the places that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScoresFault {
    /// Indices that the question does not have.
    IndexUnknown(Vec<u64>),
    /// Indices that are there twice.
    IndexTwice(Vec<u64>),
    /// Indices whose score lies outside 0 to 100.
    ScoreRange(Vec<u64>),
    /// Indices without a score.
    Incomplete(Vec<u64>),
}

impl ScoresFault {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::IndexUnknown(_) => "index_unknown",
            Self::IndexTwice(_) => "index_twice",
            Self::ScoreRange(_) => "score_range",
            Self::Incomplete(_) => "scores_incomplete",
        }
    }

    /// The indices.
    #[must_use]
    pub fn indices(&self) -> &[u64] {
        match self {
            Self::IndexUnknown(indices)
            | Self::IndexTwice(indices)
            | Self::ScoreRange(indices)
            | Self::Incomplete(indices) => indices,
        }
    }
}

/// The scores of so many formulas, in their order: every index once, every score from 0 to 100. Nothing is clamped.
///
/// # Errors
/// [`ScoresFault`], the first of its kinds that holds.
pub fn complete_scores(formulas: usize, submitted: &[SubmittedScore]) -> Result<Vec<f64>, ScoresFault> {
    let mut scores: Vec<Option<f64>> = vec![None; formulas];
    let (mut unknown, mut twice, mut beyond) = (Vec::new(), Vec::new(), Vec::new());
    for SubmittedScore { index, score } in submitted.iter().copied() {
        if !(0.0..=100.0).contains(&score) {
            beyond.push(index);
        }
        match usize::try_from(index)
            .ok()
            .and_then(|place| scores.get_mut(place))
        {
            None => unknown.push(index),
            Some(Some(_)) => twice.push(index),
            Some(empty) => *empty = Some(score),
        }
    }
    let missing = (0_u64..)
        .zip(&scores)
        .filter_map(|(index, score)| score.is_none().then_some(index));
    let missing: Vec<u64> = missing.collect();
    let faults = [
        ScoresFault::IndexUnknown(unknown),
        ScoresFault::IndexTwice(twice),
        ScoresFault::ScoreRange(beyond),
        ScoresFault::Incomplete(missing),
    ];
    match faults.into_iter().find(|fault| !fault.indices().is_empty()) {
        Some(fault) => Err(fault),
        None => Ok(scores.into_iter().flatten().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(formulas: usize, submitted: &[(u64, f64)]) -> Result<Vec<f64>, (&'static str, Vec<u64>)> {
        let submitted: Vec<SubmittedScore> = submitted
            .iter()
            .map(|(index, score)| SubmittedScore {
                index: *index,
                score: *score,
            })
            .collect();
        complete_scores(formulas, &submitted).map_err(|fault| (fault.code(), fault.indices().to_vec()))
    }

    #[test]
    fn the_index_decides_and_nothing_is_clamped() {
        assert_eq!(read(2, &[(1, 70.0), (0, 0.0)]), Ok(vec![0.0, 70.0]));
        assert_eq!(read(2, &[(0, 100.0)]), Err(("scores_incomplete", vec![1])));
        assert_eq!(
            read(2, &[(0, 1.0), (0, 2.0), (1, 3.0)]),
            Err(("index_twice", vec![0]))
        );
        assert_eq!(read(2, &[(0, 1.0), (2, 2.0)]), Err(("index_unknown", vec![2])));
        assert_eq!(
            read(1, &[(u64::MAX, 1.0)]),
            Err(("index_unknown", vec![u64::MAX]))
        );
        assert_eq!(read(1, &[(0, 100.1)]), Err(("score_range", vec![0])));
        assert_eq!(read(1, &[(0, f64::NAN)]), Err(("score_range", vec![0])));
        assert_eq!(read(0, &[]), Ok(Vec::new()));
    }
}
