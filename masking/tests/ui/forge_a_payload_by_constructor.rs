//! The doors for run-time text and bare numbers are masking's own.
use ktd_masking::Payload;

fn main() {
    let _ = Payload::shown(String::from("SH600519"));
    let _ = Payload::integer(600_519);
    let _ = Payload::number(1688.0, 2);
}
