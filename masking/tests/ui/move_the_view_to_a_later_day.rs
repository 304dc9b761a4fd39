//! A view cannot be moved: its day is private and has no setter.
use ktd_env::{AsOf, DayIndex};

fn later<'m>(view: AsOf<'m>, day: DayIndex) -> AsOf<'m> {
    AsOf { day, ..view }
}

fn main() {
    let _ = later;
}
