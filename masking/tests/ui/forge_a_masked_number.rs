//! Only a mask makes a number that may be shown.
use ktd_masking::{Payload, MaskedNumber};

fn main() {
    let _ = Payload::from(MaskedNumber { value: 0.0123, decimals: 4 });
}
