//! Only a mask makes a number that may be seen: its makers are masking's own.
use ktd_masking::{Payload, Seen};

fn main() {
    let _ = Payload::from(Seen::new(0.0123, 4));
    let _ = Payload::from(Seen::gridded(0.0123));
}
