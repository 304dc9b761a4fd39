//! Breaks the rules of the conversation in every way that real models do.

use crate::dice::Dice;
use crate::order::{Order, equal_weight_micro};
use crate::seen::Seen;
use crate::{ChatModel, answer};
use ktd_tools::{SUBMIT_ACTION, Tool};

/// Answers with bad JSON, wrong tools, impossible orders or prose, and now and then with a good order. Which of
/// them depends on the request's bytes alone.
#[derive(Debug, Clone, Copy)]
pub struct SchemaBreaker;

/// After this many answers it ends its research, so that tests need not wait for the budget.
const ANSWERS_MAX: usize = 3;

impl ChatModel for SchemaBreaker {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let seen = Seen::read(request);
        let mut dice = Dice::new(0, request);
        if seen.must_submit() {
            submit(&seen, &mut dice)
        } else {
            research(&seen, &mut dice)
        }
    }
}

fn research(seen: &Seen, dice: &mut Dice) -> Vec<u8> {
    if ANSWERS_MAX <= seen.answer_count() {
        return answer::say(seen, "Enough of this.");
    }
    match dice.below(5) {
        0 => answer::call(seen, Tool::ScreenCandidates.name(), "{'factors': [MOM_12_1]}"),
        1 => answer::call(seen, "read_tomorrows_paper", "{}"),
        2 => answer::call(
            seen,
            Tool::GetStockSnapshot.name(),
            r#"{"stock_id":"asset_9999","lookback":6000}"#,
        ),
        3 => answer::calls(
            seen,
            &[
                (Tool::PortfolioState.name(), ""),
                (Tool::PortfolioState.name(), "null"),
            ],
        ),
        _ => answer::screen_once(seen, "high", 30),
    }
}

fn submit(seen: &Seen, dice: &mut Dice) -> Vec<u8> {
    let name = dice.pick(&seen.names()).cloned().unwrap_or_default();
    let arguments = match dice.below(8) {
        0 => r#"{"orders":[{"stock_id":"#.to_owned(),
        1 => return answer::call(seen, "buy_stock", "{}"),
        2 => one_order(
            &name,
            r#""target_weight":0.05,"shares":100,"reason":"It looks good to me.""#,
        ),
        3 => one_order(&name, r#""target_weight":0.05"#),
        4 => one_order(
            "asset_9999",
            r#""target_weight":0.05,"reason":"It looks good to me.""#,
        ),
        5 => return answer::say(seen, "I would rather buy everything."),
        6 => return answer::calls(seen, &[(SUBMIT_ACTION, "{}"), (SUBMIT_ACTION, "{}")]),
        _ => return valid(seen, &name),
    };
    answer::call(seen, SUBMIT_ACTION, &arguments)
}

fn one_order(stock_id: &str, fields: &str) -> String {
    format!(
        r#"{{"orders":[{{"stock_id":"{stock_id}","side":"BUY","confidence":0.5,{fields}}}],"overall_reason":"Breaking things."}}"#
    )
}

/// A good order where it sees a name, else a good hold.
fn valid(seen: &Seen, name: &str) -> Vec<u8> {
    let orders = match seen.allowed() {
        Some(allowed) if !name.is_empty() => {
            let weight_micro = equal_weight_micro(allowed.max_positions, allowed);
            vec![Order::buy(name, weight_micro, "For once a good order.")]
        }
        Some(_) | None => Vec::new(),
    };
    answer::submit(seen, orders, "For once a good submission.")
}
