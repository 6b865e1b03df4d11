//! What a plugin hands over during an operation, as bytes: the worker writes them, and the host reads them once the operation is
//! over. The host believes none of them.

use divvy_framework_abi::reason::{FigureRow, Reason};
use divvy_framework_abi::service::Failure;
use divvy_framework_abi::{PluginText, Slice};

const LOG: u32 = 1;
const COUNT: u32 = 2;
const OBSERVE: u32 = 3;
const TEXT: u32 = 4;
const EXPLAIN: u32 = 5;
const FAIL: u32 = 6;
const DOCUMENT: u32 = 7;
const LEFT_OUT: u32 = 8;

/// The code that a worker answers for the first reason of an operation; the next ones get the next codes. The host replaces
/// them by its own, which are below.
pub(crate) const FIRST_PROVISIONAL: u32 = 1 << 31;

/// Something that a plugin handed over.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// A log record: level, module, message.
    Log(u32, PluginText<'a>, PluginText<'a>),
    /// An amount for a counter.
    Count(PluginText<'a>, u64),
    /// A value for a histogram.
    Observe(PluginText<'a>, f64),
    /// A text of a kind about a row.
    Text(u32, u32, PluginText<'a>),
    /// A reason as data.
    Explain(&'a Reason<'a>),
    /// A failure.
    Fail(&'a Failure<'a>),
    /// What the worker left out, because a call may not hand over as much.
    LeftOut(LeftOut),
}

/// Numbers of what a call handed over beyond the limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Reasons, explanations and notes.
    pub texts: u64,
    /// Texts that were cut.
    pub cut: u64,
    /// Figures of reasons.
    pub figures: u64,
    /// Log records.
    pub log_records: u64,
}

/// Writes events behind each other into memory that begins at an address.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    /// Bytes that there is room for.
    capacity: usize,
    lost: u64,
}

impl Writer {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            bytes: Vec::new(),
            capacity,
            lost: 0,
        }
    }

    /// What was written, and the number of bytes that were lost.
    pub(crate) fn finish(&mut self) -> (&[u8], u64) {
        (&self.bytes, std::mem::take(&mut self.lost))
    }

    pub(crate) fn clear(&mut self, capacity: usize) {
        self.bytes.clear();
        self.capacity = capacity;
        self.lost = 0;
    }

    /// Adds events that another writer wrote, or none of them.
    pub(crate) fn append(&mut self, events: &[u8]) {
        match self.lost == 0 && self.bytes.len() + events.len() <= self.capacity {
            true => self.bytes.extend_from_slice(events),
            false => self.lost += events.len() as u64,
        }
    }

    /// Writes one event, or nothing of it.
    fn event(&mut self, kind: u32, write: impl FnOnce(&mut Vec<u8>), needed: usize) {
        if self.lost > 0 || self.bytes.len() + 4 + needed > self.capacity {
            // What follows would be out of context.
            self.lost += (4 + needed) as u64;
            return;
        }
        self.bytes.extend(kind.to_ne_bytes());
        write(&mut self.bytes);
    }

    pub(crate) fn log(&mut self, level: u32, target: PluginText<'_>, message: PluginText<'_>) {
        let needed = 4 + text_size(target) + text_size(message);
        self.event(
            LOG,
            |bytes| {
                bytes.extend(level.to_ne_bytes());
                put_text(bytes, target);
                put_text(bytes, message);
            },
            needed,
        );
    }

    pub(crate) fn count(&mut self, name: PluginText<'_>, amount: u64) {
        self.event(
            COUNT,
            |bytes| {
                put_text(bytes, name);
                bytes.extend(amount.to_ne_bytes());
            },
            text_size(name) + 8,
        );
    }

    pub(crate) fn observe(&mut self, name: PluginText<'_>, value: f64) {
        self.event(
            OBSERVE,
            |bytes| {
                put_text(bytes, name);
                bytes.extend(value.to_ne_bytes());
            },
            text_size(name) + 8,
        );
    }

    pub(crate) fn text(&mut self, kind: u32, row: u32, text: PluginText<'_>) {
        self.event(
            TEXT,
            |bytes| {
                bytes.extend(kind.to_ne_bytes());
                bytes.extend(row.to_ne_bytes());
                put_text(bytes, text);
            },
            8 + text_size(text),
        );
    }

    pub(crate) fn explain(&mut self, reason: &Reason<'_>) {
        let figures = reason.figures.as_slice();
        let names: usize = figures.iter().map(|figure| text_size(figure.name) + 8).sum();
        self.event(
            EXPLAIN,
            |bytes| {
                for number in [
                    reason.row,
                    reason.cause,
                    reason.bound,
                    reason.remainder,
                    reason.decided_by,
                    figures.len() as u32,
                ] {
                    bytes.extend(number.to_ne_bytes());
                }
                for figure in figures {
                    put_text(bytes, figure.name);
                    bytes.extend(figure.value.to_ne_bytes());
                }
                put_text(bytes, reason.text);
            },
            24 + names + text_size(reason.text),
        );
    }

    pub(crate) fn fail(&mut self, failure: &Failure<'_>) {
        let texts = [failure.message, failure.path, failure.hint];
        self.event(
            FAIL,
            |bytes| {
                bytes.extend(failure.code.to_ne_bytes());
                bytes.extend(failure.requested.to_ne_bytes());
                bytes.extend(failure.available.to_ne_bytes());
                for text in texts {
                    put_text(bytes, text);
                }
            },
            20 + texts.into_iter().map(text_size).sum::<usize>(),
        );
    }

    pub(crate) fn left_out(&mut self, left_out: LeftOut) {
        let numbers = [left_out.texts, left_out.cut, left_out.figures, left_out.log_records];
        self.event(
            LEFT_OUT,
            |bytes| numbers.iter().for_each(|number| bytes.extend(number.to_ne_bytes())),
            size_of_val(&numbers),
        );
    }

    pub(crate) fn document(&mut self, text: &str) {
        let text = PluginText::new(text);
        self.event(DOCUMENT, |bytes| put_text(bytes, text), text_size(text));
    }
}

/// Size of a text with its length.
fn text_size(text: PluginText<'_>) -> usize {
    8 + text.bytes().len()
}

fn put_text(bytes: &mut Vec<u8>, text: PluginText<'_>) {
    bytes.extend((text.bytes().len() as u64).to_ne_bytes());
    bytes.extend_from_slice(text.bytes());
}

/// Bytes that are no events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Reads events that a worker has written. `take` gets each and answers a text with a code; the answer to the reasons among them
/// is returned, in their order. Documents are put into `documents`.
pub(crate) fn read(
    bytes: &[u8],
    take: &mut dyn FnMut(Event<'_>) -> u32,
    documents: &mut Vec<String>,
) -> Result<Vec<u32>, Malformed> {
    let mut rest = Reader(bytes);
    let mut answers = Vec::new();
    while !rest.0.is_empty() {
        match rest.u32()? {
            LOG => {
                let level = rest.u32()?;
                let (target, message) = (rest.text()?, rest.text()?);
                take(Event::Log(level, target, message));
            }
            COUNT => {
                let name = rest.text()?;
                take(Event::Count(name, u64::from_ne_bytes(rest.take()?)));
            }
            OBSERVE => {
                let name = rest.text()?;
                take(Event::Observe(name, f64::from_ne_bytes(rest.take()?)));
            }
            TEXT => {
                let (kind, row) = (rest.u32()?, rest.u32()?);
                answers.push(take(Event::Text(kind, row, rest.text()?)));
            }
            EXPLAIN => rest.explain(take)?,
            FAIL => {
                let code = rest.u32()?;
                let (requested, available) = (i64::from_ne_bytes(rest.take()?), i64::from_ne_bytes(rest.take()?));
                let (message, path, hint) = (rest.text()?, rest.text()?, rest.text()?);
                take(Event::Fail(&Failure {
                    code,
                    message,
                    path,
                    hint,
                    requested,
                    available,
                    ..Failure::DEFAULT
                }));
            }
            LEFT_OUT => {
                let mut number = || rest.take().map(u64::from_ne_bytes);
                let left_out = LeftOut {
                    texts: number()?,
                    cut: number()?,
                    figures: number()?,
                    log_records: number()?,
                };
                take(Event::LeftOut(left_out));
            }
            DOCUMENT => documents.push(rest.text()?.read().into_owned()),
            _ => return Err(Malformed),
        }
    }
    Ok(answers)
}

/// What has not been read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const BYTES: usize>(&mut self) -> Result<[u8; BYTES], Malformed> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*first)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.take().map(u32::from_ne_bytes)
    }

    fn text(&mut self) -> Result<PluginText<'a>, Malformed> {
        let length = usize::try_from(u64::from_ne_bytes(self.take()?)).map_err(|_| Malformed)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(PluginText::from_bytes(text))
    }

    fn explain(&mut self, take: &mut dyn FnMut(Event<'_>) -> u32) -> Result<(), Malformed> {
        let (row, cause, bound) = (self.u32()?, self.u32()?, self.u32()?);
        let (remainder, decided_by, count) = (self.u32()?, self.u32()?, self.u32()?);
        let mut figures = Vec::new();
        for _ in 0..count {
            let name = self.text()?;
            figures.push(FigureRow {
                name,
                value: i64::from_ne_bytes(self.take()?),
            });
        }
        let text = self.text()?;
        take(Event::Explain(&Reason {
            row,
            cause,
            bound,
            remainder,
            decided_by,
            figures: Slice::new(&figures),
            text,
            ..Reason::DEFAULT
        }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every event in words.
    fn words(event: Event<'_>) -> String {
        match event {
            Event::Log(level, target, message) => format!("log {level} {} {}", target.read(), message.read()),
            Event::Count(name, amount) => format!("count {} {amount}", name.read()),
            Event::Observe(name, value) => format!("observe {} {value}", name.read()),
            Event::Text(kind, row, text) => format!("text {kind} {row} {}", text.read()),
            Event::Explain(reason) => {
                let figures = reason.figures.as_slice().iter();
                let figures: Vec<String> = figures
                    .map(|figure| format!("{}={}", figure.name.read(), figure.value))
                    .collect();
                format!(
                    "explain {} {} {figures:?} {}",
                    reason.row,
                    reason.cause,
                    reason.text.read()
                )
            }
            Event::LeftOut(left_out) => format!("left out {left_out:?}"),
            Event::Fail(failure) => format!(
                "fail {:#x} {} {} {} {} {}",
                failure.code,
                failure.message.read(),
                failure.path.read(),
                failure.hint.read(),
                failure.requested,
                failure.available
            ),
        }
    }

    fn everything() -> Writer {
        let mut writer = Writer::new(10_000);
        writer.log(3, PluginText::new("module"), PluginText::new("message"));
        writer.count(PluginText::new("calls"), 7);
        writer.observe(PluginText::new("sizes"), 0.5);
        writer.text(1, 4, PluginText::new("too far"));
        writer.explain(&Reason {
            row: 9,
            cause: 2,
            figures: Slice::new(&[FigureRow {
                name: PluginText::new("share"),
                value: -1,
            }]),
            text: PluginText::from_bytes(b"a\xff"),
            ..Reason::DEFAULT
        });
        writer.fail(&Failure {
            code: 0x10001,
            message: PluginText::new("no room"),
            requested: 5,
            available: 3,
            ..Failure::DEFAULT
        });
        writer.left_out(LeftOut {
            texts: 3,
            log_records: 4,
            ..LeftOut::default()
        });
        writer.document("{}");
        writer
    }

    #[test]
    fn events_are_read_as_they_were_written() {
        let mut writer = everything();
        let (mut said, mut documents) = (Vec::new(), Vec::new());
        let (bytes, lost) = writer.finish();
        let answers = read(
            bytes,
            &mut |event| {
                said.push(words(event));
                17
            },
            &mut documents,
        );
        assert_eq!(answers, Ok(vec![17]));
        assert_eq!(lost, 0);
        assert_eq!(documents, ["{}"]);
        let expected = [
            "log 3 module message",
            "count calls 7",
            "observe sizes 0.5",
            "text 1 4 too far",
            "explain 9 2 [\"share=-1\"] a\u{fffd}",
            "fail 0x10001 no room   5 3",
            "left out LeftOut { texts: 3, cut: 0, figures: 0, log_records: 4 }",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn bytes_that_a_worker_made_up_are_refused_or_read_but_never_harm() {
        let mut writer = everything();
        let bytes = writer.finish().0.to_vec();
        let refused = |bytes: &[u8]| read(bytes, &mut |_| 0, &mut Vec::new()).is_err();
        // A part that ends with an event is fine, every other is not.
        let whole = (0..=bytes.len()).filter(|end| !refused(&bytes[..*end])).count();
        assert_eq!(whole, 9);
        for place in 0..bytes.len() {
            for value in [0, 1, 127, 255] {
                let mut changed = bytes.clone();
                changed[place] = value;
                let _read = refused(&changed);
            }
        }
    }

    #[test]
    fn events_without_room_are_counted() {
        let mut writer = Writer::new(40);
        writer.count(PluginText::new("calls"), 7);
        writer.count(PluginText::new("calls"), 7);
        writer.count(PluginText::EMPTY, 7);
        let (bytes, lost) = writer.finish();
        assert_eq!((bytes.len(), lost), (25, 45));
    }
}
