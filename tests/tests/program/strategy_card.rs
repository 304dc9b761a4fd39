//! Cards of strategies, as tests have models send them, and the commands of `ktd strategy-code`.

use serde_json::{Value, json};

/// A verb of every study, or a command of strategies; a replay makes its works again.
pub(crate) fn strategy_command<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let is_of_all = arguments
        .first()
        .is_some_and(|verb| ["plan", "report", "replay"].contains(verb));
    let own: &[&str] = if is_of_all { &[] } else { &["strategy-code"] };
    let deep: &[&str] = if arguments.first() == Some(&"replay") && !arguments.contains(&"--deep") {
        &["--deep"]
    } else {
        &[]
    };
    [own, arguments, deep].concat()
}

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
