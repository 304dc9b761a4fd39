//! Asking agents on a synthetic panel: what they are shown under each mask, and what the attackers make of it.

use crate::episode_tools::EpisodeTools;
use crate::{
    Aid, Attackers, DEFAULT_JOINT_DAYS, Database, DatabaseSource, Gold, Measure, ProbeKind, ProbeMaker,
    ProbePlan, ProbeText, RecoveryTally, SamplingDesign, Stretch, blind,
};
use ktd_env::exchange::Rules;
use ktd_env::factors::Factor;
use ktd_env::factors::FactorConfig;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{FactorTable, KeyedStream, Market};
use ktd_masking::{Level, MaskKey, MaskSettings, Mode, Numeric, PERIOD_DAYS};
use ktd_tools::banded::BookOrder;
use ktd_tools::{Tool, ToolLimits, Toolbox};
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) struct Stage {
    pub(crate) market: Market,
    pub(crate) factors: FactorTable,
    pub(crate) toolbox: Toolbox,
    pub(crate) rules: Rules,
    pub(crate) limits: ToolLimits,
    pub(crate) database: Database,
}

pub(crate) const DAYS: usize = 460;
const STEPS: usize = 44;

pub(crate) fn stage(seed: u64, windows: Vec<Stretch>) -> Stage {
    let config = SynthConfig {
        seed,
        names: 90,
        days: u32::try_from(DAYS).unwrap(),
    };
    let market = generate(&config).unwrap();
    let day = |place: usize| market.day_at(place).unwrap();
    let (first, last) = (day(ProbePlan::HISTORY_DAYS - 1), day(DAYS - 1));
    let factors = FactorTable::new(&market, &FactorConfig::KTD, first, last).unwrap();
    let (toolbox, rules) = (Toolbox::new().unwrap(), Rules::default());
    let database = Database::new(&DatabaseSource {
        market: &market,
        factors: &factors,
        toolbox: &toolbox,
        rules: &rules,
    });
    let design = SamplingDesign {
        windows,
        stretches: stretches(),
        steps_shown: 4,
        episode_steps: STEPS,
        days: DAYS,
    };
    Stage {
        database: database.with_design(design),
        market,
        factors,
        toolbox,
        rules,
        limits: ToolLimits::default(),
    }
}

fn stretches() -> Vec<Stretch> {
    std::iter::once(ProbePlan::HISTORY_DAYS..DAYS).collect()
}

static STAGE: LazyLock<Stage> = LazyLock::new(|| stage(5, Vec::new()));

pub(crate) fn plan(numeric: Numeric, aid: Aid) -> ProbePlan {
    ProbePlan {
        seed: 11,
        mask: MaskSettings {
            level: Level::Blinded,
            numeric,
        },
        key: MaskKey::from_bytes(std::array::from_fn(|place| 31 + 7 * u8::try_from(place).unwrap())),
        days: 4,
        episode_steps: STEPS,
        aid,
        stretches: stretches(),
        windows: Vec::new(),
        given_away: vec![3],
    }
}

pub(crate) fn set(stage: &Stage, plan: &ProbePlan, kind: ProbeKind, count: usize) -> Vec<(ProbeText, Gold)> {
    let maker = ProbeMaker {
        market: &stage.market,
        factors: &stage.factors,
        toolbox: &stage.toolbox,
        rules: &stage.rules,
        limits: &stage.limits,
        plan,
    };
    let made = (0..count).map(|number| maker.make(kind, number).unwrap());
    made.map(|(probe, gold)| (probe.text(), gold)).collect()
}

/// Of a measure: the share that each attacker recovers, and chance.
fn shares(
    numeric: Numeric,
    set: &[(ProbeText, Gold)],
    measure: Measure,
) -> (BTreeMap<&'static str, f64>, f64) {
    let stage = &*STAGE;
    let attackers = Attackers::new(&stage.database, numeric);
    let mask = plan(numeric, Aid::None).mask;
    let mut tallies: BTreeMap<&'static str, RecoveryTally> = BTreeMap::new();
    let mut chance = 0.0;
    for (probe, gold) in set {
        let answers = attackers.answer(&stage.database, probe, 3);
        for (name, answer) in Attackers::NAMES.into_iter().zip(&answers) {
            let tally = tallies.entry(name).or_default();
            tally.add(answer.as_ref(), gold, DEFAULT_JOINT_DAYS);
        }
        chance += blind(&stage.database, mask, (probe, gold), DEFAULT_JOINT_DAYS)[&measure];
    }
    let count = f64::from(u32::try_from(set.len()).unwrap());
    let hits = |tally: &RecoveryTally| f64::from(u32::try_from(tally.hits(measure)).unwrap()) / count;
    let shares = tallies.iter().map(|(name, tally)| (*name, hits(tally)));
    (shares.collect(), chance / count)
}

#[test]
fn ids_that_are_kept_are_linked_by_the_path_of_the_roster() {
    let kept = set(&STAGE, &plan(Numeric::Banded, Aid::IdsKept), ProbeKind::Asked, 12);
    let (shares, chance) = shares(Numeric::Banded, &kept, Measure::Date20);
    assert!(chance + 0.2 < shares["roster-path"], "{shares:?} {chance}");
}

#[test]
fn a_roster_of_all_members_is_counted() {
    let all = set(
        &STAGE,
        &plan(Numeric::Banded, Aid::AllMembers),
        ProbeKind::Asked,
        12,
    );
    let (shares, chance) = shares(Numeric::Banded, &all, Measure::Date60);
    assert!(chance < shares["census"], "{shares:?} {chance}");
}

#[test]
fn plans_on_a_real_account_tell_the_price_of_a_lot() {
    let exact = set(&STAGE, &plan(Numeric::Exact, Aid::None), ProbeKind::Asked, 6);
    let (shares, chance) = shares(Numeric::Exact, &exact, Measure::Top5);
    assert!(chance + 0.5 < shares["weight-oracle"], "{shares:?} {chance}");
}

#[test]
fn where_nothing_is_planted_nobody_finds_the_day() {
    let true_mask = set(&STAGE, &plan(Numeric::Banded, Aid::None), ProbeKind::Asked, 24);
    let (shares, chance) = shares(Numeric::Banded, &true_mask, Measure::Date20);
    for (name, share) in &shares {
        assert!(*share < chance + 0.35, "{name} {share} {chance}");
    }
}

#[test]
fn the_day_and_the_stocks_that_are_given_away_are_used() {
    let plan = plan(Numeric::Banded, Aid::None);
    let dated = set(&STAGE, &plan, ProbeKind::AskedDated, 12);
    let (day, chance) = shares(Numeric::Banded, &dated, Measure::Date5);
    assert!((chance - 1.0).abs() < 1e-9 && (day["known-day"] - 1.0).abs() < 1e-9);
    let known = set(&STAGE, &plan, ProbeKind::AskedKnown, 4);
    for (probe, _) in &known {
        let exhibit: serde_json::Value = serde_json::from_str(&probe.exhibits[0]).unwrap();
        assert_eq!(exhibit["also_given_away"].as_array().unwrap().len(), 2);
        assert!(exhibit["given_away"]["code"].is_string());
    }
    let (shares, chance) = shares(Numeric::Banded, &known, Measure::Date60);
    assert!(chance <= 1.0 && shares.contains_key("given-away"));
}

/// Any calls and orders, made up before an answer is seen: ids that are shown, were shown, will be shown or never are.
fn random_call(stream: &mut KeyedStream, step: usize) -> (Tool, String) {
    let mut below = |bound: u64| usize::try_from(stream.below(bound)).unwrap();
    let shown = 1 + 66 * ((step - 1) / PERIOD_DAYS);
    let [first, second, third] = std::array::from_fn(|_| {
        let number = (shown + below(80)).saturating_sub(below(9));
        format!("asset_{number:04}")
    });
    let factor = Factor::ALL[below(9)].name();
    let direction = ["high", "low"][below(2)];
    match below(5) {
        0 => (
            Tool::ScreenCandidates,
            format!(
                r#"{{"factors":[{{"factor":"{factor}","direction":"{direction}"}}],"top_k":{},"bounds":[{{"factor":"{factor}","max":{}}}]}}"#,
                1 + below(40),
                below(3),
            ),
        ),
        1 => (
            Tool::CompareCandidates,
            format!(r#"{{"stock_ids":["{first}","{second}","{third}"]}}"#),
        ),
        2 => (
            Tool::RiskCheck,
            format!(
                r#"{{"targets":[{{"stock_id":"{first}","target_weight":0.{:02}}},{{"stock_id":"{second}","target_weight":0.{:02}}}]}}"#,
                below(100),
                below(30)
            ),
        ),
        3 => (Tool::GetStockSnapshot, format!(r#"{{"stock_id":"{first}"}}"#)),
        _ => (Tool::PortfolioState, "{}".to_owned()),
    }
}

/// All that an agent with these made-up questions is shown in an episode that begins on a day.
fn transcript(stage: &Stage, numeric: Numeric, first: usize, seed: u64) -> Vec<String> {
    let plan = plan(numeric, Aid::None);
    let maker = ProbeMaker {
        market: &stage.market,
        factors: &stage.factors,
        toolbox: &stage.toolbox,
        rules: &stage.rules,
        limits: &stage.limits,
        plan: &plan,
    };
    let key = plan.key.derive(&format!("episode {seed}"));
    let mask = maker.mask(plan.mask, &key, first, STEPS).unwrap();
    let mut tools = EpisodeTools::new(&maker, &mask);
    let mut stream = KeyedStream::for_purpose(seed, "questions");
    let mut shown = Vec::new();
    for step in 1..=STEPS {
        tools.open_step(first, step).unwrap();
        let calls: Vec<(Tool, String)> = (0..8).map(|_| random_call(&mut stream, step)).collect();
        let orders: Vec<String> = (0..stream.below(4))
            .map(|_| {
                let id = 1 + 66 * ((step - 1) / PERIOD_DAYS) + usize::try_from(stream.below(80)).unwrap();
                let (side, weight) = (["BUY", "SELL"][usize::from(stream.below(3) == 0)], stream.below(30));
                format!(
                    r#"{{"stock_id":"asset_{id:04}","side":"{side}","target_weight":0.{weight:02},"confidence":0.5,"reason":"a made-up order"}}"#
                )
            })
            .collect();
        let text = format!(
            r#"{{"orders":[{}],"overall_reason":"made up beforehand"}}"#,
            orders.join(",")
        );
        let (answers, action) = tools
            .view(first, step, |view| {
                let mut answers = vec![view.state(Mode::OpenResearch).to_json()];
                for (tool, arguments) in &calls {
                    answers.push(stage.toolbox.call(view, tool.name(), arguments).payload.to_json());
                }
                let action = Some(stage.toolbox.parse_submission(view, &text).unwrap());
                let broken = action.as_ref().and_then(|action| view.broken_rules(action));
                answers.extend(broken.map(|broken| broken.feedback.to_json()));
                (answers, action)
            })
            .unwrap();
        shown.extend(answers);
        let submitted = action.map(|action| (BookOrder::of(&action.orders), Vec::new()));
        tools.execute(first, step, submitted).unwrap();
    }
    shown
}

#[test]
fn whatever_is_asked_the_answers_are_the_same_bytes_on_every_day() {
    for numeric in [Numeric::Banded, Numeric::BandedFive] {
        for seed in 0..6 {
            let first = transcript(&STAGE, numeric, 270, seed);
            assert!(
                first.iter().any(|text| text.contains("\"held\"")),
                "{numeric:?} {seed} {:?}",
                first
                    .iter()
                    .filter(|text| text.contains("last_step"))
                    .collect::<Vec<_>>()
            );
            for day in [271, 333, 400] {
                assert_eq!(
                    first,
                    transcript(&STAGE, numeric, day, seed),
                    "{numeric:?} {seed} {day}"
                );
            }
        }
    }
    // True numbers are another matter.
    assert_ne!(
        transcript(&STAGE, Numeric::Exact, 270, 0),
        transcript(&STAGE, Numeric::Exact, 271, 0)
    );
}

#[test]
fn whatever_is_asked_the_answers_are_the_same_bytes_in_every_market() {
    let other = stage(6, Vec::new());
    let count = |stage: &Stage| stage.market.fewest_members(stage.market.day_at(120).unwrap()) / 3;
    let same = count(&STAGE) == count(&other);
    for seed in 0..3 {
        let (here, there) = (
            transcript(&STAGE, Numeric::Banded, 270, seed),
            transcript(&other, Numeric::Banded, 350, seed),
        );
        assert_eq!(
            here == there,
            same,
            "rosters are as large as the thinnest day of a market allows"
        );
    }
}
