//! Probes as they are drawn: what a constant answer recovers is chance, and no attacker that sees nothing does worse.

use crate::asked_tests::{DAYS, Stage, plan, set, stage};
use crate::{
    Aid, Attackers, DEFAULT_JOINT_DAYS, Gold, Measure, ProbeAnswer, ProbeKind, ProbePlan, ProbeText,
    RecoveryTally, SamplingDesign, blind,
};
use ktd_masking::Numeric;
use std::collections::BTreeMap;

/// Two stretches, of which one is little longer than an episode: its days are shown far more often than others.
fn uneven() -> ProbePlan {
    ProbePlan {
        episode_steps: 20,
        stretches: vec![280..303, 340..440],
        ..plan(Numeric::BandedFive, Aid::None)
    }
}

fn told(plan: &ProbePlan) -> Stage {
    let stage = stage(5, Vec::new());
    let design: SamplingDesign = plan.design(DAYS);
    Stage {
        database: stage.database.with_design(design),
        ..stage
    }
}

fn close(found: f64, expected: f64, probes: usize) -> bool {
    let probes = f64::from(u32::try_from(probes).unwrap());
    (found - expected).abs() < 4.0 * (expected * (1.0 - expected) / probes).sqrt() + 0.5 / probes
}

fn share(
    set: &[(ProbeText, Gold)],
    answer: impl Fn(&ProbeText) -> Option<ProbeAnswer>,
    measure: Measure,
) -> f64 {
    let mut tally = RecoveryTally::default();
    for (probe, gold) in set {
        tally.add(answer(probe).as_ref(), gold, DEFAULT_JOINT_DAYS);
    }
    f64::from(u32::try_from(tally.hits(measure)).unwrap()) / f64::from(u32::try_from(set.len()).unwrap())
}

fn chance(stage: &Stage, plan: &ProbePlan, set: &[(ProbeText, Gold)], measure: Measure) -> f64 {
    let of = |(probe, gold): &(ProbeText, Gold)| {
        blind(&stage.database, plan.mask, (probe, gold), DEFAULT_JOINT_DAYS)[&measure]
    };
    set.iter().map(of).sum::<f64>() / f64::from(u32::try_from(set.len()).unwrap())
}

/// The answer that was right most often of these probes, whatever they show.
fn constant(stage: &Stage, set: &[(ProbeText, Gold)]) -> ProbeAnswer {
    let (mut names, mut days) = (BTreeMap::new(), vec![0_u32; DAYS]);
    for (_, gold) in set {
        let target = &gold.targets[0];
        *names.entry(target.name).or_insert(0_u32) += 1;
        days[target.day.index()] += 1;
    }
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let around = |day: &usize| {
        days[day.saturating_sub(20)..(day + 21).min(DAYS)]
            .iter()
            .sum::<u32>()
    };
    let day = (0..DAYS).max_by_key(around).unwrap();
    ProbeAnswer {
        names: names
            .iter()
            .take(ProbeAnswer::MOST_NAMES)
            .map(|(name, _)| *name)
            .collect(),
        blanks: Vec::new(),
        day: stage.database.day_at(day),
        sector: None,
        board: None,
        is_same: None,
        confidence: None,
    }
}

#[test]
fn a_constant_answer_recovers_chance_and_so_does_who_sees_nothing() {
    let plan = uneven();
    let stage = told(&plan);
    for kind in [ProbeKind::Day, ProbeKind::Days] {
        let all = set(&stage, &plan, kind, 1_600);
        let (known, asked) = all.split_at(800);
        let constant = constant(&stage, known);
        let attackers = Attackers::new(&stage.database, Numeric::BandedFive);
        let place = Attackers::NAMES
            .iter()
            .position(|name| *name == "price-level")
            .unwrap();
        for measure in [Measure::Top5, Measure::Date20, Measure::Joint] {
            let chance = chance(&stage, &plan, asked, measure);
            // The best of few draws is a little worse than the best of the design.
            let found = share(asked, |_| Some(constant.clone()), measure);
            assert!(
                found < chance || close(found, chance, asked.len()),
                "{} {found} {chance}",
                measure.label()
            );
            assert!(0.6 * chance < found, "{} {found} {chance}", measure.label());
            if measure != Measure::Joint {
                let blind = share(
                    asked,
                    |probe| attackers.answer(&stage.database, probe, 3)[place].clone(),
                    measure,
                );
                assert!(
                    close(blind, chance, asked.len()),
                    "{} {blind} {chance}",
                    measure.label()
                );
            }
        }
    }
}

#[test]
fn days_tell_nothing_of_whether_two_exhibits_are_one_stock() {
    let plan = ProbePlan {
        stretches: vec![270..300, 310..340, 400..430],
        ..uneven()
    };
    let stage = told(&plan);
    let mut of_pair: BTreeMap<(usize, usize), (u32, u32)> = BTreeMap::new();
    for (_, gold) in set(&stage, &plan, ProbeKind::Linked, 1_200) {
        let place = |target: usize| gold.targets[target].day.index() / 100;
        let (same, all) = of_pair.entry((place(0), place(1))).or_default();
        *same += u32::from(gold.is_same() == Some(true));
        *all += 1;
    }
    for (pair, (same, all)) in of_pair {
        let share = f64::from(same) / f64::from(all);
        assert!(
            close(share, 0.5, usize::try_from(all).unwrap()),
            "{pair:?} {same} of {all}"
        );
    }
}
