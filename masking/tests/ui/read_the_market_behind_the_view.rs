//! A tool gets a view that ends on the as-of day, and cannot reach the market behind it.
use ktd_env::{AsOf, Bar, DayIndex, Market, NameId};

fn tomorrow(view: &AsOf<'_>, name: NameId, day: DayIndex) -> Option<Bar> {
    view.market.bar(name, day)
}

fn whole<'m>(view: AsOf<'m>) -> &'m Market {
    view.market()
}

fn main() {
    let _ = (tomorrow, whole);
}
