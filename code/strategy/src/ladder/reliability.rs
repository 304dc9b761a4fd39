//! D3 by planted faults of logs and programs: each kind of four sizes on every document.

use super::bench::{Bench, SEED, shown, table};
use super::likeness::Planted;
use crate::bars::StrategyBars;
use crate::candidate::CandidateLogs;
use crate::gate_secret::GateSecret;
use crate::indicators::count;
use crate::logs::{BarSignal, StrategyLogs, TradeRow};
use crate::look_ahead::known_difference;
use crate::look_ahead_plan::{LookAheadPlan, acting_bars};
use std::collections::BTreeSet;

/// A deviation that D3 is to see.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ReliabilityKind {
    CellsEmpty,
    ColumnsMissing,
    RowsMissing,
    EntriesMisdated,
    ProfitsWrong,
    DistortedNotEnding,
    OtherEachTime,
    Peeks,
}

impl ReliabilityKind {
    const ALL: [Self; 8] = [
        Self::CellsEmpty,
        Self::ColumnsMissing,
        Self::RowsMissing,
        Self::EntriesMisdated,
        Self::ProfitsWrong,
        Self::DistortedNotEnding,
        Self::OtherEachTime,
        Self::Peeks,
    ];

    /// Shares of rows or holdings, columns, distorted runs.
    const fn sizes(self) -> [f64; 4] {
        match self {
            Self::CellsEmpty
            | Self::RowsMissing
            | Self::EntriesMisdated
            | Self::ProfitsWrong
            | Self::OtherEachTime
            | Self::Peeks => [0.25, 0.5, 0.75, 1.0],
            Self::ColumnsMissing => [1.0, 2.0, 3.0, 4.0],
            Self::DistortedNotEnding => [2.0, 4.0, 6.0, 8.0],
        }
    }

    /// Whether it fails a gate, so that D3 loses the same at every size.
    const fn is_gate(self) -> bool {
        matches!(self, Self::OtherEachTime | Self::Peeks)
    }

    /// The logs of a program that deviates so far on these bars; `draw` is the run, for one that does otherwise each time.
    fn planted(self, planted: Planted<'_>, right: &StrategyLogs, (size, draw): (f64, f64)) -> CandidateLogs {
        let whole = CandidateLogs::of_reference(right, &planted.document.columns);
        let in_share = |row: usize| count(row % 19) < 19.0 * size;
        match self {
            Self::CellsEmpty => {
                let emptied = |name: &str, row: usize| {
                    let is_own = planted.document.columns.iter().any(|own| own == name);
                    (is_own || name == "constraint_check") && in_share(row)
                };
                CandidateLogs {
                    bars: table(&whole.bars, |_| true, |_| true, emptied),
                    ..whole
                }
            }
            Self::ColumnsMissing => {
                let gone = ["trade_id", "reason_entry", "reason_exit", "constraint_check"];
                let gone = &gone[..size as usize];
                let kept = |name: &str| !gone.contains(&name);
                CandidateLogs {
                    bars: table(&whole.bars, kept, |_| true, |_, _| false),
                    trades: table(&whole.trades, kept, |_| true, |_, _| false),
                }
            }
            // Rows with a signal stay: a log without one would be that of a program that does nothing.
            Self::RowsMissing => {
                let stays = |row: usize| !in_share(row) || right.bars[row].signal != BarSignal::None;
                CandidateLogs {
                    bars: table(&whole.bars, |_| true, stays, |_, _| false),
                    ..whole
                }
            }
            Self::EntriesMisdated => changed(planted, (right, size), |trade| {
                let before = planted.bar(&trade.entry_time).saturating_sub(1);
                trade.entry_time = right.bars[before].time.clone();
            }),
            Self::ProfitsWrong => changed(planted, (right, size), |trade| trade.pnl += 100.0),
            Self::OtherEachTime => changed(planted, (right, size), |trade| {
                trade.quantity *= draw;
                trade.pnl *= draw;
            }),
            Self::Peeks | Self::DistortedNotEnding => whole,
        }
    }
}

/// The logs with a share of the holdings changed, and an equity at the end that is what their profits make it.
fn changed(
    planted: Planted<'_>,
    (right, share): (&StrategyLogs, f64),
    change: impl Fn(&mut TradeRow),
) -> CandidateLogs {
    let chosen = planted.chosen(right, share);
    let mut made = right.clone();
    for trade in &mut made.trades {
        if chosen.contains(&planted.span(trade).0) {
            let before = trade.pnl;
            change(trade);
            made.bars.last_mut().unwrap().equity += trade.pnl - before;
        }
    }
    CandidateLogs::of_reference(&made, &planted.document.columns)
}

/// Why a program that looks one bar ahead at a share of its decisions fails the gate: it halves a holding before a fall.
fn leak(bench: &Bench, share: f64) -> Option<String> {
    let right = bench.reference(&bench.long);
    let eyed: BTreeSet<String> = bench
        .planted(&bench.long)
        .chosen(&right, share)
        .into_iter()
        .map(|bar| right.bars[bar].time.as_str().to_owned())
        .collect();
    let peeking = |market: &StrategyBars| {
        let mut made = bench.reference(market);
        let closes = &market.assets[0].1.close;
        for (bar, row) in made.bars.iter_mut().enumerate() {
            let falls = closes.get(bar + 1).is_some_and(|next| *next < closes[bar]);
            if falls && eyed.contains(row.time.as_str()) {
                row.exposure *= 0.5;
            }
        }
        CandidateLogs::of_reference(&made, &bench.document.columns)
    };
    let whole = peeking(&bench.long);
    let secret = GateSecret::of(b"ladder").for_program(&share.to_string());
    let right = CandidateLogs::of_reference(&right, &bench.document.columns);
    let acting = (
        &acting_bars(&whole, &bench.long),
        &acting_bars(&right, &bench.long),
    );
    let plan = LookAheadPlan::draw(&secret, bench.long.times().len(), acting);
    plan.changes.iter().find_map(|change| {
        let part = peeking(&plan.market(*change, &bench.long));
        let last = &bench.long.times()[change.bars() - 1];
        known_difference(&whole, &part, last.as_str()).map(|difference| difference.to_string())
    })
}

#[test]
fn the_ladder_of_faults_falls_in_d3_on_every_document() {
    println!("D3 by kind and size, seed {SEED}: documents, least to greatest, falling at every step");
    let benches = Bench::all();
    for kind in ReliabilityKind::ALL {
        let mut rows = Vec::new();
        for bench in &benches {
            let d3 = |size: f64| {
                let ends = |place: usize, logs: CandidateLogs| {
                    if kind == ReliabilityKind::DistortedNotEnding && count(place) < size {
                        Err("cpu".to_owned())
                    } else {
                        Ok(logs)
                    }
                };
                let leak = (kind == ReliabilityKind::Peeks && 0.0 < size).then(|| leak(bench, size));
                let program = |planted: Planted<'_>, right: &StrategyLogs, draw: f64| {
                    if size == 0.0 {
                        return CandidateLogs::of_reference(right, &planted.document.columns);
                    }
                    kind.planted(planted, right, (size, draw))
                };
                let report = bench.report(&program, ends, leak.flatten());
                report.measured(false)[2].unwrap()
            };
            let id = bench.id;
            let clean = d3(0.0);
            let row = kind.sizes().map(d3);
            println!("{id} {kind:?} {clean:.3} {row:.3?}");
            assert!(row[0] < clean, "{id} {kind:?}: {clean} {row:?}");
            assert!(row[3] < row[0] || kind.is_gate(), "{id} {kind:?}: {row:?}");
            assert!(
                row.windows(2).all(|pair| pair[1] <= pair[0]),
                "{id} {kind:?}: {row:?}"
            );
            rows.push(row);
        }
        shown(&kind, &rows);
    }
}
