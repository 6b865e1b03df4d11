#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

pub mod specified;

#[cfg(test)]
mod tests;
