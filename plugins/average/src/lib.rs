#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

pub mod average;

#[cfg(test)]
mod tests;
