//! Files of formulas.

use crate::FormulasError;
use ktd_io::whole_file::read_bounded;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;

/// The most that a file of formulas may hold: twenty thousand of the longest would be 160 MiB, and none is.
const FILE_LIMIT_BYTES: u64 = 1 << 28;

/// The most formulas of a file, a pool or a study.
pub const MAX_FORMULAS: usize = 20_000;

/// One formula of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FormulaLine {
    /// Its name, unique in its pool.
    pub id: String,
    /// Its text.
    pub expression: String,
    /// The pool it belongs to.
    #[serde(default)]
    pub pool: Option<String>,
}

/// The formulas of a file; see [`parse_formulas`].
///
/// # Errors
/// [`FormulasError`] as [`parse_formulas`], and for a file that cannot be read.
pub fn read_formulas(path: &Path) -> Result<Vec<FormulaLine>, FormulasError> {
    parse_formulas(path, read_bounded(path, FILE_LIMIT_BYTES)?)
}

/// The formulas of a CSV file with the columns `id,expression[,pool]`, or of JSON `[{"id":..,"expression":..,"pool":..}]`.
/// Other columns are ignored; a byte-order mark and line ends of Windows change nothing.
///
/// # Errors
/// [`FormulasError`] for a file without these columns, without a formula, with more than 20,000, or with an id twice in a pool.
pub fn parse_formulas(path: &Path, bytes: Vec<u8>) -> Result<Vec<FormulaLine>, FormulasError> {
    let name = path.display();
    let text = text_of(path, bytes)?;
    let lines = if text.trim_start().starts_with('[') {
        serde_json::from_str(&text).map_err(|error| {
            FormulasError::input(
                format_args!("{name}: not a list of formulas: {error}"),
                "write [{\"id\": \"a1\", \"expression\": \"Mean($close, 5)/$close\"}]",
            )
        })?
    } else {
        let hint =
            "begin with the line `id,expression` or `id,expression,pool`, and quote what has a comma in it";
        csv_lines(path, &text, (["id", "expression"], hint))?
    };
    if lines.is_empty() {
        return Err(FormulasError::input(
            format_args!("{name} holds no formula"),
            "write a line `id,expression` below the header",
        ));
    }
    check_lines(&name, &lines)?;
    Ok(lines)
}

/// The text of a file's bytes without a byte-order mark.
///
/// # Errors
/// [`FormulasError`] where it is not UTF-8.
pub fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, FormulasError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        FormulasError::invalid(format_args!("{}: byte {place} is not UTF-8 text", path.display()))
    })?;
    Ok(text
        .strip_prefix('\u{feff}')
        .map_or_else(|| text.clone(), str::to_owned))
}

/// The lines of a CSV file, which must have some columns.
///
/// # Errors
/// [`FormulasError`] for a column that is missing, and a line that is none.
pub fn csv_lines<T: serde::de::DeserializeOwned>(
    path: &Path,
    text: &str,
    (columns, hint): ([&str; 2], &str),
) -> Result<Vec<T>, FormulasError> {
    let invalid = |what: &dyn Display| FormulasError::input(format_args!("{}: {what}", path.display()), hint);
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| invalid(&error))?;
    if let Some(column) = columns
        .iter()
        .find(|column| header.iter().all(|known| known != **column))
    {
        return Err(invalid(&format_args!("the header lacks a column `{column}`")));
    }
    let lines: Result<Vec<T>, csv::Error> = reader.into_deserialize().collect();
    lines.map_err(|error| invalid(&error))
}

/// Refuses too many formulas, one without an id, and an id twice in a pool; `holder` is what holds them.
///
/// # Errors
/// [`FormulasError`] naming which.
pub fn check_lines(holder: &dyn Display, lines: &[FormulaLine]) -> Result<(), FormulasError> {
    check_count(holder, lines.len())?;
    let mut seen = BTreeSet::new();
    for (place, line) in lines.iter().enumerate() {
        if line.id.trim().is_empty() {
            return Err(FormulasError::input(
                format_args!("{holder}: formula {} has no id", place + 1),
                "give each formula an id",
            ));
        }
        if !seen.insert((line.pool.as_deref(), line.id.as_str())) {
            return Err(FormulasError::input(
                format_args!("{holder}: the id {:?} stands twice in one pool", line.id),
                "give each formula of a pool an id of its own",
            ));
        }
    }
    Ok(())
}

/// Refuses more formulas than are evaluated together.
///
/// # Errors
/// [`FormulasError`] with both numbers.
pub fn check_count(holder: &dyn Display, formulas: usize) -> Result<(), FormulasError> {
    if MAX_FORMULAS < formulas {
        return Err(FormulasError::input(
            format_args!("{holder} holds {formulas} formulas, and at most {MAX_FORMULAS} are read"),
            "split them",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<FormulaLine>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("formulas");
        ktd_io::whole_file::write_whole(&path, text.as_bytes()).unwrap();
        read_formulas(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn csv_and_json_say_the_same() {
        let csv = "id,expression,note\na1,\"Mean($close, 5)\",x\na2,$open,y\n";
        let json = r#"[{"id":"a1","expression":"Mean($close, 5)"},{"id":"a2","expression":"$open"}]"#;
        let lines = read(csv).unwrap();
        assert_eq!(lines, read(json).unwrap());
        assert_eq!(
            lines,
            read(&format!("\u{feff}{}", csv.replace('\n', "\r\n"))).unwrap()
        );
        assert_eq!(
            (lines.len(), lines[0].expression.as_str()),
            (2, "Mean($close, 5)")
        );
    }

    #[test]
    fn what_is_no_file_of_formulas_says_why() {
        for (text, part) in [
            ("", "lacks a column"),
            ("a1,$close\n", "lacks a column"),
            ("id,expression\n", "holds no formula"),
            ("id,expression\na,$open\na,$close\n", "stands twice"),
            ("id,expression\na,$open\n ,$close\n", "formula 2 has no id"),
            ("id,expression\na,Mean($close,5)\n", "line: 2"),
            ("[1]", "not a list of formulas"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
        // A mark before JSON changes nothing; a NUL is a character like others, which the checker refuses in an expression.
        let marked = "\u{feff}[{\"id\":\"a\",\"expression\":\"$open\"}]";
        assert_eq!(read(marked).unwrap().len(), 1);
        assert_eq!(
            read("id,expression\na,$open\0\n").unwrap()[0].expression,
            "$open\0"
        );
        let pools = "id,expression,pool\na,$open,p\na,$close,q\n";
        assert_eq!(read(pools).unwrap().len(), 2);
        for lines in [MAX_FORMULAS + 1, 100_000] {
            let many: Vec<String> = (0..lines).map(|id| format!("{id},$open")).collect();
            let error = read(&format!("id,expression\n{}", many.join("\n"))).unwrap_err();
            let said = format!("holds {lines} formulas, and at most 20000 are read");
            assert!(error.contains(&said), "{error}");
        }
    }
}
