#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

pub mod static_weight;

#[cfg(test)]
mod tests;
