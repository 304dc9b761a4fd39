//! How far a panel holds those who stayed alone.

use crate::day::DateSpan;
use crate::market::{DayIndex, Market};

/// Trading days before the panel's end after which a name without rows counts as ended.
const ENDED_DAYS: usize = 60;

/// Survivorship of a panel over some trading days: which member-days have no rows, and how many names end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survivors {
    /// Days times members of the index, with rows or without.
    pub member_days: u64,
    /// Those of members that have no rows at all.
    pub absent_member_days: u64,
    /// Names of the panel.
    pub names: usize,
    /// Those whose rows end more than sixty trading days before the panel does.
    pub names_ended: usize,
}

impl Survivors {
    /// What a panel has and lacks of the members on some days.
    #[must_use]
    pub fn of(market: &Market, days: &[DayIndex]) -> Self {
        let dates: Vec<_> = days.iter().filter_map(|day| market.date(*day)).collect();
        let member_days = |spans: &[DateSpan]| {
            let is_member = |date| spans.iter().any(|span| span.contains(date));
            dates
                .iter()
                .filter(|date| is_member(**date))
                .fold(0, |sum, _| sum + 1)
        };
        let present: u64 = market.names().map(|(_, info)| member_days(&info.member)).sum();
        let absent = market.absent_members().iter();
        let absent: u64 = absent.map(|absent| member_days(&absent.member)).sum();
        let last = market.calendar().len().checked_sub(1);
        let names_ended = last.and_then(|last| market.day_at(last)).map_or(0, |last| {
            let ended = |name| {
                let until = market.last_bar_day(name, last);
                until.is_some_and(|until| until.index() + ENDED_DAYS < last.index())
            };
            market.names().filter(|(name, _)| ended(*name)).count()
        });
        Self {
            member_days: present + absent,
            absent_member_days: absent,
            names: market.names().len(),
            names_ended,
        }
    }

    /// What a panel has and lacks of the members on all of its days.
    #[must_use]
    pub fn of_panel(market: &Market) -> Self {
        let days: Vec<DayIndex> = (0..market.calendar().len())
            .filter_map(|day| market.day_at(day))
            .collect();
        Self::of(market, &days)
    }

    /// What follows of `span` (`this window`, `the panel`), in a sentence without a name and a day; `None` where no member is missing.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of days of members stay far below 2^53"
    )]
    pub fn text(&self, span: &str) -> Option<String> {
        let is_missing = self.absent_member_days != 0 && self.absent_member_days != self.member_days;
        let share = self.absent_member_days as f64 / self.member_days as f64;
        is_missing.then(|| {
            format!(
                "survivors: {:.1} % of the member-days of {span} are of members without rows, and {} of {} names end before the panel \
                 does, so that who failed may be missing; had the missing earned 10 % more or less than the others, the members' mean \
                 would stand {:.2} % higher or lower",
                100.0 * share,
                self.names_ended,
                self.names,
                10.0 * share
            )
        })
    }
}
