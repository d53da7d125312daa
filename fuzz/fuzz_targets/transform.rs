#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rowferry::fuzzing::transform(data));
