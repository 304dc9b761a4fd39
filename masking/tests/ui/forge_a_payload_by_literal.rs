//! A payload has no public field, and what it holds has no public name.
use ktd_masking::Payload;

fn main() {
    let _ = Payload("SH600519");
    let _ = ktd_masking::payload::Node::Shown(String::from("SH600519"));
}
