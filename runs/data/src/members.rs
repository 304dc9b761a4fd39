//! Index membership: inclusive or half-open, as the file's header says, or Qlib's lists.

use super::columns::read_ticker;
use super::facts::STOCK_HEADS;
use super::qlib_bins::read_spans;
use super::span_columns::SpanColumns;
use crate::DataFileError;
use crate::error::{at_row, empty};
use ktd_env::{DataError, DateSpan, SourceLocation, Ticker};
use ktd_io::text_file::TextFile;
use std::path::Path;

/// The note of a panel that was made without membership.
pub(super) const NO_MEMBERSHIP: &str = "no index membership was given: every name is a member on every day";

/// Reads a membership file: CSV `symbol,start,end` (both included), CSV `symbol,from,until_excl` (half-open, an empty
/// end stays open), or Qlib's tab-separated list without a header.
///
/// # Errors
/// [`DataFileError`] naming the row.
pub(super) fn read_members(path: &Path) -> Result<Vec<(Ticker, DateSpan)>, DataFileError> {
    let mut file = TextFile::open(path, b',')?;
    let name = file.name();
    let Some((_, header)) = file.next_row()? else {
        return Err(empty(&name));
    };
    if header.len() == 1 && header.get(0).is_some_and(|line| line.contains('\t')) {
        return read_spans(path)?
            .into_iter()
            .map(|(row, code, span)| Ok((member(&name, row, &code)?, span)))
            .collect();
    }
    let symbol = header.iter().position(|head| STOCK_HEADS.contains(&head));
    let (Some(symbol), Some(columns)) = (symbol, SpanColumns::of(header)) else {
        return Err(
            DataFileError::invalid(format_args!("{name}: the header names no membership")).with_hint(
                "use `symbol,start,end` (both days included), `symbol,from,until_excl`, or a Qlib list with tabs and no header",
            ),
        );
    };
    let mut members = Vec::new();
    while let Some((row, record)) = file.next_row()? {
        let ticker = member(&name, row, record.get(symbol).unwrap_or_default())?;
        let span = columns.read(record).map_err(|error| at_row(&name, row, error))?;
        members.push((ticker, span));
    }
    Ok(members)
}

fn member(file: &str, row: u64, code: &str) -> Result<Ticker, DataError> {
    read_ticker(code).map_err(|source| DataError::Ticker {
        place: SourceLocation {
            file: file.to_owned(),
            row,
        },
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::TradeDate;

    fn read(text: &str) -> Result<Vec<(String, String, String)>, DataFileError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("members");
        std::fs::write(&path, text).unwrap();
        Ok(read_members(&path)?
            .into_iter()
            .map(|(ticker, span)| (ticker.reveal().to_owned(), span.start.reveal(), span.end.reveal()))
            .collect())
    }

    #[test]
    fn three_forms_one_meaning() {
        let want = vec![(
            "SH600000".to_owned(),
            "2024-01-02".to_owned(),
            "2024-06-14".to_owned(),
        )];
        assert_eq!(
            read("symbol,start,end\nSH600000,2024-01-02,2024-06-14\n").unwrap(),
            want
        );
        assert_eq!(
            read("symbol,name,from,until_excl\nSH600000,x,2024-01-02,2024-06-15\n").unwrap(),
            want
        );
        assert_eq!(read("SH600000\t2024-01-02\t2024-06-14\n").unwrap(), want);
    }

    #[test]
    fn an_empty_end_stays_open() {
        let members = read("symbol,from,until_excl\nSH600000,2024-01-02,\n").unwrap();
        assert_eq!(members[0].2, TradeDate::LATEST.reveal());
    }

    #[test]
    fn wrong_files_are_refused_by_row() {
        for (text, part) in [
            ("", "is empty"),
            ("symbol,from\nSH600000,2024-01-02\n", "names no membership"),
            ("symbol,start,end\nSH600000,2024-06-14,2024-01-02\n", "row 2"),
            ("symbol,start,end\nSH510300,2024-01-02,2024-06-14\n", "row 2"),
            ("symbol,start,end\nSH600000,soon,2024-06-14\n", "row 2"),
        ] {
            let failure = read(text).unwrap_err();
            assert!(failure.to_string().contains(part), "{text:?}: {failure}");
        }
    }
}
