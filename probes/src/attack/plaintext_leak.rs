//! Leaks in plain text: a code, a company, a sector or a date that a mask forgot, wherever it stands.

use crate::clue::{Bounds, DayClue};
use crate::column::DayColumn;
use crate::parsed_exhibit::{ParsedExhibit, ParsedStep};
use crate::unknown_content::Subject;
use ktd_env::Ticker;
use ktd_guard::{Mentions, Register};
use std::collections::{BTreeMap, BTreeSet};

/// Leak in plain text of the target or its days. Of an honest exhibit it is empty.
#[derive(Debug, Default)]
pub(super) struct PlaintextLeak {
    /// Stocks, as places in the order of the codes, one of which it should be.
    pub(super) suspects: Vec<usize>,
    pub(super) days: Vec<DayClue>,
}

/// Trading days from a day that stands in the open to the as-of day: it is one or the day after, and may be one more off.
const TOLERANCE_DAYS: f64 = 1.0;
/// Half of the last digit of the index's level.
const TOLERANCE_LEVEL: f64 = 0.005;
/// No index stands lower, and most other numbers do.
const LEAST_LEVEL: f64 = 100.0;

impl PlaintextLeak {
    pub(super) fn read(register: &Register, parsed: &ParsedExhibit) -> Self {
        let steps = parsed.steps.iter();
        let mentioned: Vec<(&ParsedStep, StepMentions)> = steps
            .filter_map(|step| Some((step, StepMentions::of(register, step)?)))
            .collect();
        if mentioned.is_empty() {
            return Self::default();
        }
        // What the level shows of every stock and every day is no leak.
        let shows_stocks = Ticker::parse(&parsed.target).is_ok();
        let shows_days = parsed.steps.iter().all(|step| step.date.is_some());
        let given = parsed.known().flat_map(|(_, code)| register.read(code).stocks);
        let offsets = || mentioned.iter().map(|(step, mentioned)| (step.offset, mentioned));
        Self {
            days: if shows_days {
                Vec::new()
            } else {
                days(offsets())
                    .into_iter()
                    .chain(offsets().flat_map(levels))
                    .collect()
            },
            suspects: if shows_stocks {
                Vec::new()
            } else {
                suspects(
                    register,
                    mentioned.iter().map(|(_, mentioned)| mentioned),
                    &given.collect(),
                )
            },
        }
    }
}

/// Codes, companies and dates that one step mentions, by subject.
struct StepMentions {
    mentions: Vec<(Subject, Mentions)>,
    /// Numbers that nothing explains.
    numbers: Vec<f64>,
}

impl StepMentions {
    fn of(register: &Register, step: &ParsedStep) -> Option<Self> {
        let unknown = &step.unknown;
        let texts = unknown
            .texts
            .iter()
            .map(|(subject, text)| (*subject, register.read(text)));
        let numbers = unknown.numbers.iter();
        let numbers = numbers.map(|(subject, number)| (*subject, register.read_number(*number)));
        let mentions: Vec<(Subject, Mentions)> = texts
            .chain(numbers)
            .filter(|(_, mentions)| *mentions != Mentions::default())
            .collect();
        let numbers = unknown.numbers_of(&[Subject::Nobody]);
        (!mentions.is_empty() || !numbers.is_empty()).then_some(Self { mentions, numbers })
    }
}

/// The last day that each step tells: its as-of day, or the trading day after it. A day that many steps tell is the last
/// one's.
fn days<'t>(mentioned: impl Iterator<Item = (i64, &'t StepMentions)>) -> Vec<DayClue> {
    let mut last: BTreeMap<usize, i64> = BTreeMap::new();
    for (offset, mentioned) in mentioned {
        let days = mentioned.mentions.iter().flat_map(|(_, mentions)| &mentions.days);
        if let Some(day) = days.max() {
            last.insert(*day, offset);
        }
    }
    let clues = last.into_iter().map(|(day, offset)| DayClue {
        column: DayColumn::Place,
        at: offset,
        minus: None,
        bounds: Bounds::around(precise(day) - 0.5, TOLERANCE_DAYS),
    });
    clues.collect()
}

/// Numbers of a step that could be the index's level: one that is not costs every day the same.
fn levels((offset, mentioned): (i64, &StepMentions)) -> impl Iterator<Item = DayClue> {
    let numbers = mentioned.numbers.iter().filter(|number| LEAST_LEVEL <= **number);
    numbers.map(move |level| DayClue {
        column: DayColumn::IndexLevel,
        at: offset,
        minus: None,
        bounds: Bounds::around(*level, TOLERANCE_LEVEL),
    })
}

/// The stocks that are named: beside the target, else beside nobody in particular; else those of a sector that is named so.
/// A stock that is named beside several others is none of them.
fn suspects<'t>(
    register: &Register,
    mentioned: impl Iterator<Item = &'t StepMentions>,
    given: &BTreeSet<usize>,
) -> Vec<usize> {
    let mut stocks: BTreeMap<usize, BTreeSet<Subject>> = BTreeMap::new();
    let mut sectors: BTreeMap<&str, BTreeSet<Subject>> = BTreeMap::new();
    for (subject, mentions) in mentioned.flat_map(|mentioned| &mentioned.mentions) {
        for stock in mentions.stocks.difference(given) {
            stocks.entry(*stock).or_default().insert(*subject);
        }
        for sector in &mentions.sectors {
            sectors.entry(sector).or_default().insert(*subject);
        }
    }
    let own = named(&stocks, |beside| beside.contains(&Subject::Target));
    let open = named(&stocks, |beside| {
        beside.contains(&Subject::Nobody) || 1 < beside.len()
    });
    if let Some(found) = [own, open].into_iter().find(|found| !found.is_empty()) {
        return found;
    }
    let own = named(&sectors, |beside| beside.contains(&Subject::Target));
    let open = named(&sectors, |beside| beside.contains(&Subject::Nobody));
    // A table of all sectors names none of them.
    let found = if own.is_empty() && open.len() == 1 {
        open
    } else {
        own
    };
    found
        .into_iter()
        .flat_map(|sector| register.of_sector(sector))
        .copied()
        .collect()
}

fn named<T: Copy>(
    mentioned: &BTreeMap<T, BTreeSet<Subject>>,
    fits: impl Fn(&BTreeSet<Subject>) -> bool,
) -> Vec<T> {
    let fitting = mentioned.iter().filter(|(_, beside)| fits(beside));
    fitting.map(|(name, _)| *name).collect()
}

#[expect(clippy::cast_precision_loss, reason = "panels have some thousand days")]
const fn precise(day: usize) -> f64 {
    day as f64
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "texts are written where they are used"
)]
mod tests {
    use super::*;
    use crate::kind::ProbeKind;
    use crate::plan::{Aid, ProbePlan};
    use crate::probe_maker::ProbeMaker;
    use ktd_env::exchange::Rules;
    use ktd_env::factors::FactorConfig;
    use ktd_env::synth::{SynthConfig, generate};
    use ktd_env::{FactorTable, Market};
    use ktd_masking::{Level, MaskKey, MaskSettings, Numeric};
    use ktd_tools::{ToolLimits, Toolbox};
    use serde_json::{Value, json};

    const STEPS: usize = 10;

    fn market() -> Market {
        let config = SynthConfig {
            seed: 5,
            names: 60,
            days: 320,
        };
        generate(&config).unwrap()
    }

    /// The names of one stock of the panel.
    struct Stock {
        place: usize,
        code: String,
        company: String,
        sector: String,
    }

    #[expect(clippy::disallowed_methods, reason = "a leak shows the code")]
    fn stock(market: &Market, place: usize) -> Stock {
        let (_, info) = market.names().nth(place).unwrap();
        Stock {
            place,
            code: info.ticker.reveal().to_owned(),
            company: info.company_names[0].clone(),
            sector: market.sectors()[usize::from(info.sector.unwrap())].clone(),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a leak shows the date")]
    fn date(market: &Market, place: usize) -> String {
        market.calendar()[place].reveal()
    }

    fn found(market: &Market, exhibit: &Value) -> PlaintextLeak {
        let parsed = ParsedExhibit::read(&exhibit.to_string()).unwrap();
        PlaintextLeak::read(&Register::of(market), &parsed)
    }

    fn message(source: &str, content: Value) -> Value {
        json!({"source": source, "content": content})
    }

    /// An exhibit of one step: a snapshot of the target, a screen and whatever else.
    fn exhibit(target: Value, rows: Value, more: Value) -> Value {
        let mut snapshot = json!({"stock_id": "asset_0007", "board": "MAIN"});
        snapshot
            .as_object_mut()
            .unwrap()
            .extend(target.as_object().unwrap().clone());
        let table = json!({"columns": ["stock_id", "board", "new"], "rows": rows});
        let steps = json!([[
            message("get_market_context", json!({"day": "day_+3"})),
            message("screen_candidates", json!({"candidates": table})),
            message("get_stock_snapshot", snapshot),
            more,
        ]]);
        json!({"target": "asset_0007", "given_away": null, "steps": steps})
    }

    fn suspects(market: &Market, (target, rows, more): (Value, Value, Value)) -> Vec<usize> {
        found(market, &exhibit(target, rows, more)).suspects
    }

    #[test]
    fn a_code_in_any_dress_is_found_wherever_it_stands() {
        let market = market();
        let stock = stock(&market, 41);
        let (exchange, digits) = stock.code.split_at(2);
        let row = |cell: Value| json!([["asset_0003", "MAIN", null], ["asset_0007", "MAIN", cell]]);
        let plain = || (json!({}), json!([]), json!(null));
        for text in [
            stock.code.clone(),
            digits.to_owned(),
            format!("{digits}.{exchange}"),
            format!("{}.{digits}", exchange.to_lowercase()),
            format!("see {digits}, which fell"),
            stock.company.clone(),
            format!("what {} said", stock.company),
        ] {
            let sources = [
                (json!({"new": text}), json!([]), json!(null)),
                (
                    json!({"bars": {"columns": ["close"], "rows": [[text]]}}),
                    json!([]),
                    json!(null),
                ),
                (json!({"flags": [text]}), json!([]), json!(null)),
                (json!({text.clone(): 1}), json!([]), json!(null)),
                (json!({}), row(json!(text)), json!(null)),
                (
                    json!({}),
                    json!([]),
                    message("state", json!({"account": {"of": text}})),
                ),
                (
                    json!({}),
                    json!([]),
                    message("get_market_context", json!({"index": {"of": [text]}})),
                ),
                (json!({}), json!([]), message("news", json!(text))),
                (json!({}), json!([]), json!(text)),
            ];
            for source in sources {
                assert_eq!(suspects(&market, source.clone()), [stock.place], "{source:?}");
            }
            let mut beside = exhibit(json!({}), json!([]), json!(null));
            beside["hint"] = json!(text);
            assert_eq!(found(&market, &beside).suspects, [stock.place]);
        }
        let number: u32 = digits.parse().unwrap();
        if 100_000 <= number {
            assert_eq!(
                suspects(&market, (json!({"new": number}), json!([]), json!(null))),
                [stock.place]
            );
        }
        assert!(suspects(&market, plain()).is_empty());
    }

    #[test]
    fn a_code_beside_another_stock_is_that_ones() {
        let market = market();
        let [first, second] = [3, 41].map(|place| stock(&market, place));
        let rows = json!([
            ["asset_0003", "MAIN", first.code],
            ["asset_0005", "MAIN", second.code]
        ]);
        assert!(suspects(&market, (json!({}), rows.clone(), json!(null))).is_empty());
        let own = json!([
            ["asset_0003", "MAIN", first.code],
            ["asset_0007", "MAIN", second.code]
        ]);
        assert_eq!(suspects(&market, (json!({}), own, json!(null))), [second.place]);
        let both = json!([
            ["asset_0003", "MAIN", first.code],
            ["asset_0005", "MAIN", first.code]
        ]);
        assert_eq!(
            suspects(&market, (json!({}), both, json!(null))),
            [first.place],
            "beside all"
        );
        let open = message("state", json!({"new": second.code}));
        assert_eq!(suspects(&market, (json!({}), rows, open)), [second.place]);
    }

    #[test]
    fn a_sector_narrows_to_its_stocks_and_a_table_of_all_does_not() {
        let market = market();
        let stock = stock(&market, 41);
        let register = Register::of(&market);
        let own = suspects(&market, (json!({"sector": stock.sector}), json!([]), json!(null)));
        assert_eq!(own, register.of_sector(&stock.sector));
        assert!(own.contains(&stock.place) && own.len() < 20);
        let open = |named: Value| {
            let context = message("get_market_context", json!({"sectors": named}));
            suspects(&market, (json!({}), json!([]), context))
        };
        assert_eq!(open(json!([stock.sector])), own);
        assert!(open(json!(market.sectors())).is_empty());
        let named = json!({"sector": stock.sector, "new": stock.code});
        assert_eq!(suspects(&market, (named, json!([]), json!(null))), [stock.place]);
    }

    /// The clues to the calendar: at which day, and around which place.
    fn days(found: &PlaintextLeak) -> Vec<(i64, Bounds)> {
        let days = found.days.iter().filter(|clue| clue.column == DayColumn::Place);
        days.map(|clue| (clue.at, clue.bounds)).collect()
    }

    fn day(place: usize) -> Bounds {
        Bounds::around(precise(place) - 0.5, TOLERANCE_DAYS)
    }

    #[test]
    fn a_date_in_any_dress_tells_the_day_to_one() {
        let market = market();
        let iso = date(&market, 280);
        let compact = iso.replace('-', "");
        let number: u32 = compact.parse().unwrap();
        for mentioned in [
            json!(iso),
            json!(compact),
            json!(number),
            json!(iso.replace('-', "/")),
            json!(format!("{iso}T15:00:00")),
            json!(format!("as of {iso}")),
            json!({iso.clone(): null}),
            json!([date(&market, 200), iso, date(&market, 279)]),
        ] {
            let shown = exhibit(json!({"new": mentioned}), json!([]), json!(null));
            assert_eq!(days(&found(&market, &shown)), [(0, day(280))], "{mentioned}");
        }
        let epoch = |day: usize| market.calendar()[day].days_since_epoch();
        let friday = (270..280).find(|day| epoch(*day) + 1 < epoch(day + 1)).unwrap();
        let saturday = epoch(friday) + 1;
        let saturday = ktd_env::TradeDate::from_days_since_epoch(saturday).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a leak shows the date")]
        let shown = exhibit(json!({"new": saturday.reveal()}), json!([]), json!(null));
        assert_eq!(days(&found(&market, &shown)), [(0, day(friday))]);
        for text in ["2024-13-45", "1989-06-01", "20991231", "2024", "12-31"] {
            let shown = exhibit(json!({"new": text}), json!([]), json!(null));
            assert!(found(&market, &shown).days.is_empty(), "{text}");
        }
    }

    #[test]
    fn each_step_tells_its_own_day() {
        let market = market();
        let step = |label: &str, place: usize| {
            json!([message(
                "get_market_context",
                json!({"day": label, "new": date(&market, place)})
            )])
        };
        let steps = json!([step("day_+2", 280), step("day_+5", 283)]);
        let shown = json!({"target": "asset_0007", "given_away": null, "steps": steps});
        assert_eq!(days(&found(&market, &shown)), [(-3, day(280)), (0, day(283))]);
        let steps = json!([step("day_+2", 283), step("day_+5", 283)]);
        let shown = json!({"target": "asset_0007", "given_away": null, "steps": steps});
        assert_eq!(
            days(&found(&market, &shown)),
            [(0, day(283))],
            "told again and again"
        );
        let context = |day: &str| json!([message("get_market_context", json!({"day": day}))]);
        let steps = json!([context(&date(&market, 280)), context("day_+5"), context("day_+6")]);
        let shown = json!({"target": "asset_0007", "given_away": null, "steps": steps});
        assert_eq!(
            days(&found(&market, &shown)),
            [(-2, day(280))],
            "one label forgotten"
        );
    }

    #[test]
    fn a_strange_number_in_the_open_may_be_the_index() {
        let market = market();
        let context = message(
            "get_market_context",
            json!({"index": {"level": 1000, "close": 3210.5}, "n": 7}),
        );
        let found = found(&market, &exhibit(json!({"new": 512.0}), json!([]), context));
        let mentioned: Vec<(DayColumn, Bounds)> =
            found.days.iter().map(|clue| (clue.column, clue.bounds)).collect();
        assert_eq!(
            mentioned,
            [(DayColumn::IndexLevel, Bounds::around(3210.5, TOLERANCE_LEVEL))]
        );
    }

    #[test]
    fn a_code_that_is_given_away_is_no_leak() {
        let market = market();
        let [given, other] = [3, 41].map(|place| stock(&market, place));
        let mut shown = exhibit(json!({}), json!([]), message("state", json!({"of": given.code})));
        shown["given_away"] = json!({"alias": "asset_0003", "code": given.code});
        assert!(found(&market, &shown).suspects.is_empty());
        shown["given_away"]["note"] = json!(other.company);
        assert_eq!(found(&market, &shown).suspects, [other.place]);
        shown["given_away"] = json!({"alias": "asset_0007", "code": given.code});
        assert_eq!(
            found(&market, &shown).suspects,
            [given.place],
            "it is the target's"
        );
    }

    #[test]
    fn what_the_level_shows_is_no_leak() {
        let market = market();
        let stock = stock(&market, 41);
        let bright = json!({"target": stock.code, "given_away": null, "steps": [[
            message("get_market_context", json!({"day": date(&market, 281)})),
            message("get_stock_snapshot", json!({"stock_id": stock.code, "sector": stock.sector})),
        ]]});
        let found = found(&market, &bright);
        assert!(found.suspects.is_empty() && found.days.is_empty());
    }

    #[test]
    fn an_honest_exhibit_says_nothing_at_any_level_and_rung() {
        let market = market();
        let register = Register::of(&market);
        let day = |place: usize| market.day_at(place).unwrap();
        let (first, last) = (day(ProbePlan::HISTORY_DAYS - 1), day(319));
        let factors = FactorTable::new(&market, &FactorConfig::KTD, first, last).unwrap();
        let (toolbox, rules, limits) = (Toolbox::new().unwrap(), Rules::default(), ToolLimits::default());
        for (level, numeric) in Level::ALL
            .into_iter()
            .flat_map(|level| Numeric::ALL.map(|rung| (level, rung)))
        {
            let plan = ProbePlan {
                seed: 11,
                mask: MaskSettings { level, numeric },
                key: MaskKey::from_bytes([9; 32]),
                days: 3,
                episode_steps: STEPS,
                aid: Aid::None,
                windows: Vec::new(),
                given_away: vec![3],
                stretches: std::iter::once(ProbePlan::HISTORY_DAYS..319).collect(),
            };
            let maker = ProbeMaker {
                market: &market,
                factors: &factors,
                toolbox: &toolbox,
                rules: &rules,
                limits: &limits,
                plan: &plan,
            };
            for kind in ProbeKind::ALL {
                for text in (0..4).flat_map(|number| maker.make(kind, number).unwrap().0.text().exhibits) {
                    let parsed = ParsedExhibit::read(&text).unwrap();
                    let found = PlaintextLeak::read(&register, &parsed);
                    assert!(found.suspects.is_empty() && found.days.is_empty(), "{text}");
                    let unknown = parsed.steps.iter().map(|step| &step.unknown);
                    assert!(
                        unknown.clone().all(|unknown| unknown.numbers.is_empty()),
                        "{text}"
                    );
                }
            }
        }
    }
}
