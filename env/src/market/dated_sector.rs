//! Sectors by date.

use crate::day::{DateSpan, TradeDate};

/// A sector that a name belongs to on some dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DatedSector {
    /// The dates, inclusive.
    pub span: DateSpan,
    /// Place in `Market::sectors`.
    pub sector: u16,
}

/// The sectors of one name by date, each ending before the next begins; `sectors` is the panel's sorted list.
pub(super) fn in_order(spans: &[(DateSpan, String)], sectors: &[String]) -> Vec<DatedSector> {
    let mut dated: Vec<DatedSector> = spans
        .iter()
        .filter_map(|(span, sector)| {
            let sector = place_of(sector, sectors)?;
            Some(DatedSector { span: *span, sector })
        })
        .collect();
    dated.sort_unstable();
    let starts: Vec<TradeDate> = dated.iter().skip(1).map(|next| next.span.start).collect();
    for (earlier, next) in dated.iter_mut().zip(starts) {
        earlier.span.end = earlier.span.end.min(next.day_before());
    }
    dated.retain(|dated| dated.span.start <= dated.span.end);
    dated
}

/// The place of a sector in the panel's sorted list.
pub(super) fn place_of(sector: &String, sectors: &[String]) -> Option<u16> {
    let place = sectors.binary_search(sector).ok()?;
    u16::try_from(place).ok()
}
