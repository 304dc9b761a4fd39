//! The invented index: who is a member, and its level.

use super::calendar::Session;
use super::draws::float;
use super::events::Life;
use super::prices::SynthBar;
use crate::day::{DateSpan, TradeDate};
use std::collections::BTreeMap;

/// Free-float values of one name by day, CNY; 0 before its first row. Days without a row carry the last value.
#[derive(Debug, Clone)]
pub(super) struct Values {
    pub(super) open_cny: Vec<f64>,
    pub(super) close_cny: Vec<f64>,
}

/// Index membership of one name: first and last day of each stretch, both included.
pub(super) type Stretches = Vec<(usize, usize)>;

const FIRST_LEVEL: f64 = 4000.0;
/// Share of the eligible names that are members.
const MEMBER_PERCENT: usize = 80;
/// Members stay while their rank is within this percentage of the places; outsiders enter below its mirror image.
const BUFFER_PERCENT: usize = 10;
/// Trading days a listing must have behind it to enter.
const SEASONED_DAYS: usize = 60;
/// Reviews take effect on the first session on or after the 15th of June and of December.
const REVIEW_MONTHS: [u32; 2] = [6, 12];
const REVIEW_DAY: u32 = 15;

/// A name's values on every day of the calendar.
pub(super) fn values(bars: &[SynthBar], days: usize) -> Values {
    const FEN_PER_YUAN: f64 = 100.0;
    let mut values = Values {
        open_cny: vec![0.0; days],
        close_cny: vec![0.0; days],
    };
    let mut bars = bars.iter().peekable();
    let mut last = 0.0;
    let of_days = values.open_cny.iter_mut().zip(&mut values.close_cny);
    for (day, (open, close)) in of_days.enumerate() {
        *open = last;
        if let Some(bar) = bars.next_if(|bar| bar.day == day) {
            *open = float(bar.shares) * float(bar.open_fen) / FEN_PER_YUAN;
            last = float(bar.shares) * float(bar.close_fen) / FEN_PER_YUAN;
        }
        *close = last;
    }
    values
}

/// The membership of every name: the largest four fifths at each semiannual review, with a buffer against churn.
pub(super) fn memberships(lives: &[Life], values: &[Values], sessions: &[Session]) -> Vec<Stretches> {
    let mut stretches: Vec<Stretches> = vec![Vec::new(); lives.len()];
    let starts = review_days(sessions);
    let ends = starts.iter().skip(1).map(|next| next - 1);
    let periods = starts
        .iter()
        .copied()
        .zip(ends.chain([sessions.len().saturating_sub(1)]));
    let mut members = vec![false; lives.len()];
    for (start, end) in periods {
        members = review(lives, values, start, &members);
        let chosen = members.iter().zip(lives).zip(&mut stretches);
        for ((_, life), of_name) in chosen.filter(|((is_member, _), _)| **is_member) {
            let end = end.min(life.last_day);
            match of_name.last_mut().filter(|last| last.1 + 1 == start) {
                Some(last) => last.1 = end,
                None => of_name.push((start, end)),
            }
        }
    }
    stretches
}

fn review_days(sessions: &[Session]) -> Vec<usize> {
    let is_after = |session: &Session| REVIEW_MONTHS.contains(&session.month) && session.day >= REVIEW_DAY;
    let changes = sessions
        .windows(2)
        .enumerate()
        .filter_map(|(before, pair)| match pair {
            [earlier, later] if !is_after(earlier) && is_after(later) => Some(before + 1),
            _ => None,
        });
    std::iter::once(0).chain(changes).collect()
}

/// Members from `start` on, judged by the values at the close before (on day 0 by those of day 0 itself).
fn review(lives: &[Life], values: &[Values], start: usize, incumbents: &[bool]) -> Vec<bool> {
    let as_of = start.saturating_sub(1);
    let is_eligible = |life: &Life| {
        let is_seasoned = life.first_day == 0 || life.first_day + SEASONED_DAYS <= start;
        is_seasoned && start <= life.last_day && !life.is_st(as_of)
    };
    let mut ranked: Vec<(usize, f64)> = lives
        .iter()
        .zip(values)
        .enumerate()
        .filter(|(_, (life, _))| is_eligible(life))
        .map(|(slot, (_, values))| (slot, values.close_cny.get(as_of).copied().unwrap_or(0.0)))
        .collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    let places = (ranked.len() * MEMBER_PERCENT).div_ceil(100);
    let is_incumbent = |slot: usize| incumbents.get(slot).copied().unwrap_or(false);
    let mut by_claim: Vec<(bool, usize, usize)> = ranked
        .iter()
        .enumerate()
        .map(|(rank, (slot, _))| {
            let percent = if is_incumbent(*slot) {
                100 + BUFFER_PERCENT
            } else {
                100 - BUFFER_PERCENT
            };
            (rank * 100 >= places * percent, rank, *slot)
        })
        .collect();
    by_claim.sort_unstable();
    let mut members = vec![false; lives.len()];
    for (_, _, slot) in by_claim.into_iter().take(places) {
        if let Some(is_member) = members.get_mut(slot) {
            *is_member = true;
        }
    }
    members
}

/// Opening and closing level by date: chained from day to day over the members' total free-float value.
///
/// It is a price index: bonus shares leave it alone, cash dividends lower it.
pub(super) fn levels(
    stretches: &[Stretches],
    values: &[Values],
    sessions: &[Session],
) -> BTreeMap<TradeDate, (f64, f64)> {
    let mut level = FIRST_LEVEL;
    let mut levels = BTreeMap::new();
    for (day, session) in sessions.iter().enumerate() {
        let (mut before, mut open, mut close) = (0.0, 0.0, 0.0);
        for (_, values) in stretches
            .iter()
            .zip(values)
            .filter(|(of_name, _)| covers(of_name, day))
        {
            let at = |column: &[f64], day: usize| column.get(day).copied().unwrap_or(0.0);
            open += at(&values.open_cny, day);
            close += at(&values.close_cny, day);
            // The first day has no day before it: its close is the first level.
            before += match day.checked_sub(1) {
                Some(yesterday) => at(&values.close_cny, yesterday),
                None => at(&values.close_cny, day),
            };
        }
        let opening = if before > 0.0 {
            level * open / before
        } else {
            level
        };
        level = if before > 0.0 {
            level * close / before
        } else {
            level
        };
        levels.insert(session.date, (to_basis(opening), to_basis(level)));
    }
    levels
}

fn covers(stretches: &Stretches, day: usize) -> bool {
    stretches
        .iter()
        .any(|(first, last)| *first <= day && day <= *last)
}

/// An index level as published: two decimal places.
fn to_basis(level: f64) -> f64 {
    (level * 100.0).round() / 100.0
}

/// A stretch as inclusive dates.
pub(super) fn span(sessions: &[Session], (first, last): (usize, usize)) -> Option<DateSpan> {
    Some(DateSpan {
        start: sessions.get(first)?.date,
        end: sessions.get(last)?.date,
    })
}
