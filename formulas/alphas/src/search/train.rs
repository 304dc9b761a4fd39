//! What a formula is worth on the train days, and whether a search keeps it.

use super::trial::TrialFault;
use crate::day_table::{DayTable, MemberTable, usable};
use crate::ranking::varies;
use ktd_stats::moments::{count, mean};
use ktd_stats::{Ranking, rank_correlation};

/// What formulas are held against on the train days.
#[derive(Debug, Clone)]
pub struct TrainTables {
    labels: DayTable,
    members: MemberTable,
    /// All train days.
    days: Vec<usize>,
    label_days: Vec<LabelDay>,
    min_names: usize,
}

/// A day with the ranks of its labels over all members that have one.
#[derive(Debug, Clone)]
struct LabelDay {
    day: usize,
    ranks: Vec<i32>,
}

impl TrainTables {
    /// The train days, `label_days` those whose label ends within them, with the fewest usable names of a day.
    #[must_use]
    pub fn new(
        labels: DayTable,
        members: MemberTable,
        (days, label_days): (Vec<usize>, &[usize]),
        min_names: usize,
    ) -> Self {
        let mut ranking = Ranking::default();
        let ranked = |day: &usize| {
            let (_, [values]) = usable(members.day(*day), [labels.day(*day)]);
            let mut ranks = Vec::new();
            ranking.centred_ranks(&values, &mut ranks);
            LabelDay { day: *day, ranks }
        };
        Self {
            label_days: label_days.iter().map(ranked).collect(),
            labels,
            members,
            days,
            min_names,
        }
    }

    /// The mean daily rank correlation of a formula with the label.
    ///
    /// # Errors
    /// The formula is present on less than the share `present` of the universe's cells, equal on more than the share
    /// `constant_days` of the days, or no day counts.
    pub fn rank_ic(&self, scores: &DayTable, present: f64, constant_days: f64) -> Result<f64, TrialFault> {
        let mut found = 0;
        let mut constant = 0;
        for day in &self.days {
            let (places, [values]) = usable(self.members.day(*day), [scores.day(*day)]);
            found += places.len();
            constant += usize::from(!varies(&values));
        }
        if count(found) < present * count(self.members.cells(&self.days)) {
            return Err(TrialFault::Sparse);
        }
        if constant_days * count(self.days.len()) < count(constant) {
            return Err(TrialFault::Constant);
        }
        let mut ranking = Ranking::default();
        let of_day = |day: &LabelDay| self.of_day(scores, day, &mut ranking);
        let daily: Vec<f64> = self.label_days.iter().filter_map(of_day).collect();
        mean(&daily).ok_or(TrialFault::Undefined)
    }

    fn of_day(&self, scores: &DayTable, of: &LabelDay, ranking: &mut Ranking) -> Option<f64> {
        let columns = [scores.day(of.day), self.labels.day(of.day)];
        let (_, [values, labels]) = usable(self.members.day(of.day), columns);
        if values.len() < self.min_names {
            return None;
        }
        let mut ranks = Vec::new();
        ranking.centred_ranks(&values, &mut ranks);
        // Mostly every name with a label has a value too, and then the ranks of the labels are known.
        if labels.len() == of.ranks.len() {
            rank_correlation(&ranks, &of.ranks)
        } else {
            let mut of_labels = Vec::new();
            ranking.centred_ranks(&labels, &mut of_labels);
            rank_correlation(&ranks, &of_labels)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TrainTables;
    use crate::search::trial::TrialFault;
    use crate::{DayTable, MemberTable, daily_correlations};
    use ktd_env::KeyedStream;

    const DAYS: usize = 80;
    const NAMES: usize = 20;

    fn tables() -> (DayTable, DayTable, MemberTable) {
        let mut stream = KeyedStream::for_purpose(3, "tables");
        let mut table = || DayTable::from_days(NAMES, (0..DAYS * NAMES).map(|_| stream.normal()).collect());
        let members = (0..DAYS * NAMES).map(|cell| cell % 19 != 3).collect();
        (table(), table(), MemberTable::from_days(NAMES, members))
    }

    /// The table with the cells missing, or equal, that a rule names.
    fn with(table: &DayTable, rule: impl Fn(usize, usize) -> Option<f64>) -> DayTable {
        let cells = (0..DAYS * NAMES).map(|cell| {
            let (day, name) = (cell / NAMES, cell % NAMES);
            rule(day, name).unwrap_or_else(|| table.at(day, name))
        });
        DayTable::from_days(NAMES, cells.collect())
    }

    #[test]
    fn it_is_the_rank_ic_of_an_evaluation() {
        let (scores, labels, members) = tables();
        let labels = with(&labels, |day, name| (day % 7 == name % 5).then_some(f64::NAN));
        let days: Vec<usize> = (0..DAYS).collect();
        let label_days = &days[..DAYS - 2];
        let train = TrainTables::new(labels.clone(), members.clone(), (days.clone(), label_days), 10);
        for scores in [
            scores.clone(),
            with(&scores, |day, name| {
                (day % 3 == 0 && name < 4).then_some(f64::NAN)
            }),
        ] {
            let whole = daily_correlations(&scores, &labels, &members, label_days, 10);
            let expected = whole.power(0.0).unwrap().rank_ic;
            let found = train.rank_ic(&scores, 0.8, 0.1).unwrap();
            assert_eq!(found.to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn what_is_sparse_or_constant_is_left_out_at_the_stated_shares() {
        let (scores, labels, members) = tables();
        let days: Vec<usize> = (0..DAYS).collect();
        let train = TrainTables::new(labels, members, (days.clone(), &days), 10);
        let missing = |last: usize| with(&scores, |day, _| (day < last).then_some(f64::NAN));
        assert_eq!(train.rank_ic(&missing(20), 0.8, 1.0), Err(TrialFault::Sparse));
        assert!(train.rank_ic(&missing(14), 0.8, 1.0).is_ok());
        let equal = |last: usize| with(&scores, |day, _| (day < last).then_some(1.5));
        assert_eq!(train.rank_ic(&equal(9), 0.8, 0.1), Err(TrialFault::Constant));
        assert!(train.rank_ic(&equal(8), 0.8, 0.1).is_ok());
        let all_missing = missing(DAYS);
        assert_eq!(train.rank_ic(&all_missing, 0.0, 1.0), Err(TrialFault::Undefined));
    }
}
