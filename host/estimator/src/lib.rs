//! A client of Karmada's accurate estimators.
