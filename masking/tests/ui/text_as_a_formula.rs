//! Text of a file, or an idea of a model, is no formula: only a parsed tree is printed.
use ktd_masking::Payload;

fn main() {
    let idea = String::from("the reversal that 600519 showed in 2020");
    let _ = Payload::formula(&idea);
    let _ = Payload::formula(idea.as_str());
}
