//! What is said of a file that lacks columns: what it has, and which known form it is nearest to.

use super::column::Column;
use super::vendor_forms::VendorForm;
use crate::DataFileError;
use ktd_view::draw::fitted;
use std::path::Path;

/// More of a header than this is cut.
const HEADER_CELLS: usize = 200;

/// The number of the CSI 300, which no stock of Shenzhen has; other bare numbers from 000 are stocks.
pub(super) const CSI_300: &str = "000300";

/// The refusal of a file without these columns.
pub(super) fn missing_columns(file: &str, header: &[&str], missing: &[Column]) -> DataFileError {
    if header.first().is_some_and(|first| first.starts_with('<')) {
        return DataFileError::input(
            format_args!("{file} is a web page, not a table"),
            "download the file again: an error page was saved in its place",
        );
    }
    let lacks_code = missing.contains(&Column::Symbol);
    if lacks_code && is_index_file(Path::new(file)) {
        return DataFileError::input(
            format_args!("{file}: the file's name is the code of an index, not of a stock"),
            format_args!(
                "keep it out of the folder of stocks; `--index {file}` reads it where it has the columns date, symbol, open, close"
            ),
        );
    }
    let labels: Vec<&str> = missing.iter().map(|column| column.label()).collect();
    let said = match labels.as_slice() {
        [only] => format!("the column {only} is missing"),
        several => format!("the columns {} are missing", several.join(", ")),
    };
    let named: Vec<&str> = header.iter().copied().filter(|head| !head.is_empty()).collect();
    let has = if named.is_empty() {
        "its first line names none".to_owned()
    } else {
        format!("it has {}", fitted(&named.join(", "), HEADER_CELLS))
    };
    let code = if lacks_code {
        "; where a file is one stock, its name is the code: 600519.csv, sh600519.csv, 600519.SS.csv"
    } else {
        ""
    };
    DataFileError::invalid(format_args!("{file}: {said}; {has}")).with_hint(format_args!(
        "{}a long file has the columns date, symbol, open, high, low, close, volume; name others with --map open=COLUMN,...{code}",
        known_as(header)
    ))
}

/// What the header looks like, as the start of a hint.
fn known_as(header: &[&str]) -> String {
    let has = |name: &str| header.contains(&name);
    if has("symbol") && (has("start") || has("from") || has("until_excl")) {
        return "a list of members is given to --universe; ".to_owned();
    }
    VendorForm::nearest(header).map_or_else(String::new, |(form, lacking)| {
        format!(
            "the nearest known form is {form}, which also has {}: give the file that column name; ",
            lacking.join(", ")
        )
    })
}

/// Whether a file has the code of an index as its name: `sh000300.csv`, `399001.csv`, `000300.csv`.
pub(super) fn is_index_file(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let name = name.to_ascii_uppercase();
    let is_part = |letter: char| letter.is_ascii_alphanumeric();
    let mut parts = name.split(|letter| !is_part(letter));
    let (first, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let (exchange, digits) = match (first.get(..2), first.get(2..)) {
        (Some("SH" | "SZ"), Some("")) => (first, second),
        (Some(exchange @ ("SH" | "SZ")), Some(digits)) => (exchange, digits),
        _ => (second, first),
    };
    let is_code = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_code
        && match exchange {
            "SH" | "SS" | "XSHG" => digits.starts_with("000"),
            _ => digits.starts_with("399") || digits == CSI_300,
        }
}
