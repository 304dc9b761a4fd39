//! The fields of a directory of Qlib: every bin as it is stored.

use crate::FormulasError;
use crate::field_panel::{FieldColumn, FieldName, FieldPanel};
use chrono::{Datelike, NaiveDate};
use ktd_env::TradeDate;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{list, read_bounded, read_text};
use ktd_qlib::{FeatureFile, FieldSeries, QlibPanel};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

/// The most that a file of a Qlib directory may hold: two thousand years of days.
const FILE_LIMIT_BYTES: u64 = 1 << 26;

const HINT: &str =
    "a Qlib directory has calendars/day.txt, instruments/all.txt and features/CODE/FIELD.day.bin in it";

/// Every `FIELD.day.bin` of the instruments in `instruments/all.txt`, float32 as stored. An instrument's rows begin with its
/// earliest bin; those outside its spans are seen by windows and not written.
///
/// # Errors
/// [`FormulasError`] naming the file that is no bin or belongs to another calendar.
pub fn qlib_fields(root: &Path) -> Result<FieldPanel, FormulasError> {
    let day_text = read_text(&root.join("calendars/day.txt"), FILE_LIMIT_BYTES)?;
    let instruments = read_text(&root.join("instruments/all.txt"), FILE_LIMIT_BYTES)?;
    let symbols: BTreeSet<String> = instruments
        .lines()
        .filter_map(|line| line.split('\t').next())
        .map(|symbol| symbol.trim().to_lowercase())
        .filter(|symbol| is_plain(symbol))
        .collect();
    let (mut features, mut hashes) = (Vec::new(), day_text.clone() + &instruments);
    for symbol in &symbols {
        let folder = root.join("features").join(symbol);
        if !folder.is_dir() {
            continue;
        }
        for path in list(&folder)? {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            let Some(field) = name.strip_suffix(".day.bin") else {
                continue;
            };
            let bytes = read_bounded(&path, FILE_LIMIT_BYTES)?;
            // Two directories whose bins stand under other names are two sources.
            writeln!(hashes, "{symbol}\t{field}\t{}", sha256_hex(&bytes)).ok();
            features.push(FeatureFile {
                symbol: symbol.clone(),
                field: field.to_lowercase(),
                bytes,
            });
        }
    }
    let fields: BTreeSet<String> = features.iter().map(|feature| feature.field.clone()).collect();
    let panel = QlibPanel::parse(&day_text, None, &instruments, features)
        .map_err(|error| FormulasError::input(format_args!("{}: {error}", root.display()), HINT))?;
    let fields: Vec<String> = fields.into_iter().collect();
    if fields.is_empty() {
        return Err(FormulasError::input(
            format_args!("{} holds no bin of an instrument", root.display()),
            HINT,
        ));
    }
    let names = symbols
        .iter()
        .filter_map(|symbol| name_of(&panel, symbol, &fields));
    let mut names: Vec<FieldName> = names.collect();
    // Symbols are sorted in lower case, and `_` stands before small letters and after capitals.
    names.sort_by(|left, right| left.code.cmp(&right.code));
    Ok(FieldPanel {
        calendar: panel.calendar().iter().filter_map(|day| date_of(*day)).collect(),
        names,
        fields,
        source: sha256_hex(hashes.as_bytes()),
        notes: vec!["fields are Qlib's bins as they are stored".to_owned()],
    })
}

/// Whether a name can be a folder of `features/` and nothing else.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\'])
}

fn date_of(day: NaiveDate) -> Option<TradeDate> {
    TradeDate::from_days_since_epoch(day.num_days_from_ce() - EPOCH_FROM_CE)
}

/// Days from the first of the year 1 to 1970-01-01.
const EPOCH_FROM_CE: i32 = 719_163;

fn name_of(panel: &QlibPanel, symbol: &str, fields: &[String]) -> Option<FieldName> {
    let series: Vec<Option<&FieldSeries>> = fields.iter().map(|field| panel.series(symbol, field)).collect();
    let known = || {
        series
            .iter()
            .flatten()
            .filter(|series| !series.values().is_empty())
    };
    let first = known().map(|series| series.start()).min()?;
    let end = known()
        .map(|series| series.start() + series.values().len())
        .max()?;
    let column = |series: Option<&FieldSeries>| {
        let at = |session| series.map_or(f32::NAN, |series| series.at(session));
        FieldColumn::Singles((first..end).map(at).collect())
    };
    let calendar = panel.calendar();
    let shown = panel
        .instruments()
        .filter(|(code, _)| code.eq_ignore_ascii_case(symbol))
        .flat_map(|(_, spans)| spans)
        .map(|span| -> Range<usize> {
            let first = calendar.partition_point(|day| *day < span.start);
            first..calendar.partition_point(|day| *day <= span.end)
        });
    Some(FieldName {
        code: symbol.to_uppercase(),
        first_session: first,
        columns: series.into_iter().map(column).collect(),
        shown: shown.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::qlib_fields;
    use crate::field_panel::FieldPanel;
    use ktd_io::whole_file::{create_directory, write_whole};

    fn panel(bins: &[(&str, &str)]) -> FieldPanel {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, bytes: &[u8]| {
            let path = folder.path().join(path);
            create_directory(path.parent().unwrap()).unwrap();
            write_whole(&path, bytes).unwrap();
        };
        write("calendars/day.txt", b"2024-01-02\n2024-01-03\n");
        let symbols = ["SH_1", "SHA", "SHB"].map(|symbol| format!("{symbol}\t2024-01-02\t2024-01-03\n"));
        write("instruments/all.txt", symbols.concat().as_bytes());
        let bytes: Vec<u8> = [0.0_f32, 1.0, 2.0]
            .into_iter()
            .flat_map(f32::to_le_bytes)
            .collect();
        for (symbol, field) in bins {
            write(&format!("features/{symbol}/{field}.day.bin"), &bytes);
        }
        qlib_fields(folder.path()).unwrap()
    }

    #[test]
    fn names_stand_in_the_order_of_their_codes() {
        let panel = panel(&[("sh_1", "close"), ("sha", "close")]);
        let codes: Vec<&str> = panel.names.iter().map(|name| name.code.as_str()).collect();
        assert_eq!(codes, ["SHA", "SH_1"]);
    }

    #[test]
    fn bins_under_other_names_are_another_source() {
        let source = |symbol, field| panel(&[("sh_1", "close"), (symbol, field)]).source;
        assert_eq!(source("sha", "open"), source("sha", "open"));
        assert_ne!(source("sha", "open"), source("sha", "high"));
        assert_ne!(source("sha", "open"), source("shb", "open"));
    }
}
