//! Run-time text is no payload.
use ktd_masking::Payload;

fn main() {
    let text = String::from("SH600519");
    let _: Payload = text.clone().into();
    let _ = Payload::map([("stock_id", text.clone())]);
    let _ = Payload::from(text.as_str());
    let _ = ktd_masking::Prompt::from(text);
}
