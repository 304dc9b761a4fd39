//! T9: what ranked versions and all iterations earn on real bars, at every cost and both fills, and what the best of them is
//! worth.

use super::material::StrategyReport;
use crate::run::real_tables;
use ktd_view::draw::TableData;
use ktd_view::report_table::ReportTable;

/// Why there is no figure of real bars.
pub(super) const NO_REAL_BARS: &str = "the experiment names no real bars";

/// The tables; a note stands for them where the experiment has no real bars.
pub(super) fn tables(report: &StrategyReport) -> Vec<ReportTable> {
    let ids = ["T9_real_bars", "T9_real_iterations", "T9_selection"];
    let found = real_tables(&report.real);
    if found.is_empty() {
        let columns = Vec::<(&str, ktd_view::draw::Align)>::new();
        let none = TableData::new("T9. Real bars: returns after costs, at both fills", columns)
            .with_note(format!("n/a ({NO_REAL_BARS})"));
        return vec![ReportTable::new("T9_real_bars", none)];
    }
    let titled = found.into_iter().map(|mut data| {
        data.title = format!("T9. {}", data.title);
        data
    });
    ids.into_iter()
        .zip(titled)
        .map(|(id, data)| ReportTable::new(id, data))
        .collect()
}
