//! The digits of a code are a number, so a bare number is no payload.
use ktd_masking::Payload;

fn main() {
    let _: Payload = 600_519_i64.into();
    let _ = Payload::from(600_519_u32);
    let _ = Payload::from(1688.0_f64);
    let _ = Payload::optional(Some(600_519_usize));
}
