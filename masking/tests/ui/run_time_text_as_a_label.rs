//! Text made at run time does not live for ever either.
use ktd_masking::Payload;

fn main() {
    let text = format!("SH{}", 600_519);
    let _ = Payload::label(&text);
}
