//! Recorded exchanges read as a run would read them: how a user shows what a vendor sent.

mod asked;
mod exchange;
mod show;

pub use exchange::{Exchange, Reading};
pub use show::{Checked, ExchangeDocument, line_of};

use crate::ClientError;
use flate2::read::MultiGzDecoder;
use ktd_agents::DialectTable;
use ktd_io::whole_file::open_input;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// First bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Longest line that is read, in bytes: a request and the largest reply, each byte of it escaped.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Reads a file of recorded exchanges line by line, one JSON object a line, plain or gzip, and judges each.
///
/// # Errors
/// [`ClientError`] when the file cannot be read, or not to its end: `each` has seen the lines before. A line that is no
/// exchange is told in its place and stops nothing.
pub fn check_file(
    path: &Path,
    table: &DialectTable,
    mut each: impl FnMut(Checked),
) -> Result<(), ClientError> {
    let mut reader = BufReader::new(open_input(path)?);
    let start = reader.fill_buf().map_err(ClientError::io("read", path))?;
    let source: Box<dyn Read> = if start.starts_with(&GZIP_MAGIC) {
        Box::new(MultiGzDecoder::new(reader))
    } else {
        Box::new(reader)
    };
    let mut reader = BufReader::new(source);
    let (mut number, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let read = read_line(&mut reader, &mut line).map_err(|error| broken(path, number, &error))?;
        if !read {
            return Ok(());
        }
        number += 1;
        if LINE_BYTES_MAX < line.len() {
            let reading = Err(format!("the line is longer than {LINE_BYTES_MAX} bytes"));
            each(Checked { number, reading });
            continue;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let reading = Exchange::read(&line).map(|exchange| exchange.judge(table));
        each(Checked { number, reading });
    }
}

/// Reads a line, of one that is too long only as much as tells so; `false` at the end.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let read = reader.take(limit.saturating_add(1)).read_until(b'\n', line)?;
    if LINE_BYTES_MAX < line.len() {
        reader.skip_until(b'\n')?;
    }
    Ok(0 < read)
}

/// A file that was opened and does not go on.
fn broken(path: &Path, lines: usize, error: &std::io::Error) -> ClientError {
    ClientError::input(
        format!("{} cannot be read after {lines} lines: {error}", path.display()),
        "the file is cut short or damaged: copy it again",
    )
}

#[cfg(test)]
mod tests;
