//! Cards of strategies, as tests have models send them, and the commands of `ktd strategy-code`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::{Folder, quiet, refused};
use serde_json::{Value, json};

/// A verb of every study, or a command of strategies.
pub(crate) fn strategy_command<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let is_of_all = arguments
        .first()
        .is_some_and(|verb| ["plan", "report", "replay"].contains(verb));
    let own: &[&str] = if is_of_all { &[] } else { &["strategy-code"] };
    [own, arguments].concat()
}

/// The document that a command prints, which ends with this code.
#[track_caller]
pub(crate) fn told_of(folder: &Folder, arguments: &[&str], code: i32) -> Value {
    let arguments = [vec!["--json"], strategy_command(arguments)].concat();
    let output = quiet(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The document of a command that succeeds.
#[track_caller]
pub(crate) fn json_of(folder: &Folder, arguments: &[&str]) -> Value {
    told_of(folder, arguments, 0)
}

/// What a command that ends with this code says.
#[track_caller]
pub(crate) fn error_of(folder: &Folder, arguments: &[&str], code: i32) -> String {
    refused(&quiet(folder.path(), &strategy_command(arguments)), code)
}

/// A card that says what the document that `ktd strategy-code show` has shown says.
pub(crate) fn strategy_card(folder: &Folder, document: &str, id: &str) -> Value {
    let shown = json_of(folder, &["show", document]);
    json!({
        "strategy_id": id,
        "entry_function": {"file": "strategy.py", "class_or_function": "Strategy"},
        "core_logic": {"strategy_family": "f", "entry_rule": "e", "exit_rule": "x", "position_sizing_rule": "p"},
        "parameters": shown["parameters"],
        "constraints": shown["constraints"],
        "output_specification": {},
    })
}
