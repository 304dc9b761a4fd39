//! How far a panel holds those who stayed alone.

use ktd_env::{DateSpan, DayIndex, Market};
use ktd_stats::moments::count;

/// Trading days before the panel's end after which a name without rows counts as ended.
const ENDED_DAYS: usize = 60;

/// What the members that a panel lacks say of a window, in a sentence: how many member-days are of members without rows, how many names
/// end before the panel does, and by how much the members' mean could move; `None` where nobody is missing.
pub(super) fn note(market: &Market, days: &[DayIndex]) -> Option<String> {
    let is_in = |spans: &[DateSpan]| {
        let dates = days.iter().filter_map(|day| market.date(*day));
        dates
            .filter(|date| spans.iter().any(|span| span.contains(*date)))
            .count()
    };
    let known: usize = market.names().map(|(_, info)| is_in(&info.member)).sum();
    let absent = market.absent_members().iter();
    let absent: usize = absent.map(|absent| is_in(&absent.member)).sum();
    let last = market
        .calendar()
        .len()
        .checked_sub(1)
        .and_then(|last| market.day_at(last))?;
    let ended = market.names().filter(|(name, _)| {
        let until = market.last_bar_day(*name, last);
        until.is_some_and(|until| until.index() + ENDED_DAYS < last.index())
    });
    let ended = ended.count();
    if absent == 0 || known == 0 {
        return None;
    }
    let (absent, all) = (count(absent), count(absent + known));
    Some(format!(
        "survivors: {:.1} % of the member-days of this window are of members without rows, and {ended} of {} names end before the panel \
         does, so that who failed may be missing; had the missing earned 10 % more or less than the others, the members' mean would \
         stand {:.2} % higher or lower",
        100.0 * absent / all,
        market.names().len(),
        10.0 * absent / all
    ))
}
