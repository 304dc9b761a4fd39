//! The bytes that a job wrote as its result. All of them are foreign.

use crate::cells::TableCellValue;
use crate::facts::{SyntaxNode, read_node};
use crate::frames::HEAD_BYTES_MAX;
use crate::jobs::JobKind;
use crate::strict_json::{StrictValue, parse};
use std::collections::BTreeSet;

const MAGIC: &[u8; 4] = b"KTR1";
const TABLES_MAX: usize = 8;
const COLUMNS_MAX: usize = 64;
const ROWS_MAX: u64 = 2_000_000;
const CELL_BYTES_MAX: usize = 4_096;
const NAME_LETTERS_MAX: usize = 200;
const MESSAGE_LETTERS_MAX: usize = 2_000;

/// What is wrong with a result, in the order in which it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ResultFault {
    /// It is longer than was allowed.
    TooLong,
    /// Nothing was written.
    None,
    /// It ends before its head does.
    Cut,
    /// It does not begin with the mark of a result.
    Magic,
    /// Its head says to be longer than any head.
    HeadSize,
    /// Its head is not strict JSON, or lacks or adds a member.
    Head,
    /// A series has another number of rows than the data; tables have too many.
    Rows,
    /// A table has too many columns, or one twice.
    Columns,
    /// What follows the head is not what the head says.
    Body,
    /// A text of a cell is too long.
    Cell,
    /// It is of no known kind, or of another than was asked for.
    Kind,
    /// The process that wrote it did not end well.
    Exit,
}

impl ResultFault {
    /// Its name in records.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// A table that a job gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct JobTable {
    /// Its name.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows, each with a cell a column.
    pub rows: Vec<Vec<TableCellValue>>,
}

/// What a job gave back.
#[derive(Debug, Clone, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum JobResult {
    /// A column of numbers.
    Series {
        /// The name of the series, where it has one.
        name: Option<String>,
        /// What else was seen of it: `inf`, `bool`.
        flags: Vec<String>,
        /// A value a row of the data, bits as they are.
        values: Vec<f64>,
    },
    /// Named tables.
    Tables(Vec<JobTable>),
    /// The syntax tree of the source, its nodes in the order of the text, parents first.
    Facts(Vec<SyntaxNode>),
    /// The program ended with an exception, or gave back what cannot be taken.
    Error {
        /// The class of the exception; in lower case what was wrong with what was given back.
        class: String,
        /// What it says.
        message: String,
        /// When: `syntax`, `import`, `call` or `result`.
        place: String,
        /// The line of the source.
        line: Option<u64>,
    },
}

impl JobResult {
    /// Its kind on the wire.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.into()
    }

    /// Whether it is what a kind of job gives back.
    #[must_use]
    pub const fn is_of(&self, kind: JobKind) -> bool {
        matches!(
            (self, kind),
            (Self::Series { .. }, JobKind::Series)
                | (Self::Tables(_), JobKind::Tables)
                | (Self::Facts(_), JobKind::Facts)
        )
    }
}

/// Reads a result.
///
/// # Errors
/// The first [`ResultFault`] of it.
pub fn decode_result(bytes: &[u8], rows: usize, out_max: u64) -> Result<JobResult, ResultFault> {
    if out_max < bytes.len() as u64 {
        return Err(ResultFault::TooLong);
    }
    if bytes.is_empty() {
        return Err(ResultFault::None);
    }
    let (magic, rest) = bytes.split_first_chunk::<4>().ok_or(ResultFault::Cut)?;
    let (length, rest) = rest.split_first_chunk::<4>().ok_or(ResultFault::Cut)?;
    if magic != MAGIC {
        return Err(ResultFault::Magic);
    }
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if HEAD_BYTES_MAX < length {
        return Err(ResultFault::HeadSize);
    }
    let (head, body) = rest.split_at_checked(length).ok_or(ResultFault::Cut)?;
    let head = std::str::from_utf8(head)
        .ok()
        .and_then(parse)
        .ok_or(ResultFault::Head)?;
    let StrictValue::Map(map) = &head else {
        return Err(ResultFault::Head);
    };
    match map.get("kind").and_then(StrictValue::text) {
        Some("series") => series(&head, body, rows),
        Some("tables") => tables(&head, body).map(JobResult::Tables),
        Some("facts") => facts(&head, body),
        Some("error") => error(&head, body),
        _ => Err(ResultFault::Kind),
    }
}

fn is_short(text: &str, letters: usize) -> bool {
    text.chars().count() <= letters
}

fn series(head: &StrictValue, body: &[u8], rows: usize) -> Result<JobResult, ResultFault> {
    let read = || {
        let head = head.map_of(&["kind", "rows", "name", "flags"])?;
        let name = match head.get("name")? {
            missing if missing.is_null() => None,
            name => Some(
                name.text()
                    .filter(|name| is_short(name, NAME_LETTERS_MAX))?
                    .to_owned(),
            ),
        };
        let flags = head.get("flags")?.list()?.iter();
        let flags: Option<Vec<String>> = flags.map(|flag| flag.text().map(str::to_owned)).collect();
        Some((head.get("rows")?.count()?, name, flags?))
    };
    let (count, name, flags) = read().ok_or(ResultFault::Head)?;
    if count != rows as u64 {
        return Err(ResultFault::Rows);
    }
    let (values, rest) = body.as_chunks::<8>();
    if values.len() != rows || !rest.is_empty() {
        return Err(ResultFault::Body);
    }
    let values = values.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    Ok(JobResult::Series { name, flags, values })
}

fn error(head: &StrictValue, body: &[u8]) -> Result<JobResult, ResultFault> {
    let read = || {
        let head = head.map_of(&["kind", "class", "message", "where", "line"])?;
        let line = match head.get("line")? {
            missing if missing.is_null() => None,
            line => Some(line.count()?),
        };
        let message = head.get("message")?.text()?;
        let place = head.get("where")?.text()?;
        let is_known = ["syntax", "import", "call", "result"].contains(&place);
        (is_known && is_short(message, MESSAGE_LETTERS_MAX)).then_some(JobResult::Error {
            class: head.get("class")?.text()?.to_owned(),
            message: message.to_owned(),
            place: place.to_owned(),
            line,
        })
    };
    let error = read().ok_or(ResultFault::Head)?;
    if body.is_empty() {
        Ok(error)
    } else {
        Err(ResultFault::Body)
    }
}

/// What a head says of a table: its name, columns and rows.
fn table_head(head: &StrictValue) -> Option<(JobTable, u64)> {
    let head = head.map_of(&["name", "columns", "rows"])?;
    let columns = head.get("columns")?.list()?.iter();
    let columns: Option<Vec<String>> = columns
        .map(|column| column.text().filter(|name| !name.is_empty()).map(str::to_owned))
        .collect();
    let table = JobTable {
        name: head.get("name")?.text()?.to_owned(),
        columns: columns?,
        rows: Vec::new(),
    };
    Some((table, head.get("rows")?.count()?))
}

fn tables(head: &StrictValue, body: &[u8]) -> Result<Vec<JobTable>, ResultFault> {
    let heads = head
        .map_of(&["kind", "tables"])
        .and_then(|head| head.get("tables")?.list());
    let heads = heads
        .filter(|heads| heads.len() <= TABLES_MAX)
        .ok_or(ResultFault::Head)?;
    let mut tables = Vec::new();
    let mut total = 0u64;
    for head in heads {
        let (table, rows) = table_head(head).ok_or(ResultFault::Head)?;
        let distinct: BTreeSet<&String> = table.columns.iter().collect();
        if COLUMNS_MAX < table.columns.len() || distinct.len() != table.columns.len() {
            return Err(ResultFault::Columns);
        }
        total = total.saturating_add(rows);
        tables.push((table, rows));
    }
    if ROWS_MAX < total {
        return Err(ResultFault::Rows);
    }
    let mut lines = lines(body, total)?;
    let mut filled = Vec::with_capacity(tables.len());
    for (mut table, rows) in tables {
        for _ in 0..rows {
            let row = lines.next().and_then(parse).ok_or(ResultFault::Body)?;
            let cells = row.list().filter(|cells| cells.len() == table.columns.len());
            table
                .rows
                .push(cells.ok_or(ResultFault::Body).and_then(row_cells)?);
        }
        filled.push(table);
    }
    Ok(filled)
}

/// As many lines of text as there are rows, each with its end.
fn lines(body: &[u8], rows: u64) -> Result<impl Iterator<Item = &str>, ResultFault> {
    let text = std::str::from_utf8(body).map_err(|_| ResultFault::Body)?;
    let is_whole = text.is_empty() || text.ends_with('\n');
    if !is_whole || text.matches('\n').count() as u64 != rows {
        return Err(ResultFault::Body);
    }
    Ok(text.split_terminator('\n'))
}

/// The cells of a row: what is nested is found before what is too long.
fn row_cells(cells: &[StrictValue]) -> Result<Vec<TableCellValue>, ResultFault> {
    let cells: Option<Vec<TableCellValue>> = cells.iter().map(cell).collect();
    let cells = cells.ok_or(ResultFault::Body)?;
    let is_long =
        |cell: &TableCellValue| matches!(cell, TableCellValue::Text(text) if CELL_BYTES_MAX < text.len());
    if cells.iter().any(is_long) {
        Err(ResultFault::Cell)
    } else {
        Ok(cells)
    }
}

fn cell(value: &StrictValue) -> Option<TableCellValue> {
    Some(match value {
        StrictValue::Null => TableCellValue::Missing,
        StrictValue::Flag(flag) => TableCellValue::Flag(*flag),
        StrictValue::Whole(whole) => TableCellValue::Whole(*whole),
        StrictValue::Large(number) | StrictValue::Fraction(number) => TableCellValue::Number(*number),
        StrictValue::Text(text) => TableCellValue::Text(text.clone()),
        StrictValue::List(_) | StrictValue::Map(_) => return None,
    })
}

fn facts(head: &StrictValue, body: &[u8]) -> Result<JobResult, ResultFault> {
    let head = head.map_of(&["kind", "rows"]).ok_or(ResultFault::Head)?;
    let rows = head
        .get("rows")
        .and_then(StrictValue::count)
        .ok_or(ResultFault::Head)?;
    if ROWS_MAX < rows {
        return Err(ResultFault::Rows);
    }
    let mut nodes = Vec::new();
    for line in lines(body, rows)? {
        let row = parse(line).ok_or(ResultFault::Body)?;
        let cells = row.list().ok_or(ResultFault::Body).and_then(row_cells)?;
        nodes.push(read_node(&cells, nodes.len()).ok_or(ResultFault::Body)?);
    }
    Ok(JobResult::Facts(nodes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(head: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(u32::try_from(head.len()).unwrap().to_le_bytes());
        bytes.extend(head.as_bytes());
        bytes.extend(body);
        bytes
    }

    fn read(head: &str, body: &[u8]) -> Result<JobResult, ResultFault> {
        decode_result(&frame(head, body), 1, 1 << 20)
    }

    const ONE: &str = r#"{"kind":"tables","tables":[{"name":"t","columns":["a"],"rows":1}]}"#;

    #[test]
    fn bits_of_a_series_come_as_they_are() {
        let odd = f64::from_bits(0x7ff8_0000_dead_beef);
        let series = r#"{"kind":"series","rows":1,"name":null,"flags":["inf"]}"#;
        let Ok(JobResult::Series { values, flags, .. }) = read(series, &odd.to_le_bytes()) else {
            panic!("no series");
        };
        assert_eq!(values[0].to_bits(), odd.to_bits());
        assert_eq!(flags, ["inf"]);
    }

    #[test]
    fn cells_keep_their_kinds() {
        let head = r#"{"kind":"tables","tables":[{"name":"t","columns":["a","b","c","d","e"],"rows":1}]}"#;
        let body = "[null,true,7,0.1,\"\\u001b\"]\n";
        let Ok(JobResult::Tables(tables)) = read(head, body.as_bytes()) else {
            panic!("no tables");
        };
        let expected = [
            TableCellValue::Missing,
            TableCellValue::Flag(true),
            TableCellValue::Whole(7),
            TableCellValue::Number(0.1),
            TableCellValue::Text("\u{1b}".to_owned()),
        ];
        assert_eq!(tables[0].rows, [expected]);
    }

    #[test]
    fn faults_of_rows_are_told_apart() {
        assert_eq!(read(ONE, b"\n").unwrap_err(), ResultFault::Body);
        assert_eq!(read(ONE, b"{\"a\":1}\n").unwrap_err(), ResultFault::Body);
        assert_eq!(read(ONE, b"[\"\xc3\"]\n").unwrap_err(), ResultFault::Body);
        assert_eq!(read(ONE, b"[-1e400]\n").unwrap_err(), ResultFault::Body);
        assert_eq!(read(ONE, b"[1]\n[1]\n").unwrap_err(), ResultFault::Body);
        assert!(read(ONE, b"[1]\r\n").is_ok());
        let long = format!("[\"{}\"]\n", "x".repeat(4_097));
        assert_eq!(read(ONE, long.as_bytes()).unwrap_err(), ResultFault::Cell);
        let huge = ONE.replace("\"rows\":1", "\"rows\":4611686018427387904");
        assert_eq!(read(&huge, b"").unwrap_err(), ResultFault::Rows);
    }

    #[test]
    fn a_syntax_tree_names_earlier_parents_alone() {
        let head = r#"{"kind":"facts","rows":2}"#;
        let body =
            "[null,null,null,\"Module\",null,null,null,null]\n[0,\"body\",0,\"Name\",1,2,\"x\",null]\n";
        let Ok(JobResult::Facts(nodes)) = read(head, body.as_bytes()) else {
            panic!("no facts");
        };
        assert_eq!(nodes[1].parent, Some(0));
        assert_eq!(nodes[1].text.as_deref(), Some("x"));
        assert_eq!((nodes[1].line, nodes[1].last_line), (Some(1), Some(2)));
        let later = body.replace("[0,", "[1,");
        assert_eq!(read(head, later.as_bytes()).unwrap_err(), ResultFault::Body);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_result_or_a_fault(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut whole = MAGIC.to_vec();
            whole.extend(bytes);
            let _read = decode_result(&whole, 1, 1 << 20);
        }

        #[test]
        fn any_head_is_a_result_or_a_fault(head in "\\{\"kind\":\"(series|tables|facts|error)\"[,:\"\\[\\]{}a-z0-9]{0,40}\\}", body in ".{0,20}") {
            let _read = read(&head, body.as_bytes());
        }
    }
}
