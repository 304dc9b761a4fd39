//! The quotes of a run: the panel cut to its window and universe, laid out a day at a time.

use super::bins::{FieldSeries, QlibPanel, Span};
use super::config::{Limit, QlibConfig, VolumeKind, VolumeThreshold};
use super::exchange::Quote;
use super::window::Step;
use chrono::NaiveDate;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Quotes of every instrument that a run may meet, by symbol and then by day.
///
/// An instrument is known by its place in the sorted list of symbols, so that order by place is order by symbol.
#[derive(Debug)]
pub(super) struct Market {
    symbols: Vec<Arc<str>>,
    quotes: Vec<Quote>,
    n_days: usize,
    /// Whether some row has a close but no factor: lots are then off for all (rule E6).
    pub(super) adjusted_only: bool,
}

impl Market {
    /// Lays out the quotes of `steps`. `mentioned` are the symbols of orders or scores: one that is not in the
    /// universe is there all the same, suspended for good.
    pub(super) fn new<'a>(
        panel: &'a QlibPanel,
        config: &QlibConfig,
        steps: &[Step],
        mentioned: impl Iterator<Item = &'a str>,
    ) -> Self {
        let mut names: BTreeSet<&str> = panel.instruments().map(|(symbol, _)| symbol).collect();
        names.extend(mentioned);
        let symbols: Vec<Arc<str>> = names.into_iter().map(Arc::from).collect();
        let mut market = Self {
            quotes: Vec::with_capacity(symbols.len() * steps.len()),
            n_days: steps.len(),
            symbols: Vec::new(),
            adjusted_only: false,
        };
        let mut universe = panel.instruments().peekable();
        for symbol in &symbols {
            // Both run by symbol, and every instrument of the universe is among the symbols.
            match universe.next_if(|(known, _)| **known == **symbol) {
                Some((symbol, spans)) => market.add(spans, &Columns::new(panel, config, symbol), steps),
                None => market.quotes.extend(steps.iter().map(|_| Quote::MISSING)),
            }
        }
        market.symbols = symbols;
        market
    }

    /// Symbols in order.
    pub(super) fn symbols(&self) -> &[Arc<str>] {
        &self.symbols
    }

    /// The symbol at a place.
    pub(super) fn symbol(&self, instrument: usize) -> Arc<str> {
        self.symbols
            .get(instrument)
            .map_or_else(|| Arc::from(""), Arc::clone)
    }

    /// The place of a symbol.
    pub(super) fn instrument(&self, symbol: &str) -> Option<usize> {
        self.symbols.binary_search_by(|known| (**known).cmp(symbol)).ok()
    }

    /// The quotes of the `step`-th day of the run.
    pub(super) fn day(&self, step: usize) -> MarketDay<'_> {
        MarketDay {
            quotes: &self.quotes,
            day: step,
            n_days: self.n_days,
        }
    }

    /// Adds the next symbol's quotes.
    fn add(&mut self, spans: &[Span], columns: &Columns<'_>, steps: &[Step]) {
        for step in steps {
            let quote = if spans.iter().any(|span| span.contains(step.date)) {
                columns.quote(step)
            } else {
                Quote::MISSING
            };
            self.adjusted_only |= quote.factor.is_nan() && !quote.is_suspended();
            self.quotes.push(quote);
        }
    }
}

impl Span {
    fn contains(self, date: NaiveDate) -> bool {
        self.start <= date && date <= self.end
    }
}

/// The quotes of one day.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarketDay<'a> {
    /// All quotes of the run.
    quotes: &'a [Quote],
    day: usize,
    n_days: usize,
}

impl<'a> MarketDay<'a> {
    /// The quotes of a day given by hand.
    #[cfg(test)]
    pub(super) const fn of(quotes: &'a [Quote]) -> Self {
        Self {
            quotes,
            day: 0,
            n_days: 1,
        }
    }

    /// The quote of an instrument.
    pub(super) fn quote(&self, instrument: usize) -> &'a Quote {
        let place = instrument * self.n_days + self.day;
        self.quotes.get(place).unwrap_or(&Quote::MISSING)
    }
}

/// The series of one instrument that make its quotes.
struct Columns<'a> {
    close: Column<'a>,
    buy_price: Column<'a>,
    sell_price: Column<'a>,
    factor: Column<'a>,
    volume: Column<'a>,
    limit: LimitColumns<'a>,
    cap: Option<(Column<'a>, &'a VolumeThreshold)>,
}

enum LimitColumns<'a> {
    Change { change: Column<'a>, threshold: f32 },
    Flags { buy: Column<'a>, sell: Column<'a> },
}

/// A field that may have no bin; every value is then missing.
#[derive(Clone, Copy)]
struct Column<'a>(Option<&'a FieldSeries>);

impl Column<'_> {
    fn at(self, day: usize) -> f32 {
        self.0.map_or(f32::NAN, |series| series.at(day))
    }
}

impl<'a> Columns<'a> {
    fn new(panel: &'a QlibPanel, config: &'a QlibConfig, symbol: &str) -> Self {
        let column = |field: &str| Column(panel.series(symbol, field));
        let limit = match &config.limit {
            Limit::Change(threshold) => LimitColumns::Change {
                change: column("change"),
                threshold: single(*threshold),
            },
            Limit::Flags { buy, sell } => LimitColumns::Flags {
                buy: column(buy),
                sell: column(sell),
            },
        };
        Self {
            close: column("close"),
            buy_price: column(&config.deal_price.buy),
            sell_price: column(&config.deal_price.sell),
            factor: column("factor"),
            volume: column("volume"),
            limit,
            cap: config
                .volume_threshold
                .as_ref()
                .map(|threshold| (column(&threshold.field), threshold)),
        }
    }

    fn quote(&self, step: &Step) -> Quote {
        let wide = |column: Column<'_>| f64::from(column.at(step.day));
        let close = wide(self.close);
        let (buy, sell) = self.limit.flags(step.day);
        Quote {
            close,
            buy_price: wide(self.buy_price),
            sell_price: wide(self.sell_price),
            factor: wide(self.factor),
            volume: wide(self.volume),
            volume_cap: self
                .cap
                .map(|(column, threshold)| volume_cap(column.at(step.day), threshold, step)),
            limit_buy: buy || close.is_nan(),
            limit_sell: sell || close.is_nan(),
        }
    }
}

impl LimitColumns<'_> {
    /// Whether buys and sells are blocked. The comparison is made in `f32`, as pandas makes it (rule R5).
    fn flags(&self, day: usize) -> (bool, bool) {
        match self {
            Self::Change { change, threshold } => {
                let change = change.at(day);
                (*threshold <= change, change <= -*threshold)
            }
            Self::Flags { buy, sell } => (is_true(buy.at(day)), is_true(sell.at(day))),
        }
    }
}

/// A flag as `astype(bool)` reads it: anything but zero, `NaN` too.
fn is_true(flag: f32) -> bool {
    flag.is_nan() || flag.abs() > 0.0
}

/// `share * field`, which Qlib's expression engine computes in `f32`. Over a step of several days the current
/// amount is a sum, in which a missing value counts as zero.
fn volume_cap(volume: f32, threshold: &VolumeThreshold, step: &Step) -> f64 {
    let cap = f64::from(single(threshold.share) * volume);
    if cap.is_nan() && threshold.kind == VolumeKind::Current && step.spans_days() {
        0.0
    } else {
        cap
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "Qlib computes with this number in f32"
)]
const fn single(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bins::tests::feature;
    use crate::config::tests::config;
    use crate::window;

    const DAYS: &str = "2024-01-02\n2024-01-03\n";
    const FUTURE: &str = "2024-01-02\n2024-01-03\n2024-01-04\n";

    fn market(instruments: &str, fields: &[(&str, [f32; 2])], config: &QlibConfig) -> Market {
        let features = fields
            .iter()
            .map(|(field, values)| feature("sh600000", field, &[0.0, values[0], values[1]]));
        let panel = QlibPanel::parse(DAYS, Some(FUTURE), instruments, features).unwrap();
        let steps = window::steps(&panel, config.start, config.end).unwrap();
        Market::new(&panel, config, &steps, ["SH600001"].into_iter())
    }

    #[test]
    fn a_change_at_the_threshold_blocks_in_single_precision() {
        let fields = [
            ("close", [10.0, 10.0]),
            ("factor", [1.0, 1.0]),
            ("change", [0.095, -0.095]),
            ("open", [9.0, 9.0]),
        ];
        let market = market("SH600000\t2024-01-02\t2024-01-03\n", &fields, &config());
        let (up, down) = (market.day(0).quote(0), market.day(1).quote(0));
        assert!(up.limit_buy && !up.limit_sell);
        assert!(down.limit_sell && !down.limit_buy);
        assert!(!market.adjusted_only);
        assert_eq!(up.buy_price.to_bits(), 9.0_f64.to_bits());
    }

    #[test]
    fn rows_outside_the_span_and_unknown_symbols_are_suspended() {
        let fields = [("close", [10.0, 10.0]), ("factor", [1.0, 1.0])];
        let market = market("SH600000\t2024-01-03\t2024-01-03\n", &fields, &config());
        assert!(market.day(0).quote(0).is_suspended());
        assert!(!market.day(1).quote(0).is_suspended());
        let unknown = market.instrument("SH600001").unwrap();
        assert!(market.day(1).quote(unknown).is_suspended());
    }

    #[test]
    fn one_missing_factor_turns_lots_off_for_all() {
        let fields = [("close", [10.0, 10.0]), ("factor", [1.0, f32::NAN])];
        let span = "SH600000\t2024-01-02\t2024-01-03\n";
        assert!(market(span, &fields, &config()).adjusted_only);
        let suspended = [("close", [10.0, f32::NAN]), ("factor", [1.0, f32::NAN])];
        assert!(!market(span, &suspended, &config()).adjusted_only);
    }

    #[test]
    fn a_missing_flag_blocks() {
        let mut run = config();
        run.limit = Limit::Flags {
            buy: "up".to_owned(),
            sell: "down".to_owned(),
        };
        let fields = [
            ("close", [10.0, 10.0]),
            ("factor", [1.0, 1.0]),
            ("up", [0.0, f32::NAN]),
        ];
        let market = market("SH600000\t2024-01-02\t2024-01-03\n", &fields, &run);
        assert!(!market.day(0).quote(0).limit_buy && market.day(0).quote(0).limit_sell);
        assert!(market.day(1).quote(0).limit_buy);
    }
}
