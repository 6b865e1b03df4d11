#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

pub mod priority_aggregated;

#[cfg(test)]
mod tests;
