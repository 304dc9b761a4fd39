//! The door for a model's own weight takes no weight of the account, which is a price in disguise.
use ktd_masking::Payload;

fn main() {
    let _ = Payload::echoed_weight(0.0512_f64);
}
