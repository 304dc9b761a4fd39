//! D2 by planted breaches: each kind of four sizes on every document that has the rule.

use super::bench::{Bench, SEED, shown, table};
use super::likeness::{Deviation, Planted};
use crate::candidate::CandidateLogs;
use crate::document::StrategyDocument;
use crate::indicators::count;
use crate::logs::{BarSignal, PositionState, StrategyLogs, TradeSide};
use crate::strict_json::StrictJson;
use std::collections::BTreeSet;

/// How many times too large a holding is that breaks the leverage.
const TOO_LARGE: f64 = 50.0;

/// A deviation that D2 is to see.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RiskKind {
    Leverage,
    LeverageUnsaid,
    Short,
    Foreign,
    Overnight,
    Entries,
    Units,
    Beta,
    StopHeld,
    Equity,
    Unlogged,
    DistortedFail,
}

impl RiskKind {
    const ALL: [Self; 12] = [
        Self::Leverage,
        Self::LeverageUnsaid,
        Self::Short,
        Self::Foreign,
        Self::Overnight,
        Self::Entries,
        Self::Units,
        Self::Beta,
        Self::StopHeld,
        Self::Equity,
        Self::Unlogged,
        Self::DistortedFail,
    ];

    /// Shares of holdings, of sessions or of bars, bars that a stop is passed by, distorted runs.
    const fn sizes(self) -> [f64; 4] {
        match self {
            Self::Leverage
            | Self::LeverageUnsaid
            | Self::Short
            | Self::Foreign
            | Self::Overnight
            | Self::Entries
            | Self::Units
            | Self::Beta
            | Self::Unlogged => [0.25, 0.5, 0.75, 1.0],
            Self::StopHeld => [1.0, 2.0, 4.0, 8.0],
            Self::Equity => [0.05, 0.1, 0.2, 0.4],
            Self::DistortedFail => [2.0, 4.0, 6.0, 8.0],
        }
    }

    /// Whether a document has the rule.
    fn is_of(self, document: &StrategyDocument) -> bool {
        let has = |name: &str| document.constraints.contains_key(name);
        let forbids = |name: &str| document.constraints.get(name) == Some(&StrictJson::Bool(false));
        match self {
            Self::Leverage
            | Self::LeverageUnsaid
            | Self::Foreign
            | Self::Equity
            | Self::Unlogged
            | Self::DistortedFail => true,
            Self::Short => forbids("short_selling"),
            Self::Overnight => forbids("overnight"),
            Self::Entries => has("max_entries_per_day"),
            Self::Units => has("max_units"),
            Self::Beta => has("beta_bounds"),
            Self::StopHeld => ["STOP_LOSS", "STOP_Z"]
                .iter()
                .any(|rule| document.rules.contains(*rule)),
        }
    }

    /// The logs of a program that deviates so far on these bars.
    fn planted(self, planted: Planted<'_>, right: &StrategyLogs, size: f64) -> CandidateLogs {
        let mut made = right.clone();
        // What is chosen by bars or runs is no share of holdings.
        let chosen = planted.chosen(right, size.min(1.0));
        match self {
            Self::Leverage | Self::LeverageUnsaid => {
                too_large((planted, &chosen), &mut made, self == Self::Leverage);
            }
            Self::Unlogged => {
                let all = planted.chosen(right, 1.0);
                too_large((planted, &all), &mut made, true);
                for entry in all {
                    made.bars[entry].is_within_leverage = chosen.contains(&entry);
                }
            }
            Self::Short => {
                made = planted.deviated(right, Deviation::Turned, size);
                for row in held(planted, right, &chosen).flat_map(|bars| &right.bars[bars]) {
                    let bar = planted.bar(&row.time);
                    if row.state == PositionState::Long {
                        made.bars[bar].state = PositionState::Short;
                    }
                }
            }
            Self::Foreign => {
                let own = |time: &crate::bars::BarTime| chosen.contains(&planted.bar(time));
                for trade in made.trades.iter_mut().filter(|trade| own(&trade.entry_time)) {
                    "ZZ".clone_into(&mut trade.symbol);
                }
            }
            Self::Overnight => overnight((planted, &chosen), &mut made),
            Self::Entries => many_entries(&mut made, size),
            Self::Units => logged((planted, &chosen), &mut made, ("units", 9.0)),
            Self::Beta => logged((planted, &chosen), &mut made, ("beta", 9.0)),
            Self::StopHeld => stop_held(planted, &mut made, size as usize),
            Self::Equity => {
                let bars = made.bars.len();
                let ruined = (count(bars) * size).ceil() as usize;
                made.bars[bars - ruined..]
                    .iter_mut()
                    .for_each(|row| row.equity = -1.0);
            }
            Self::DistortedFail => {}
        }
        CandidateLogs::of_reference(&made, &planted.document.columns)
    }
}

/// Bars of the holdings that begin on some bars.
fn held<'a>(
    planted: Planted<'a>,
    logs: &'a StrategyLogs,
    chosen: &'a BTreeSet<usize>,
) -> impl Iterator<Item = std::ops::Range<usize>> + 'a {
    let spans = logs.trades.iter().map(move |trade| planted.span(trade));
    spans
        .filter(|(entry, _)| chosen.contains(entry))
        .map(|(entry, exit)| entry..exit)
}

/// A column of the document says something else while some holdings last.
fn logged(
    (planted, chosen): (Planted<'_>, &BTreeSet<usize>),
    made: &mut StrategyLogs,
    (column, value): (&str, f64),
) {
    let place = planted
        .document
        .columns
        .iter()
        .position(|name| name == column)
        .unwrap();
    let bars: Vec<usize> = held(planted, made, chosen).flatten().collect();
    for bar in bars {
        made.bars[bar].indicators[place] = Some(value);
    }
}

fn too_large((planted, chosen): (Planted<'_>, &BTreeSet<usize>), made: &mut StrategyLogs, is_said: bool) {
    for trade in &mut made.trades {
        if chosen.contains(&planted.span(trade).0) {
            trade.quantity *= TOO_LARGE;
            trade.pnl *= TOO_LARGE;
        }
    }
    for entry in chosen.iter().filter(|_| is_said) {
        made.bars[*entry].exposure *= TOO_LARGE;
    }
}

/// Holdings are kept over the end of their session, to the bar after.
fn overnight((planted, chosen): (Planted<'_>, &BTreeSet<usize>), made: &mut StrategyLogs) {
    let session_end = planted.parameters.text("session_end").unwrap().to_owned();
    let bars = &mut made.bars;
    for trade in &mut made.trades {
        let (entry, exit) = planted.span(trade);
        let end = (entry..bars.len() - 1).find(|bar| bars[*bar].time.clock() == session_end);
        let Some(end) = end.filter(|_| chosen.contains(&entry)) else {
            continue;
        };
        for row in &mut bars[exit..=end] {
            row.state = match trade.side {
                TradeSide::Long => PositionState::Long,
                TradeSide::Short => PositionState::Short,
            };
        }
        trade.exit_time = bars[end + 1].time.clone();
    }
}

/// Two more entries than a session may have, in a share of the sessions.
fn many_entries(made: &mut StrategyLogs, share: f64) {
    let days: BTreeSet<String> = made.bars.iter().map(|row| row.time.day().to_owned()).collect();
    let number = (count(days.len()) * share).ceil() as usize;
    for day in days.into_iter().take(number) {
        let of_day = made.bars.iter_mut().filter(|row| row.time.day() == day);
        let free = of_day.filter(|row| row.signal == BarSignal::None);
        for (place, row) in free.take(10).enumerate() {
            row.signal = if place % 2 == 0 {
                BarSignal::Long
            } else {
                BarSignal::Exit
            };
        }
    }
}

/// Holdings that a stop should have closed are kept for some bars more: those of stops that fired, or, of documents whose stop is one
/// of `z`, all.
fn stop_held(planted: Planted<'_>, made: &mut StrategyLogs, by: usize) {
    let column = |name: &str| planted.document.columns.iter().position(|own| own == name);
    let stop_z = column("z").zip(planted.parameters.number("stop_z").ok());
    for trade in &mut made.trades {
        let (entry, exit) = planted.span(trade);
        if let Some((place, stop)) = stop_z {
            for row in &mut made.bars[entry + 1..(entry + 1 + by).min(exit).max(entry + 1)] {
                row.indicators[place] = Some(stop + 1.0);
            }
            continue;
        }
        if trade.exit_rule != "STOP_LOSS" || exit == 0 {
            continue;
        }
        let until = (exit + by).min(made.bars.len() - 1);
        let before = made.bars[exit - 1].clone();
        for row in &mut made.bars[exit..until] {
            (row.signal, row.state, row.exposure) = (BarSignal::None, before.state, before.exposure);
            if let Some(place) = column("stop_level") {
                row.indicators[place] = before.indicators[place];
            }
        }
        made.bars[until].signal = BarSignal::Exit;
        trade.exit_time = made.bars[until].time.clone();
    }
}

#[test]
fn the_ladder_of_risks_falls_in_d2_on_every_document_that_has_the_rule() {
    println!("D2 by kind and size, seed {SEED}: documents, least to greatest, falling at every step");
    let benches = Bench::all();
    for kind in RiskKind::ALL {
        let mut rows = Vec::new();
        for bench in benches.iter().filter(|bench| kind.is_of(&bench.document)) {
            let d2 = |size: f64| {
                let fails = |place: usize| kind == RiskKind::DistortedFail && count(place) < size;
                let ruin = |place: usize, logs: CandidateLogs| {
                    let last = logs.bars.len() - 1;
                    let is_ruined = |name: &str, row: usize| name == "equity" && row == last && fails(place);
                    Ok(CandidateLogs {
                        bars: table(&logs.bars, |_| true, |_| true, is_ruined),
                        ..logs
                    })
                };
                let program = |planted: Planted<'_>, right: &StrategyLogs, _: f64| {
                    if size == 0.0 {
                        return CandidateLogs::of_reference(right, &planted.document.columns);
                    }
                    kind.planted(planted, right, size)
                };
                bench.report(&program, ruin, None).measured(false)[1].unwrap()
            };
            let id = bench.id;
            assert!((d2(0.0) - 1.0).abs() < 1e-12, "{id}: {}", d2(0.0));
            let row = kind.sizes().map(d2);
            println!("{id} {kind:?} {row:.3?}");
            assert!(row[0] < 1.0 && row[3] < row[0], "{id} {kind:?}: {row:?}");
            assert!(
                row.windows(2).all(|pair| pair[1] <= pair[0]),
                "{id} {kind:?}: {row:?}"
            );
            rows.push(row);
        }
        shown(&kind, &rows);
    }
}
