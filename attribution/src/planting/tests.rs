//! Whether planted truth is recovered where it should be, and is not where it cannot be.

use super::*;
use crate::account::WeightBasis;
use crate::model::{ExtraStyle, ModelConfig};
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
        sector_share: 0.0,
        candidates: CandidateExposures::ALL.to_vec(),
        agents: vec![agent],
        names: 20,
        hold_days: 5,
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
    assert!(5e-4 < pre.planted, "{pre:?}");
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

/// Names that are traded most move the factors that explain them most: residuals keep less of what they earn.
#[test]
fn skill_among_famous_names_is_whole_where_each_is_left_out() {
    let skill = PlantedAgent::FamousSkill {
        information: 0.5,
        among: 40,
    };
    let found = recovered(&market(), skill, 0.0);
    let fitted = of(&found, CandidateExposures::Clipped, WeightBasis::Two);
    let left_out = of(&found, CandidateExposures::LeftOut, WeightBasis::Two);
    assert!(1.2e-3 < left_out.planted, "{left_out:?}");
    assert!(fitted.bias < -0.08 * fitted.planted, "{fitted:?}");
    assert!(fitted.bias < -3.0 * fitted.bias_error, "{fitted:?}");
    assert!(left_out.bias.abs() < 3.0 * left_out.bias_error, "{left_out:?}");
}

/// Whoever keeps to two sectors moves with them: among everyone that looks like skill or the lack of it, among its like it is luck.
#[test]
fn sectors_are_luck_and_no_skill_and_are_told_apart() {
    let market = market();
    let draws = |agent, count: u64| -> Vec<Recovered> {
        let design = PlantedDesign {
            tail: 0.0,
            sector_share: 0.3,
            candidates: vec![CandidateExposures::LeftOut],
            agents: vec![agent],
            names: 10,
            hold_days: 5,
        };
        let each = (0..count).map(|seed| market.recover(&design, seed).unwrap().remove(0));
        each.collect()
    };
    let dice = draws(PlantedAgent::SectorDice(2), 200);
    let [everyone, alike] = outside_luck(&dice.iter().collect::<Vec<_>>()).unwrap();
    // A share of 5 % of 200 draws has a standard error of 1.5 points.
    assert!(0.12 < everyone && alike < 0.1, "{everyone} {alike}");
    let skilled = draws(PlantedAgent::SectorSkill { information: 0.5 }, 40);
    let found = summarise_part(&skilled.iter().collect::<Vec<_>>(), |draw| draw.sector).unwrap();
    assert!(6e-4 < found.planted, "{found:?}");
    assert!(found.bias.abs() < 0.1 * found.planted, "{found:?}");
}

/// Who foresees the market is told of timing and of no selection; who guesses, of neither.
#[test]
fn a_timer_of_the_market_has_timing_and_no_selection() {
    let market = market();
    let of = |information: f64| {
        let design = PlantedDesign {
            tail: 0.0,
            sector_share: 0.0,
            candidates: vec![CandidateExposures::LeftOut],
            agents: vec![PlantedAgent::MarketTimer { information }],
            names: 20,
            hold_days: 5,
        };
        let each = (0..60).map(|seed| market.recover(&design, seed).unwrap().remove(0));
        let draws: Vec<Recovered> = each.collect();
        let draws: Vec<&Recovered> = draws.iter().collect();
        let selection = summarise(&draws)[WeightBasis::HEADLINE.index()];
        (summarise_part(&draws, |draw| draw.timing).unwrap(), selection)
    };
    for (information, is_planted) in [(0.0, false), (0.8, true)] {
        let (timing, selection) = of(information);
        assert_eq!(1e-4 < timing.planted, is_planted, "{timing:?}");
        assert!(timing.bias.abs() < 3.0 * timing.bias_error, "{timing:?}");
        assert!(selection.bias.abs() < 3.0 * selection.bias_error, "{selection:?}");
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

/// What the nine styles do not hold passes for selection in part, and in none by a model that has it.
#[test]
fn a_style_that_the_model_lacks_passes_for_selection_in_part() {
    let market = generate(&SynthConfig {
        seed: 5,
        names: 120,
        days: 380,
    })
    .unwrap();
    let config = ModelConfig {
        extra_styles: vec![ExtraStyle::Beta],
        ..ModelConfig::ktd()
    };
    let panel = Panel::from_market(&market, config.first_needed_day(DAYS.start)..DAYS.end).unwrap();
    let market = PlantedMarket::new(&panel, &config, DAYS).unwrap();
    let design = PlantedDesign {
        tail: 0.0,
        sector_share: 0.0,
        candidates: vec![CandidateExposures::LeftOut, CandidateExposures::WithoutExtra],
        agents: vec![PlantedAgent::Style(config.styles.len())],
        names: 20,
        hold_days: 5,
    };
    let draws: Vec<Recovered> = (0..40)
        .map(|seed| market.recover(&design, seed).unwrap().remove(0))
        .collect();
    let draws: Vec<&Recovered> = draws.iter().collect();
    let found = summarise(&draws);
    let with = of(&found, CandidateExposures::LeftOut, WeightBasis::Two);
    assert!(with.bias.abs() < 3.0 * with.bias_error, "{with:?}");
    let passes = summarise_part(&draws, |draw| Some([0.0, draw.hidden_share?]))
        .unwrap()
        .bias;
    assert!(0.2 < passes && passes < 1.05, "{passes}");
}
