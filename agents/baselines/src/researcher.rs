//! Looks at everything before it decides, as a thorough model would.

use crate::order::{Order, rebalance, targets};
use crate::seen::Seen;
use crate::{ChatModel, answer};
use ktd_tools::Tool;
use std::collections::BTreeSet;

/// Holds ten names of high momentum and low volatility and keeps them while they stand in the upper part of its screen.
///
/// Its research takes eight calls in five turns: the market and the account, a screen, three names in detail, a
/// comparison, and a check of its plan. It shows what a day of thorough work costs.
#[derive(Debug, Clone, Copy)]
pub struct Researcher;

const NAME_COUNT: usize = 10;
const SNAPSHOT_COUNT: usize = 3;
const COMPARED_COUNT: usize = 5;
/// What its screen does not show.
const COMPARED_BY: &str = r#""return_20d","return_60d","volatility_20","drawdown_60","HIGH_52W","ILLIQ""#;
const REASON: &str = "High momentum with low volatility.";
/// Half as many names again as it holds, so that a name that slips a little is kept.
const SCREEN: &str = r#"{"factors":[{"factor":"MOM_12_1","direction":"high"},{"factor":"RV_60","direction":"low"}],"top_k":15}"#;

impl ChatModel for Researcher {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let seen = Seen::read(request);
        if !seen.must_submit() {
            return next_question(&seen);
        }
        let orders = plan(&seen);
        if orders.is_empty() {
            return answer::hold(&seen, "Nothing seen speaks for a change.");
        }
        answer::submit(&seen, orders, "Holding strong and steady names.")
    }
}

/// The first question that has no answer yet.
fn next_question(seen: &Seen) -> Vec<u8> {
    let is_open = |tool: &str| seen.has_tool(tool) && seen.answers_of(tool).is_empty();
    let names = seen.candidates().texts("stock_id");
    if is_open(Tool::GetMarketContext.name()) {
        return answer::calls(
            seen,
            &[
                (Tool::GetMarketContext.name(), "{}"),
                (Tool::PortfolioState.name(), "{}"),
            ],
        );
    }
    if is_open(Tool::ScreenCandidates.name()) {
        return answer::call(seen, Tool::ScreenCandidates.name(), SCREEN);
    }
    if is_open(Tool::GetStockSnapshot.name()) && !names.is_empty() {
        let arguments = names.iter().take(SNAPSHOT_COUNT);
        let arguments: Vec<String> = arguments.map(|id| format!(r#"{{"stock_id":"{id}"}}"#)).collect();
        let calls = arguments
            .iter()
            .map(|text| (Tool::GetStockSnapshot.name(), text.as_str()));
        return answer::calls(seen, &calls.collect::<Vec<_>>());
    }
    if is_open(Tool::CompareCandidates.name()) && COMPARED_COUNT <= names.len() {
        let compared: Vec<String> = names
            .iter()
            .take(COMPARED_COUNT)
            .map(|id| format!("\"{id}\""))
            .collect();
        let arguments = format!(
            r#"{{"stock_ids":[{}],"dimensions":[{COMPARED_BY}]}}"#,
            compared.join(",")
        );
        return answer::call(seen, Tool::CompareCandidates.name(), &arguments);
    }
    if is_open(Tool::RiskCheck.name()) {
        let orders = plan(seen);
        // Without a plan it tries what selling a name would do.
        let tried = if orders.is_empty() { sale(seen) } else { orders };
        if !tried.is_empty() {
            return answer::call(seen, Tool::RiskCheck.name(), &targets(&tried));
        }
    }
    answer::say(seen, "I have seen enough to decide.")
}

fn sale(seen: &Seen) -> Vec<Order> {
    let last = seen.held().pop();
    last.iter().map(|id| Order::sell(id, REASON)).collect()
}

/// Orders towards the names held that still stand in the screen, filled up from its top.
fn plan(seen: &Seen) -> Vec<Order> {
    let ranked = seen.candidates().texts("stock_id");
    let held: BTreeSet<String> = seen.held().into_iter().collect();
    let (kept, new): (Vec<String>, Vec<String>) = ranked.into_iter().partition(|id| held.contains(id));
    let wanted: Vec<String> = kept.into_iter().chain(new).take(NAME_COUNT).collect();
    match seen.allowed() {
        Some(allowed) if !wanted.is_empty() => rebalance(seen, allowed, &wanted, REASON),
        Some(_) | None => Vec::new(),
    }
}
