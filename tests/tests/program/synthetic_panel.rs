//! Probes of a synthetic panel: how they are made, and what the attackers make of them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what cannot be made fails the test"
)]

use ktd_env::exchange::Rules;
use ktd_env::factors::FactorConfig;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{Board, FactorTable, Fen, Market};
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Numeric};
use ktd_probes::{
    Aid, Attackers, DEFAULT_JOINT_DAYS, Database, DatabaseSource, Gold, LearnedWeights, Measure, Probe,
    ProbeAnswer, ProbeKind, ProbeMaker, ProbePlan, ProbeText, RecoveryTally, blind, controls, expected,
};
use ktd_tools::{ToolLimits, Toolbox};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// What all tests share.
struct Stage {
    market: Market,
    factors: FactorTable,
    toolbox: Toolbox,
    rules: Rules,
    limits: ToolLimits,
    database: Database,
}

static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let config = SynthConfig {
        seed: 5,
        names: 60,
        days: 420,
    };
    let market = generate(&config).unwrap();
    let day = |place: usize| market.day_at(place).unwrap();
    let (first, last) = (day(ProbePlan::HISTORY_DAYS - 1), day(419));
    let factors = FactorTable::new(&market, &FactorConfig::KTD, first, last).unwrap();
    let (toolbox, rules) = (Toolbox::new().unwrap(), Rules::default());
    let database = Database::new(&DatabaseSource {
        market: &market,
        factors: &factors,
        toolbox: &toolbox,
        rules: &rules,
    });
    Stage {
        market,
        factors,
        toolbox,
        rules,
        limits: ToolLimits::default(),
        database,
    }
});

const STEPS: usize = 12;
const SEED: u64 = 11;

fn key() -> MaskKey {
    MaskKey::from_bytes(std::array::from_fn(|place| 31 + 7 * u8::try_from(place).unwrap()))
}

fn plan(level: Level, numeric: Numeric) -> ProbePlan {
    let (stretches, _) = ProbePlan::spread(&STAGE.market, Some(2), STEPS).unwrap();
    ProbePlan {
        seed: SEED,
        mask: MaskSettings { level, numeric },
        key: key(),
        days: 4,
        episode_steps: STEPS,
        aid: Aid::None,
        windows: Vec::new(),
        given_away: vec![3],
        stretches,
    }
}

fn blinded(numeric: Numeric) -> ProbePlan {
    plan(Level::Blinded, numeric)
}

fn make(plan: &ProbePlan, kind: ProbeKind, number: usize) -> (Probe, Gold) {
    let maker = ProbeMaker {
        market: &STAGE.market,
        factors: &STAGE.factors,
        toolbox: &STAGE.toolbox,
        rules: &STAGE.rules,
        limits: &STAGE.limits,
        plan,
    };
    maker.make(kind, number).unwrap()
}

fn set(plan: &ProbePlan, kind: ProbeKind, count: usize) -> Vec<(ProbeText, Gold)> {
    let made = (0..count).map(|number| make(plan, kind, number));
    made.map(|(probe, gold)| (probe.text(), gold)).collect()
}

fn texts(set: &[(ProbeText, Gold)]) -> Vec<ProbeText> {
    set.iter().map(|(probe, _)| probe.clone()).collect()
}

/// What each attacker recovers.
fn tallies(attackers: &Attackers, set: &[(ProbeText, Gold)]) -> BTreeMap<&'static str, RecoveryTally> {
    let mut tallies: BTreeMap<&'static str, RecoveryTally> = BTreeMap::new();
    for (probe, gold) in set {
        let answers: Vec<Option<ProbeAnswer>> = attackers.answer(&STAGE.database, probe, SEED);
        assert_eq!(answers.len(), Attackers::NAMES.len());
        for (name, answer) in Attackers::NAMES.into_iter().zip(&answers) {
            let tally = tallies.entry(name).or_default();
            tally.add(answer.as_ref(), gold, DEFAULT_JOINT_DAYS);
        }
    }
    tallies
}

/// The mask of an exhibit, made as any reader of the plan would.
fn mask(plan: &ProbePlan, kind: ProbeKind, number: usize, exhibit: usize) -> Mask {
    let purpose = format!("probe {} {number} exhibit {exhibit}", kind.label());
    let days = [STAGE.market.day_at(ProbePlan::HISTORY_DAYS).unwrap()];
    let frame = EpisodeFrame {
        market: &STAGE.market,
        window: &days,
        initial_cash: Fen(0),
    };
    Mask::new(plan.mask, &plan.key.derive(&purpose), &frame).unwrap()
}

fn exhibit(probe: &ProbeText, place: usize) -> Value {
    serde_json::from_str(&probe.exhibits[place]).unwrap()
}

/// What a source says at a step.
fn content<'v>(exhibit: &'v Value, step: usize, source: &str) -> Vec<&'v Value> {
    let messages = exhibit["steps"][step].as_array().unwrap();
    let of_source = messages.iter().filter(|message| message["source"] == source);
    of_source.map(|message| &message["content"]).collect()
}

/// A column of a table, by row.
fn column<'v>(table: &'v Value, name: &str) -> Vec<&'v Value> {
    let columns = table["columns"].as_array().unwrap();
    let place = columns.iter().position(|column| column == name).unwrap();
    let rows = table["rows"].as_array().unwrap();
    rows.iter().map(|row| &row[place]).collect()
}

#[test]
fn the_same_plan_gives_the_same_bytes_in_any_order() {
    let plan = blinded(Numeric::Exact);
    let all: Vec<(ProbeKind, usize)> = ProbeKind::ALL
        .into_iter()
        .flat_map(|kind| (0..3).map(move |number| (kind, number)))
        .collect();
    let bytes = |(kind, number): &(ProbeKind, usize)| {
        let (probe, gold) = make(&plan, *kind, *number);
        (probe.text(), gold)
    };
    let forwards: Vec<_> = all.iter().map(bytes).collect();
    let mut backwards: Vec<_> = all.iter().rev().map(bytes).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
    let other = ProbePlan {
        seed: SEED + 1,
        ..plan.clone()
    };
    assert!(
        forwards[0].0 != make(&other, ProbeKind::Day, 0).0.text(),
        "the seed decides"
    );
    let other = ProbePlan {
        key: MaskKey::from_bytes([1; 32]),
        ..plan.clone()
    };
    assert!(
        forwards[0].0 != make(&other, ProbeKind::Day, 0).0.text(),
        "the key decides"
    );
}

/// The number of a probe and the seed are published with it, the key is not.
#[test]
fn who_knows_number_and_seed_does_not_know_who_is_asked_about() {
    let plan = blinded(Numeric::Banded);
    let other = ProbePlan {
        key: MaskKey::from_bytes([1; 32]),
        ..plan.clone()
    };
    let strata = |plan: &ProbePlan| {
        set(plan, ProbeKind::Day, 64)
            .iter()
            .map(|(_, gold)| (gold.stretch, gold.targets[0].board))
            .collect::<Vec<_>>()
    };
    let same = |plan: &ProbePlan| {
        set(plan, ProbeKind::Linked, 64)
            .iter()
            .map(|(_, gold)| gold.is_same())
            .collect::<Vec<_>>()
    };
    let alike = |left: usize, right: usize| left.abs_diff(right) < 24;
    let equal = strata(&plan)
        .iter()
        .zip(strata(&other))
        .filter(|(a, b)| *a == b)
        .count();
    assert!(
        equal < 40,
        "{equal} of 64 numbers have one stratum under two keys"
    );
    let equal = same(&plan)
        .iter()
        .zip(same(&other))
        .filter(|(a, b)| *a == b)
        .count();
    assert!(
        alike(equal, 32),
        "{equal} of 64 numbers have one coin under two keys"
    );
}

#[test]
fn the_key_behind_a_probe_is_the_one_that_was_asked_about() {
    let plan = blinded(Numeric::Exact);
    for kind in ProbeKind::ALL {
        for number in 0..8 {
            let (probe, gold) = make(&plan, kind, number);
            let text = probe.text();
            assert_eq!(text.exhibits.len(), gold.targets.len());
            for (place, target) in gold.targets.iter().enumerate() {
                let shown = exhibit(&text, place);
                let alias = shown["target"].as_str().unwrap();
                let mask = mask(&plan, kind, number, place);
                assert_eq!(
                    mask.resolve(alias).ok(),
                    Some(target.name),
                    "{} {number}",
                    kind.label()
                );
                assert_eq!(target.board, STAGE.market.board(target.name));
                let steps = shown["steps"].as_array().unwrap().len();
                let snapshots = content(&shown, steps - 1, "get_stock_snapshot");
                assert_eq!(snapshots[0]["stock_id"], alias);
                assert_eq!(snapshots[0]["board"], target.board.label());
                // True prices: the last close shown is that of the day behind the probe.
                let bar = STAGE.market.bar(target.name, target.day);
                let closes = column(&snapshots[0]["bars"], "close");
                if let Some(bar) = bar.filter(|bar| 0 < bar.volume) {
                    let close = closes.last().unwrap().as_f64().unwrap();
                    assert!(
                        (close - bar.close.to_yuan()).abs() < 1e-9,
                        "{} {number}",
                        kind.label()
                    );
                }
            }
        }
    }
}

#[test]
fn a_shown_date_is_the_one_behind_the_probe() {
    let plan = plan(Level::StockBlind, Numeric::Exact);
    for (probe, gold) in set(&plan, ProbeKind::Days, 16) {
        let shown = exhibit(&probe, 0);
        let steps = shown["steps"].as_array().unwrap().len();
        assert_eq!(steps, plan.days);
        let context = content(&shown, steps - 1, "get_market_context")[0];
        // Steps are labelled by the day that is traded on, the day after the as-of day.
        let day = ktd_env::TradeDate::parse(context["day"].as_str().unwrap()).unwrap();
        assert_eq!(day, STAGE.market.calendar()[gold.targets[0].day.index() + 1]);
        let chances = expected(&STAGE.database, plan.mask, (&probe, &gold), DEFAULT_JOINT_DAYS);
        assert!((chances[&Measure::Date5] - 1.0).abs() < 1e-12);
    }
}

#[test]
fn every_exhibit_has_a_key_of_its_own() {
    let plan = blinded(Numeric::Exact);
    let linked = set(&plan, ProbeKind::Linked, 40);
    let (mut same, mut equal) = (0, 0);
    for (probe, gold) in linked.iter().filter(|(_, gold)| gold.is_same() == Some(true)) {
        same += 1;
        let [first, second] = [0, 1].map(|place| exhibit(probe, place)["target"].clone());
        equal += usize::from(first == second);
        assert_ne!(gold.targets[0].day, gold.targets[1].day);
    }
    assert!(10 <= same && equal <= 3, "{equal} of {same} aliases are equal");
    let mut aliases: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for (probe, gold) in set(&plan, ProbeKind::Day, 80) {
        let alias = exhibit(&probe, 0)["target"].to_string();
        aliases.entry(gold.targets[0].name).or_default().insert(alias);
    }
    assert!(aliases.values().any(|aliases| 1 < aliases.len()));
    assert!(
        aliases.values().map(BTreeSet::len).sum::<usize>() > 60,
        "{aliases:?}"
    );
}

#[test]
fn stretches_and_boards_are_asked_about_evenly() {
    let plan = blinded(Numeric::Banded);
    let mut counts: BTreeMap<(usize, Board), usize> = BTreeMap::new();
    for (_, gold) in set(&plan, ProbeKind::Day, 64) {
        let target = gold.targets[0];
        assert!(plan.stretches[gold.stretch].contains(&(target.day.index() + 1)));
        *counts.entry((gold.stretch, target.board)).or_default() += 1;
    }
    // The panel has no names of BSE: its share falls to the stratum after it.
    let wanted = [0, 1].into_iter().flat_map(|stretch| {
        [(Board::Main, 16), (Board::ChiNext, 8), (Board::Star, 8)]
            .map(|(board, count)| ((stretch, board), count))
    });
    assert_eq!(counts, wanted.collect());
}

#[test]
fn a_board_does_not_tell_whether_two_exhibits_are_one_stock() {
    let mut counts: BTreeMap<Board, [usize; 2]> = BTreeMap::new();
    for (_, gold) in set(&blinded(Numeric::Banded), ProbeKind::Linked, 64) {
        let [first, second] = [0, 1].map(|place| gold.targets[place]);
        assert_eq!(first.board, second.board);
        counts.entry(first.board).or_default()[usize::from(first.name == second.name)] += 1;
    }
    assert_eq!(counts.len(), 3);
    // Coins: sixty-four of them lie further apart than this less than once in a thousand keys.
    for (board, [other, same]) in counts {
        assert!(
            other.abs_diff(same) <= 16,
            "{}: {other} and {same}",
            board.label()
        );
    }
}

#[test]
fn attackers_succeed_where_they_must() {
    let plan = blinded(Numeric::Exact);
    let set = set(&plan, ProbeKind::Day, 40);
    let tallies = tallies(&Attackers::new(&STAGE.database, Numeric::Exact), &set);
    for (name, measure) in [
        ("price-level", Measure::Top1),
        ("volume-level", Measure::Top1),
        ("return-path", Measure::Top1),
        ("combination", Measure::Top1),
        ("return-path", Measure::Date5),
        ("index-path", Measure::Date5),
        ("cross-section", Measure::Date5),
    ] {
        let hits = tallies[name].hits(measure);
        assert!(38 <= hits, "{name}: {} of 40 {}", hits, measure.label());
        assert_eq!(tallies[name].answered, 40);
    }
    for tally in tallies.values() {
        assert_eq!(tally.hits(Measure::Board), 40, "the board is shown");
    }
}

#[test]
fn linked_exhibits_of_exact_numbers_are_linked() {
    let set = set(&blinded(Numeric::Exact), ProbeKind::Linked, 24);
    let tallies = tallies(&Attackers::new(&STAGE.database, Numeric::Exact), &set);
    for name in ["price-level", "return-path", "combination"] {
        let hits = tallies[name].hits(Measure::Same);
        assert!(22 <= hits, "{name}: {hits} of 24");
    }
}

#[test]
fn random_recovers_what_chance_says() {
    let plan = blinded(Numeric::Banded);
    let set = set(&plan, ProbeKind::Day, 320);
    let tallies = tallies(&Attackers::new(&STAGE.database, Numeric::Banded), &set);
    let (mut mean, mut variance) = (BTreeMap::new(), BTreeMap::new());
    for (probe, gold) in &set {
        let chances = expected(&STAGE.database, plan.mask, (probe, gold), DEFAULT_JOINT_DAYS);
        let best = blind(&STAGE.database, plan.mask, (probe, gold), DEFAULT_JOINT_DAYS);
        for measure in [Measure::Top1, Measure::Top5] {
            assert!(chances[&measure] <= best[&measure] + 1e-12, "{}", measure.label());
        }
        for (measure, chance) in chances {
            *mean.entry(measure).or_insert(0.0) += chance;
            *variance.entry(measure).or_insert(0.0) += chance * (1.0 - chance);
        }
    }
    assert_eq!(mean.len(), Measure::ALL.len() - 1);
    for (measure, mean) in mean {
        let hits = tallies["random"].hits(measure);
        let hits = f64::from(u32::try_from(hits).unwrap());
        let reach = 3.5 * f64::sqrt(variance[&measure]) + 1e-9;
        assert!(
            (hits - mean).abs() <= reach,
            "{}: {hits} for {mean} within {reach}",
            measure.label()
        );
    }
}

#[test]
fn an_episode_shows_that_the_target_is_held() {
    for numeric in [Numeric::Exact, Numeric::Banded] {
        let mut held = 0;
        for (probe, _) in set(&blinded(numeric), ProbeKind::Episode, 8) {
            let shown = exhibit(&probe, 0);
            assert_eq!(shown["steps"].as_array().unwrap().len(), STEPS);
            let first = content(&shown, 0, "state")[0];
            assert!(!first.to_string().contains(shown["target"].as_str().unwrap()));
            let last = content(&shown, STEPS - 1, "state")[0];
            let holdings = &last["account"]["holdings"];
            let ids = column(holdings, "stock_id");
            let place = ids.iter().position(|id| **id == shown["target"]);
            held += usize::from(place.is_some_and(|place| {
                column(holdings, "weight")[place]
                    .as_f64()
                    .is_some_and(|weight| 0.0 < weight)
            }));
            assert!(5 < ids.len(), "{ids:?}");
        }
        // A limit or a halt may stop a purchase.
        assert!(7 <= held, "{}: {held} of 8", numeric.label());
    }
}

#[test]
fn an_anchored_probe_gives_away_another_stock() {
    let plan = blinded(Numeric::Exact);
    for number in 0..12 {
        let (probe, gold) = make(&plan, ProbeKind::Anchored, number);
        let text = probe.text();
        let shown = exhibit(&text, 0);
        let given = &shown["given_away"];
        let alias = given["alias"].as_str().unwrap();
        assert_ne!(shown["target"], alias);
        let name = mask(&plan, ProbeKind::Anchored, number, 0)
            .resolve(alias)
            .unwrap();
        let ticker = STAGE.market.name(name).unwrap().ticker;
        assert!(ktd_env::Ticker::parse(given["code"].as_str().unwrap()) == Ok(ticker));
        assert_ne!(name, gold.targets[0].name);
        let ids: Vec<&Value> = content(&shown, 0, "get_stock_snapshot")
            .iter()
            .map(|snapshot| &snapshot["stock_id"])
            .collect();
        assert_eq!(ids, [&shown["target"], &given["alias"]]);
    }
    for (probe, _) in set(&plan, ProbeKind::Day, 3) {
        assert!(exhibit(&probe, 0)["given_away"].is_null());
    }
}

#[test]
fn no_exhibit_names_a_stock() {
    let words: Vec<String> = STAGE
        .market
        .names()
        .flat_map(|(_, info)| {
            let code = info.ticker.reveal().to_owned();
            [vec![code[2..].to_owned(), code], info.company_names.clone()].concat()
        })
        .collect();
    assert!(180 <= words.len(), "codes, their digits and names");
    for numeric in Numeric::ALL {
        for kind in ProbeKind::ALL {
            for (probe, _) in set(&blinded(numeric), kind, 3) {
                for place in 0..probe.exhibits.len() {
                    let mut shown = exhibit(&probe, place);
                    shown["given_away"] = Value::Null;
                    shown["also_given_away"] = Value::Null;
                    let strings = strings(&shown);
                    for word in &words {
                        let found = strings.iter().find(|text| text.contains(word));
                        assert_eq!(found, None, "{} {}", numeric.label(), kind.label());
                    }
                }
            }
        }
    }
}

/// Every text of a tree; numbers are numbers, though their digits may be those of a code.
fn strings(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(text) => BTreeSet::from([text.clone()]),
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(members) => {
            let inner = members.values().flat_map(strings);
            members.keys().cloned().chain(inner).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => BTreeSet::new(),
    }
}

#[test]
fn a_sorted_map_and_a_small_key_are_noticed() {
    let plan = blinded(Numeric::Exact);
    let honest = set(&plan, ProbeKind::Day, 24);
    let top1 = |set: &[(ProbeText, Gold)]| {
        let mut attackers = Attackers::new(&STAGE.database, Numeric::Exact);
        attackers.study(texts(set));
        tallies(&attackers, set)["labels-and-order"].hits(Measure::Top1)
    };
    assert!(top1(&honest) <= 8, "a drawn key tells nothing");
    let sorted = controls::sorted_aliases(&STAGE.market, &plan, &texts(&honest));
    let gold = honest.iter().map(|(_, gold)| gold.clone());
    let sorted: Vec<_> = sorted.into_iter().zip(gold).collect();
    assert!(20 <= top1(&sorted), "aliases in the order of the codes");
    let mut bytes = [0; 32];
    bytes[0] = 42;
    let careless = ProbePlan {
        key: MaskKey::from_bytes(bytes),
        ..plan
    };
    let careless = set(&careless, ProbeKind::Day, 24);
    assert!(20 <= top1(&careless), "a key made of a small number");
}

#[test]
fn lessons_of_other_stretches_teach_the_combination() {
    let (_, training) = ProbePlan::spread(&STAGE.market, Some(2), STEPS).unwrap();
    let plan = blinded(Numeric::Exact);
    let lessons_plan = ProbePlan {
        seed: SEED + 1,
        stretches: training,
        ..plan.clone()
    };
    let mut attackers = Attackers::new(&STAGE.database, Numeric::Exact);
    let training = set(&lessons_plan, ProbeKind::Day, 24);
    let lessons: Vec<_> = training
        .iter()
        .filter_map(|(probe, gold)| attackers.lesson(&STAGE.database, probe, gold, SEED))
        .collect();
    assert_eq!(lessons.len(), 24);
    attackers.teach(LearnedWeights::learn(&lessons));
    let set = set(&plan, ProbeKind::Day, 24);
    let tally = &tallies(&attackers, &set)["combination"];
    assert!(
        23 <= tally.hits(Measure::Joint),
        "{} of 24",
        tally.hits(Measure::Joint)
    );
}

#[test]
fn a_probe_that_cannot_be_read_has_no_answer() {
    let attackers = Attackers::new(&STAGE.database, Numeric::Exact);
    let probe = ProbeText {
        number: 0,
        kind: ProbeKind::Day,
        exhibits: vec!["{}".to_owned()],
    };
    let answers = attackers.answer(&STAGE.database, &probe, SEED);
    assert!(answers.len() == Attackers::NAMES.len() && answers.iter().all(Option::is_none));
}

#[test]
fn aids_give_attackers_what_they_need() {
    let hits = |level, numeric, aid, attacker: &str| {
        let plan = ProbePlan {
            aid,
            ..plan(level, numeric)
        };
        let set = set(&plan, ProbeKind::Day, 40);
        tallies(&Attackers::new(&STAGE.database, numeric), &set)[attacker].hits(Measure::Top1)
    };
    let days = |aid| hits(Level::StockBlind, Numeric::Exact, aid, "limit-pattern");
    let (marked, any) = (days(Aid::LimitDays), days(Aid::None));
    assert!(
        20 <= marked && any < marked,
        "with limit days {marked}, of any {any}"
    );
}
