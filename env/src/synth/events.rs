//! What happens to names: listings, delistings, ST status, halts, dividends and bonus shares.

use super::calendar::Session;
use super::draws::{between, exponential, pick, uniform_between, whole};
use super::names::Identity;
use crate::day::TradeDate;
use crate::seed::KeyedStream;
use crate::ticker::Board;

/// What a name is cast as. Rare kinds are assigned by number, so that every market of some size has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Nothing special.
    Ordinary,
    /// Listed during the sample.
    Newcomer,
    /// Declines, turns ST and is delisted.
    Doomed,
    /// ST for some months.
    Troubled,
    /// Trades below 1 yuan at first.
    Penny,
    /// Trades at several hundred yuan.
    Lofty,
}

/// Trading days without a trade.
#[derive(Debug, Clone, Copy)]
pub(super) struct Halt {
    pub(super) first: usize,
    pub(super) last: usize,
    /// Whether the source has no rows at all, instead of rows with volume 0 that carry the close.
    pub(super) has_no_rows: bool,
}

/// A cash dividend, bonus shares or both; takes effect on the first day traded from `day` on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Distribution {
    pub(super) day: usize,
    /// Dividend as a share of the previous close.
    pub(super) cash_yield: f64,
    /// New shares for every ten held.
    pub(super) bonus_per_ten: u32,
}

/// One name's events. Days are places in the calendar; both ends of every span are included.
#[derive(Debug, Clone)]
pub(super) struct Life {
    pub(super) part: Part,
    pub(super) listed: TradeDate,
    /// Age at the start of the sample; 0 for newcomers.
    pub(super) age_years: f64,
    pub(super) first_day: usize,
    pub(super) last_day: usize,
    /// The day from which a doomed name falls.
    pub(super) decline_from: Option<usize>,
    pub(super) st: Option<(usize, usize)>,
    pub(super) halts: Vec<Halt>,
    pub(super) distributions: Vec<Distribution>,
}

/// A sample shorter than this has no listings, delistings or ST dates.
const LEAST_DAYS: usize = 250;
/// The first days of a listing and of the sample have no halt.
const QUIET_DAYS: usize = 10;
/// A doomed name falls for half a year of trading, the second half of it as ST.
const DECLINE_DAYS: usize = 120;
const DOOMED_ST_DAYS: usize = 60;
const HALTS_PER_YEAR: f64 = 0.3;
const DAYS_PER_YEAR: f64 = 245.0;
const CASH_PROBABILITY: f64 = 0.75;
const BONUS_PROBABILITY: f64 = 0.10;
const BONUS_SIZES_PER_TEN: [u32; 5] = [2, 3, 4, 5, 10];

/// Draws the lives of all names.
pub(super) fn lives(seed: u64, identities: &[Identity], sessions: &[Session]) -> Vec<Life> {
    let mut stream = KeyedStream::for_purpose(seed, "synth events");
    let parts = cast(&mut stream, identities, sessions.len());
    parts
        .into_iter()
        .map(|part| life(&mut stream, part, sessions))
        .collect()
}

/// Assigns the rare parts. Doomed, troubled and penny names are of the main board, whose ST limit is its own.
fn cast(stream: &mut KeyedStream, identities: &[Identity], days: usize) -> Vec<Part> {
    let names = identities.len();
    let has_room = days >= LEAST_DAYS;
    let doomed = match names {
        _ if !has_room => 0,
        0..20 => 0,
        20..100 => 1,
        _ => 2,
    };
    let (troubled, newcomers) = if has_room {
        (names.div_ceil(60), names * 7 / 100)
    } else {
        (0, 0)
    };
    let rare = if names < 20 { 0 } else { names.div_ceil(150) };
    let mut main: Vec<usize> = Vec::new();
    let mut others: Vec<usize> = Vec::new();
    for (slot, identity) in identities.iter().enumerate() {
        let pool = if identity.board() == Board::Main {
            &mut main
        } else {
            &mut others
        };
        pool.push(slot);
    }
    stream.shuffle(&mut main);
    let mut parts = vec![Part::Ordinary; names];
    let mut assign = |pool: &mut Vec<usize>, part, wanted: usize| {
        for slot in pool.drain(..wanted.min(pool.len())) {
            if let Some(place) = parts.get_mut(slot) {
                *place = part;
            }
        }
    };
    assign(&mut main, Part::Doomed, doomed);
    assign(&mut main, Part::Troubled, if names < 20 { 0 } else { troubled });
    assign(&mut main, Part::Penny, rare);
    others.append(&mut main);
    stream.shuffle(&mut others);
    assign(&mut others, Part::Lofty, rare);
    assign(&mut others, Part::Newcomer, newcomers);
    parts
}

fn life(stream: &mut KeyedStream, part: Part, sessions: &[Session]) -> Life {
    let days = sessions.len();
    let end = days.saturating_sub(1);
    let first_day = if part == Part::Newcomer {
        between(stream, days / 16, days * 15 / 16)
    } else {
        0
    };
    let last_day = if part == Part::Doomed {
        between(stream, days * 11 / 20, days * 17 / 20)
    } else {
        end
    };
    let st = match part {
        Part::Doomed => Some((last_day.saturating_sub(DOOMED_ST_DAYS), last_day)),
        Part::Troubled => {
            let start = between(stream, days / 10, days / 2);
            let length = between(stream, days / 10, days / 2);
            Some((start, (start + length).min(end)))
        }
        Part::Ordinary | Part::Newcomer | Part::Penny | Part::Lofty => None,
    };
    let (listed, age_years) = listing(stream, sessions, first_day);
    Life {
        part,
        listed,
        age_years,
        first_day,
        last_day,
        decline_from: (part == Part::Doomed).then(|| last_day.saturating_sub(DECLINE_DAYS)),
        st,
        halts: halts(stream, first_day, last_day),
        distributions: distributions(stream, part, sessions),
    }
}

/// The listing date: the first row's for a newcomer, else a weekday up to 20 years before the sample.
fn listing(stream: &mut KeyedStream, sessions: &[Session], first_day: usize) -> (TradeDate, f64) {
    let first_date = sessions
        .get(first_day)
        .map_or_else(TradeDate::earliest, |session| session.date);
    if first_day > 0 {
        return (first_date, 0.0);
    }
    let age_years = uniform_between(stream, 0.6, 20.0);
    let back = i32::try_from(whole(age_years * 365.25)).unwrap_or(0);
    let candidates = (0..3).filter_map(|shift| {
        TradeDate::from_days_since_epoch(first_date.days_since_epoch().saturating_sub(back + shift))
    });
    let listed = candidates.into_iter().find(|date| !date.is_weekend());
    (listed.unwrap_or(first_date), age_years)
}

/// Halts come at random; half last a day, most of the others up to two weeks, a few up to two months.
fn halts(stream: &mut KeyedStream, first_day: usize, last_day: usize) -> Vec<Halt> {
    let mut halts = Vec::new();
    let mut day = first_day + QUIET_DAYS;
    loop {
        let wait = exponential(stream) * DAYS_PER_YEAR / HALTS_PER_YEAR;
        day += usize::try_from(whole(wait)).unwrap_or(usize::MAX / 2);
        if day >= last_day {
            return halts;
        }
        let length = match stream.below(10) {
            0..5 => 1,
            5..9 => between(stream, 2, 11),
            _ => between(stream, 11, 41),
        };
        // A name's last row is a traded one: a halt that never ends would be another event.
        let last = (day + length - 1).min(last_day.saturating_sub(1));
        halts.push(Halt {
            first: day,
            last,
            has_no_rows: stream.below(10) < 3,
        });
        day = last + 2;
    }
}

/// Once a year between May and July, for three names in four; names in trouble pay nothing.
fn distributions(stream: &mut KeyedStream, part: Part, sessions: &[Session]) -> Vec<Distribution> {
    let mut distributions = Vec::new();
    let indexed: Vec<(usize, &Session)> = sessions.iter().enumerate().collect();
    for of_year in indexed.chunk_by(|left, right| left.1.year == right.1.year) {
        let season: Vec<usize> = of_year
            .iter()
            .filter(|(_, session)| (5..=7).contains(&session.month))
            .map(|(day, _)| *day)
            .collect();
        let Some(day) = pick(stream, &season) else {
            continue;
        };
        let (pays_cash, gives_shares) = (
            stream.uniform() < CASH_PROBABILITY,
            stream.uniform() < BONUS_PROBABILITY,
        );
        let cash_yield = uniform_between(stream, 0.004, 0.035);
        let size = pick(stream, &BONUS_SIZES_PER_TEN).unwrap_or_default();
        if matches!(part, Part::Doomed | Part::Troubled | Part::Penny) || !(pays_cash || gives_shares) {
            continue;
        }
        distributions.push(Distribution {
            day,
            cash_yield: if pays_cash { cash_yield } else { 0.0 },
            bonus_per_ten: if gives_shares { size } else { 0 },
        });
    }
    distributions
}

impl Life {
    pub(super) fn is_st(&self, day: usize) -> bool {
        self.st.is_some_and(|(first, last)| first <= day && day <= last)
    }

    pub(super) fn halt(&self, day: usize) -> Option<Halt> {
        self.halts
            .iter()
            .find(|halt| halt.first <= day && day <= halt.last)
            .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{calendar, names};
    use super::*;

    fn drawn(seed: u64, names: usize, days: usize) -> Vec<Life> {
        lives(seed, &names::identities(seed, names), &calendar::sessions(days))
    }

    fn played(lives: &[Life], part: Part) -> usize {
        lives.iter().filter(|life| life.part == part).count()
    }

    #[test]
    fn every_rare_part_is_played_in_the_default_market() {
        for seed in 0..5 {
            let lives = drawn(seed, 300, 800);
            assert_eq!(played(&lives, Part::Doomed), 2);
            assert_eq!(played(&lives, Part::Troubled), 5);
            assert_eq!(played(&lives, Part::Penny), 2);
            assert_eq!(played(&lives, Part::Lofty), 2);
            assert_eq!(played(&lives, Part::Newcomer), 21);
        }
    }

    #[test]
    fn events_lie_within_a_life() {
        for life in drawn(9, 200, 600) {
            assert!(life.first_day < life.last_day && life.last_day < 600);
            assert!(life.halts.windows(2).all(|pair| pair[0].last + 1 < pair[1].first));
            for halt in &life.halts {
                assert!(life.first_day + QUIET_DAYS <= halt.first && halt.first <= halt.last);
                assert!(halt.last < life.last_day);
            }
            assert_eq!(life.part == Part::Newcomer, life.first_day > 0);
            assert!(!life.listed.is_weekend());
        }
    }

    #[test]
    fn short_and_small_samples_are_plain() {
        for (names, days) in [(1, 2), (5, 100), (19, 249)] {
            let lives = drawn(2, names, days);
            assert_eq!(played(&lives, Part::Ordinary), names);
        }
    }
}
