//! Where the gate on look-ahead cuts: in three ways where a decision was made, in one way elsewhere, by chance.

use crate::bars::{AssetBars, StrategyBars};
use crate::candidate::CandidateLogs;
use crate::gate_secret::GateSecret;
use ktd_env::KeyedStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The least number of bars of a cut.
const CUT_BARS_MIN: usize = 2;
/// A share of the run: where no decision was made, cuts begin after it, and no run is shorter.
const FIRST_SHARE: usize = 10;
/// Cuts that are made in all three ways at most; of more, chance leaves some out.
const WHOLE_CUTS_MAX: usize = 80;
/// Runs at most, for each costs some hundredths of a second; chance leaves out cuts after which nothing was decided.
const RUNS_MAX: usize = 400;
/// Bars of another future; the last word stands for all that are left.
const FUTURE_BARS: [usize; 6] = [6, 8, 12, 20, 40, usize::MAX];
/// How many of ten futures are of the lengths above: most are short, for they are what a run costs.
const FUTURE_WEIGHTS: [u64; 6] = [3, 2, 2, 1, 1, 1];

/// Deviation of the logarithm of prices from bar to bar, and of what lies between the close and the next open.
const PRICE_DEVIATION: f64 = 0.02;
/// The logarithm by which prices leap after a cut, at least and at most.
const LEAP: [f64; 2] = [0.1, 0.3];
/// Deviation of the logarithm of a volume.
const VOLUME_DEVIATION: f64 = 0.5;
/// By how much the logarithm of volumes leaps.
const VOLUME_LEAP: f64 = 2.0;
/// Wicks of a bar, as a share of its price: on a wide bar, and on a narrow one.
const WICKS: [f64; 2] = [0.03, 0.003];
/// What the second, fourth, .. of several assets does when the first leaps by 1, so that sums and ratios both change.
const OTHER_LEG: f64 = -0.5;

/// What becomes of the bars after a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FutureChange {
    /// They are not there.
    Cut {
        /// Bars that stay.
        bars: usize,
    },
    /// They are others: each bar of the one kind moves against its twin of the other kind.
    Replaced {
        /// Bars that stay.
        bars: usize,
        /// Bars that come after them.
        future: usize,
        /// Whether prices leap up.
        is_up: bool,
    },
}

impl FutureChange {
    /// Bars that stay.
    #[must_use]
    pub const fn bars(self) -> usize {
        match self {
            Self::Cut { bars } | Self::Replaced { bars, .. } => bars,
        }
    }
}

/// Actions of a program that the gate on look-ahead saw stay when all that came after them was cut off, or was another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionWitness {
    /// Bars on which the program acts.
    pub actions: usize,
    /// Those whose future was cut off right after them and replaced both ways; of the first tenth of the run, replaced.
    pub witnessed: usize,
    /// Runs that were planned.
    pub runs: usize,
}

impl std::fmt::Display for ActionWitness {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            actions,
            witnessed,
            runs,
        } = self;
        write!(
            formatter,
            "{witnessed} of {actions} actions witnessed, {runs} runs"
        )
    }
}

/// The plan of the gate for one program.
#[derive(Debug, Clone)]
pub struct LookAheadPlan {
    secret: GateSecret,
    /// What the future becomes, run by run.
    pub changes: Vec<FutureChange>,
    /// What it is worth.
    pub witness: ActionWitness,
}

impl LookAheadPlan {
    /// The plan for a run of so many bars on which a program acts on `own` ones, and its reference on `reference` ones. After each
    /// of these bars, and before it, the future is cut off and replaced both ways; after others in one way, which chance draws as it draws them.
    #[must_use]
    pub fn draw(
        secret: &GateSecret,
        bars: usize,
        (own, reference): (&BTreeSet<usize>, &BTreeSet<usize>),
    ) -> Self {
        let mut stream = secret.stream("cuts");
        let is_cut = |cut: &usize| (CUT_BARS_MIN..bars).contains(cut);
        // The first bar is 0: so many bars are up to it and not beyond as are before the next one.
        let after = |acts: &BTreeSet<usize>| acts.iter().map(|bar| bar + 1).filter(is_cut).collect();
        let before = |acts: &BTreeSet<usize>| acts.iter().copied().filter(is_cut).collect();
        let mut whole: BTreeSet<usize> = BTreeSet::new();
        for some in [after(own), after(reference), before(own), before(reference)] {
            let mut some: Vec<usize> = BTreeSet::difference(&some, &whole).copied().collect();
            stream.shuffle(&mut some);
            let left = WHOLE_CUTS_MAX.saturating_sub(whole.len());
            whole.extend(some.into_iter().take(left));
        }
        let first = (bars / FIRST_SHARE).max(CUT_BARS_MIN);
        let (mut changes, mut others) = (Vec::new(), Vec::new());
        for cut in CUT_BARS_MIN..bars {
            // A program may need some bars to run at all: none is given fewer than come before the first cut.
            let future = (first.saturating_sub(cut), bars - cut);
            let mut ways = vec![
                replaced(&mut stream, (cut, future), true),
                replaced(&mut stream, (cut, future), false),
            ];
            if first <= cut {
                ways.push(FutureChange::Cut { bars: cut });
            }
            stream.shuffle(&mut ways);
            if whole.contains(&cut) {
                changes.extend(ways);
            } else if first <= cut {
                others.extend(ways.first().copied());
            }
        }
        stream.shuffle(&mut others);
        let left = RUNS_MAX.saturating_sub(changes.len());
        changes.extend(others.into_iter().take(left));
        // A program that looks ahead is found after few runs, wherever it does.
        stream.shuffle(&mut changes);
        let witness = ActionWitness {
            actions: own.len(),
            witnessed: own.iter().filter(|bar| whole.contains(&(*bar + 1))).count(),
            runs: changes.len(),
        };
        Self {
            secret: secret.clone(),
            changes,
            witness,
        }
    }

    /// The bars of a market as a run of the plan sees them. Prices to two decimals, volumes to whole shares; a further column has
    /// its own values of other bars, the larger ones where prices leap up.
    #[must_use]
    pub fn market(&self, change: FutureChange, market: &StrategyBars) -> StrategyBars {
        let FutureChange::Replaced { bars, future, is_up } = change else {
            return market.prefix(change.bars());
        };
        let mut market = market.prefix(bars.saturating_add(future));
        for (place, (symbol, own)) in market.assets.iter_mut().enumerate() {
            // Both ways have the same chance, and opposite signs.
            let mut stream = self.secret.stream(&format!("future {bars} {symbol}"));
            let leg = if place % 2 == 0 { 1.0 } else { OTHER_LEG };
            replace(own, bars, (is_up, leg), &mut stream);
        }
        market
    }
}

/// Another future of a drawn number of bars, of these at least and at most.
fn replaced(
    stream: &mut KeyedStream,
    (bars, (least, left)): (usize, (usize, usize)),
    is_up: bool,
) -> FutureChange {
    let mut drawn = stream.below(FUTURE_WEIGHTS.iter().sum());
    let mut future = left;
    for (length, weight) in FUTURE_BARS.into_iter().zip(FUTURE_WEIGHTS) {
        if drawn < weight {
            future = length.max(least).min(left);
            break;
        }
        drawn -= weight;
    }
    FutureChange::Replaced { bars, future, is_up }
}

/// Puts a drawn path in the place of all bars from `cut` on: it leaps, half of it before the first open, and then walks.
fn replace(own: &mut AssetBars, cut: usize, (is_up, leg): (bool, f64), stream: &mut KeyedStream) {
    let side = if is_up { 1.0 } else { -1.0 };
    let [least, most] = LEAP;
    let mut leap = least + (most - least) * stream.uniform();
    let mut last = cut
        .checked_sub(1)
        .and_then(|bar| own.close.get(bar))
        .copied()
        .unwrap_or(1.0);
    let [wide, narrow] = WICKS;
    let wick = if is_up { wide } else { narrow };
    for bar in cut..own.len() {
        let mut step = || side * leg * (leap / 2.0 + PRICE_DEVIATION * stream.normal());
        let open = last * libm::exp(step());
        let close = open * libm::exp(step());
        let volume = libm::exp(side * (VOLUME_LEAP + VOLUME_DEVIATION * stream.normal()));
        let prices = [
            (&mut own.open, open),
            (&mut own.high, open.max(close) * (1.0 + wick)),
            (&mut own.low, open.min(close) * (1.0 - wick)),
            (&mut own.close, close),
        ];
        for (column, price) in prices {
            if let Some(cell) = column.get_mut(bar) {
                *cell = ((price * 100.0).round() / 100.0).max(0.01);
            }
        }
        if let Some(cell) = own.volume.get_mut(bar) {
            *cell = (*cell * volume).round();
        }
        (last, leap) = (close, 0.0);
    }
    for column in own.further.values_mut() {
        let mut known = column.clone();
        known.sort_by(f64::total_cmp);
        let half = known.len() / 2;
        let some = if is_up {
            known.get(half..)
        } else {
            known.get(..half)
        }
        .unwrap_or_default();
        let places = u64::try_from(some.len()).unwrap_or(0);
        for cell in column.iter_mut().skip(cut).filter(|_| 0 < places) {
            let drawn = usize::try_from(stream.below(places)).unwrap_or(0);
            *cell = some.get(drawn).copied().unwrap_or(*cell);
        }
    }
}

/// Bars on which a program acts: what its log of bars calls a signal, a change of its position, and both ends of each trade, so that
/// no log hides one.
#[must_use]
pub fn acting_bars(logs: &CandidateLogs, market: &StrategyBars) -> BTreeSet<usize> {
    let bars = &logs.bars;
    let state = |row: usize| bars.text("position_state", row).unwrap_or("FLAT");
    let acts = |row: &usize| {
        let before = row.checked_sub(1).map_or("FLAT", state);
        bars.text("signal", *row).unwrap_or("NONE") != "NONE" || state(*row) != before
    };
    let mut acting: BTreeSet<usize> = (0..bars.len()).filter(acts).collect();
    let times = market.times();
    for column in ["entry_datetime", "exit_datetime"] {
        let of_trades = (0..logs.trades.len()).filter_map(|row| logs.trades.text(column, row));
        acting.extend(of_trades.filter_map(|time| times.binary_search_by(|own| own.as_str().cmp(time)).ok()));
    }
    acting
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::{CandidateTable, LogCell};

    fn market(bars: usize) -> StrategyBars {
        let column = |from: f64| -> Vec<f64> {
            (0..bars)
                .map(|bar| from + f64::from(u8::try_from(bar % 7).unwrap()))
                .collect()
        };
        let own = AssetBars {
            times: (0..bars)
                .map(|bar| {
                    let day = format!("2021-{:02}-{:02}T00:00:00", 1 + bar / 28, 1 + bar % 28);
                    crate::bars::BarTime::parse(&day).unwrap()
                })
                .collect(),
            open: column(100.0),
            high: column(101.0),
            low: column(99.0),
            close: column(100.0),
            volume: column(1000.0),
            further: [("weight".to_owned(), column(1.0))].into_iter().collect(),
        };
        StrategyBars {
            assets: vec![("A".to_owned(), own.clone()), ("B".to_owned(), own)],
        }
    }

    fn plan(secret: &[u8], own: &[usize]) -> LookAheadPlan {
        let own = own.iter().copied().collect();
        LookAheadPlan::draw(&GateSecret::of(secret), 300, (&own, &[150].into_iter().collect()))
    }

    #[test]
    fn bars_are_cut_and_decisions_in_all_ways() {
        let plan = plan(b"one", &[0, 7, 200, 299]);
        let ways = |bars: usize| plan.changes.iter().filter(|change| change.bars() == bars).count();
        for bars in 30..300 {
            assert_eq!(
                ways(bars),
                if [150, 151, 200, 201, 299].contains(&bars) {
                    3
                } else {
                    1
                },
                "{bars}"
            );
        }
        // Before a tenth of the run decisions alone, and no run is shorter than that.
        assert_eq!([ways(1), ways(2), ways(7), ways(8), ways(9)], [0, 0, 2, 2, 0]);
        let length = |change: &FutureChange| match *change {
            FutureChange::Cut { bars } => bars,
            FutureChange::Replaced { bars, future, .. } => bars + future,
        };
        assert!(
            plan.changes
                .iter()
                .map(length)
                .all(|bars| (30..=300).contains(&bars))
        );
        // Nothing comes before the first cut, and nothing after the last bar.
        let witness = plan.witness;
        assert_eq!((witness.actions, witness.witnessed), (4, 2));
        assert_eq!(
            witness.to_string(),
            format!("2 of 4 actions witnessed, {} runs", plan.changes.len())
        );
    }

    #[test]
    fn a_plan_hangs_on_its_secret_and_on_nothing_else() {
        let (one, again, other) = (plan(b"one", &[200]), plan(b"one", &[200]), plan(b"two", &[200]));
        assert_eq!(one.changes, again.changes);
        assert_ne!(one.changes, other.changes);
        let change = FutureChange::Replaced {
            bars: 100,
            future: 20,
            is_up: true,
        };
        assert_eq!(
            one.market(change, &market(300)),
            again.market(change, &market(300))
        );
        assert_ne!(
            one.market(change, &market(300)),
            other.market(change, &market(300))
        );
        let secret = GateSecret::of(b"one");
        assert_ne!(secret.for_program("a"), secret.for_program("b"));
        let many: Vec<usize> = (0..300).collect();
        assert_eq!(plan(b"one", &many).witness.witnessed, WHOLE_CUTS_MAX);
    }

    #[test]
    fn each_way_of_a_future_is_the_other_of_its_twin() {
        let (plan, whole) = (plan(b"one", &[]), market(300));
        let of = |is_up| {
            plan.market(
                FutureChange::Replaced {
                    bars: 100,
                    future: 20,
                    is_up,
                },
                &whole,
            )
        };
        let (up, down) = (of(true), of(false));
        for (asset, (symbol, own)) in up.assets.iter().enumerate() {
            let twin = &down.assets[asset].1;
            let before = &whole.assets[asset].1;
            assert_eq!(own.len(), 120, "{symbol}");
            assert_eq!(own.prefix(100), before.prefix(100));
            for bar in 100..120 {
                let within = [own, twin].map(|own| own.close[bar] - own.open[bar]);
                let over = [own, twin].map(|own| own.open[bar] - own.close[bar - 1]);
                assert!(
                    within[0] * within[1] <= 0.0 && over[0] * over[1] <= 0.0,
                    "{symbol} {bar}"
                );
                let [wide, narrow] = [own, twin].map(|own| (own.high[bar] - own.low[bar]) / own.close[bar]);
                assert!(narrow < wide && own.volume[bar].total_cmp(&twin.volume[bar]).is_ne());
                assert!(twin.further["weight"][bar] <= own.further["weight"][bar]);
            }
        }
        // Sums and ratios of two assets change both ways.
        let leap = |bars: &StrategyBars, asset: usize| {
            bars.assets[asset].1.close[100] / whole.assets[asset].1.close[99]
        };
        assert!(1.0 < leap(&up, 0) && leap(&up, 1) < 1.0 && leap(&down, 0) < 1.0);
    }

    #[test]
    fn no_log_hides_an_action() {
        let whole = market(4);
        let text = |words: &[&str]| {
            words
                .iter()
                .map(|word| LogCell::Text((*word).to_owned()))
                .collect()
        };
        let table = |columns: Vec<(&str, Vec<LogCell>)>| {
            let columns = columns.into_iter().map(|(name, cells)| (name.to_owned(), cells));
            CandidateTable::new(columns.collect()).unwrap()
        };
        let logs = CandidateLogs {
            bars: table(vec![
                ("signal", text(&["NONE", "NONE", "ADD", "NONE"])),
                ("position_state", text(&["FLAT", "LONG", "LONG", "LONG"])),
            ]),
            trades: table(vec![
                ("entry_datetime", text(&["2021-01-01T00:00:00"])),
                ("exit_datetime", text(&["2021-01-04T00:00:00"])),
            ]),
        };
        assert_eq!(acting_bars(&logs, &whole), (0..4).collect());
    }
}
