//! A ticker has no text form.
fn main() {
    let ticker = ktd_env::Ticker::parse("SH600519").unwrap();
    let _ = format!("{ticker}");
    let _ = ticker.to_string();
}
