//! Cards of strategies, as tests have models send them.

use serde_json::{Value, json};

/// A card that says what the document that `ktd strategy-code show` has shown says.
pub(crate) fn strategy_card(id: &str, shown: &Value) -> Value {
    json!({
        "strategy_id": id,
        "entry_function": {"file": "strategy.py", "class_or_function": "Strategy"},
        "core_logic": {"strategy_family": "f", "entry_rule": "e", "exit_rule": "x", "position_sizing_rule": "p"},
        "parameters": shown["parameters"],
        "constraints": shown["constraints"],
        "output_specification": {},
    })
}
