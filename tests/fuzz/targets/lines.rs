#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ktd_fuzz::run("lines", input));
