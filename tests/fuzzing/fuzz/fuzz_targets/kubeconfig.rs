//! `divvy_fuzzing::kubeconfig` for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    divvy_fuzzing::kubeconfig(bytes);
});
