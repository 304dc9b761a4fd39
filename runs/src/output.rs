//! What goes to the terminal and to files.

use crate::failure::Failure;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How a command speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Console {
    /// One JSON document on standard output instead of text.
    pub json: bool,
    /// No progress and no tables; results and errors only.
    pub quiet: bool,
}

impl Console {
    /// Prints the result: `text` for people, `value` for programs.
    ///
    /// # Errors
    /// [`Failure`] when standard output cannot be written; a closed pipe is no error.
    pub fn result(self, text: &str, value: &serde_json::Value) -> Result<(), Failure> {
        let document = if self.json {
            format!("{value:#}\n")
        } else if text.ends_with('\n') || text.is_empty() {
            text.to_owned()
        } else {
            format!("{text}\n")
        };
        print(&mut io::stdout().lock(), &document)
    }

    /// Prints a line on standard error while a command goes on, unless it is to be quiet.
    pub fn note(self, line: &str) {
        if !self.quiet {
            // Nothing is left to tell anyone when standard error is gone.
            print(&mut io::stderr().lock(), &format!("{line}\n")).ok();
        }
    }

    /// Prints a failure on standard error, as JSON where asked for.
    pub fn failure(self, failure: &Failure) {
        let document = if self.json {
            format!("{:#}\n", failure.to_json())
        } else {
            format!("{failure}\n")
        };
        // Nothing is left to tell anyone when standard error is gone.
        print(&mut io::stderr().lock(), &document).ok();
    }
}

fn print(stream: &mut impl Write, document: &str) -> Result<(), Failure> {
    match stream
        .write_all(document.as_bytes())
        .and_then(|()| stream.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::file("write to", Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}

/// Which side of its column a cell stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A plain table with aligned columns; wide (CJK) characters count as two.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    #[must_use]
    pub fn new(columns: &[(&str, Align)]) -> Self {
        Self {
            columns: columns
                .iter()
                .map(|(head, align)| ((*head).to_owned(), *align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells stay empty.
    pub fn row<I: IntoIterator<Item = String>>(&mut self, cells: I) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table as lines, each ended by a line feed and without trailing blanks.
    #[must_use]
    pub fn render(&self) -> String {
        let heads: Vec<String> = self.columns.iter().map(|(head, _)| head.clone()).collect();
        let has_heads = heads.iter().any(|head| !head.is_empty());
        let lines = has_heads.then_some(&heads).into_iter().chain(&self.rows);
        let width = |place: usize| {
            lines
                .clone()
                .filter_map(|line| line.get(place))
                .map(|cell| display_width(cell))
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        for line in lines.clone() {
            let mut shown = String::new();
            for (place, ((_, align), width)) in self.columns.iter().zip(&widths).enumerate() {
                let cell = line.get(place).map_or("", String::as_str);
                let blanks = " ".repeat(width.saturating_sub(display_width(cell)));
                let gap = if place == 0 { "" } else { "  " };
                match align {
                    Align::Left => shown.extend([gap, cell, &blanks]),
                    Align::Right => shown.extend([gap, &blanks, cell]),
                }
            }
            text.push_str(shown.trim_end());
            text.push('\n');
        }
        text
    }
}

/// How many terminal cells a text takes: wide East Asian characters take two, combining marks none.
#[must_use]
pub fn display_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// East Asian Width by block, as far as company names, sectors and punctuation need it.
fn char_width(character: char) -> usize {
    match u32::from(character) {
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0x33FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xA000..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// A count with thousands separated by commas: `163,749`.
#[must_use]
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Whether a file that is already there may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// It is an error.
    Refuse,
    /// It is replaced as a whole.
    Replace,
}

/// Writes a whole file or nothing: to a temporary file beside it, synced, then renamed.
///
/// # Errors
/// [`Failure`] when the file exists and may not be replaced, or when the disk refuses; the temporary file is removed.
pub fn write_atomically(path: &Path, bytes: &[u8], overwrite: Overwrite) -> Result<(), Failure> {
    check_writable(path, overwrite)?;
    let temporary = temporary_beside(path);
    let written = write_synced(&temporary, bytes).and_then(|()| match overwrite {
        Overwrite::Replace => std::fs::rename(&temporary, path),
        // A hard link fails where a rename would silently replace a file made in the meantime.
        Overwrite::Refuse => std::fs::hard_link(&temporary, path).or_else(|error| {
            // File systems without hard links get the rename after the check above.
            if error.kind() == io::ErrorKind::AlreadyExists {
                Err(error)
            } else {
                std::fs::rename(&temporary, path)
            }
        }),
    });
    // After a rename it is gone already.
    std::fs::remove_file(&temporary).ok();
    written.map_err(|error| Failure::file("write", path, &error))
}

/// Says before long work whether a file could be written at its end.
///
/// # Errors
/// [`Failure`] when the file exists and may not be replaced, is a directory, or its directory is missing.
pub fn check_writable(path: &Path, overwrite: Overwrite) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::file("write", path, &io::ErrorKind::IsADirectory.into()));
    }
    if overwrite == Overwrite::Refuse && path.exists() {
        return Err(Failure::file("write", path, &io::ErrorKind::AlreadyExists.into()));
    }
    if path.exists() && !path.is_file() {
        // Replacing a device or a pipe by a file would break it for everyone.
        return Err(Failure::bad_input(format_args!(
            "cannot write {}: it is no ordinary file",
            path.display()
        )));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.is_dir() => {
            Err(Failure::file("write", path, &io::ErrorKind::NotFound.into()))
        }
        _ => Ok(()),
    }
}

fn temporary_beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_with_wide_characters() {
        let mut table = Table::new(&[("name", Align::Left), ("close", Align::Right)]);
        table.row(["贵州茅台".to_owned(), "1.50".to_owned()]);
        table.row(["x".to_owned(), "1688.00".to_owned()]);
        assert_eq!(
            table.render(),
            "name        close\n贵州茅台     1.50\nx         1688.00\n"
        );
    }

    #[test]
    fn counts_are_grouped() {
        for (count, shown) in [(0, "0"), (999, "999"), (1000, "1,000"), (163_749, "163,749")] {
            assert_eq!(grouped(count), shown);
        }
    }

    #[test]
    fn an_existing_file_is_replaced_only_when_allowed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        write_atomically(&path, b"one", Overwrite::Refuse).unwrap();
        let refused = write_atomically(&path, b"two", Overwrite::Refuse).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write_atomically(&path, b"two", Overwrite::Replace).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_full_disk_leaves_nothing() {
        // Linux's always-full device stands for the disk.
        let full = Path::new("/dev/full");
        if full.exists() {
            let error = std::fs::OpenOptions::new()
                .write(true)
                .open(full)
                .and_then(|mut file| file.write_all(b"x"))
                .unwrap_err();
            let failure = Failure::file("write", full, &error);
            assert!(failure.hint().unwrap().contains("disk is full"), "{failure}");
        }
    }

    #[test]
    fn a_missing_directory_is_said_before_the_work() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("absent").join("out");
        assert!(check_writable(&path, Overwrite::Refuse).is_err());
        assert!(check_writable(directory.path(), Overwrite::Replace).is_err());
    }
}
