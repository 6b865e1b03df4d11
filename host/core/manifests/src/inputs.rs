//! The inputs: files, folders, standard input, and text in memory.
//!
//! Folders are searched recursively, in the order of names, for `.yaml`, `.yml` and `.json`. Hidden entries are
//! skipped, because in a mounted ConfigMap they contain every file a second time.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use divvy_spanned::{Cause, Problem, Warning};

use super::reader::Reader;
use super::{Manifests, ReadOptions};

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Standard,
    /// A file or folder.
    Path(PathBuf),
    /// Text in memory, and a name for it in messages.
    Text(PathBuf, String),
}

impl From<&str> for Input {
    fn from(argument: &str) -> Self {
        if argument == "-" {
            Self::Standard
        } else {
            Self::Path(argument.into())
        }
    }
}

/// Extensions of the files in a folder that are read as manifests.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Number of bytes that decide whether an input is text.
const FIRST_BLOCK: u64 = 1 << 13;

/// Reads all inputs in order. `standard` is the stream for [`Input::Standard`].
///
/// Never fails: unreadable and invalid inputs become problems of the result.
pub fn read(inputs: &[Input], standard: &mut dyn Read, options: &ReadOptions) -> Manifests {
    let mut reader = Reader::new(options);
    for input in inputs {
        match input {
            Input::Standard => read_standard(standard, &mut reader),
            Input::Path(path) if path.is_dir() => read_folder(path, &mut reader),
            Input::Path(path) if !path.exists() => {
                reader.problem(Problem::unlocated(Cause::NotFound { path: path.clone() }));
            }
            Input::Path(path) => read_file(path, &mut reader),
            Input::Text(name, text) => read_whole(name, text, &mut reader),
        }
    }
    if reader.is_empty() {
        reader.problem(Problem::unlocated(Cause::NoObject));
    }
    reader.finish()
}

/// Reads a text as if it were a file with this name.
pub fn read_text(file: impl AsRef<Path>, text: &str, options: &ReadOptions) -> Manifests {
    let mut reader = Reader::new(options);
    read_whole(file.as_ref(), text, &mut reader);
    reader.finish()
}

fn read_folder(folder: &Path, reader: &mut Reader<'_>) {
    if !read_below(folder, &mut Vec::new(), reader) {
        reader.warn(
            Warning::new(format!("the folder `{}` holds no manifest", folder.display()))
                .with_hint("manifests end in `.yaml`, `.yml` or `.json`"),
        );
    }
}

/// Reads a file of a folder, or everything below a folder in it. `above` has the devices and numbers of the folders around it. True if there
/// is a manifest.
fn read_below(path: &Path, above: &mut Vec<(u64, u64)>, reader: &mut Reader<'_>) -> bool {
    let found = read_entry(path, above, reader);
    found.unwrap_or_else(|error| {
        unreadable(path, &error, reader);
        false
    })
}

fn read_entry(path: &Path, above: &mut Vec<(u64, u64)>, reader: &mut Reader<'_>) -> io::Result<bool> {
    let kind = fs::metadata(path)?;
    if !kind.is_dir() {
        return Ok(read_member(path, kind.is_file(), reader));
    }
    let identity = (kind.dev(), kind.ino());
    if above.contains(&identity) {
        return Err(io::Error::other("it leads back to a folder that it is in"));
    }
    let names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    names.sort_unstable();
    above.push(identity);
    let mut found = false;
    for name in names {
        found |= read_below(&path.join(name), above, reader);
    }
    above.pop();
    Ok(found)
}

/// Reads a member of a folder that is not a folder, if its name is that of a manifest. True if it is one.
fn read_member(path: &Path, is_file: bool, reader: &mut Reader<'_>) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
        return false;
    }
    if is_file {
        read_file(path, reader);
    } else {
        // Opening a pipe would wait for a writer.
        let path = path.display();
        reader.warn(
            Warning::new(format!("`{path}` is not a regular file and is left out"))
                .with_hint(format!("to read a pipe or a device, pass it itself: `-f {path}`")),
        );
    }
    is_file
}

/// Reads standard input. It must hold an object even beside other inputs: a command that failed writes nothing.
fn read_standard(stream: &mut dyn Read, reader: &mut Reader<'_>) {
    let before = reader.objects();
    let name = Path::new("-");
    read_from(name, stream, reader, |text, reader| read_whole(name, text, reader));
    if reader.objects() == before && reader.is_sound() {
        let mut problem = Problem::unlocated(Cause::NoObject);
        problem.hint = Some("standard input is empty: did the command that writes to it fail?".to_owned());
        reader.problem(problem);
    }
}

fn read_file(path: &Path, reader: &mut Reader<'_>) {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return unreadable(path, &error, reader),
    };
    reader.opened(path);
    // Anything but a list is read again from its beginning, which only a file has.
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    if is_file && reader.list(path, &mut file) {
        return;
    }
    if let (true, Err(error)) = (is_file, file.rewind()) {
        return unreadable(path, &error, reader);
    }
    read_from(path, &mut file, reader, |text, reader| match is_file {
        true => reader.text(path, text),
        false => read_whole(path, text, reader),
    });
}

/// Reads a text that is in memory.
fn read_whole(file: &Path, text: &str, reader: &mut Reader<'_>) {
    if !reader.list(file, &mut text.as_bytes()) {
        reader.text(file, text);
    }
}

fn unreadable(path: &Path, error: &dyn Error, reader: &mut Reader<'_>) {
    let (path, reason) = (path.to_owned(), error.to_string());
    reader.problem(Problem::unlocated(Cause::Unreadable { path, reason }));
}

/// True if the beginning of an input may be text: no NUL, and UTF-8 up to a character that the end may have cut.
fn is_text(block: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(block) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && !block.contains(&0)
}

/// Reads a stream as a whole, and passes it on if it is text.
fn read_from<'options>(
    path: &Path,
    stream: &mut dyn Read,
    reader: &mut Reader<'options>,
    read_text: impl FnOnce(&str, &mut Reader<'options>),
) {
    let bytes_max = reader.options().bytes_max;
    let mut bytes = Vec::new();
    // The first block shows whether the input is text, so that a device or a disk image is not read to the limit.
    let mut result = stream.take(FIRST_BLOCK).read_to_end(&mut bytes);
    if result.is_ok() && is_text(&bytes) {
        // Reading one byte beyond the limit distinguishes a full input from a larger, possibly endless one.
        let rest = bytes_max.saturating_add(1).saturating_sub(FIRST_BLOCK);
        result = stream.take(rest).read_to_end(&mut bytes);
    }
    if let Err(error) = result {
        return unreadable(path, &error, reader);
    }
    if u64::try_from(bytes.len()).is_ok_and(|length| length > bytes_max) {
        let path = path.to_owned();
        return reader.problem(Problem::unlocated(Cause::TooLarge { path, bytes_max }));
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => {
            let path = path.to_owned();
            let before = text.split_once('\0').map_or("", |(before, _)| before);
            let mut problem = Problem::unlocated(Cause::Binary { path });
            // A device or a disk image has no lines.
            problem.hint = (!before.is_empty()).then(|| {
                let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
                format!("the first one is on line {line}")
            });
            reader.problem(problem);
        }
        Ok(text) => read_text(text.strip_prefix('\u{feff}').unwrap_or(&text), reader),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let before = &error.as_bytes()[..offset];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            let path = path.to_owned();
            let mut problem = Problem::unlocated(Cause::NotUtf8 { path, offset, line });
            problem.hint = match error.as_bytes() {
                [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("the file is UTF-16: save it as UTF-8".to_owned()),
                [0x1f, 0x8b, ..] => Some("the file is compressed: unpack it first".to_owned()),
                _ => None,
            };
            reader.problem(problem);
        }
    }
}
