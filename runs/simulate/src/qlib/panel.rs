//! Reads the files of a Qlib data directory that a run needs.

use crate::SimulateError;
use ktd_io::FileError;
use ktd_io::whole_file::read_input_bytes;
use ktd_qlib::{FeatureFile, QlibConfig, QlibPanel};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// A data directory in memory.
pub(super) struct LoadedPanel {
    pub(super) panel: QlibPanel,
    /// Bins of the universe that are not there. Qlib takes their values for missing without a word.
    pub(super) n_missing_bins: usize,
}

pub(super) fn read(root: &Path, config: &QlibConfig) -> Result<LoadedPanel, SimulateError> {
    for missing in ["calendars", "features", "instruments"] {
        if !root.join(missing).is_dir() {
            return Err(SimulateError::input(
                format_args!(
                    "{} is no Qlib data directory: it has no {missing}",
                    root.display()
                ),
                "point `--panel` at the directory that holds calendars/, features/ and instruments/",
            ));
        }
    }
    let day_text = read_text(&root.join("calendars/day.txt"))?;
    let future_text = optional(read_text(&root.join("calendars/day_future.txt")))?;
    let instruments_text = read_text(&root.join("instruments/all.txt"))?;
    let universe: BTreeSet<String> = symbols(&instruments_text).collect();
    let (mut features, mut n_missing_bins) = (Vec::new(), 0);
    for symbol in &universe {
        for field in config.fields() {
            match read_bin(root, symbol, field)? {
                Some(feature) => features.push(feature),
                None => n_missing_bins += 1,
            }
        }
    }
    let benchmark = config.benchmark.to_lowercase();
    if !universe.contains(&benchmark) && is_plain(&benchmark) {
        features.extend(read_bin(root, &benchmark, "close")?);
    }
    let panel = QlibPanel::parse(&day_text, future_text.as_deref(), &instruments_text, features)
        .map_err(|error| SimulateError::input(format_args!("{}: {error}", root.display()), error.hint()))?;
    Ok(LoadedPanel {
        panel,
        n_missing_bins,
    })
}

/// The first column, as the folders are named.
fn symbols(instruments_text: &str) -> impl Iterator<Item = String> + '_ {
    let names = instruments_text
        .lines()
        .filter_map(|line| line.split('\t').next());
    names
        .map(|name| name.trim().to_lowercase())
        .filter(|name| is_plain(name))
}

/// Whether a name can be a folder of `features/` and nothing else.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\'])
}

fn read_bin(root: &Path, symbol: &str, field: &str) -> Result<Option<FeatureFile>, FileError> {
    let field = field.to_lowercase();
    let path = root
        .join("features")
        .join(symbol)
        .join(format!("{field}.day.bin"));
    let bytes = optional(read_input_bytes(&path))?;
    Ok(bytes.map(|bytes| FeatureFile {
        symbol: symbol.to_owned(),
        field,
        bytes,
    }))
}

fn read_text(path: &Path) -> Result<String, FileError> {
    String::from_utf8(read_input_bytes(path)?)
        .map_err(|error| FileError::io("read", path)(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// A file that need not be there.
fn optional<T>(read: Result<T, FileError>) -> Result<Option<T>, FileError> {
    match read {
        Err(error) if error.is_missing() => Ok(None),
        read => read.map(Some),
    }
}
