//! The bytes that a job wrote as its result. All of them are foreign.

use crate::cells::TableCellValue;
use crate::facts::SyntaxNode;
use crate::frames::HEAD_BYTES_MAX;
use crate::jobs::JobKind;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

const MAGIC: &[u8; 4] = b"KTR1";
const TABLES_MAX: usize = 8;
const COLUMNS_MAX: usize = 64;
const ROWS_MAX: u64 = 2_000_000;
const CELL_BYTES_MAX: usize = 4_096;
/// The fields of a [`SyntaxNode`].
const SYNTAX_CELLS: usize = 8;
const NAME_LETTERS_MAX: usize = 200;
const MESSAGE_LETTERS_MAX: usize = 2_000;

/// What is wrong with a result, in the order in which it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantNames)]
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
#[derive(Debug, Clone, PartialEq, strum::IntoStaticStr, strum::VariantNames)]
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

/// What every head says.
#[derive(Deserialize)]
struct KindHead {
    kind: Option<String>,
}

// A member that may be null is required all the same: serde takes a missing one for null unless it is read by a function.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesHead {
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    rows: u64,
    #[serde(deserialize_with = "Option::deserialize")]
    name: Option<String>,
    flags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TablesHead<'t> {
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    #[serde(borrow)]
    tables: Vec<&'t RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableHead {
    name: String,
    columns: Vec<String>,
    rows: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FactsHead {
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    rows: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorHead {
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    class: String,
    message: String,
    #[serde(rename = "where")]
    place: String,
    #[serde(deserialize_with = "Option::deserialize")]
    line: Option<u64>,
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
    let head = std::str::from_utf8(head).map_err(|_| ResultFault::Head)?;
    match object::<KindHead>(head)?.kind.as_deref() {
        Some("series") => series(object(head)?, body, rows),
        Some("tables") => tables(&object(head)?, body).map(JobResult::Tables),
        Some("facts") => facts(&object(head)?, body),
        Some("error") => error(object(head)?, body),
        _ => Err(ResultFault::Kind),
    }
}

/// An object of a head. An array is none, though serde takes the members of one for those of an object.
fn object<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, ResultFault> {
    let is_object = text.trim_ascii_start().starts_with('{');
    let read = is_object.then(|| serde_json::from_str(text).ok());
    read.flatten().ok_or(ResultFault::Head)
}

fn is_short(text: &str, letters: usize) -> bool {
    text.chars().count() <= letters
}

fn series(head: SeriesHead, body: &[u8], rows: usize) -> Result<JobResult, ResultFault> {
    let SeriesHead { name, flags, .. } = head;
    if name
        .as_ref()
        .is_some_and(|name| !is_short(name, NAME_LETTERS_MAX))
    {
        return Err(ResultFault::Head);
    }
    if head.rows != rows as u64 {
        return Err(ResultFault::Rows);
    }
    let (values, rest) = body.as_chunks::<8>();
    if values.len() != rows || !rest.is_empty() {
        return Err(ResultFault::Body);
    }
    let values = values.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    Ok(JobResult::Series { name, flags, values })
}

fn error(head: ErrorHead, body: &[u8]) -> Result<JobResult, ResultFault> {
    let is_known = ["syntax", "import", "call", "result"].contains(&head.place.as_str());
    if !is_known || !is_short(&head.message, MESSAGE_LETTERS_MAX) {
        return Err(ResultFault::Head);
    }
    if !body.is_empty() {
        return Err(ResultFault::Body);
    }
    Ok(JobResult::Error {
        class: head.class,
        message: head.message,
        place: head.place,
        line: head.line,
    })
}

fn tables(head: &TablesHead<'_>, body: &[u8]) -> Result<Vec<JobTable>, ResultFault> {
    if TABLES_MAX < head.tables.len() {
        return Err(ResultFault::Head);
    }
    let mut heads = Vec::new();
    let mut total = 0u64;
    for head in &head.tables {
        let head: TableHead = object(head.get())?;
        if head.columns.iter().any(String::is_empty) {
            return Err(ResultFault::Head);
        }
        let distinct: BTreeSet<&String> = head.columns.iter().collect();
        if COLUMNS_MAX < head.columns.len() || distinct.len() != head.columns.len() {
            return Err(ResultFault::Columns);
        }
        total = total.saturating_add(head.rows);
        heads.push(head);
    }
    if ROWS_MAX < total {
        return Err(ResultFault::Rows);
    }
    let mut lines = lines(body, total)?;
    let mut tables = Vec::with_capacity(heads.len());
    for head in heads {
        let mut rows = Vec::new();
        for _ in 0..head.rows {
            let line = lines.next().ok_or(ResultFault::Body)?;
            rows.push(row_cells(line, head.columns.len())?);
        }
        tables.push(JobTable {
            name: head.name,
            columns: head.columns,
            rows,
        });
    }
    Ok(tables)
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
fn row_cells(line: &str, width: usize) -> Result<Vec<TableCellValue>, ResultFault> {
    let cells: Vec<TableCellValue> = serde_json::from_str(line).map_err(|_| ResultFault::Body)?;
    if cells.len() != width {
        return Err(ResultFault::Body);
    }
    let is_long =
        |cell: &TableCellValue| matches!(cell, TableCellValue::Text(text) if CELL_BYTES_MAX < text.len());
    if cells.iter().any(is_long) {
        Err(ResultFault::Cell)
    } else {
        Ok(cells)
    }
}

fn facts(head: &FactsHead, body: &[u8]) -> Result<JobResult, ResultFault> {
    if ROWS_MAX < head.rows {
        return Err(ResultFault::Rows);
    }
    let mut nodes: Vec<SyntaxNode> = Vec::new();
    for line in lines(body, head.rows)? {
        // First as cells: they are a list, of no text that is too long and of no number beyond 64 bits with a sign.
        let cells = row_cells(line, SYNTAX_CELLS)?;
        let is_beyond = |cell: &TableCellValue| matches!(cell, TableCellValue::Number(_));
        let node: SyntaxNode = serde_json::from_str(line).map_err(|_| ResultFault::Body)?;
        let follows = node
            .parent
            .map_or(nodes.is_empty(), |parent| parent < nodes.len());
        if cells.iter().any(is_beyond) || !follows {
            return Err(ResultFault::Body);
        }
        nodes.push(node);
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

    /// What is no JSON, or no JSON that all readers take alike.
    const NO_JSON: &str = r#"NaN Infinity -Infinity 1e999 -1e999 01 +1 1. .5 1e 0x1 --1 1, "\ud800" "\udc00" "\ud800\u0041" "\u+123" "\x" "open"#;
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
        for (from, to) in [
            ("[0,", "[1,"),
            ("[0,", "[-1,"),
            ("[0,", "[null,"),
            ("[null,null", "[0,null"),
            ("1,2,", "1,2.0,"),
            ("1,2,", "1,9223372036854775808,"),
            ("1,2,", "1,\"2\","),
            ("\"Name\"", "null"),
            ("\"x\",null", "\"x\""),
            ("\"x\",null", "\"x\",null,null"),
            ("\"x\"", "[\"x\"]"),
        ] {
            let read = read(head, body.replace(from, to).as_bytes());
            assert_eq!(read, Err(ResultFault::Body), "{from} -> {to}");
        }
        let map =
            r#"{"parent":0,"field":"a","place":0,"kind":"b","line":1,"last_line":1,"text":"","detail":""}"#;
        let other = body.replace(r#"[0,"body",0,"Name",1,2,"x",null]"#, map);
        assert_eq!(read(head, other.as_bytes()).unwrap_err(), ResultFault::Body);
        let long = body.replace("\"x\"", &format!("\"{}\"", "x".repeat(4_097)));
        assert_eq!(read(head, long.as_bytes()).unwrap_err(), ResultFault::Cell);
    }

    #[test]
    fn a_head_that_is_not_strict_is_refused() {
        let series = r#"{"kind":"series","rows":1,"name":null,"flags":[]}"#;
        assert!(read(series, &[0; 8]).is_ok());
        let head = |from: &str, to: &str| read(&series.replace(from, to), &[0; 8]).unwrap_err();
        let no_counts = r#"-1 -0 1.0 1e0 true "1" null [1] 99999999999999999999999"#;
        for count in NO_JSON.split(' ').chain(no_counts.split(' ')) {
            assert_eq!(head("1", count), ResultFault::Head, "{count}");
        }
        assert_eq!(head("1", "18446744073709551615"), ResultFault::Rows);
        for name in NO_JSON.split(' ').chain(["5", "[null]", "{}", "\"\u{1}\""]) {
            assert_eq!(head("null", name), ResultFault::Head, "{name}");
        }
        for (from, to) in [
            ("\"name\":null,", ""),
            ("\"rows\":1,", "\"rows\":1,\"rows\":1,"),
            ("\"kind\":", "\"kind\":\"series\",\"kind\":"),
            ("\"rows\":1,", "\"rows\":1,\"a\":1,"),
            ("[]", "[1]"),
            ("[]", "[[]]"),
            ("[]", "[\"inf\",]"),
            ("[]}", "[],}"),
            ("[]}", "[]} null"),
            ("{\"kind", "\u{feff}{\"kind"),
            ("{\"kind", "{kind"),
        ] {
            assert_eq!(head(from, to), ResultFault::Head, "{from} -> {to}");
        }
        let array = r#"["series",1,null,[]]"#;
        for other in [array, "", "null", "[]", r#"{"kind":5}"#, r#"{"kind":"other""#] {
            assert_eq!(read(other, &[0; 8]).unwrap_err(), ResultFault::Head, "{other}");
        }
        for other in [
            "{}",
            r#"{"a":1,"a":2}"#,
            r#"{"kind":null}"#,
            r#"{"kind":"other"}"#,
        ] {
            assert_eq!(read(other, &[]).unwrap_err(), ResultFault::Kind, "{other}");
        }
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for depth in [9, 127, 128, 30_000] {
            assert_eq!(head("[]", &deep(depth)), ResultFault::Head, "{depth}");
            let other = format!(r#"{{"kind":"other","a":{}}}"#, deep(depth));
            assert_eq!(read(&other, &[]).unwrap_err(), ResultFault::Kind, "{depth}");
            let read = read(ONE, format!("[{}]\n", deep(depth)).as_bytes());
            assert_eq!(read, Err(ResultFault::Body), "{depth}");
        }
    }

    #[test]
    fn heads_of_tables_and_errors_are_as_strict() {
        let line = "[1]\n".as_bytes();
        let head = |from: &str, to: &str| read(&ONE.replace(from, to), line).unwrap_err();
        let table = r#"{"name":"t","columns":["a"],"rows":1}"#;
        for to in [
            r#"["t",["a"],1]"#,
            r#"{"name":"t","columns":["a"]}"#,
            r#"{"name":"t","columns":["a"],"rows":1,"rows":1}"#,
            r#"{"name":"t","columns":["a"],"rows":1,"more":1}"#,
            r#"{"name":"t","columns":[""],"rows":1}"#,
            r#"{"name":"\ud800","columns":["a"],"rows":1}"#,
            r#"{"name":null,"columns":["a"],"rows":1}"#,
        ] {
            assert_eq!(head(table, to), ResultFault::Head, "{to}");
        }
        let error = r#"{"kind":"error","class":"E","message":"m","where":"call","line":null}"#;
        assert!(read(error, &[]).is_ok());
        for (from, to) in [
            (",\"line\":null", ""),
            ("null", "-1"),
            ("null", "1.0"),
            ("\"m\"", "null"),
            ("call", "moon"),
        ] {
            let read = read(&error.replace(from, to), &[]);
            assert_eq!(read, Err(ResultFault::Head), "{to}");
        }
    }

    #[test]
    fn numbers_of_cells_are_whole_of_64_bits_or_any_other() {
        let cell = |text: &str| {
            let read = read(ONE, format!("[{text}]\n").as_bytes());
            read.map(|result| {
                let JobResult::Tables(tables) = result else {
                    panic!("{result:?}")
                };
                tables[0].rows[0][0].clone()
            })
        };
        assert_eq!(cell(" 12 "), Ok(TableCellValue::Whole(12)));
        assert_eq!(cell("-9223372036854775808"), Ok(TableCellValue::Whole(i64::MIN)));
        for large in ["9223372036854775808", "99999999999999999999999"] {
            let number = TableCellValue::Number(large.parse().unwrap());
            assert_eq!(cell(large), Ok(number), "{large}");
        }
        assert_eq!(cell("1.5e-3"), Ok(TableCellValue::Number(0.0015)));
        assert_eq!(cell("7.0"), Ok(TableCellValue::Number(7.0)));
        assert_eq!(
            cell("\"\\ud83d\\ude00\\n\""),
            Ok(TableCellValue::Text("\u{1f600}\n".to_owned()))
        );
        let no_cells = ["", "1 2", "\"\u{1}\"", "[1]", "{}", "{\"a\":1,\"a\":2}"];
        for faulty in NO_JSON.split(' ').chain(no_cells) {
            assert_eq!(cell(faulty), Err(ResultFault::Body), "{faulty}");
        }
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
