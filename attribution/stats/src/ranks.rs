//! Rank by return, rank by skill, and how far they are apart.

use super::error::StatsError;

/// Competition ranks (1, 2, 2, 4), the highest value first. An agent without a value has no rank and takes no place.
///
/// # Errors
/// [`StatsError::NotFinite`] for a value that is NaN or infinite.
pub fn competition_ranks(values: &[Option<f64>]) -> Result<Vec<Option<usize>>, StatsError> {
    for (place, value) in values.iter().enumerate() {
        if let Some(value) = value.filter(|value| !value.is_finite()) {
            return Err(StatsError::NotFinite {
                series: "values to rank",
                place,
                value,
            });
        }
    }
    let rank = |own: f64| 1 + values.iter().flatten().filter(|other| own < **other).count();
    Ok(values.iter().map(|value| value.map(rank)).collect())
}

/// One agent's ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillRank {
    /// Rank by total return.
    pub return_rank: Option<usize>,
    /// Rank by selection.
    pub alpha_rank: Option<usize>,
    /// Rank by return less rank by selection: above 0 for an agent that looks better when judged by skill. `None`
    /// unless it has both.
    pub delta_rank: Option<i64>,
}

/// Ranks agents by total return and by selection.
///
/// # Errors
/// [`StatsError::Length`] unless there is one of each for each agent; [`StatsError::NotFinite`].
pub fn skill_ranks(
    total_return: &[Option<f64>],
    selection: &[Option<f64>],
) -> Result<Vec<SkillRank>, StatsError> {
    if total_return.len() != selection.len() {
        return Err(StatsError::Length {
            left: total_return.len(),
            right: selection.len(),
        });
    }
    let (returns, alphas) = (competition_ranks(total_return)?, competition_ranks(selection)?);
    let delta = |by_return: usize, by_alpha: usize| {
        i64::try_from(by_return)
            .ok()?
            .checked_sub_unsigned(u64::try_from(by_alpha).ok()?)
    };
    let agent = |(return_rank, alpha_rank): (Option<usize>, Option<usize>)| SkillRank {
        return_rank,
        alpha_rank,
        delta_rank: return_rank
            .zip(alpha_rank)
            .and_then(|(by_return, by_alpha)| delta(by_return, by_alpha)),
    };
    Ok(returns.into_iter().zip(alphas).map(agent).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_agent_without_a_value_takes_no_place() {
        let ranks = competition_ranks(&[Some(0.1), None, Some(0.3), Some(0.1), Some(-1.0)]).unwrap();
        assert_eq!(ranks, [Some(2), None, Some(1), Some(2), Some(4)]);
        assert!(competition_ranks(&[Some(f64::NAN)]).is_err());
        assert_eq!(
            competition_ranks(&[Some(0.0), Some(-0.0)]),
            Ok(vec![Some(1), Some(1)])
        );
    }

    #[test]
    fn the_difference_needs_both() {
        let ranks = skill_ranks(&[Some(0.3), Some(0.1), Some(0.2)], &[Some(0.0), Some(0.2), None]).unwrap();
        let deltas: Vec<Option<i64>> = ranks.iter().map(|rank| rank.delta_rank).collect();
        assert_eq!(deltas, [Some(-1), Some(2), None]);
        assert!(skill_ranks(&[None], &[]).is_err());
    }

    proptest! {
        #[test]
        fn ranks_follow_a_permutation_and_a_rising_map(values in prop::collection::vec(-5..5_i8, 1..12)) {
            let of = |values: &[f64]| competition_ranks(&values.iter().copied().map(Some).collect::<Vec<_>>()).unwrap();
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let cubed: Vec<f64> = values.iter().map(|value| value * value * value).collect();
            let reversed: Vec<f64> = values.iter().rev().copied().collect();
            let ranks = of(&values);
            prop_assert_eq!(&of(&cubed), &ranks);
            let back: Vec<Option<usize>> = of(&reversed).into_iter().rev().collect();
            prop_assert_eq!(back, ranks);
        }
    }
}
