//! Only a mask makes a number that may be shown: its makers are masking's own.
use ktd_masking::{Payload, MaskedNumber};

fn main() {
    let _ = Payload::from(MaskedNumber::new(0.0123, 4));
    let _ = Payload::from(MaskedNumber::gridded(0.0123));
}
