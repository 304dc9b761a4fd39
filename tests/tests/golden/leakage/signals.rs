//! The audit of signals against pandas and numpy.

use super::market::{GoldenMarket, csv_rows, number};
use super::{json, text};
use ktd_kit::golden::{self, whole};
use ktd_leakage::{FillRule, KnownAt, SignalAuditor, SignalGrid, SuspicionRule};

#[test]
fn profiles_and_verdicts_are_those_of_the_set() {
    let (Some(market), Some(cells), Some(golden)) =
        (GoldenMarket::read(), text("signals.csv.gz"), json("signals.json"))
    else {
        return;
    };
    let header: Vec<&str> = cells.lines().next().unwrap().split(',').collect();
    let signals = golden["signals"].as_array().unwrap();
    let settings = &golden["settings"];
    // The set's floors are those of an older rule: verdicts and pieces must be the same by this one.
    let rule = SuspicionRule {
        least_t: golden::number(&settings["least_t"]),
        min_names: whole(&settings["min_names"]),
        ..SuspicionRule::BENCHMARK
    };
    let auditor = SignalAuditor::new(&market.bars, rule);
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
        let found = auditor.audit(&signal, (known_at, FillRule::NextOpen));
        assert_eq!(found.verdict.name(), case["verdict"].as_str().unwrap(), "{name}");
        let piece = found.verdict.evidence().map(|found| found.piece.0);
        assert_eq!(piece, case["piece"].as_i64(), "{name}");
        let profile = case["profile"].as_array().unwrap();
        assert_eq!(found.profile.len(), profile.len());
        for (found, expected) in found.profile.iter().zip(profile) {
            assert_eq!(Some(found.piece.0), expected["piece"].as_i64());
            assert_eq!(found.days, whole(&expected["days"]), "{name} {expected}");
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
