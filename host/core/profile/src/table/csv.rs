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
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        // Rows of another length are reported with all other problems.
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    let mut header: Option<Header> = None;
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                let line = error.position().map(|position| lines.line_of(position.byte()));
                let message = error.to_string();
                rows.refuse(
                    line,
                    TableProblem::Syntax {
                        language: "CSV",
                        message,
                    },
                );
                return;
            }
        }
        let line = record.position().map_or(1, |position| lines.line_of(position.byte()));
        match &header {
            None => match Header::new(&record, line, key_column, rows) {
                Some(read) => header = Some(read),
                None => return,
            },
            Some(header) => {
                if rows.is_full(line) {
                    return;
                }
                header.row(&record, line, rows);
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
    fn new(record: &csv::StringRecord, line: usize, key_column: Option<&str>, rows: &mut Rows<'_>) -> Option<Self> {
        let known: Vec<String> = record.iter().map(str::to_owned).collect();
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

    fn row(&self, record: &csv::StringRecord, line: usize, rows: &mut Rows<'_>) {
        if record.len() != self.length {
            let (expected, actual) = (self.length, record.len());
            rows.refuse(Some(line), TableProblem::WrongLength { expected, actual });
            return;
        }
        let (index, column) = &self.key;
        let Some(key) = record.get(*index).filter(|key| !key.is_empty()) else {
            let column = column.clone();
            rows.refuse(Some(line), TableProblem::NoKey { column });
            return;
        };
        let Some(row) = rows.row(key, line) else {
            return;
        };
        for (number, &index) in self.columns.iter().enumerate() {
            if let Some(cell) = record.get(index).filter(|cell| !cell.is_empty()) {
                rows.set((row, key), line, number, &RawCell::Untyped(cell));
            }
        }
    }
}

/// Lines of ascending positions in a text. The reader itself reports the line at which it begins to look for a record, before any
/// empty lines.
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
    fn line_of(&mut self, byte: u64) -> usize {
        let start = usize::try_from(byte).unwrap_or(usize::MAX);
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
