//! A trading date has no text form.
fn main() {
    let date = ktd_env::TradeDate::parse("2024-04-01").unwrap();
    let _ = format!("{date}");
    let _ = date.to_string();
}
