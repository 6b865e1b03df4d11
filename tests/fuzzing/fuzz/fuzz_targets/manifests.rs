//! `divvy_fuzzing::manifests` for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    divvy_fuzzing::manifests(bytes);
});
