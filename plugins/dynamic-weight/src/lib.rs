#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

pub mod dynamic_weight;

#[cfg(test)]
mod tests;
