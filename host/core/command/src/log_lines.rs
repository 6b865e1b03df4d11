//! The lines of a log: each message is one line, whatever texts are in it, and no plugin fills the log.
//!
//! Texts of plugins, of objects and of errors are parts of messages. A line break in one would begin a line that looks like a message of
//! the scheduler, and control characters would act on the terminal that shows it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anstyle::Style;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

use crate::style;
use crate::text::is_control;

/// Target of the messages of all plugins. That of one is below it.
const PLUGINS: &str = "divvy::plugin::";
/// Bytes of log that a plugin may have at once, and in the seconds after it fewer by what it has had.
const BURST: u64 = 4 << 20;
/// Bytes of log that a plugin may have per second in the long run.
const PER_SECOND: u64 = 256 << 10;

/// Form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineForm {
    /// Text, with colours or without.
    Text {
        /// True if the word for the level has a colour.
        has_colour: bool,
    },
    /// One JSON object per line.
    Json,
}

/// Writes the messages of a log to standard error.
#[derive(Debug)]
pub struct LogLines {
    form: LineForm,
    plugins: Mutex<BTreeMap<String, Allowance>>,
}

/// Writes one message.
#[derive(Debug)]
pub struct LogLine<'a> {
    lines: &'a LogLines,
    /// The plugin whose message it is.
    plugin: Option<String>,
    level: Option<Level>,
}

impl LogLines {
    /// Lines of a form.
    pub fn new(form: LineForm) -> Self {
        Self {
            form,
            plugins: Mutex::default(),
        }
    }

    /// What is written for a message, given as the formatter wrote it; nothing if its plugin has had more than it may.
    fn written<'m>(&self, plugin: Option<&str>, message: &'m str, now: Instant) -> Cow<'m, str> {
        let allowed = plugin.map_or(Allowed::Yes, |plugin| {
            let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
            let allowance = plugins.entry(plugin.to_owned()).or_insert_with(|| Allowance::new(now));
            allowance.take(message.len() as u64, now)
        });
        match (allowed, plugin) {
            (Allowed::Yes, _) => self.line(message),
            (Allowed::NoMore, Some(plugin)) => Cow::Owned(self.no_more(plugin)),
            (Allowed::NoMore | Allowed::No, _) => Cow::Borrowed(""),
        }
    }

    /// A message as one line.
    fn line<'m>(&self, message: &'m str) -> Cow<'m, str> {
        let (text, end) = message.strip_suffix('\n').map_or((message, ""), |text| (text, "\n"));
        // Nearly all messages are of this kind.
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.contains(is_control) {
            return Cow::Borrowed(message);
        }
        let mut line = String::with_capacity(message.len() + 16);
        for character in text.chars() {
            match (character, self.form) {
                ('\n' | '\t', _) => line.push(' '),
                (control, LineForm::Text { .. }) if is_control(control) => line.extend(control.escape_default()),
                // What may be there in JSON has this escape.
                (control, LineForm::Json) if is_control(control) => {
                    line.push_str(&format!("\\u{:04x}", u32::from(control)));
                }
                (plain, _) => line.push(plain),
            }
        }
        line.push_str(end);
        Cow::Owned(line)
    }

    /// A line with the word for its level in colour. Nothing before the word has letters but the time.
    fn coloured<'m>(&self, line: Cow<'m, str>, level: Option<Level>) -> Cow<'m, str> {
        let (LineForm::Text { has_colour: true }, Some(level)) = (self.form, level) else {
            return line;
        };
        let Some((before, after)) = line.split_once(level.as_str()) else {
            return line;
        };
        let style = style_of(level);
        Cow::Owned(format!("{before}{style}{level}{style:#}{after}"))
    }

    /// The line that says that a plugin's messages are left out from here on.
    fn no_more(&self, plugin: &str) -> String {
        let message = format!(
            "further log records are left out: a plugin may log {} MiB at once, and {} KiB per second",
            BURST >> 20,
            PER_SECOND >> 10
        );
        match self.form {
            LineForm::Text { .. } => format!(" WARN {message} plugin={plugin:?}\n"),
            LineForm::Json => {
                let line = serde_json::json!({ "level": "WARN", "message": message, "plugin": plugin });
                format!("{line}\n")
            }
        }
    }
}

/// Colour of the word for a level.
fn style_of(level: Level) -> Style {
    match level {
        Level::ERROR => style::BAD,
        Level::WARN => style::NOTABLE,
        Level::INFO => style::GOOD,
        Level::DEBUG | Level::TRACE => style::FAINT,
    }
}

/// What a plugin may still log.
#[derive(Debug)]
struct Allowance {
    bytes: u64,
    at: Instant,
    /// True if the last message was left out.
    is_spent: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Allowed {
    Yes,
    /// This is the first message that is left out.
    NoMore,
    No,
}

impl Allowance {
    fn new(now: Instant) -> Self {
        Self {
            bytes: BURST,
            at: now,
            is_spent: false,
        }
    }

    /// Takes the bytes of a message. Once there are too few, a second has to pass before there are any.
    fn take(&mut self, bytes: u64, now: Instant) -> Allowed {
        let since = now.saturating_duration_since(self.at);
        if since >= Duration::from_secs(1) {
            let gained = since.as_secs().saturating_mul(PER_SECOND);
            self.bytes = self.bytes.saturating_add(gained).min(BURST);
            self.at = now;
            self.is_spent = false;
        }
        match self.bytes.checked_sub(bytes) {
            Some(left) if !self.is_spent => {
                self.bytes = left;
                Allowed::Yes
            }
            _ if std::mem::replace(&mut self.is_spent, true) => Allowed::No,
            _ => Allowed::NoMore,
        }
    }
}

impl<'a> MakeWriter<'a> for LogLines {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LogLine {
            lines: self,
            plugin: None,
            level: None,
        }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Self::Writer {
        LogLine {
            lines: self,
            plugin: metadata.target().strip_prefix(PLUGINS).map(str::to_owned),
            level: Some(*metadata.level()),
        }
    }
}

impl Write for LogLine<'_> {
    /// Writes a message, which the formatter hands over whole.
    fn write(&mut self, message: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(message);
        let written = self.lines.written(self.plugin.as_deref(), &text, Instant::now());
        let written = self.lines.coloured(written, self.level);
        io::stderr().lock().write_all(written.as_bytes())?;
        Ok(message.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(form: LineForm, message: &str) -> String {
        LogLines::new(form).written(None, message, Instant::now()).into_owned()
    }

    const PLAIN: LineForm = LineForm::Text { has_colour: false };
    const COLOURED: LineForm = LineForm::Text { has_colour: true };

    #[test]
    fn a_message_is_one_line_without_control_characters() {
        for (message, expected) in [
            (" WARN é is full\n", " WARN é is full\n"),
            (" WARN done\nERROR all is lost\n", " WARN done ERROR all is lost\n"),
            (" WARN done\r\u{202e}\u{85}\n", " WARN done\\r\\u{202e}\\u{85}\n"),
            (" WARN \u{1b}[31mred\u{1b}[0m\n", " WARN \\u{1b}[31mred\\u{1b}[0m\n"),
            ("\n\n", " \n"),
            ("", ""),
        ] {
            assert_eq!(line(PLAIN, message), expected, "{message:?}");
        }
    }

    #[test]
    fn the_word_for_the_level_alone_has_a_colour() {
        let coloured = |form: LineForm, message: &'static str| {
            let lines = LogLines::new(form);
            let line = lines.written(None, message, Instant::now());
            lines.coloured(line, Some(Level::WARN)).into_owned()
        };
        let message = "2026-03-14T02:30:00Z  WARN a WARN \u{1b}[31mb\n";
        assert_eq!(
            coloured(COLOURED, message),
            "2026-03-14T02:30:00Z  \u{1b}[33mWARN\u{1b}[0m a WARN \\u{1b}[31mb\n"
        );
        let plain = "2026-03-14T02:30:00Z  WARN a WARN \\u{1b}[31mb\n";
        assert_eq!(coloured(PLAIN, message), plain);
        assert_eq!(
            coloured(LineForm::Json, "{\"level\":\"WARN\"}\n"),
            "{\"level\":\"WARN\"}\n"
        );
        // A plugin that may log no more has a line of another level.
        assert_eq!(coloured(COLOURED, "INFO a\n"), "INFO a\n");
    }

    #[test]
    fn json_means_the_same_with_escapes() {
        let value = serde_json::json!({ "message": "a\u{202e}b\u{7f}\u{85}\nc\u{1b}[31m" });
        let written = line(LineForm::Json, &format!("{value}\n"));
        assert!(!written.trim_end().contains(is_control), "{written}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).ok(), Some(value));
    }

    #[test]
    fn a_plugin_that_fills_the_log_is_left_out_with_a_word_and_others_are_not() {
        let (lines, begun) = (LogLines::new(PLAIN), Instant::now());
        let message = format!("{}\n", "x".repeat(999));
        let mut written = 0;
        let mut words = Vec::new();
        // Ten seconds of a thousand messages each.
        for number in 0..10_000_u64 {
            let now = begun + Duration::from_millis(number);
            let text = lines.written(Some("loud"), &message, now);
            match text.starts_with(" WARN further log records are left out: ") {
                true => words.push(text.into_owned()),
                false => written += text.len() as u64,
            }
            assert_eq!(lines.written(Some("other"), "a\n", now), "a\n");
            assert_eq!(lines.written(None, &message, now), message);
        }
        assert!(written <= BURST + 10 * PER_SECOND, "{written}");
        assert!(written >= BURST, "{written}");
        assert!((1..=10).contains(&words.len()), "{words:?}");
        assert!(words[0].ends_with(" plugin=\"loud\"\n"), "{words:?}");
    }
}
