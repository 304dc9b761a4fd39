//! A trading date has no serialisation.
fn main() {
    let date = ktd_env::TradeDate::parse("2024-04-01").unwrap();
    let _ = serde_json::to_string(&date);
}
