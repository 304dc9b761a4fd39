//! What became of an episode's orders, and which rules of the exchange they broke.

use super::record::{LimitOpenCounts, OrderCounts, RejectedOrders};
use ktd_env::exchange::{Execution, LimitOpen, RejectCode, StepReport};
use std::collections::BTreeMap;

/// Orders of one episode, or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderTally {
    submitted: usize,
    filled: usize,
    /// Orders that the exchange rejected.
    rejected: BTreeMap<RejectCode, usize>,
    /// Opens at the limit of their side that orders met.
    limit_opens: BTreeMap<LimitOpen, usize>,
    /// Submissions that were fed back before any order of theirs reached the exchange, by the first rule they broke.
    fed_back: BTreeMap<RejectCode, usize>,
}

impl OrderTally {
    /// Adds what the exchange reported of a day.
    pub(super) fn add_report(&mut self, report: &StepReport) {
        for fill in &report.fills {
            self.submitted += 1;
            if let Some(met) = fill.limit_open {
                *self.limit_opens.entry(met).or_insert(0) += 1;
            }
            match fill.execution {
                Execution::Filled { .. } => self.filled += 1,
                Execution::Rejected(code) => *self.rejected.entry(code).or_insert(0) += 1,
            }
        }
    }

    /// Adds submissions that were fed back before any order of theirs reached the exchange, by the code of the rule they broke.
    pub(super) fn add_fed_back(&mut self, by_code: &BTreeMap<String, usize>) {
        let by_rule = by_code
            .iter()
            .filter_map(|(code, count)| Some((rule(code)?, count)));
        for (code, count) in by_rule {
            *self.fed_back.entry(code).or_insert(0) += count;
        }
    }

    /// The same of several episodes together.
    pub(super) fn sum<'t>(tallies: impl IntoIterator<Item = &'t Self>) -> Self {
        let mut sum = Self::default();
        for tally in tallies {
            sum.submitted += tally.submitted;
            sum.filled += tally.filled;
            add(&mut sum.rejected, &tally.rejected);
            add(&mut sum.limit_opens, &tally.limit_opens);
            add(&mut sum.fed_back, &tally.fed_back);
        }
        sum
    }

    /// As a board records it: codes in the order of the exchange's checks.
    #[expect(clippy::cast_precision_loss, reason = "orders stay far below 2^53")]
    pub(super) fn record(&self) -> OrderCounts {
        let count = |counts: &BTreeMap<RejectCode, usize>, code| counts.get(&code).copied().unwrap_or(0);
        let met = |kind| self.limit_opens.get(&kind).copied().unwrap_or(0);
        let row = |code: RejectCode| {
            let (orders, fed_back) = (count(&self.rejected, code), count(&self.fed_back, code));
            (0 < orders + fed_back).then(|| RejectedOrders {
                code: code.code().to_owned(),
                orders,
                share: (0 < self.submitted).then(|| orders as f64 / self.submitted as f64),
                fed_back,
            })
        };
        OrderCounts {
            submitted: self.submitted,
            filled: self.filled,
            rejected: RejectCode::ALL.into_iter().filter_map(row).collect(),
            limit_opens: LimitOpenCounts {
                left: met(LimitOpen::Left),
                sealed: met(LimitOpen::Sealed),
                beyond: met(LimitOpen::Beyond),
            },
        }
    }
}

fn add<K: Copy + Ord>(all: &mut BTreeMap<K, usize>, own: &BTreeMap<K, usize>) {
    for (key, count) in own {
        *all.entry(*key).or_insert(0) += count;
    }
}

/// The rule of the exchange of this code; none where the form was at fault.
pub(super) fn rule(detail: &str) -> Option<RejectCode> {
    RejectCode::ALL.into_iter().find(|code| code.code() == detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_counted_over_episodes_with_their_share_of_orders() {
        let episode = |submitted, filled, cash, fed_back: &[&str]| {
            let mut tally = OrderTally {
                submitted,
                filled,
                rejected: BTreeMap::from([(RejectCode::Cash, cash)]),
                ..OrderTally::default()
            };
            let fed_back = fed_back.iter().map(|code| ((*code).to_owned(), 1));
            tally.add_fed_back(&fed_back.collect());
            tally
        };
        let one = episode(6, 4, 2, &["lot", "missing", "cash"]);
        let two = episode(4, 3, 1, &["lot"]);
        let found = OrderTally::sum([&one, &two]).record();
        assert_eq!((found.submitted, found.filled), (10, 7));
        let rows: Vec<_> = found
            .rejected
            .iter()
            .map(|row| (row.code.as_str(), row.orders, row.share, row.fed_back))
            .collect();
        // Form faults such as `missing` are no rule of the exchange; codes stand in the order of its checks.
        assert_eq!(rows, [("lot", 0, Some(0.0), 2), ("cash", 3, Some(0.3), 1)]);
        assert_eq!(OrderTally::default().record().rejected, []);
    }
}
