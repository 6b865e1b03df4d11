//! Tables in CSV: a header, then one row per line. The first column has the keys, unless the profile names another.
//! Columns that the profile does not name are ignored, and an empty cell is missing.

use super::error::TableProblem;
use super::rows::{RawCell, Rows};

/// Reads the rows of a text.
pub(super) fn read(text: &str, key_column: Option<&str>, rows: &mut Rows<'_>) {
    // The reader would take all rows that follow for one cell.
    if let Some(line) = open_quote(text) {
        rows.refuse(
            Some(line),
            TableProblem::Syntax {
                language: "CSV",
                message: "a cell begins with a quote that is never closed".to_owned(),
            },
        );
        return;
    }
    let mut lines = Lines::new(text);
    let mut records = Records::new(text);
    let mut header: Option<Header> = None;
    while let Some(begin) = records.read() {
        let line = lines.line_of(begin);
        let cells = records.cells();
        match &header {
            None => match Header::new(&cells, line, key_column, rows) {
                Some(read) => header = Some(read),
                None => return,
            },
            Some(header) => {
                if rows.is_full(line) {
                    return;
                }
                header.row(&cells, line, rows);
            }
        }
    }
    if header.is_none() {
        let expected = "a header with the names of the columns";
        rows.refuse(None, TableProblem::Empty { expected });
    }
}

/// The line of a quote that is still open at the end of a text.
fn open_quote(text: &str) -> Option<usize> {
    /// Position in a cell.
    enum Position {
        Beginning,
        Unquoted,
        /// With the line of the quote.
        Quoted(usize),
        /// Behind a quote that closes the cell, or is the first of two.
        Closed(usize),
    }
    let (mut position, mut line) = (Position::Beginning, 1);
    for byte in text.bytes() {
        line += usize::from(byte == b'\n');
        position = match (position, byte) {
            (Position::Beginning, b'"') => Position::Quoted(line),
            (Position::Quoted(start), b'"') => Position::Closed(start),
            (Position::Closed(start), b'"') | (Position::Quoted(start), _) => Position::Quoted(start),
            (_, b',' | b'\r' | b'\n') => Position::Beginning,
            _ => Position::Unquoted,
        };
    }
    match position {
        Position::Quoted(start) => Some(start),
        _ => None,
    }
}

/// The records of a text, read one after another.
struct Records<'a> {
    reader: csv_core::Reader,
    text: &'a str,
    /// Bytes that were read.
    position: usize,
    /// The cells of a record, joined.
    joined: Vec<u8>,
    /// Where each cell ends in them, and then room for more.
    ends: Vec<usize>,
    count: usize,
}

impl<'a> Records<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            reader: csv_core::Reader::new(),
            text,
            position: 0,
            joined: vec![0; 1_024],
            ends: vec![0; 32],
            count: 0,
        }
    }

    /// Reads the next record, of any length. Returns the byte at which the search for it began: empty lines may come first.
    fn read(&mut self) -> Option<usize> {
        use csv_core::ReadRecordResult::{End, InputEmpty, OutputEndsFull, OutputFull, Record};

        let begin = self.position;
        let (mut length, mut count) = (0, 0);
        loop {
            // At its end, an empty input tells the reader that there is no more.
            let (result, read, written, ended) = self.reader.read_record(
                &self.text.as_bytes()[self.position..],
                &mut self.joined[length..],
                &mut self.ends[count..],
            );
            self.position += read;
            length += written;
            count += ended;
            match result {
                InputEmpty => {}
                OutputFull => self.joined.resize(2 * self.joined.len(), 0),
                OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                Record => {
                    self.count = count;
                    return Some(begin);
                }
                End => return None,
            }
        }
    }

    /// The cells of the record, without space around them.
    fn cells(&self) -> Vec<&str> {
        let ends = &self.ends[..self.count];
        let begins = std::iter::once(&0).chain(ends);
        let cells = begins.zip(ends).map(|(&begin, &end)| &self.joined[begin..end]);
        // Cells of a text are texts, because they are separated by characters of one byte.
        cells
            .map(|cell| std::str::from_utf8(cell).unwrap_or_default().trim())
            .collect()
    }
}

/// The header of a file.
struct Header {
    length: usize,
    /// Index of the column with the keys, and its name.
    key: (usize, String),
    /// Index of each declared column.
    columns: Vec<usize>,
}

impl Header {
    /// Finds the columns; `None` if that fails, which is reported.
    fn new(cells: &[&str], line: usize, key_column: Option<&str>, rows: &mut Rows<'_>) -> Option<Self> {
        let known: Vec<String> = cells.iter().map(|&cell| cell.to_owned()).collect();
        let mut has_duplicates = false;
        for (index, column) in known.iter().enumerate() {
            if known[..index].contains(column) {
                let column = column.clone();
                rows.refuse(Some(line), TableProblem::HeaderTwice { column });
                has_duplicates = true;
            }
        }
        let index_of = |wanted: &str, rows: &mut Rows<'_>| {
            let found = known.iter().position(|column| column == wanted);
            if found.is_none() {
                let (column, known) = (wanted.to_owned(), known.clone());
                rows.refuse(Some(line), TableProblem::MissingColumn { column, known });
            }
            found
        };
        // Without a name, the first column has the keys.
        let key = key_column.map_or(Some(0), |wanted| index_of(wanted, rows));
        let sources: Vec<String> = rows.columns.iter().map(|column| column.source.clone()).collect();
        // Every column is looked up, so that all that are missing are reported.
        let columns: Vec<Option<usize>> = sources.iter().map(|source| index_of(source, rows)).collect();
        let (key, columns) = (key?, columns.into_iter().collect::<Option<Vec<usize>>>()?);
        let key_name = known.get(key)?.clone();
        (!has_duplicates).then_some(Self {
            length: known.len(),
            key: (key, key_name),
            columns,
        })
    }

    fn row(&self, cells: &[&str], line: usize, rows: &mut Rows<'_>) {
        if cells.len() != self.length {
            let (expected, actual) = (self.length, cells.len());
            rows.refuse(Some(line), TableProblem::WrongLength { expected, actual });
            return;
        }
        let (index, column) = &self.key;
        let Some(&key) = cells.get(*index).filter(|key| !key.is_empty()) else {
            let column = column.clone();
            rows.refuse(Some(line), TableProblem::NoKey { column });
            return;
        };
        let Some(row) = rows.row(key, line) else {
            return;
        };
        for (number, &index) in self.columns.iter().enumerate() {
            if let Some(&cell) = cells.get(index).filter(|cell| !cell.is_empty()) {
                rows.set((row, key), line, number, &RawCell::Untyped(cell));
            }
        }
    }
}

/// Lines of ascending positions in a text. The reader begins to look for a record before any empty lines.
struct Lines<'a> {
    bytes: &'a [u8],
    position: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            position: 0,
            line: 1,
        }
    }

    /// The line of the first record at or after this byte.
    fn line_of(&mut self, start: usize) -> usize {
        while let Some(&byte) = self.bytes.get(self.position) {
            if self.position >= start && !matches!(byte, b'\r' | b'\n') {
                break;
            }
            self.line += usize::from(byte == b'\n');
            self.position += 1;
        }
        self.line
    }
}
