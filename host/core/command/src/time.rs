//! The time for which a command decides.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use divvy_karmada::api::Timestamp;
use divvy_scheduler::profile::Profile;

/// The time of the decisions.
#[derive(Debug, Clone, Default, Args)]
pub struct TimeArguments {
    /// Decide as of this time instead of now (RFC 3339, or milliseconds since 1970), for plugins that read the time
    #[arg(long, value_name = "TIME", value_parser = milliseconds, allow_hyphen_values = true)]
    time: Option<i64>,
}

impl TimeArguments {
    /// The time for which a profile decides: the requested one, or that of the wall clock if a plugin needs it. Otherwise
    /// none, so that recordings of the same decisions are the same.
    pub fn if_needed(&self, profile: &Profile) -> Option<i64> {
        self.time.or_else(|| profile.needs_time().then(|| self.milliseconds()))
    }

    /// The time that a page shows, in milliseconds since 1970: the requested one, or that of the wall clock. `SOURCE_DATE_EPOCH` takes
    /// the place of the clock, as in builds that can be repeated.
    pub fn date(&self) -> i64 {
        let fixed = || {
            let text = std::env::var("SOURCE_DATE_EPOCH").ok()?;
            text.trim().parse::<i64>().ok()?.checked_mul(1000)
        };
        self.time.or_else(fixed).unwrap_or_else(|| self.milliseconds())
    }

    /// The time, in milliseconds since 1970: the requested one, or that of the wall clock. A command calls this once, so
    /// that all its decisions are made as of one time.
    pub fn milliseconds(&self) -> i64 {
        self.time.unwrap_or_else(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
    }
}

/// Parses a time: RFC 3339, or milliseconds since 1970.
pub fn milliseconds(text: &str) -> Result<i64, String> {
    if let Ok(milliseconds) = text.parse() {
        return Ok(milliseconds);
    }
    let timestamp: Result<Timestamp, _> = text.parse();
    let timestamp = timestamp.map_err(|error| format!("{error}; milliseconds since 1970 are accepted as well"))?;
    Ok(timestamp.milliseconds())
}
