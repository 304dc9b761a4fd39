//! There is no word for a day after the as-of day.
use ktd_env::{AsOf, Bar, DayIndex, DaysBack, NameId};

fn negative(view: &AsOf<'_>, name: NameId) -> Option<Bar> {
    view.bar(name, DaysBack(-1))
}

fn by_calendar(view: &AsOf<'_>, name: NameId, day: DayIndex) -> Option<Bar> {
    view.bar(name, day)
}

fn next(day: DayIndex) -> Option<DayIndex> {
    day.after()
}

fn made(day: u32) -> DayIndex {
    DayIndex(day)
}

fn main() {
    let _ = (negative, by_calendar, next, made);
}
