//! How often the audit of signals is right: 40 signals with known leaks on draws of a market.
//!
//! Draws are synthetic markets, or with `KTD_PLANTED_PANEL` random halves of a panel's names; `KTD_PLANTED_DRAWS` says how many.
//! `cargo test -p ktd-leakage-study --test planted -- --nocapture` prints the rates of docs/leakage.md.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a broken fixture fails the test; its caller names the draws, and reads what was counted"
)]

mod signals;

use ktd_env::synth::{SynthConfig, generate};
use ktd_io::parallel::{available_threads, in_parallel};
use ktd_leakage::{BarField, BarGrid, SignalVerdict};
use ktd_leakage_study::{LeakUniverse, market_bars};
use ktd_stats::SplitMix64;
use signals::{PlantedAudit, PlantedKind, audit_planted};
use std::collections::BTreeMap;
use std::path::Path;

/// Names and days of a synthetic draw.
const SYNTHETIC: (u32, u32) = (60, 500);

fn synthetic(seed: u64) -> BarGrid {
    let (names, days) = SYNTHETIC;
    let market = generate(&SynthConfig { seed, names, days }).unwrap();
    market_bars(&market, LeakUniverse::All).unwrap().bars
}

/// Half of so many names, drawn by a seed, in ascending order.
fn half_of(count: usize, seed: u64) -> Vec<usize> {
    let mut stream = SplitMix64::new(seed);
    let mut drawn: Vec<(u64, usize)> = (0..count).map(|name| (stream.next_u64(), name)).collect();
    drawn.sort_unstable();
    drawn.truncate(count.div_ceil(2));
    let mut names: Vec<usize> = drawn.into_iter().map(|(_, name)| name).collect();
    names.sort_unstable();
    names
}

/// A panel of half of the names, drawn by a seed.
fn half_of_names(bars: &BarGrid, seed: u64) -> BarGrid {
    let names = half_of(bars.names(), seed);
    let of = |field| -> Vec<f64> {
        let sessions = (0..bars.sessions()).map(|session| bars.row(field, session));
        sessions
            .flat_map(|row| names.iter().filter_map(|name| row.get(*name).copied()))
            .collect()
    };
    BarGrid::new(bars.months().to_vec(), names.len(), BarField::ALL.map(of)).unwrap()
}

/// The audits of all planted signals on so many draws.
fn audits(draws: u64, panel: Option<&BarGrid>) -> Vec<PlantedAudit> {
    let seeds: Vec<u64> = (1..=draws).collect();
    let each = in_parallel(&seeds, available_threads(), |seed| {
        let bars = panel.map_or_else(|| synthetic(*seed), |panel| half_of_names(panel, *seed));
        audit_planted(&bars, *seed)
    });
    each.into_iter().flatten().collect()
}

/// Suspect and judged signals of each kind by name.
fn rates(audits: &[PlantedAudit]) -> BTreeMap<(PlantedKind, &'static str), (usize, usize)> {
    let mut rates = BTreeMap::new();
    for audit in audits {
        let (suspect, judged): &mut (usize, usize) =
            rates.entry((audit.signal.kind, audit.signal.name)).or_default();
        match audit.verdict {
            SignalVerdict::Suspect(_) => (*suspect, *judged) = (*suspect + 1, *judged + 1),
            SignalVerdict::Unusual(_) | SignalVerdict::NothingSeen => *judged += 1,
            SignalVerdict::TooLittle { .. } => {}
        }
    }
    rates
}

#[test]
fn leaks_of_direction_are_seen_and_ordinary_signals_raise_no_alarm() {
    let draws = std::env::var("KTD_PLANTED_DRAWS").map_or(3, |draws| draws.parse().unwrap());
    let panel = std::env::var("KTD_PLANTED_PANEL").ok().map(|panel| {
        let market = ktd_data::load_panel(Path::new(&panel)).unwrap();
        market_bars(&market, LeakUniverse::All).unwrap().bars
    });
    let audits = audits(draws, panel.as_ref());
    let rates = rates(&audits);
    for ((kind, name), (suspect, judged)) in &rates {
        println!("{kind:?} {name}: {suspect}/{judged}");
    }
    if panel.is_some() {
        return;
    }
    let judged = usize::try_from(draws).unwrap();
    for ((kind, name), (suspect, of)) in rates {
        assert_eq!(of, judged, "{name}");
        match kind {
            PlantedKind::Ordinary | PlantedKind::Invisible => assert_eq!(suspect, 0, "{name}"),
            // A tenth of one later return is about what the floor asks for.
            PlantedKind::Leaking if name == "average 10, one ahead" => {}
            PlantedKind::Leaking => assert_eq!(suspect, judged, "{name}"),
        }
    }
}

#[test]
fn halves_of_a_panel_differ_by_seed() {
    let (names, _) = SYNTHETIC;
    let half = |seed| half_of(usize::try_from(names).unwrap(), seed);
    assert_eq!(half(1), half(1));
    assert_ne!(half(1), half(2));
}
