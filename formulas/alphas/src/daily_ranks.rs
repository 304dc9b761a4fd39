//! Ranks of an alpha's scores by day, made once and compared many times.

use crate::day_table::{DayTable, MemberTable};
use ktd_stats::moments::mean;
use ktd_stats::{Ranking, Undefined, rank_correlation};

/// The rank of a name that does not count on a day.
const MISSING: i32 = i32::MIN;

/// Centred ranks of the scores of each day over the members that have one: robustness compares every draw of noise with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyRanks {
    names: usize,
    ranks: Vec<i32>,
}

impl DailyRanks {
    /// Ranks the scores of every day.
    #[must_use]
    pub fn of(scores: &DayTable, members: &MemberTable) -> Self {
        let names = scores.names();
        let mut ranks = vec![MISSING; scores.days() * names];
        let mut ranking = Ranking::default();
        let (mut values, mut places, mut day_ranks) = (Vec::new(), Vec::new(), Vec::new());
        for (day, row) in ranks.chunks_mut(names.max(1)).enumerate() {
            values.clear();
            places.clear();
            let cells = scores.day(day).iter().zip(members.day(day)).enumerate();
            for (place, (value, _)) in
                cells.filter(|(_, (value, is_member))| **is_member && value.is_finite())
            {
                values.push(*value);
                places.push(place);
            }
            ranking.centred_ranks(&values, &mut day_ranks);
            for (place, rank) in places.iter().zip(&day_ranks) {
                if let Some(slot) = row.get_mut(*place) {
                    *slot = *rank;
                }
            }
        }
        Self { names, ranks }
    }

    /// The mean over days of the rank correlation with the same alpha on perturbed columns (PFS): one draw.
    ///
    /// # Errors
    /// [`Undefined::TooFewDays`] where no day counts, as of a constant.
    pub fn robustness(
        &self,
        perturbed: &DayTable,
        days: &[usize],
        min_names: usize,
    ) -> Result<f64, Undefined> {
        let mut room = Room::default();
        let of_day = |day: &usize| self.kept(*day, perturbed.day(*day), min_names, &mut room);
        let correlations: Vec<f64> = days.iter().filter_map(of_day).collect();
        mean(&correlations).ok_or(Undefined::TooFewDays {
            days: 0,
            need_days: 1,
        })
    }

    /// The rank correlation of a day; none where too few names have both, or a side does not vary.
    fn kept(&self, day: usize, perturbed: &[f64], min_names: usize, room: &mut Room) -> Option<f64> {
        let start = day.checked_mul(self.names)?;
        let own = self.ranks.get(start..start.checked_add(self.names)?)?;
        let mut is_whole = true;
        room.own.clear();
        room.values.clear();
        for (rank, value) in own.iter().zip(perturbed) {
            if *rank != MISSING {
                is_whole &= value.is_finite();
                if value.is_finite() {
                    room.own.push(*rank);
                    room.values.push(*value);
                }
            }
        }
        if room.values.len() < min_names {
            return None;
        }
        room.ranking.centred_ranks(&room.values, &mut room.other);
        if !is_whole {
            // the order of some names is that of their ranks among all
            room.values.clear();
            room.values.extend(room.own.iter().map(|rank| f64::from(*rank)));
            room.ranking.centred_ranks(&room.values, &mut room.own);
        }
        rank_correlation(&room.own, &room.other)
    }
}

#[derive(Debug, Default)]
struct Room {
    ranking: Ranking,
    own: Vec<i32>,
    other: Vec<i32>,
    values: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::DailyRanks;
    use crate::{DayTable, MemberTable, daily_correlations};
    use ktd_env::KeyedStream;

    /// Also where a name lacks one of the two, or is no member.
    #[test]
    fn kept_ranks_give_the_correlations_of_values() {
        let (days, names) = (40, 25);
        let mut stream = KeyedStream::for_purpose(7, "kept ranks");
        let mut table = |lost: usize| {
            let cells = (0..days * names).map(|cell| match cell % lost {
                0 => f64::NAN,
                _ => (4.0 * stream.normal()).round(),
            });
            DayTable::from_days(names, cells.collect())
        };
        let (scores, perturbed) = (table(11), table(13));
        let members = MemberTable::from_days(names, (0..days * names).map(|cell| cell % 7 != 3).collect());
        let some: Vec<usize> = (5..35).collect();
        let daily = daily_correlations(&scores, &perturbed, &members, &some, 10);
        let expected = daily.power(0.0).unwrap().rank_ic;
        let ranks = DailyRanks::of(&scores, &members);
        let found = ranks.robustness(&perturbed, &some, 10).unwrap();
        assert!((found - expected).abs() < 1e-15, "{found}, not {expected}");
        assert_eq!(ranks.robustness(&scores, &some, 10), Ok(1.0));
        assert!(ranks.robustness(&perturbed, &some, 24).is_err());
        let constant = DayTable::from_days(names, vec![1.0; days * names]);
        assert!(ranks.robustness(&constant, &some, 10).is_err());
    }
}
