//! What the scores of a judge come to: an alpha's score, and what length and chance have to do with it.

use ktd_stats::moments::{count, mean};
use ktd_stats::{LineFit, Sample, Undefined, Wilcoxon, Zeros, kendall_tau, line_fit, median, wilcoxon};

/// The score of a formula by one judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedScore {
    /// The median over the orders that were answered.
    pub median: f64,
    /// The largest score less the smallest.
    pub spread: f64,
    /// Scores there are.
    pub scores: usize,
}

impl JudgedScore {
    /// The score of a formula that was scored so often; lost answers are left out.
    ///
    /// # Errors
    /// [`Undefined::TooFew`] without a score; [`Undefined::OutOfRange`] for one that is not finite.
    pub fn of(scores: &[f64]) -> Result<Self, Undefined> {
        let sample = sample(scores)?;
        let median = median(&sample)?;
        let largest = scores.iter().copied().fold(f64::MIN, f64::max);
        let smallest = scores.iter().copied().fold(f64::MAX, f64::min);
        Ok(Self {
            median,
            spread: largest - smallest,
            scores: scores.len(),
        })
    }
}

fn sample(values: &[f64]) -> Result<Sample<'_>, Undefined> {
    Sample::new("scores", values).map_err(|_| Undefined::OutOfRange)
}

/// Scores of formulas against those of equal, longer ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LengthControl {
    /// Pairs.
    pub pairs: usize,
    /// Mean of the longer formula's score less the shorter one's.
    pub mean_difference: f64,
    /// The signed-rank test of the differences.
    pub test: Wilcoxon,
}

/// Compares scores of formulas, first, with those of equal, longer ones: a judge of logic scores both alike.
///
/// # Errors
/// [`Undefined::TooFew`] without a pair; [`Undefined::OutOfRange`] for a score that is not finite.
pub fn length_control(pairs: &[(f64, f64)]) -> Result<LengthControl, Undefined> {
    let differences: Vec<f64> = pairs.iter().map(|(short, long)| long - short).collect();
    let test = wilcoxon(&sample(&differences)?, Zeros::Wilcox)?;
    Ok(LengthControl {
        pairs: pairs.len(),
        mean_difference: mean(&differences).ok_or(Undefined::OutOfRange)?,
        test,
    })
}

/// Agreement of a judge with itself on one list that it was given twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepeatControl {
    /// Formulas that were scored both times.
    pub formulas: usize,
    /// Mean distance of the two scores.
    pub mean_distance: f64,
    /// Kendall's tau-b of the two orders; none where a side is all tied.
    pub tau: Option<f64>,
}

/// Compares the scores of one list that was judged twice.
///
/// # Errors
/// [`Undefined::TooFew`] below two formulas; [`Undefined::OutOfRange`] for a score that is not finite.
pub fn repeat_control(scores: &[(f64, f64)]) -> Result<RepeatControl, Undefined> {
    if scores.len() < 2 {
        return Err(Undefined::TooFew {
            items: "formulas judged twice",
            count: scores.len(),
            need: 2,
        });
    }
    let (first, second): (Vec<f64>, Vec<f64>) = scores.iter().copied().unzip();
    let distances: f64 = scores.iter().map(|(first, second)| (first - second).abs()).sum();
    let tau = kendall_tau(&sample(&first)?, &sample(&second)?).map_err(|_| Undefined::OutOfRange)?;
    Ok(RepeatControl {
        formulas: scores.len(),
        mean_distance: distances / count(scores.len()),
        tau: tau.ok(),
    })
}

/// The line of scores on the logarithm of the number of nodes: what a formula gains by being e times as long.
///
/// # Errors
/// As [`line_fit`].
pub fn length_slope(formulas: &[(usize, f64)]) -> Result<LineFit, Undefined> {
    let points: Vec<(f64, f64)> = formulas
        .iter()
        .map(|(nodes, score)| (libm::log(count((*nodes).max(1))), *score))
        .collect();
    line_fit(&points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_the_median_of_what_was_answered() {
        let score = JudgedScore::of(&[80.0, 20.0, 60.0]).unwrap();
        assert_eq!((score.median, score.spread, score.scores), (60.0, 60.0, 3));
        let median = |scores: &[f64]| JudgedScore::of(scores).map(|score| score.median);
        assert_eq!(median(&[80.0, 60.0]), Ok(70.0));
        assert_eq!(median(&[0.0]), Ok(0.0));
        assert_eq!(JudgedScore::of(&[]).unwrap_err().code(), "too_few");
    }

    #[test]
    fn a_judge_that_likes_length_is_found_by_ten_pairs() {
        let fond: Vec<(f64, f64)> = (0..10).map(|pair| (50.0, 55.0 + f64::from(pair))).collect();
        let control = length_control(&fond).unwrap();
        assert!((control.mean_difference - 9.5).abs() < 1e-12);
        // Of 1,024 assignments of signs two are as far from the middle.
        assert!((control.test.p - 2.0 / 1024.0).abs() < 1e-15);
        let even = length_control(&[(50.0, 50.0); 10]).unwrap();
        assert!((even.test.p - 1.0).abs() < 1e-15 && even.test.pairs == 0);
        assert!(length_control(&[]).is_err());
    }

    #[test]
    fn a_judge_that_repeats_itself_agrees_with_itself() {
        let same = repeat_control(&[(10.0, 10.0), (50.0, 50.0), (70.0, 70.0)]).unwrap();
        assert_eq!((same.mean_distance, same.tau), (0.0, Some(1.0)));
        let reversed = repeat_control(&[(10.0, 70.0), (50.0, 50.0), (70.0, 10.0)]).unwrap();
        assert_eq!((reversed.mean_distance, reversed.tau), (40.0, Some(-1.0)));
        assert_eq!(repeat_control(&[(10.0, 70.0), (10.0, 50.0)]).unwrap().tau, None);
        assert!(repeat_control(&[(1.0, 1.0)]).is_err());
    }

    #[test]
    fn the_slope_is_by_logarithms_of_length() {
        let line = length_slope(&[
            (1, 10.0),
            (10, 10.0 + 5.0 * libm::log(10.0)),
            (100, 10.0 + 5.0 * libm::log(100.0)),
        ]);
        let line = line.unwrap();
        assert!((line.slope - 5.0).abs() < 1e-9 && (line.intercept - 10.0).abs() < 1e-9);
        assert!(length_slope(&[(5, 1.0), (5, 2.0), (5, 3.0)]).is_err());
    }
}
