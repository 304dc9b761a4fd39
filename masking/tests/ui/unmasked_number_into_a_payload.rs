//! A return, a score or a factor tells a name as well as its code does, so no number of a market is a payload by itself.
use ktd_masking::Payload;

fn main() {
    let _: Payload = 0.0123_f64.into();
    let _ = Payload::optional(Some(0.0123_f64));
}
