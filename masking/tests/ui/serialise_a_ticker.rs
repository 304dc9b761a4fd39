//! A ticker has no serialisation.
fn main() {
    let ticker = ktd_env::Ticker::parse("SH600519").unwrap();
    let _ = serde_json::to_string(&ticker);
}
