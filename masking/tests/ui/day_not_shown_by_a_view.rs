//! Only a day that a view has shown has a label: a calendar day or a date has none.
use ktd_env::{DayIndex, TradeDate};
use ktd_masking::{Mask, Payload};

fn calendar(mask: &Mask, day: DayIndex) -> Payload {
    mask.day(day)
}

fn date(mask: &Mask, date: TradeDate) -> Payload {
    mask.day(date)
}

fn main() {
    let _ = (calendar, date);
}
