//! Part of the Divvy SDK.
