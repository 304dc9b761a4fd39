//! Learners and the one-switch benchmark against the golden set `leakage`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "a broken golden file fails the test, and a finished comparison is told"
)]

mod benchmark;
mod features;
mod learners;
mod market;
mod signals;

use ktd_kit::Need;
use ktd_kit::golden::golden_root;
use ktd_leakage::Switch;
use serde_json::Value;

/// The text of a file of the set, unpacked; `None` (told) where it is absent.
fn text(name: &str) -> Option<String> {
    let path = golden_root().join("leakage").join(name);
    let needed = Need::Golden("leakage");
    if !needed.is_there() || !path.is_file() {
        println!("passed over: {} is absent", path.display());
        return None;
    }
    Some(ktd_kit::golden::text(&path))
}

/// The document of a file of the set.
fn json(name: &str) -> Option<Value> {
    Some(serde_json::from_str(&text(name)?).unwrap())
}

/// The protocol of a name.
fn protocol(name: &str) -> Switch {
    serde_json::from_value(name.into()).unwrap()
}
