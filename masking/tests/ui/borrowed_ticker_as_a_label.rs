//! A label lives for ever; the text of a ticker lives as long as the ticker.
use ktd_env::Ticker;
use ktd_masking::{Payload, Prompt};

fn label(ticker: &Ticker) -> Payload {
    Payload::label(ticker.reveal())
}

fn key(ticker: &Ticker) -> Payload {
    Payload::map([(ticker.reveal(), Payload::null())])
}

fn prompt(ticker: &Ticker) -> Prompt {
    Prompt::new().text(ticker.reveal())
}

fn main() {
    let ticker = Ticker::parse("SH600519").unwrap();
    let _ = (label(&ticker), key(&ticker), prompt(&ticker));
}
