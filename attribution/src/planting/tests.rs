//! Whether planted truth is recovered where it should be, and is not where it cannot be.

use super::*;
use crate::account::WeightBasis;
use crate::model::ModelConfig;
use crate::panel::Panel;
use ktd_env::synth::{SynthConfig, generate};

const DAYS: std::ops::Range<usize> = 300..380;
const DRAWS: u64 = 12;

fn market() -> PlantedMarket {
    let market = generate(&SynthConfig {
        seed: 5,
        names: 120,
        days: 380,
    })
    .unwrap();
    let config = ModelConfig::ktd();
    let panel = Panel::from_market(&market, config.first_needed_day(DAYS.start)..DAYS.end).unwrap();
    PlantedMarket::new(&panel, &config, DAYS).unwrap()
}

fn recovered(market: &PlantedMarket, agent: PlantedAgent, tail: f64) -> Vec<RecoverySummary> {
    let design = PlantedDesign {
        tail,
        agents: vec![agent],
        names: 20,
        hold_days: 5,
        replicates: 100,
    };
    let draws: Vec<Vec<Recovered>> = (0..DRAWS)
        .map(|seed| market.recover(&design, seed).unwrap())
        .collect();
    let own: Vec<&Recovered> = draws.iter().map(|draw| &draw[0]).collect();
    summarise(&own)
}

fn of(found: &[RecoverySummary], exposures: CandidateExposures, basis: WeightBasis) -> RecoverySummary {
    let wanted = Candidate { exposures, basis };
    *found.iter().find(|summary| summary.candidate == wanted).unwrap()
}

#[test]
fn skill_of_the_first_day_is_lost_before_the_trades_and_kept_by_legs() {
    let skill = PlantedAgent::Skill {
        information: 0.2,
        foresight: SkillHorizon::FirstDay,
    };
    let found = recovered(&market(), skill, 0.0);
    let pre = of(&found, CandidateExposures::Clipped, WeightBasis::Pre);
    let two = of(&found, CandidateExposures::Clipped, WeightBasis::Two);
    assert!(0.04 < pre.planted, "{pre:?}");
    // Nearly all that was planted is missing on weights before the trades.
    assert!(pre.bias < -0.8 * pre.planted && pre.coverage < 0.7, "{pre:?}");
    // By legs what is missing is what a name's own leverage takes: columns over names, a tenth here.
    assert!(
        two.bias.abs() < 0.3 * two.planted && 0.7 < two.coverage,
        "{two:?}"
    );
}

#[test]
fn luck_is_no_selection_under_any_candidate() {
    for summary in recovered(&market(), PlantedAgent::Luck, 0.0) {
        assert!(summary.bias.abs() < 4.0 * summary.bias_error, "{summary:?}");
    }
}

#[test]
fn names_beyond_the_limits_are_unbiased_under_the_exposures_that_moved_them() {
    let market = market();
    let biases = |exposures| {
        let each = (0..market.styles().len().min(5)).map(|style| {
            let found = recovered(&market, PlantedAgent::Tail(style), 1.0);
            of(&found, exposures, WeightBasis::Two).bias.abs()
        });
        each.sum::<f64>()
    };
    let (clipped, own) = (
        biases(CandidateExposures::Clipped),
        biases(CandidateExposures::UnclippedFit),
    );
    assert!(own < clipped, "{own} {clipped}");
}

#[test]
fn the_measure_of_the_tail_finds_what_is_planted() {
    const SEEDS: u32 = 24;
    let market = market();
    let mean = |tail| {
        let seeds = 0..SEEDS;
        let found = seeds.map(|seed| {
            market
                .planted_tail_fit(tail, (40, u64::from(seed)))
                .unwrap()
                .share
        });
        found.sum::<f64>() / f64::from(SEEDS)
    };
    let (none, whole) = (mean(0.0), mean(1.0));
    assert!(none.abs() < 0.2 && (whole - 1.0).abs() < 0.2, "{none} {whole}");
}
