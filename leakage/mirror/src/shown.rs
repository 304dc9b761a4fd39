//! All that a model is shown at a step, door by door: prompts, account, feedback, and the answers of fixed calls.

use crate::doors::{Doors, MarketDay};
use crate::events::NextDayEvent;
use crate::report::Answer;
use crate::scene::Scene;
use ktd_env::exchange::{Rules, Side, TargetWeight};
use ktd_env::factors::{Factor, Technical};
use ktd_env::{Market, Ticker};
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Mode, Numeric, Payload};
use ktd_prompts::UserStepSlots;
use ktd_tools::banded::{BandedState, BookOrder};
use ktd_tools::{LastStepKind, StepView, Tool, ToolContext, ToolLimits, Toolbox};

/// The key of all masks of an audit: what is compared is compared under one key, and nobody plays against it.
const AUDIT_KEY: [u8; 32] = [0x5a; 32];

/// Every level with every rung of the numeric ladder.
pub(crate) fn all_masks() -> Vec<MaskSettings> {
    let levels = Level::ALL.into_iter();
    let settings = levels.flat_map(|level| Numeric::ALL.map(|numeric| MaskSettings { level, numeric }));
    settings.collect()
}

/// What is asked, and of whom.
pub(crate) struct Questions<'a> {
    pub(crate) doors: &'a dyn Doors,
    pub(crate) toolbox: &'a Toolbox,
    pub(crate) rules: &'a Rules,
    pub(crate) limits: &'a ToolLimits,
    /// The stocks that are asked about.
    pub(crate) asked: AskedStocks,
}

/// The stocks that are asked about on a day, by code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedStocks {
    /// Members, one that is no member, and one of each kind of event on the next day.
    known: Vec<Ticker>,
    /// One that is listed later: nobody may know it yet.
    later: Option<Ticker>,
}

impl AskedStocks {
    pub(crate) fn on(at: MarketDay<'_>) -> Self {
        const MEMBERS: usize = 4;
        let view = at.market.as_of(at.day);
        let members: Vec<_> = view.members().collect();
        let mut names: Vec<_> = (0..MEMBERS.min(members.len()))
            .filter_map(|place| members.get(place * members.len() / MEMBERS).copied())
            .collect();
        names.extend(view.names().find(|name| !view.is_member(*name)));
        let events = NextDayEvent::ALL.into_iter();
        names.extend(events.filter_map(|event| event.names(at.market, at.day).first().copied()));
        names.sort_unstable();
        names.dedup();
        let next_listed = NextDayEvent::Listing.names(at.market, at.day);
        let mut all = at.market.names().map(|(name, _)| name);
        let later = next_listed
            .first()
            .copied()
            .or_else(|| all.find(|name| !view.is_known(*name)));
        let ticker = |name| at.market.name(name).map(|info| info.ticker);
        let known = names.into_iter().filter(|name| view.is_known(*name));
        Self {
            known: known.filter_map(ticker).collect(),
            later: later.and_then(ticker),
        }
    }
}

/// The ids of the asked stocks under a mask, as JSON text.
struct AskedIds {
    known: Vec<String>,
    later: Option<String>,
}

impl Questions<'_> {
    /// Everything that a model is shown at the scene's step under a mask; `None` where there can be no such mask.
    pub(crate) fn shown(&self, scene: &Scene<'_>, settings: MaskSettings) -> Option<Vec<Answer>> {
        let frame = EpisodeFrame {
            market: scene.at.market,
            window: &scene.window,
            initial_cash: self.rules.initial_cash,
        };
        let mask = Mask::new(settings, &MaskKey::from_bytes(AUDIT_KEY), &frame)?;
        let as_of = self.doors.as_of(scene.at).with_factors(scene.table);
        let step = scene.traded + 1;
        if let Some(state) = self.banded(scene, &mask) {
            let as_of_day = as_of
                .past_day(ktd_env::DaysBack(0))
                .map_or_else(Payload::null, |day| mask.day(day));
            let last = scene.last_step.as_ref().map(|_| LastStepKind::Orders);
            let context = state.context(step, (&mask, self.rules, self.limits), (&as_of_day, last));
            let ids = AskedIds {
                known: spread(state.roster.stocks().iter().map(|stock| json(&stock.payload()))),
                later: None,
            };
            let mut answers = self.answers(StepView::Roster(&context), scene.at, (settings, &ids));
            answers.push(roster(&state, settings));
            return Some(answers);
        }
        let context = ToolContext {
            as_of: &as_of,
            account: &scene.account,
            mask: &mask,
            rules: self.rules,
            limits: self.limits,
            last_step: scene.last_step.as_ref(),
            step,
        };
        let ids = self.ids(scene.at.market, &mask);
        Some(self.answers(StepView::Market(&context), scene.at, (settings, &ids)))
    }

    /// The ids of the stocks as JSON text. One that the panel lacks is asked for by its code.
    fn ids(&self, market: &Market, mask: &Mask) -> AskedIds {
        let id = |ticker: &Ticker| match market.find(*ticker) {
            Some(name) => json(&mask.asset(name)),
            None => format!("{:?}", ticker.reveal()),
        };
        AskedIds {
            known: self.asked.known.iter().map(id).collect(),
            later: self.asked.later.as_ref().map(id),
        }
    }

    /// Roster and book at the scene's step, after a script that buys two stocks a step; `None` where no bands are shown.
    fn banded(&self, scene: &Scene<'_>, mask: &Mask) -> Option<BandedState> {
        let mut state = None;
        for place in 0..=scene.traded {
            let before = scene.traded - place;
            let view = if before == 0 {
                self.doors.as_of(scene.at).with_factors(scene.table)
            } else {
                scene.earlier(before)?
            };
            let mut now = BandedState::at(state, mask, &view)?;
            if 0 < before {
                let orders = book_orders(&now, place);
                now.book.take(&now.roster, self.rules, orders);
            }
            state = Some(now);
        }
        state
    }

    fn answers(
        &self,
        view: StepView<'_>,
        at: MarketDay<'_>,
        (settings, ids): (MaskSettings, &AskedIds),
    ) -> Vec<Answer> {
        let label = format!("[{}, {}]", settings.level.label(), settings.numeric.label());
        let answer = |door, call: &str, text| Answer {
            door,
            call: format!("{label} {call}"),
            text,
        };
        let mut answers: Vec<Answer> = Mode::ALL
            .into_iter()
            .map(|mode| {
                let slots = UserStepSlots {
                    state: view.state(mode),
                };
                let prompt = ktd_prompts::user_step(settings, &slots).render();
                answer("prompt", mode.label(), prompt)
            })
            .collect();
        answers.push(answer("account", "as shown", json(&view.account())));
        answers.push(answer("last step", "as shown", json(&view.last_step())));
        for (tool, arguments) in calls(self.limits, ids) {
            let text = self.doors.call(self.toolbox, view, (tool.name(), &arguments), at);
            answers.push(answer(tool.name(), &arguments, text));
        }
        let submission = submission(&ids.known);
        let feedback = match self.toolbox.parse_submission(view, &submission) {
            Ok(action) => view
                .broken_rules(&action)
                .map_or_else(String::new, |broken| json(&broken.feedback)),
            Err(error) => json(&error.payload()),
        };
        answers.push(answer("submit_action", &submission, feedback));
        answers
    }
}

/// The raw values, z-scores and technicals of the known names on the scene's as-of day, bit by bit.
pub(crate) fn factor_values(doors: &dyn Doors, scene: &Scene<'_>) -> Vec<Answer> {
    let view = doors.as_of(scene.at).with_factors(scene.table);
    let mut known: Vec<_> = scene.at.market.as_of(scene.at.day).names().collect();
    known.sort_unstable();
    let column = |name: &'static str, kind: &str, value: &dyn Fn(ktd_env::NameId) -> Option<f64>| {
        let cell = |id: &ktd_env::NameId| {
            let code = scene
                .at
                .market
                .name(*id)
                .map_or("", |info| info.ticker.reveal())
                .to_owned();
            format!("{code} {:016x}", value(*id).map_or(0, f64::to_bits))
        };
        Answer {
            door: "factors",
            call: format!("{name} {kind}"),
            text: known.iter().map(cell).collect::<Vec<_>>().join("\n"),
        }
    };
    let factors = Factor::ALL.into_iter().flat_map(|factor| {
        [
            column(factor.name(), "raw", &|name| view.factor(name, factor)),
            column(factor.name(), "z", &|name| view.factor_z(name, factor)),
        ]
    });
    let technicals = Technical::ALL
        .into_iter()
        .map(|technical| column(technical.name(), "value", &|name| view.technical(name, technical)));
    factors.chain(technicals).collect()
}

/// What a roster tells: ids, groups, and the bands of each.
fn roster(state: &BandedState, settings: MaskSettings) -> Answer {
    let row = |stock: &ktd_masking::ShownStock| {
        let bands = Factor::ALL.map(|factor| state.roster.band(stock, factor).value().to_string());
        format!("{} {} {}", stock.id(), stock.group(), bands.join(","))
    };
    Answer {
        door: "roster",
        call: format!(
            "[{}, {}] period {}",
            settings.level.label(),
            settings.numeric.label(),
            state.roster.period()
        ),
        text: state
            .roster
            .stocks()
            .iter()
            .map(row)
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn json(payload: &Payload) -> String {
    // A payload has finite numbers and texts alone, which cannot fail to serialise.
    serde_json::to_string(payload).unwrap_or_default()
}

/// Six of a list, from its first on.
fn spread(items: impl Iterator<Item = String>) -> Vec<String> {
    let items: Vec<String> = items.collect();
    let count = items.len().min(6);
    (0..count)
        .filter_map(|place| items.get(place * items.len() / count).cloned())
        .collect()
}

fn book_orders(state: &BandedState, place: usize) -> Vec<BookOrder> {
    let stocks = state.roster.stocks();
    let target = TargetWeight::from_millionths(50_000);
    let places = [place, stocks.len() / 2 + place];
    let orders = places.into_iter().filter_map(|place| {
        Some(BookOrder {
            id: stocks.get(place)?.id().to_owned(),
            side: Side::Buy,
            target: target?,
        })
    });
    orders.collect()
}

/// Fixed calls of all tools.
fn calls(limits: &ToolLimits, asked: &AskedIds) -> Vec<(Tool, String)> {
    let ids = &asked.known;
    let tilts: Vec<String> = Factor::ALL
        .into_iter()
        .enumerate()
        .map(|(place, factor)| {
            let direction = if place % 2 == 0 { "high" } else { "low" };
            format!(
                r#"{{"factor":"{}","direction":"{direction}","weight":{}}}"#,
                factor.name(),
                place + 1
            )
        })
        .collect();
    let [first, second, ..] = Factor::ALL;
    let compared = ids.get(
        ..ids
            .len()
            .min(usize::try_from(limits.max_compare).unwrap_or(usize::MAX)),
    );
    let compared = compared.unwrap_or_default().join(",");
    let dimensions: Vec<String> = Technical::ALL
        .into_iter()
        .map(|technical| format!("{:?}", technical.name()))
        .chain(["close", "weight", "unrealised_return"].map(|name| format!("{name:?}")))
        .collect();
    let targets: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"stock_id":{id},"target_weight":0.05}}"#))
        .collect();
    let mut calls = vec![
        (Tool::GetMarketContext, "{}".to_owned()),
        (
            Tool::ScreenCandidates,
            format!(
                r#"{{"factors":[{}],"top_k":{}}}"#,
                tilts.join(","),
                limits.max_candidates
            ),
        ),
        (
            Tool::ScreenCandidates,
            format!(
                r#"{{"factors":[{{"factor":"{}","direction":"low"}}],"bounds":[{{"factor":"{}","max":1}}]}}"#,
                first.name(),
                second.name()
            ),
        ),
        (
            Tool::CompareCandidates,
            format!(r#"{{"stock_ids":[{compared}]}}"#),
        ),
        (
            Tool::CompareCandidates,
            format!(
                r#"{{"stock_ids":[{compared}],"dimensions":[{}]}}"#,
                dimensions.join(",")
            ),
        ),
        (Tool::PortfolioState, "{}".to_owned()),
        (
            Tool::RiskCheck,
            format!(r#"{{"targets":[{}]}}"#, targets.join(",")),
        ),
    ];
    calls.extend(formula_calls(limits));
    let snapshot = |id: &String| format!(r#"{{"stock_id":{id},"lookback":{}}}"#, limits.max_lookback);
    let all = ids.iter().chain(&asked.later);
    calls.extend(all.map(|id| (Tool::GetStockSnapshot, snapshot(id))));
    calls
}

/// Formulas, where models may write some.
fn formula_calls(limits: &ToolLimits) -> Vec<(Tool, String)> {
    if !limits.expressions {
        return Vec::new();
    }
    let by_formula = |formula: &str| format!(r#"{{"expression":"{formula}","side":"high","top_k":30}}"#);
    let formulas = [
        "Mean($close,5)/$close",
        "Corr($vwap,$volume,20)+Sum($change,0)/$amount",
    ];
    let calls = formulas.map(|formula| (Tool::ScreenByExpression, by_formula(formula)));
    calls.to_vec()
}

/// A submission that the rules known before the open accept in part.
fn submission(ids: &[String]) -> String {
    let order = |(place, id): (usize, &String)| {
        let (side, weight) = match place % 3 {
            0 => ("BUY", "0.9"),
            1 => ("SELL", "0"),
            _ => ("BUY", "0.05"),
        };
        format!(
            r#"{{"stock_id":{id},"side":"{side}","target_weight":{weight},"confidence":0.5,"reason":"a fixed question"}}"#
        )
    };
    let orders: Vec<String> = ids.iter().enumerate().map(order).collect();
    format!(
        r#"{{"orders":[{}],"overall_reason":"a fixed question"}}"#,
        orders.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doors::Doors;
    use crate::small_market::small_market;
    use ktd_env::FactorTable;
    use ktd_env::factors::FactorConfig;
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    /// Counts calls that were answered and calls that were refused.
    #[derive(Default)]
    struct Counting(Mutex<BTreeMap<String, (usize, usize)>>);

    impl Doors for Counting {
        fn call(
            &self,
            toolbox: &Toolbox,
            view: StepView<'_>,
            (name, arguments): (&str, &str),
            _: MarketDay<'_>,
        ) -> String {
            let answer = toolbox.call(view, name, arguments);
            let mut counts = self.0.lock().unwrap();
            let of_tool = counts.entry(name.to_owned()).or_default();
            if answer.ok {
                of_tool.0 += 1;
            } else {
                of_tool.1 += 1;
            }
            serde_json::to_string(&answer.payload).unwrap()
        }
    }

    #[test]
    fn every_tool_answers_under_every_mask_and_refuses_what_is_listed_later_alone() {
        let market = small_market();
        let listing = |place: &usize| {
            !NextDayEvent::Listing
                .names(&market, market.day_at(*place).unwrap())
                .is_empty()
        };
        let day = market.day_at((260..400).find(listing).unwrap()).unwrap();
        let first = market.day_at(day.index() - 2).unwrap();
        let table = FactorTable::new(&market, &FactorConfig::KTD, first, day).unwrap();
        let (rules, limits, toolbox) = (Rules::default(), ToolLimits::default(), Toolbox::new().unwrap());
        for settings in all_masks() {
            let doors = Counting::default();
            let at = MarketDay { market: &market, day };
            let scene = Scene::played(&doors, &rules, at, (&table, 2)).unwrap();
            assert!(scene.last_step.as_ref().unwrap().report.filled_count() > 2);
            let questions = Questions {
                doors: &doors,
                toolbox: &toolbox,
                rules: &rules,
                limits: &limits,
                asked: AskedStocks::on(at),
            };
            assert!(5 < questions.asked.known.len() && questions.asked.later.is_some());
            let answers = questions.shown(&scene, settings).unwrap();
            assert!(
                answers.iter().all(|answer| !answer.text.is_empty()),
                "{settings:?}"
            );
            let is_banded = matches!(settings.numeric, Numeric::Banded | Numeric::BandedFive);
            let counts = doors.0.lock().unwrap().clone();
            for tool in Tool::ALL {
                let (answered, refused) = counts[tool.name()];
                assert!(0 < answered, "{tool:?} {settings:?} {counts:?}");
                let expected = usize::from(tool == Tool::GetStockSnapshot && !is_banded);
                assert_eq!(refused, expected, "{tool:?} {settings:?}");
            }
        }
    }
}
