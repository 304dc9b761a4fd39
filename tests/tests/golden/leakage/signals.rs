//! The audit of signals against pandas and numpy.

use super::market::{GoldenMarket, csv_rows, number};
use super::text;
use ktd_leakage::{KnownAt, PieceCorrelation, SignalGrid, signal_profile};
use serde_json::Value;

#[test]
fn profiles_and_verdicts_are_those_of_the_set() {
    let (Some(market), Some(cells), Some(golden)) =
        (GoldenMarket::read(), text("signals.csv.gz"), text("signals.json"))
    else {
        return;
    };
    let golden: Value = serde_json::from_str(&golden).unwrap();
    let header: Vec<&str> = cells.lines().next().unwrap().split(',').collect();
    let signals = golden["signals"].as_array().unwrap();
    let count = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let settings = &golden["settings"];
    for case in signals {
        let name = case["signal"].as_str().unwrap();
        let place = header.iter().position(|other| *other == name).unwrap();
        let mut scores = vec![f64::NAN; market.dates.len() * market.codes.len()];
        for row in csv_rows(&cells) {
            scores[market.session(row[0]) * market.codes.len() + market.name(row[1])] = number(row[place]);
        }
        let signal = SignalGrid::new(&market.bars, &scores).unwrap();
        let is_open = case["known_at"].as_str().unwrap() == "open";
        let known_at = if is_open { KnownAt::Open } else { KnownAt::Close };
        let found = signal_profile(&market.bars, &signal, known_at, count(&settings["min_names"]));
        let suspect = suspect(&found, known_at, settings);
        let is_suspect = case["verdict"].as_str().unwrap() == "suspect";
        assert_eq!(suspect.is_some(), is_suspect, "{name}");
        assert_eq!(suspect, case["piece"].as_i64(), "{name}");
        let profile = case["profile"].as_array().unwrap();
        assert_eq!(found.len(), profile.len());
        for (found, expected) in found.iter().zip(profile) {
            assert_eq!(Some(found.piece.0), expected["piece"].as_i64());
            assert_eq!(found.days, count(&expected["days"]), "{name} {expected}");
            for (found, expected, tolerance) in
                [(found.ic, &expected["ic"], 1e-9), (found.t, &expected["t"], 1e-6)]
            {
                let Some(expected) = expected.as_f64() else {
                    assert_eq!(found, None, "{name}");
                    continue;
                };
                let apart = (found.unwrap() - expected).abs();
                assert!(
                    apart <= tolerance * expected.abs().max(1.0),
                    "{name}: {found:?} for {expected}"
                );
            }
        }
    }
    println!("{} signals compared", signals.len());
}

/// The piece that the set's own rule suspects, which the audit has left: one of 8 near ones above a floor and so many times the
/// largest of its kind among the 24 behind them.
fn suspect(profile: &[PieceCorrelation], known_at: KnownAt, settings: &Value) -> Option<i64> {
    let setting = |name: &str| settings[name].as_f64().unwrap();
    let near = known_at.first_future_piece()..known_at.first_future_piece() + 8;
    let size = |row: &PieceCorrelation| row.ic.unwrap_or(0.0).abs();
    let far = |night: bool| {
        let far = profile
            .iter()
            .filter(|row| near.end <= row.piece.0 && row.piece.is_night() == night);
        far.map(size).fold(0.0, f64::max)
    };
    let suspect = profile.iter().filter(|row| {
        let floor = setting("floor").max(setting("times") * far(row.piece.is_night()));
        let is_sure = 1.0 - 1e-9 < size(row) || row.t.is_some_and(|t| setting("least_t") <= t.abs());
        near.contains(&row.piece.0) && floor <= size(row) && is_sure
    });
    let worst = suspect.max_by(|one, other| size(one).total_cmp(&size(other)));
    worst.map(|row| row.piece.0)
}
