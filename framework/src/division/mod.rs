//! Arithmetic that divides replicas.
