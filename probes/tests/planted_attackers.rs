//! Attackers of known recovery, judged: how often each holds. Prints the table of `docs/mask-certificate.md`:
//! `cargo test -p ktd-probes --test planted_attackers -- --nocapture`.

#![expect(clippy::unwrap_used, reason = "a judgement that fails is a defect")]
#![expect(clippy::print_stdout, reason = "a table for the documents")]

use ktd_masking::{Level, MaskSettings, Numeric};
use ktd_probes::judge::{
    AcceptanceCriteria, AcceptanceRule, AttackCounts, AttackerCounts, CHANCE_PARTS, CertificateVerdict,
    Judgement, Thresholds,
};
use ktd_probes::{Attackers, Comparison, Measure, ProbeKind};
use ktd_stats::SplitMix64;
use std::collections::BTreeMap;

const DRAWS: u32 = 400;
const JOINT_DAYS: usize = 20;

/// A set of probes: stretches, those that are probed, probes of each.
struct Design {
    population: usize,
    probed: usize,
    of_each: usize,
}

/// What an attacker recovers: whatever it looks at, and the windows whose days it knows wholly.
struct Planted {
    top5: f64,
    known_windows: usize,
    says: Says,
}

/// Which day it names.
#[derive(Clone, Copy)]
enum Says {
    /// The right one of windows that it knows, and any of others.
    WhatItKnows,
    /// Always the same: the best answer of who sees nothing.
    OneDay,
    /// One of five, by the group of the stock.
    ADayOfEachGroup,
}

/// What guessing recovers here of the stock in five and of the day.
const CHANCE: f64 = 0.02;

fn rule() -> AcceptanceRule {
    AcceptanceRule {
        mask: MaskSettings {
            level: Level::Blinded,
            numeric: Numeric::BandedFive,
        },
        criteria: AcceptanceCriteria {
            confidence: 0.95,
            thresholds: Thresholds::default(),
        },
        attackers: Attackers::NAMES.len(),
        models: 0,
    }
}

/// Whether an attacker that recovers so much passes one draw of probes.
fn passes(design: &Design, planted: &Planted, dice: &mut SplitMix64) -> bool {
    let mut counts = AttackerCounts::new("census", JOINT_DAYS);
    let parts = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a billion"
        )]
        #[expect(clippy::cast_precision_loss, reason = "a billion")]
        let parts = (share * CHANCE_PARTS as f64) as u64;
        parts
    };
    let chance = BTreeMap::from([
        (Measure::Top5, parts(CHANCE)),
        (Measure::Top1, parts(CHANCE / 5.0)),
        (Measure::Date20, parts(CHANCE)),
        (Measure::Joint, parts(CHANCE * CHANCE)),
    ]);
    let mut known = vec![false; design.population];
    let mut left = planted.known_windows;
    while 0 < left {
        let place = usize::try_from(dice.next_u64() % u64::try_from(design.population).unwrap()).unwrap();
        if !std::mem::replace(known.get_mut(place).unwrap(), true) {
            left -= 1;
        }
    }
    for (window, is_known) in known.iter().take(design.probed).enumerate() {
        for _ in 0..design.of_each {
            let named = match planted.says {
                Says::OneDay => 0,
                // Each of five groups its own day: told of a stock, not of a day.
                Says::ADayOfEachGroup => usize::try_from(dice.next_u64() % 5).unwrap(),
                Says::WhatItKnows if *is_known => window,
                Says::WhatItKnows => {
                    usize::try_from(dice.next_u64() % u64::try_from(design.population).unwrap()).unwrap()
                }
            };
            let is_dated = named == window;
            let found = Comparison {
                is_answered: true,
                // Seldom the first guess: what is planted is the five.
                guess: (dice.uniform() < planted.top5).then_some(4),
                days_apart: Some(if is_dated { 3 } else { 500 }),
                ..Comparison::default()
            };
            counts.add((ProbeKind::Day, window, Some(named)), &found, (&chance, &chance));
        }
    }
    let counted = counts.finish().unwrap();
    let counts = AttackCounts {
        recovered: counted.recovered,
        unanswered: counted.unanswered,
        windows: counted.windows,
        population: Some(u64::try_from(design.population).unwrap()),
        ..AttackCounts::default()
    };
    Judgement::of(&rule(), &counts).unwrap().verdict == CertificateVerdict::Certified
}

fn share_passing(design: &Design, planted: &Planted, seed: u64) -> f64 {
    let passed =
        (0..DRAWS).filter(|draw| passes(design, planted, &mut SplitMix64::of_replicate(seed, *draw)));
    f64::from(u32::try_from(passed.count()).unwrap()) / f64::from(DRAWS)
}

#[test]
fn who_recovers_more_than_allowed_seldom_passes_and_who_recovers_nothing_does() {
    let shipped = Design {
        population: 55,
        probed: 41,
        of_each: 200,
    };
    let allowed = Thresholds::default().top5;
    println!("top5 above chance, of what is allowed | passes");
    for (part, least, most) in [
        (0.0, 0.98, 1.0),
        (2.0 / 3.0, 0.9, 1.0),
        (1.0, 0.0, 0.05),
        (1.25, 0.0, 0.01),
    ] {
        let planted = Planted {
            top5: CHANCE + part * allowed,
            known_windows: 0,
            says: Says::WhatItKnows,
        };
        let found = share_passing(&shipped, &planted, 5);
        println!("{part:.2} | {:.1} %", found * 100.0);
        assert!(
            (least..=most).contains(&found),
            "{part} of what is allowed: {found}"
        );
    }
    println!("windows known wholly, of {} | passes", shipped.population);
    // Allowed are 5 % of windows: two. One passes where it is not probed, in 14 of 55 draws.
    for (known_windows, least, most) in [
        (0, 0.98, 1.0),
        (1, 0.17, 0.34),
        (3, 0.0, 0.05),
        (4, 0.0, 0.02),
        (8, 0.0, 0.01),
    ] {
        let planted = Planted {
            top5: CHANCE,
            known_windows,
            says: Says::WhatItKnows,
        };
        let found = share_passing(&shipped, &planted, 9);
        println!("{known_windows} | {:.1} %", found * 100.0);
        assert!(
            (least..=most).contains(&found),
            "{known_windows} windows: {found}"
        );
    }
    for (what, says) in [
        ("one day always", Says::OneDay),
        ("one day of each group", Says::ADayOfEachGroup),
    ] {
        let knows_none = Planted {
            top5: CHANCE,
            known_windows: 0,
            says,
        };
        let found = share_passing(&shipped, &knows_none, 11);
        println!("{what} | {:.1} %", found * 100.0);
        assert!(0.98 <= found, "{what}: {found}");
    }
    // Few of many windows cannot be judged: nobody passes, however little is found.
    let few = Design {
        population: 20,
        probed: 5,
        of_each: 400,
    };
    let nothing = Planted {
        top5: CHANCE,
        known_windows: 0,
        says: Says::WhatItKnows,
    };
    assert!(share_passing(&few, &nothing, 3) < 0.01);
}
