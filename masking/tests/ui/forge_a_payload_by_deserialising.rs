//! A payload cannot be read back from text.
use ktd_masking::Payload;

fn main() {
    let _: Payload = serde_json::from_str("\"SH600519\"").unwrap();
}
