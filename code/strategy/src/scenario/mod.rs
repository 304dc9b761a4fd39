//! Scenarios of a document: short bars on which named rules fire, and a long run. Drawn from a seed, so that a fresh draw is
//! as good as the first; every rule of every document fires in one of them, or there are none.

mod frames;
mod lines;
mod paths;
mod plan;

use crate::bars::{AssetBars, BarTime, StrategyBars};
use crate::book::INITIAL_CAPITAL;
use crate::logs::{BarSignal, StrategyLogs};
use crate::parameters::Parameters;
use crate::reference::{DocumentId, run_reference};
use ktd_env::KeyedStream;
pub use lines::{named_as, read_scenarios};
use paths::{bars_around, daily_times, pair_paths, price_path, session_times};
pub use plan::scenario_answers;
use plan::{ConstituentPlan, ScenarioPlan, Shape, plans};
use std::collections::BTreeSet;
use std::fmt;

/// Draws of a scenario before it counts as impossible.
const DRAWS_MAX: u64 = 400;
/// Days by which the far contract outlives the near one.
const FAR_DAYS: usize = 21;
/// Assets of the document that switches between them.
const BASKET: [&str; 4] = ["EQ", "BOND", "GOLD", "REIT"];

/// Name of the long run among scenarios.
pub const LONG_RUN: &str = "long";

/// Bars on which a document's rules are known to fire.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Name, such as `reverts`; [`LONG_RUN`] for the long one.
    pub name: String,
    /// The bars.
    pub market: StrategyBars,
}

/// A scenario that no draw makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The document.
    pub document: DocumentId,
    /// The scenario.
    pub scenario: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} never does what its scenario {:?} wants in {DRAWS_MAX} draws: the reference or its parameters have changed",
            self.document, self.scenario
        )
    }
}

impl std::error::Error for ScenarioError {}

/// The scenarios of a document and its long run, last, from a published seed.
///
/// # Errors
/// [`ScenarioError`] when the reference with these parameters never fires the rules that a scenario is there for.
pub fn scenarios(
    document: DocumentId,
    parameters: &Parameters,
    seed: u64,
) -> Result<Vec<Scenario>, ScenarioError> {
    let drawn = plans(document).into_iter().map(|plan| {
        (0..DRAWS_MAX)
            .map(|draw| draw_bars(&plan, document, seed.wrapping_add(draw)))
            .find(|market| fits(&plan, document, parameters, market))
            .map(|market| Scenario {
                name: plan.name.clone(),
                market,
            })
            .ok_or(ScenarioError {
                document,
                scenario: plan.name,
            })
    });
    drawn.collect()
}

/// Rules that fired in a run: of entries and exits of closed trades, of entries still open, and `ADD`.
#[must_use]
pub fn fired_rules(logs: &StrategyLogs) -> BTreeSet<String> {
    let trades = logs.trades.iter();
    let mut fired: BTreeSet<String> = trades
        .flat_map(|trade| [trade.entry_rule.clone(), trade.exit_rule.clone()])
        .collect();
    if logs.bars.iter().any(|bar| bar.signal == BarSignal::Add) {
        fired.insert("ADD".to_owned());
    }
    fired
}

/// Whether the reference does on these bars what the plan wants.
fn fits(plan: &ScenarioPlan, document: DocumentId, parameters: &Parameters, market: &StrategyBars) -> bool {
    let Ok(logs) = run_reference(document, parameters, market, INITIAL_CAPITAL) else {
        return false;
    };
    let fired = fired_rules(&logs);
    let (least, most) = plan.trades;
    let is_quiet = || logs.bars.iter().all(|bar| bar.signal == BarSignal::None);
    plan.wanted.iter().all(|rule| fired.contains(rule))
        && !plan.unwanted.iter().any(|rule| fired.contains(rule))
        && (least..=most).contains(&logs.trades.len())
        && (!plan.is_quiet || is_quiet())
}

fn draw_bars(plan: &ScenarioPlan, document: DocumentId, seed: u64) -> StrategyBars {
    let purpose = format!("strategy scenario {document}/{}", plan.name);
    let stream = &mut KeyedStream::for_purpose(seed, &purpose);
    let assets = match plan.shape() {
        Shape::Daily(stretches) => {
            let closes = price_path(stream, stretches);
            vec![("A".to_owned(), daily(stream, &closes))]
        }
        Shape::Sessions(stretches) => {
            let closes = price_path(stream, stretches);
            let bars = bars_around(stream, &closes, session_times(closes.len()), 0.1);
            vec![("A".to_owned(), bars)]
        }
        Shape::Pair(pair) => legs(stream, pair, ["AAA", "BBB"]).to_vec(),
        Shape::Contracts(pair, expiry) => {
            let mut legs = legs(stream, pair, ["NEAR", "FAR"]);
            for ((_, bars), later) in legs.iter_mut().zip([0, FAR_DAYS]) {
                let days =
                    (0..pair.bars).map(|bar| crate::indicators::count(expiry - bar % (expiry + 1) + later));
                bars.further.insert("days_to_expiry".to_owned(), days.collect());
            }
            legs.to_vec()
        }
        Shape::Basket(assets) => {
            let paths: Vec<Vec<f64>> = assets
                .iter()
                .map(|stretches| price_path(stream, stretches))
                .collect();
            let named = BASKET.iter().zip(&paths);
            named
                .map(|(name, path)| ((*name).to_owned(), daily(stream, path)))
                .collect()
        }
        Shape::Index(constituents, change) => index(stream, constituents, change),
    };
    StrategyBars { assets }
}

fn daily(stream: &mut KeyedStream, closes: &[f64]) -> AssetBars {
    let times: Vec<BarTime> = daily_times(closes.len());
    bars_around(stream, closes, times, 0.3)
}

fn legs(stream: &mut KeyedStream, plan: &paths::PairPlan, names: [&str; 2]) -> [(String, AssetBars); 2] {
    let (first, second) = pair_paths(stream, plan);
    let [one, other] = names;
    let first = daily(stream, &first);
    [
        (one.to_owned(), first),
        (other.to_owned(), daily(stream, &second)),
    ]
}

/// The index, then its constituents with their weights.
fn index(
    stream: &mut KeyedStream,
    constituents: &[ConstituentPlan],
    change: Option<(usize, f64)>,
) -> Vec<(String, AssetBars)> {
    let paths: Vec<(Vec<f64>, f64)> = constituents
        .iter()
        .map(|plan| (price_path(stream, &plan.stretches), plan.weight))
        .collect();
    let bars = paths.first().map_or(0, |(path, _)| path.len());
    let level: Vec<f64> = (0..bars)
        .map(|bar| {
            paths
                .iter()
                .map(|(path, weight)| weight * path.get(bar).copied().unwrap_or(0.0))
                .sum()
        })
        .collect();
    let mut assets = vec![("INDEX".to_owned(), daily(stream, &level))];
    for (place, (path, weight)) in paths.iter().enumerate() {
        let mut own = daily(stream, path);
        let later = change.filter(|_| place + 1 == paths.len());
        let weights = (0..bars).map(|bar| {
            later
                .filter(|(from, _)| *from <= bar)
                .map_or(*weight, |(_, later)| later)
        });
        own.further.insert("weight".to_owned(), weights.collect());
        assets.push((format!("C{}", place + 1), own));
    }
    assets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::StrategyDocument;
    use crate::lint::{LintFinding, ScenarioOutcome, lint_document};
    use std::collections::BTreeMap;

    fn outcomes(document: DocumentId, seed: u64) -> (StrategyDocument, BTreeMap<String, ScenarioOutcome>) {
        let spec = StrategyDocument::built_in(document).unwrap();
        let parameters = spec.default_parameters();
        let outcomes = scenarios(document, &parameters, seed)
            .unwrap()
            .into_iter()
            .map(|scenario| {
                let logs = run_reference(document, &parameters, &scenario.market, INITIAL_CAPITAL).unwrap();
                let outcome = ScenarioOutcome {
                    fired: fired_rules(&logs),
                    has_traded: logs.bars.iter().any(|bar| bar.signal != BarSignal::None),
                };
                (scenario.name, outcome)
            });
        let outcomes = outcomes.collect();
        (spec, outcomes)
    }

    #[test]
    fn every_rule_of_every_document_fires_and_one_that_is_silent_is_found() {
        for document in DocumentId::ALL {
            for seed in [20_260_400, 7, 1_000_003] {
                let (spec, outcomes) = outcomes(document, seed);
                assert_eq!(lint_document(&spec, &outcomes), [], "{document} from seed {seed}");
                for rule in &spec.rules {
                    let mut without = outcomes.clone();
                    for outcome in without.values_mut() {
                        outcome.fired.remove(rule);
                    }
                    let findings = lint_document(&spec, &without);
                    assert_eq!(findings, [LintFinding::SilentRule(rule.clone())], "{document}");
                }
            }
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_bars() {
        let parameters = StrategyDocument::built_in(DocumentId::S05)
            .unwrap()
            .default_parameters();
        let draw = |seed| scenarios(DocumentId::S05, &parameters, seed).unwrap();
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }
}
