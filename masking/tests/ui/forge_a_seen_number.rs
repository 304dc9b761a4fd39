//! Only a mask makes a number that may be seen.
use ktd_masking::{Payload, Seen};

fn main() {
    let _ = Payload::from(Seen { value: 0.0123, decimals: 4 });
}
