#![no_main]

use std::panic::set_hook;

// The library of Parquet panics at some kinds of damage, which the reader catches: the fuzzer's hook would end the process
// before it can.
libfuzzer_sys::fuzz_target!(
    init: set_hook(Box::new(|panic| {
        let is_of_library = panic.location().is_some_and(|place| place.file().contains("/parquet-"));
        if !is_of_library {
            eprintln!("{panic}");
        }
    })),
    |input: &[u8]| ktd_fuzz::run("parquet_panel", input)
);
