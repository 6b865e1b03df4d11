//! Bucket bounds: Karmada's, computed as Prometheus' Go library does, and finer ones below.

/// Exponential bounds. Multiplied step by step like Go's `ExponentialBuckets`, so that the bounds are equal to the bit.
fn exponential(start: f64, factor: f64, count: usize) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(start), move |bound| Some(bound * factor)).take(count)
}

/// Durations of attempts and steps: Karmada's from 1 ms to 16 s, below them from 1 µs.
pub(super) fn attempts() -> impl Iterator<Item = f64> {
    exponential(0.000_001, 2.0, 10).chain(exponential(0.001, 2.0, 15))
}

/// Durations of extension points: Karmada's from 0.1 ms to 0.2 s, below them from 1 µs.
pub(super) fn extension_points() -> impl Iterator<Item = f64> {
    exponential(0.000_001, 2.0, 7).chain(exponential(0.000_1, 2.0, 12))
}

/// Durations of plugin calls: Karmada's from 10 µs to 22 ms, below them from 0.1 µs.
pub(super) fn plugins() -> impl Iterator<Item = f64> {
    exponential(0.000_000_1, 2.0, 7).chain(exponential(0.000_01, 1.5, 20))
}

/// Durations of requests over a network, from 1 ms to 16 s.
pub(super) fn requests() -> impl Iterator<Item = f64> {
    exponential(0.001, 2.0, 15)
}

/// Waits in the queue, from 1 ms to 9 minutes: a parked binding is tried again after 5.
pub(super) fn waits() -> impl Iterator<Item = f64> {
    exponential(0.001, 2.0, 20)
}
