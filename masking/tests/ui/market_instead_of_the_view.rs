//! A market is no view of itself: whoever has one must say on which day it ends.
use ktd_env::{AsOf, Market};

fn tool(view: &AsOf<'_>) -> usize {
    view.names().count()
}

fn caller(market: &Market) -> usize {
    tool(market)
}

fn main() {
    let _ = caller;
}
