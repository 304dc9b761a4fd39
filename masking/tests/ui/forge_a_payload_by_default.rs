//! Nothing makes a payload out of nothing, or takes one apart to make another.
use ktd_masking::Payload;

fn main() {
    let _ = Payload::default();
    let Payload(_inside) = Payload::null();
}
