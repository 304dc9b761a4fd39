//! Counts what was recovered.

use crate::answer::ProbeAnswer;
use crate::gold::Gold;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Measure of recovery.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The stock is the first guess.
    Top1,
    /// The stock is among the first five guesses.
    Top5,
    /// The day is within 5 trading days.
    Date5,
    /// The day is within 20 trading days.
    Date20,
    /// The day is within 60 trading days.
    Date60,
    /// The stock is among five and the day is within the joint bound.
    Joint,
    /// The sector is right; asked where the panel has sectors.
    Sector,
    /// The board is right.
    Board,
    /// Whether two exhibits show the same stock is right; asked of linked probes alone.
    Same,
}

impl Measure {
    /// Every measure, in the order of tables.
    pub const ALL: [Self; 9] = [
        Self::Top1,
        Self::Top5,
        Self::Date5,
        Self::Date20,
        Self::Date60,
        Self::Joint,
        Self::Sector,
        Self::Board,
        Self::Same,
    ];

    /// The name in files and tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }

    /// Its place in [`Self::ALL`].
    const fn place(self) -> usize {
        self as usize
    }
}

/// Comparison of an answer with the key of its probe: all that is counted hangs on this.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Whether there was an answer.
    pub is_answered: bool,
    /// 0-based place of the stock among the guesses.
    pub guess: Option<usize>,
    /// Trading days between the guess and the day.
    pub days_apart: Option<usize>,
    /// Whether the sector is right; `None` where the panel has none.
    pub is_sector: Option<bool>,
    /// Whether the board is right.
    pub is_board: bool,
    /// Whether it is right about the two exhibits of a linked probe, which is asked about nothing else; `None` of any
    /// other probe.
    pub is_same: Option<bool>,
}

impl Comparison {
    /// Score of an answer against the key.
    #[must_use]
    pub fn of(answer: Option<&ProbeAnswer>, gold: &Gold) -> Self {
        let is_answered = answer.is_some();
        if let Some(is_same) = gold.is_same() {
            return Self {
                is_answered,
                is_same: Some(answer.and_then(|answer| answer.is_same) == Some(is_same)),
                ..Self::default()
            };
        }
        let Some(target) = gold.targets.first() else {
            return Self {
                is_answered,
                ..Self::default()
            };
        };
        let guessed = answer.and_then(|answer| answer.day);
        Self {
            is_answered,
            guess: answer.and_then(|answer| {
                let mut guesses = answer.guesses().into_iter();
                guesses.position(|guess| guess == Some(target.name))
            }),
            days_apart: guessed.map(|day| day.index().abs_diff(target.day.index())),
            is_sector: target
                .sector
                .map(|sector| answer.and_then(|answer| answer.sector) == Some(sector)),
            is_board: answer.and_then(|answer| answer.board) == Some(target.board),
            is_same: None,
        }
    }

    /// Whether this was recovered; `None` where it is not asked.
    #[must_use]
    pub fn judge(&self, measure: Measure, joint_days: usize) -> Option<bool> {
        let named = |most: usize| self.guess.is_some_and(|place| place < most);
        let within = |days: usize| self.days_apart.is_some_and(|apart| apart <= days);
        if measure == Measure::Same || self.is_same.is_some() {
            return self.is_same.filter(|_| measure == Measure::Same);
        }
        match measure {
            Measure::Top1 => Some(named(1)),
            Measure::Top5 => Some(named(ProbeAnswer::MOST_NAMES)),
            Measure::Date5 => Some(within(5)),
            Measure::Date20 => Some(within(20)),
            Measure::Date60 => Some(within(60)),
            Measure::Joint => Some(named(ProbeAnswer::MOST_NAMES) && within(joint_days)),
            Measure::Sector => self.is_sector,
            Measure::Board => Some(self.is_board),
            Measure::Same => None,
        }
    }
}

/// Trading days within which the day of a joint recovery lies, unless configured.
pub const DEFAULT_JOINT_DAYS: usize = 20;

/// Tally of what one attacker recovered of one kind of probes. Every probe counts in every share that it is asked about, answered
/// or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecoveryTally {
    /// Probes put.
    pub probes: u64,
    /// Probes with an answer.
    pub answered: u64,
    asked: [u64; Measure::ALL.len()],
    hits: [u64; Measure::ALL.len()],
}

impl RecoveryTally {
    /// Counts one probe.
    pub fn add(&mut self, answer: Option<&ProbeAnswer>, gold: &Gold, joint_days: usize) {
        self.count(&Comparison::of(answer, gold), joint_days);
    }

    /// Counts one probe whose answer was compared with its key.
    pub fn count(&mut self, found: &Comparison, joint_days: usize) {
        self.probes += 1;
        self.answered += u64::from(found.is_answered);
        for measure in Measure::ALL {
            if let Some(is_hit) = found.judge(measure, joint_days) {
                count(&mut self.asked, measure, true);
                count(&mut self.hits, measure, is_hit);
            }
        }
    }

    /// Probes that were asked about this.
    #[must_use]
    pub fn asked(&self, measure: Measure) -> u64 {
        self.asked.get(measure.place()).copied().unwrap_or(0)
    }

    /// Probes of which this was recovered.
    #[must_use]
    pub fn hits(&self, measure: Measure) -> u64 {
        self.hits.get(measure.place()).copied().unwrap_or(0)
    }
}

fn count(counts: &mut [u64; Measure::ALL.len()], measure: Measure, counts_it: bool) {
    if let Some(counted) = counts.get_mut(measure.place()) {
        *counted += u64::from(counts_it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::database::hand_made::{Stock, database};
    use crate::gold::Target;
    use ktd_env::Board;

    fn ten_stocks() -> Database {
        let stock = Stock {
            board: Board::Main,
            sector: Some(3),
            first: 0,
            values: &[1.0],
        };
        database(100, &[stock; 10])
    }

    fn target(database: &Database, place: usize, day: usize) -> Target {
        Target {
            name: database.names[place].name,
            day: database.day_at(day).unwrap(),
            board: Board::Main,
            sector: Some(3),
        }
    }

    fn gold(targets: Vec<Target>) -> Gold {
        Gold { stretch: 0, targets }
    }

    /// An answer whose guesses are these places and whose day is this.
    fn answer(database: &Database, places: &[usize], day: usize) -> ProbeAnswer {
        ProbeAnswer {
            names: places.iter().map(|place| database.names[*place].name).collect(),
            day: database.day_at(day),
            sector: Some(3),
            board: Some(Board::Star),
            ..ProbeAnswer::default()
        }
    }

    fn hits(tally: &RecoveryTally) -> Vec<u64> {
        Measure::ALL.map(|measure| tally.hits(measure)).to_vec()
    }

    #[test]
    fn places_follow_the_order_of_all() {
        for (place, measure) in Measure::ALL.into_iter().enumerate() {
            assert_eq!(measure.place(), place, "{}", measure.label());
        }
    }

    #[test]
    fn every_measure_has_its_own_bound() {
        let database = ten_stocks();
        let gold = gold(vec![target(&database, 4, 50)]);
        let of = |places: &[usize], day: usize, joint_days: usize| {
            let mut tally = RecoveryTally::default();
            tally.add(Some(&answer(&database, places, day)), &gold, joint_days);
            hits(&tally)
        };
        // top1, top5, date5, date20, date60, joint, sector, board, same
        assert_eq!(of(&[4, 1], 50, 20), [1, 1, 1, 1, 1, 1, 1, 0, 0]);
        assert_eq!(of(&[0, 1, 2, 3, 4], 45, 20), [0, 1, 1, 1, 1, 1, 1, 0, 0]);
        assert_eq!(of(&[0, 1, 2, 3, 5, 4], 56, 20), [0, 0, 0, 1, 1, 0, 1, 0, 0]);
        assert_eq!(of(&[4], 71, 20), [1, 1, 0, 0, 1, 0, 1, 0, 0]);
        assert_eq!(of(&[4], 71, 21), [1, 1, 0, 0, 1, 1, 1, 0, 0]);
        assert_eq!(of(&[], 99, 20), [0, 0, 0, 0, 1, 0, 1, 0, 0]);
    }

    #[test]
    fn what_was_not_answered_counts_as_not_recovered() {
        let database = ten_stocks();
        let gold = gold(vec![target(&database, 4, 50)]);
        let mut tally = RecoveryTally::default();
        tally.add(None, &gold, 20);
        tally.add(Some(&ProbeAnswer::default()), &gold, 20);
        tally.add(Some(&answer(&database, &[4], 50)), &gold, 20);
        assert_eq!((tally.probes, tally.answered), (3, 2));
        for measure in Measure::ALL {
            let asked = if measure == Measure::Same { 0 } else { 3 };
            assert_eq!(tally.asked(measure), asked, "{}", measure.label());
        }
        assert_eq!(hits(&tally), [1, 1, 1, 1, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn a_guess_of_no_stock_takes_its_place() {
        let database = ten_stocks();
        let gold = gold(vec![target(&database, 4, 50)]);
        let late = ProbeAnswer {
            blanks: vec![0],
            ..answer(&database, &[4], 50)
        };
        assert_eq!(Comparison::of(Some(&late), &gold).guess, Some(1));
    }

    #[test]
    fn a_panel_without_sectors_asks_for_none() {
        let database = ten_stocks();
        let target = Target {
            sector: None,
            ..target(&database, 4, 50)
        };
        let mut tally = RecoveryTally::default();
        tally.add(Some(&answer(&database, &[4], 50)), &gold(vec![target]), 20);
        assert_eq!(
            (tally.asked(Measure::Sector), tally.hits(Measure::Sector)),
            (0, 0)
        );
    }

    #[test]
    fn linked_probes_ask_whether_they_are_one_and_nothing_else() {
        let database = ten_stocks();
        let same = gold(vec![target(&database, 4, 50), target(&database, 4, 90)]);
        let other = gold(vec![target(&database, 4, 50), target(&database, 5, 90)]);
        let says = |is_same| ProbeAnswer {
            is_same,
            ..answer(&database, &[4], 50)
        };
        let mut tally = RecoveryTally::default();
        for (is_same, gold) in [
            (Some(true), &same),
            (Some(true), &other),
            (Some(false), &same),
            (Some(false), &other),
            (None, &other),
        ] {
            tally.add(Some(&says(is_same)), gold, 20);
        }
        tally.add(None, &same, 20);
        assert_eq!((tally.probes, tally.answered), (6, 5));
        assert_eq!((tally.asked(Measure::Same), tally.hits(Measure::Same)), (6, 2));
        for measure in Measure::ALL
            .into_iter()
            .filter(|measure| *measure != Measure::Same)
        {
            assert_eq!(tally.asked(measure), 0, "{}", measure.label());
        }
    }
}
