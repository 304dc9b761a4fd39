//! Recorded exchanges read as a run would read them: how a user shows what a vendor sent.

mod asked;
mod exchange;
mod show;

pub use exchange::{Exchange, Reading, wire_of};
pub use show::{Checked, line_of, to_json};

use crate::error::RunError;
use flate2::read::MultiGzDecoder;
use ktd_agents::DialectTable;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// First bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads a file of recorded exchanges line by line, one JSON object a line, plain or gzip, and judges each.
///
/// # Errors
/// [`RunError::Io`] when the file cannot be read; a line that is no exchange is told in its place and stops nothing.
pub fn check_file(path: &Path, table: &DialectTable, mut each: impl FnMut(Checked)) -> Result<(), RunError> {
    let file = File::open(path).map_err(RunError::io("open", path))?;
    let mut reader = BufReader::new(file);
    let start = reader.fill_buf().map_err(RunError::io("read", path))?;
    let source: Box<dyn Read> = if start.starts_with(&GZIP_MAGIC) {
        Box::new(MultiGzDecoder::new(reader))
    } else {
        Box::new(reader)
    };
    let mut reader = BufReader::new(source);
    let (mut number, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let read = reader
            .read_until(b'\n', &mut line)
            .map_err(RunError::io("read", path))?;
        if read == 0 {
            return Ok(());
        }
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let reading = Exchange::read(&line).map(|exchange| exchange.judge(table));
        each(Checked { number, reading });
    }
}

#[cfg(test)]
mod tests;
