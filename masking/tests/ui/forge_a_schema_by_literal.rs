//! A schema becomes text for a model, so it is made from a type and from nothing else.
use ktd_masking::{Payload, Schema};

fn main() {
    let schema = Schema(serde_json::json!({ "const": "SH600519" }));
    let _ = Payload::from(&schema);
}
