//! Orders that the exchange rejected, by agent and code.

use super::described;
use crate::record::Track;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

pub(crate) fn table(track: &Track) -> TableData {
    let mut table = TableData::new(
        format!("Rejected orders: {}", described(track)),
        [
            ("agent", Left, 0),
            ("kind", Left, 2),
            ("code", Left, 0),
            ("rejected", Right, 0),
            ("of orders", Right, 1),
            ("share", Right, 0),
            ("fed back", Right, 1),
        ],
    );
    for leader in &track.leaders {
        let Some(orders) = &leader.orders else { continue };
        for rejected in &orders.rejected {
            table.rows.push(vec![
                TableCell::Text(leader.agent.clone()),
                TableCell::Text(leader.cohort.label().to_owned()),
                TableCell::Text(rejected.code.clone()),
                TableCell::Count(rejected.orders),
                TableCell::Count(orders.submitted),
                TableCell::optional(rejected.share, TableCell::Percent),
                TableCell::Count(rejected.fed_back),
            ]);
        }
    }
    let met = track.leaders.iter().filter_map(|leader| leader.orders.as_ref());
    let met = met.fold([0; 3], |[left, sealed, beyond], orders| {
        let opens = orders.limit_opens;
        [left + opens.left, sealed + opens.sealed, beyond + opens.beyond]
    });
    if table.rows.is_empty() {
        table
            .notes
            .push("no order broke a rule of the exchange".to_owned());
    }
    table.notes.push(
        "over all seeds; rejected: orders that the exchange refused; fed back: submissions that the model was asked to \
         correct, by the first rule they broke"
            .to_owned(),
    );
    let [left, sealed, beyond] = met;
    table.notes.push(format!(
        "opens at the limit of an order's side: {left} that the price left later on the day, {sealed} sealed all day, \
         {beyond} beyond the exchange's limit, where there is none"
    ));
    table
}
